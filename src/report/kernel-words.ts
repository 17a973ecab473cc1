import type { KernelRecord, NCUProfileRegionReport } from "./document.ts";

/** What a report calls the things in its kernel lists. CPU operations are never GPU kernels. */
export interface KernelWords {
  /** Column heading. */
  readonly heading: string;
  readonly one: string;
  readonly many: string;
  /** What the time of the list is. */
  readonly time: string;
}

const GPU: KernelWords = {
  heading: "Kernels",
  one: "GPU kernel",
  many: "GPU kernels",
  time: "GPU time of kernels",
};
const CPU: KernelWords = {
  heading: "CPU ops",
  one: "CPU operation",
  many: "CPU operations",
  time: "time of CPU operations",
};
const BOTH: KernelWords = {
  heading: "Kernels+ops",
  one: "GPU kernel or CPU operation",
  many: "GPU kernels and CPU operations",
  time: "GPU time of kernels and time of CPU operations",
};

/** Null where nothing of either kind was recorded. */
export function kernelWords(kernels: readonly KernelRecord[]): KernelWords | null {
  const gpu = kernels.some(({ kind }) => kind === "gpu_kernel");
  const cpu = kernels.some(({ kind }) => kind === "cpu_operation");
  if (gpu && cpu) return BOTH;
  if (gpu) return GPU;
  return cpu ? CPU : null;
}

export const reportKernelWords = (report: NCUProfileRegionReport): KernelWords | null =>
  kernelWords(report.regions.flatMap(({ kernels }) => kernels));
