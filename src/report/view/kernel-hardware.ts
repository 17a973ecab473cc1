/**
 * What Nsight Compute's counters say about a kernel: what limits it, whether it used tensor cores, and how
 * many warps it kept on a multiprocessor. Metrics are found by name, or by their label in ncu's details page.
 */

import type {
  KernelHardware,
  KernelRecord,
  NCUProfileRegion,
  OccupancyLimit,
} from "../model/document.ts";
import {
  computeShare,
  isLimitMetric,
  largest,
  limitOf,
  memoryShare,
  percentages,
} from "./gpu-utilization.ts";

type Metrics = NCUProfileRegion["metrics"];

/** Metrics for all tensor instructions together, in order of preference. */
const TENSOR = [
  "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
  "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
  "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
];
/** Metrics for one kind of tensor instruction (hmma, imma, dmma, ...), if ncu has no total. */
const TENSOR_PART =
  /^sm__(?:inst_executed_pipe_tensor_op_[a-z]+|pipe_tensor_op_[a-z]+_cycles_active)\.avg\.pct_of_peak_sustained_active$/;
const ACHIEVED = ["sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"];
const THEORETICAL = ["sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy"];

const LIMITERS: Readonly<Record<OccupancyLimit, readonly string[]>> = {
  registers: ["launch__occupancy_limit_registers", "Block Limit Registers"],
  shared_memory: ["launch__occupancy_limit_shared_mem", "Block Limit Shared Mem"],
  warps: ["launch__occupancy_limit_warps", "Block Limit Warps"],
  blocks: ["launch__occupancy_limit_blocks", "Block Limit SM"],
  barriers: ["launch__occupancy_limit_barriers", "Block Limit Barriers"],
};
const LIMITS: readonly OccupancyLimit[] = [
  "registers",
  "shared_memory",
  "warps",
  "blocks",
  "barriers",
];

const OTHERS: ReadonlySet<string> = new Set([
  ...TENSOR,
  ...ACHIEVED,
  ...THEORETICAL,
  ...LIMITS.flatMap((limit) => LIMITERS[limit]),
]);

/** Whether `kernelHardware` looks at a metric of this name. */
export const isHardwareMetric = (name: string): boolean =>
  OTHERS.has(name) || isLimitMetric(name) || TENSOR_PART.test(name);

/** Undefined if no counter was measured. */
export function kernelHardware(metrics: Metrics): KernelHardware | undefined {
  const sm = computeShare(metrics);
  const memory = memoryShare(metrics);
  const limit = percentages(metrics, THEORETICAL)[0] ?? null;
  const hardware: KernelHardware = {
    sm_pct: sm,
    memory_pct: memory,
    limited_by: sm === null || memory === null ? null : limitOf(sm, memory),
    tensor_pct: tensorShare(metrics),
    occupancy_pct: percentages(metrics, ACHIEVED)[0] ?? null,
    occupancy_limit_pct: limit,
    occupancy_limited_by: limit !== null && limit >= 100 ? [] : smallestLimits(metrics),
  };
  const isMeasured = Object.values(hardware).some((value) =>
    Array.isArray(value) ? value.length > 0 : value !== null,
  );
  return isMeasured ? hardware : undefined;
}

function tensorShare(metrics: Metrics): number | null {
  const [whole] = percentages(metrics, TENSOR);
  if (whole !== undefined) return whole;
  const parts = Object.keys(metrics).filter((name) => TENSOR_PART.test(name));
  return largest(percentages(metrics, parts));
}

function smallestLimits(metrics: Metrics): readonly OccupancyLimit[] {
  const blockLimits = LIMITS.flatMap((limit) => {
    const blocks = LIMITERS[limit]
      .map((name) => metrics[name]?.value ?? null)
      .find((value) => value !== null);
    return blocks == null ? [] : [{ limit, blocks }];
  });
  const least = Math.min(...blockLimits.map(({ blocks }) => blocks));
  return blockLimits.filter(({ blocks }) => blocks === least).map(({ limit }) => limit);
}

// Combines the counters of a kernel from several regions that share no launch.

type Timed = Pick<KernelRecord, "total_ms" | "hardware">;

/**
 * Shares are averaged, weighted by the kernel's time in each region that has counters; the occupancy limit is that of
 * the region with the most time. Undefined if no region has counters.
 */
export function mergeHardware(records: readonly Timed[]): KernelHardware | undefined {
  const measured = records.flatMap(({ total_ms, hardware }) =>
    hardware === undefined ? [] : [{ ms: total_ms ?? 0, hardware }],
  );
  const [first, ...others] = measured;
  if (first === undefined || others.length === 0) return first?.hardware;
  const mean = (measure: (hardware: KernelHardware) => number | null): number | null =>
    weightedMean(measured.map(({ ms, hardware }) => ({ weight: ms, value: measure(hardware) })));
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

/** The unweighted mean if no times are known. */
function weightedMean(all: readonly Weighed[]): number | null {
  const present = all.flatMap(({ weight, value }) => (value === null ? [] : [{ weight, value }]));
  if (present.length === 0) return null;
  const whole = present.reduce((sum, { weight }) => sum + weight, 0);
  const weightOf = (weight: number): number => (whole > 0 ? weight / whole : 1 / present.length);
  return present.reduce((sum, { weight, value }) => sum + value * weightOf(weight), 0);
}
