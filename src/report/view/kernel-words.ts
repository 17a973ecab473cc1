/** What a report calls the entries of its kernel lists. */
import type { KernelRecord, NCUProfileRegionReport } from "../model/document.ts";

/** How a report names the entries of its kernel lists. CPU operations are never called GPU kernels. */
export interface KernelWords {
  /** Column heading. */
  readonly heading: string;
  readonly one: string;
  readonly many: string;
  /** What kind of time the list shows. */
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

/** Null if nothing of either kind was recorded. */
export const kernelWords = (kernels: readonly KernelRecord[]): KernelWords | null =>
  wordsOfKinds(kindsIn(kernels));

export function wordsOfKinds(kinds: readonly KernelRecord["kind"][]): KernelWords | null {
  const gpu = kinds.includes("gpu_kernel");
  const cpu = kinds.includes("cpu_operation");
  if (gpu && cpu) return BOTH;
  if (gpu) return GPU;
  return cpu ? CPU : null;
}

/** Each once. */
function kindsIn(kernels: readonly KernelRecord[]): readonly KernelRecord["kind"][] {
  const kinds: KernelRecord["kind"][] = [];
  for (const { kind } of kernels) if (!kinds.includes(kind)) kinds.push(kind);
  return kinds;
}

/** Ranges measured as a whole have GPU time but no kernels. */
const RANGES: KernelWords = { ...GPU, time: "GPU time of ranges" };

/** Cached: every part of a report asks for it, and a report never changes but can have millions of kernels. */
const known = new WeakMap<NCUProfileRegionReport, { readonly words: KernelWords | null }>();

export function reportKernelWords(report: NCUProfileRegionReport): KernelWords | null {
  let found = known.get(report);
  if (found === undefined) {
    const kinds = report.regions.flatMap(({ kernels }) => kindsIn(kernels));
    found = { words: wordsOfKinds(kinds) ?? wordsWithoutKernels(report) };
    known.set(report, found);
  }
  return found.words;
}

/** What a run measured, even if nothing of it ran in these regions, which may be a few of many. */
function wordsWithoutKernels({ collector, regions }: NCUProfileRegionReport): KernelWords | null {
  if (collector.kernel_clock === null) return null;
  if (collector.kernel_clock === "cpu") return CPU;
  return regions.some(({ total_ms }) => total_ms !== 0) ? RANGES : GPU;
}
