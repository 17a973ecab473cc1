/** Combines the counters of a kernel from several regions that share no launch. */
import { limitOf } from "../conclusions/speed-of-light.ts";
import type { KernelHardware, KernelRecord } from "../document.ts";

type Timed = Pick<KernelRecord, "total_ms" | "hardware">;

/**
 * Shares are means, weighted with the kernel's time in each region that has them; the occupancy limit is
 * that of the region with most of the time. Undefined if no region has counters.
 */
export function mergeHardware(records: readonly Timed[]): KernelHardware | undefined {
  const known = records.flatMap(({ total_ms, hardware }) =>
    hardware === undefined ? [] : [{ ms: total_ms, hardware }],
  );
  const [first, ...others] = known;
  if (first === undefined || others.length === 0) return first?.hardware;
  const mean = (of: (hardware: KernelHardware) => number | null): number | null =>
    weightedMean(known.map(({ ms, hardware }) => ({ weight: ms, value: of(hardware) })));
  const longest = others.reduce((most, each) => (each.ms > most.ms ? each : most), first);
  const sm = mean(({ sm_pct }) => sm_pct);
  const memory = mean(({ memory_pct }) => memory_pct);
  return {
    sm_pct: sm,
    memory_pct: memory,
    limited_by: sm === null || memory === null ? null : limitOf(sm, memory),
    tensor_pct: mean(({ tensor_pct }) => tensor_pct),
    occupancy_pct: mean(({ occupancy_pct }) => occupancy_pct),
    occupancy_limit_pct: mean(({ occupancy_limit_pct }) => occupancy_limit_pct),
    occupancy_limited_by: longest.hardware.occupancy_limited_by,
  };
}

interface Weighed {
  readonly weight: number;
  readonly value: number | null;
}

/** The plain mean if nothing was timed. */
function weightedMean(all: readonly Weighed[]): number | null {
  const known = all.flatMap(({ weight, value }) => (value === null ? [] : [{ weight, value }]));
  if (known.length === 0) return null;
  const whole = known.reduce((sum, { weight }) => sum + weight, 0);
  const weightOf = (weight: number): number => (whole > 0 ? weight / whole : 1 / known.length);
  return known.reduce((sum, { weight, value }) => sum + value * weightOf(weight), 0);
}
