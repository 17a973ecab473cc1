/**
 * The numbers that comparisons compare and that conditions may name, besides metrics: their names alone, so that help
 * shows them without what computes them.
 */

/** Of whole reports. */
const COMPARED_TOTALS = [
  "total_ms",
  "wall_ms",
  "cpu_ms",
  "instructions",
  "outside_ms",
  "kernel_count",
  "invocations",
  "region_count",
] as const;

/** Of regions, by their columns. */
export const COMPARED_COLUMN_KEYS = [
  "total_ms",
  "exclusive_ms",
  "wall_ms",
  "wall_exclusive_ms",
  "cpu_ms",
  "cpu_exclusive_ms",
  "instructions",
  "instructions_exclusive",
  "call_median_ms",
  "call_p95_ms",
  "kernel_count",
  "invocations",
] as const;

/** The name of a column's number in comparisons. */
export const comparedName = (column: string): string => column.replace(/^call_/, "");

/** The share of `gpu_activity` in the wall time of regions, in percent. */
export const COMPARED_BUSY_SHARE = "gpu_busy_pct";

/** Parts of `gpu_activity` of regions, named as in `regions.csv`. */
export const COMPARED_ACTIVITY = {
  gpu_kernel_ms: "kernel_ms",
  gpu_copy_ms: "copy_ms",
  gpu_overlap_ms: "overlap_ms",
  gpu_busy_ms: "busy_ms",
} as const;

/** Of kernels. */
const COMPARED_KERNEL_NUMBERS = ["total_ms", "calls"] as const;

/** Of kernels, shares in percent, named as in `hardware`. */
export const COMPARED_COUNTERS = ["sm_pct", "memory_pct", "tensor_pct", "occupancy_pct"] as const;

/** Of kernels: it follows from how they were compiled and launched. */
export const COMPARED_LIMIT = "occupancy_limit_pct";

/** All of them, by what has them. */
export const COMPARED_NUMBERS: Readonly<
  Record<"totals" | "regions" | "kernels", readonly string[]>
> = {
  totals: COMPARED_TOTALS,
  regions: [
    ...COMPARED_COLUMN_KEYS.map(comparedName),
    COMPARED_BUSY_SHARE,
    ...Object.keys(COMPARED_ACTIVITY),
  ],
  kernels: [...COMPARED_KERNEL_NUMBERS, ...COMPARED_COUNTERS, COMPARED_LIMIT],
};
