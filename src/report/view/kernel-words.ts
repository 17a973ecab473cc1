/** The terms that a report uses for the entries of its kernel lists. */
import type { KernelRecord, NCUProfileRegionReport } from "../model/document.ts";

/** The terms for the entries of a kernel list. CPU operations are never called GPU kernels. */
export interface KernelWords {
  /** The column heading. */
  readonly heading: string;
  readonly one: string;
  readonly many: string;
  /** The kind of time in the list. */
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

/** The kinds that occur, each once. */
function kindsIn(kernels: readonly KernelRecord[]): readonly KernelRecord["kind"][] {
  const kinds: KernelRecord["kind"][] = [];
  for (const { kind } of kernels) if (!kinds.includes(kind)) kinds.push(kind);
  return kinds;
}

/** For ranges that are measured as a whole: they have GPU time but no kernels. */
const RANGES: KernelWords = { ...GPU, time: "GPU time of ranges" };

/** Cached, because every part of a report needs it; reports are immutable and may have millions of kernels. */
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

/** The terms according to what the run measured, for a selection of regions in which nothing of it ran. */
function wordsWithoutKernels({ collector, regions }: NCUProfileRegionReport): KernelWords | null {
  if (collector.kernel_clock === null) return null;
  if (collector.kernel_clock === "cpu") return CPU;
  return regions.some(({ total_ms }) => total_ms !== 0) ? RANGES : GPU;
}
