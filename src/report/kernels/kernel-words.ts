import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../document.ts";
import { NOT_MEASURED } from "../numbers.ts";

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

/** Ranges that were measured as a whole have GPU time and no kernels. */
const RANGES: KernelWords = { ...GPU, time: "GPU time of ranges" };

/** Asked for by every part of a report, which never changes and can have millions of kernels. */
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

/** What a run measured also where nothing of it ran in these regions, which can be a few of many. */
function wordsWithoutKernels({ collector, regions }: NCUProfileRegionReport): KernelWords | null {
  if (collector.kernel_clock === null) return null;
  if (collector.kernel_clock === "cpu") return CPU;
  return regions.some(({ total_ms }) => total_ms !== 0) ? RANGES : GPU;
}

/** Counts as tables show them: zero is not what was counted where counting is impossible. */
export const shownKernelCount = ({ kernel_count, total_ms }: NCUProfileRegion): string =>
  kernel_count === 0 && (total_ms ?? 0) > 0 ? NOT_MEASURED : String(kernel_count);

/**
 * ncu tells which range a kernel was launched in, not how often the range was opened; what is outside of all
 * ranges was never opened.
 */
export const shownCalls = ({ invocations }: NCUProfileRegion): string =>
  invocations === 0 ? NOT_MEASURED : String(invocations);
