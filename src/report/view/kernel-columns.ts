/** How tables show kernels: what a report calls the entries of its lists, and columns for hardware counters. */
import type {
  KernelHardware,
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
  OccupancyLimit,
} from "../model/document.ts";
import { LIMIT_LEGEND } from "./gpu-utilization.ts";
import { formatShare, NOT_MEASURED } from "./numbers.ts";

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

/** Counts as tables show them: no zero if counting was impossible. */
export const shownKernelCount = ({ kernel_count, total_ms }: NCUProfileRegion): string =>
  kernel_count === 0 && (total_ms ?? 0) > 0 ? NOT_MEASURED : String(kernel_count);

/**
 * ncu reports which range a kernel was launched in, not how often the range was opened. The bucket outside
 * all ranges was never opened.
 */
export const shownCalls = ({ invocations }: NCUProfileRegion): string =>
  invocations === 0 ? NOT_MEASURED : String(invocations);

// What hardware counters say about kernels, as table columns: only those for which some kernel has a value.

type Measured = Pick<KernelRecord, "hardware">;

export interface HardwareColumn {
  /** Heading in narrow tables. */
  readonly short: string;
  readonly heading: string;
  /** Absent for words. */
  readonly align?: "right";
  readonly cell: (kernel: Measured) => string;
}

/** What the numbers in these columns mean; null without columns. */
export function hardwareLegend(columns: readonly HardwareColumn[]): string | null {
  const sentences = LEGENDS.filter(([short]) => columns.some((each) => each.short === short));
  return sentences.length === 0 ? null : sentences.map(([, sentence]) => sentence).join(" ");
}

const LEGENDS: readonly (readonly [short: string, sentence: string])[] = [
  ["Limit", LIMIT_LEGEND],
  ["Tensor %", "Tensor % is the share of the tensor cores' peak, 0 where they were not used."],
  ["Occ %", "Occupancy is the share of a multiprocessor's warps that were active."],
  [
    "Occ limit",
    "Occupancy limit is the highest occupancy that the launch allows, and what limits it.",
  ],
];

export function hardwareColumns(kernels: readonly Measured[]): readonly HardwareColumn[] {
  return COLUMNS.filter(({ cell }) => kernels.some((kernel) => cell(kernel) !== NOT_MEASURED));
}

type TextOf = (hardware: KernelHardware) => string | null;

const words = (short: string, heading: string, text: TextOf): HardwareColumn => ({
  short,
  heading,
  cell: ({ hardware }) => (hardware && text(hardware)) ?? NOT_MEASURED,
});
const share = (
  name: string,
  short: string,
  of: (hardware: KernelHardware) => number | null,
): HardwareColumn => ({
  ...words(short, name, (hardware) => formatShare(of(hardware), 100)),
  align: "right",
});

export const OCCUPANCY_LIMIT = "Occupancy limit";

const COLUMNS: readonly HardwareColumn[] = [
  share("SM %", "SM %", ({ sm_pct }) => sm_pct),
  share("Memory %", "Mem %", ({ memory_pct }) => memory_pct),
  words("Limit", "Limited by", ({ limited_by }) => limited_by),
  share("Tensor %", "Tensor %", ({ tensor_pct }) => tensor_pct),
  share("Occupancy %", "Occ %", ({ occupancy_pct }) => occupancy_pct),
  words("Occ limit", OCCUPANCY_LIMIT, occupancyLimitText),
];

const WORDS: Readonly<Record<OccupancyLimit, string>> = {
  registers: "registers",
  shared_memory: "shared memory",
  warps: "warps",
  blocks: "blocks",
  barriers: "barriers",
};

/** `50.0 %: registers`, or the part that is known; null if neither is. */
export function occupancyLimitText({
  occupancy_limit_pct,
  occupancy_limited_by,
}: Pick<KernelHardware, "occupancy_limit_pct" | "occupancy_limited_by">): string | null {
  const why = occupancy_limited_by.map((limit) => WORDS[limit]).join(", ");
  if (occupancy_limit_pct === null) return why === "" ? null : why;
  const most = `${formatShare(occupancy_limit_pct, 100)} %`;
  return why === "" ? most : `${most}: ${why}`;
}
