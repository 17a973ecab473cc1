/**
 * Times of a report as people see them: null means not measured. The contract has no null for a kernel's time,
 * so a kernel that ncu counted without collecting its duration has 0 there. Since every GPU kernel takes some
 * time, that zero is never a measurement.
 */
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "./document.ts";

export const kernelMs = ({
  kind,
  total_ms,
}: Pick<KernelRecord, "kind" | "total_ms">): number | null =>
  kind === "gpu_kernel" && total_ms === 0 ? null : total_ms;

export const meanMs = ({ kind, mean_ms }: KernelRecord): number | null =>
  kernelMs({ kind, total_ms: mean_ms });

export const totalMs = (region: NCUProfileRegion): number | null =>
  isUntimed(region) ? null : region.total_ms;

export const exclusiveMs = (region: NCUProfileRegion): number | null =>
  isUntimed(region) ? null : region.exclusive_ms;

const isUntimed = ({ total_ms, kernels }: NCUProfileRegion): boolean =>
  total_ms === 0 && kernels.some(({ kind }) => kind === "gpu_kernel");

/** The time of all kernels of the report, in milliseconds. */
export const wholeMs = ({ totals, regions }: NCUProfileRegionReport): number | null =>
  totals.total_ms === 0 && regions.some(isUntimed) ? null : totals.total_ms;
