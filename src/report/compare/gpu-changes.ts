/** What two reports tell of the GPU beside times of kernels: how busy it was in a region, and counters of a kernel. */
import { busyShare } from "../conclusions/gpu-activity.ts";
import type { KernelHardware, NCUProfileRegion } from "../document.ts";
import { type Change, changeOf, partChange } from "./change.ts";
import type { Changes } from "./changes.ts";
import { measuredAlone } from "./noise.ts";

type Region = Pick<NCUProfileRegion, "gpu_activity" | "wall_ms">;

/** Of `gpu_activity`, named as in `regions.csv`. */
export const ACTIVITY_PARTS = {
  gpu_kernel_ms: "kernel_ms",
  gpu_copy_ms: "copy_ms",
  gpu_overlap_ms: "overlap_ms",
  gpu_busy_ms: "busy_ms",
} as const;

/** Shares in percent, named as in `hardware` of a kernel. */
export const COUNTER_SHARES = ["sm_pct", "memory_pct", "tensor_pct", "occupancy_pct"] as const;

/** What limits a kernel, which are words and cannot be subtracted. */
export type KernelLimits = Pick<KernelHardware, "limited_by" | "occupancy_limited_by">;

export type BothLimits = Readonly<Record<"a" | "b", KernelLimits | null>>;

/** Empty where neither report knows how busy the GPU was. */
export function activityChanges(a: Region | null, b: Region | null): Changes {
  if (a?.gpu_activity === undefined && b?.gpu_activity === undefined) return {};
  const wall = Math.max(a?.wall_ms ?? 0, b?.wall_ms ?? 0);
  const shares = [a, b].map((region) => measuredAlone(region && busyShare(region)));
  const parts = Object.entries(ACTIVITY_PARTS).map(([name, part]): [string, Change] => {
    const [before, after] = [a, b].map((region) =>
      measuredAlone(region?.gpu_activity?.[part] ?? null),
    );
    return [name, partChange(before ?? null, after ?? null, wall)];
  });
  const [before = null, after = null] = shares;
  return { gpu_busy_pct: partChange(before, after, 100), ...Object.fromEntries(parts) };
}

/** Empty where neither report has counters of the kernel. */
export function counterChanges(
  a: KernelHardware | undefined,
  b: KernelHardware | undefined,
): Changes {
  if (a === undefined && b === undefined) return {};
  const shares = COUNTER_SHARES.map((name): [string, Change] => [
    name,
    partChange(measuredAlone(a?.[name] ?? null), measuredAlone(b?.[name] ?? null), 100),
  ]);
  const limit = changeOf(
    computed(a?.occupancy_limit_pct ?? null),
    computed(b?.occupancy_limit_pct ?? null),
  );
  return { ...Object.fromEntries(shares), occupancy_limit_pct: limit };
}

/** Follows from how a kernel was compiled and launched, so that no run differs from another one in it. */
const computed = (value: number | null) => (value === null ? null : { value, uncertainty: 0 });

export function limitsOf(
  a: KernelHardware | undefined,
  b: KernelHardware | undefined,
): BothLimits | undefined {
  return a === undefined && b === undefined ? undefined : { a: limits(a), b: limits(b) };
}

const limits = (hardware: KernelHardware | undefined): KernelLimits | null =>
  hardware === undefined
    ? null
    : {
        limited_by: hardware.limited_by,
        occupancy_limited_by: hardware.occupancy_limited_by,
      };
