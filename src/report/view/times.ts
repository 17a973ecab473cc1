/**
 * Times of a report for readers, and the words for what was timed. Null means not measured: every GPU kernel takes some time,
 * so that a 0 of a report, which earlier versions wrote for a kernel without a time, is never a measurement.
 */

import { plural } from "../../foundation/text/plural.ts";
import { percentOf } from "../../pages/numbers.ts";
import type {
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionRanks,
} from "../model/document.ts";
import { startsAt } from "../model/region-path.ts";

/** The terms for the entries of a kernel list. CPU operations are never called GPU kernels. */
export interface KernelWords {
  /** The column heading. */
  readonly heading: string;
  readonly singular: string;
  readonly plural: string;
  /** The kind of time in the list. */
  readonly time: string;
}

const GPU: KernelWords = {
  heading: "Kernels",
  singular: "GPU kernel",
  plural: "GPU kernels",
  time: "GPU time of kernels",
};
const CPU: KernelWords = {
  heading: "CPU ops",
  singular: "CPU operation",
  plural: "CPU operations",
  time: "time of CPU operations",
};
const BOTH: KernelWords = {
  heading: "Kernels+ops",
  singular: "GPU kernel or CPU operation",
  plural: "GPU kernels and CPU operations",
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
export const RANGE_TIME = "GPU time of ranges";
const RANGES: KernelWords = { ...GPU, time: RANGE_TIME };

/** Cached, because every part of a report needs it; reports are immutable and may have millions of kernels. */
const wordsOf = new WeakMap<NCUProfileRegionReport, { readonly words: KernelWords | null }>();

export function reportKernelWords(report: NCUProfileRegionReport): KernelWords | null {
  let found = wordsOf.get(report);
  if (found === undefined) {
    const kinds = report.regions.flatMap(({ kernels }) => kindsIn(kernels));
    found = { words: wordsOfKinds(kinds) ?? wordsWithoutKernels(report) };
    wordsOf.set(report, found);
  }
  return found.words;
}

/** The terms according to what the run measured, for a selection of regions in which nothing of it ran. */
function wordsWithoutKernels({ collector, regions }: NCUProfileRegionReport): KernelWords | null {
  if (collector.kernel_clock === null) return null;
  if (collector.kernel_clock === "cpu") return CPU;
  return regions.some(({ total_ms }) => total_ms !== 0) ? RANGES : GPU;
}

/** Whether GPU time is that of ranges that were measured as a whole, with the time in which no kernel ran. */
export const isOfRanges = (report: NCUProfileRegionReport): boolean =>
  reportKernelWords(report) === RANGES;

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

/** What the shares of a report refer to: the run, or kernel time if only kernels were measured, else wall time of ranges. */
export interface ShareBase {
  /** The time of a region from which its share is computed. */
  readonly basis: "total" | "wall";
  readonly timeOf: (region: NCUProfileRegion) => number | null;
  readonly whole: number | null;
  /** 100 % as a phrase; null if nothing was timed, so that there are no shares. */
  readonly label: string | null;
}

export function shareBase(report: NCUProfileRegionReport): ShareBase {
  const { run } = report.totals;
  if (run !== undefined)
    return {
      basis: "wall",
      timeOf: ({ wall_ms }) => wall_ms,
      whole: run.process_ms,
      label: `wall time of ${run.process_count > 1 ? `the ${plural(run.process_count, "process", "processes")} of the run, added up` : "the run"}${overlaps(report) ? ` ${AT_ONCE}` : ""}`,
    };
  const words = reportKernelWords(report);
  const total_ms = wholeMs(report);
  if (total_ms !== null && total_ms > 0)
    return {
      basis: "total",
      timeOf: totalMs,
      whole: total_ms,
      label: `total ${words?.time ?? "time"}`,
    };
  return { basis: "wall", timeOf: ({ wall_ms }) => wall_ms, ...wholeWall(report) };
}

/**
 * Times without inner regions, on the clock that the report's shares refer to; with inner regions if their parts are
 * unknown.
 */
export function ownTimes(
  report: NCUProfileRegionReport,
): (region: NCUProfileRegion) => number | null {
  if (shareBase(report).basis === "wall") return ({ wall_exclusive_ms }) => wall_exclusive_ms;
  const isWhole = report.regions.every(({ exclusive_ms }) => exclusive_ms === null);
  return isWhole ? totalMs : exclusiveMs;
}

function wholeWall(report: NCUProfileRegionReport): Pick<ShareBase, "whole" | "label"> {
  const { wall_ms } = report.totals;
  if (wall_ms !== null)
    return {
      whole: wall_ms,
      label: `wall time covered by outermost ranges${overlaps(report) ? ` ${AT_ONCE}` : ""}`,
    };
  const [top, ...others] = report.regions;
  if (top === undefined || top.wall_ms === null) return { whole: null, label: null };
  return others.every((other) => startsAt(other, top))
    ? { whole: top.wall_ms, label: "the wall time of the region" }
    : { whole: null, label: null };
}

const AT_ONCE = "(no share where ranges at the same time take more than that)";

/** Rounding, and the clock of the run's start, can make the share of a single thread a little more than the whole. */
const ALL = 100.5;

/** In percent of the whole; null if either is unknown, and for more than the whole, which is no share of it. */
export function shareOf(part: number | null, whole: number | null): number | null {
  const share = percentOf(part, whole);
  return share === null || share > ALL ? null : share;
}

/** Time of threads, calls or kernels at once. */
export interface AtOnce {
  readonly average: number;
  readonly what: "threads" | "calls" | "kernels";
}

/** How many were busy on average; null for at most the whole. @param explained which time of the region */
export function atOnceIn(
  { kind }: NCUProfileRegion,
  ms: number,
  whole: number | null,
  explained: "wall" | "gpu",
): AtOnce | null {
  if (whole === null || shareOf(ms, whole) !== null) return null;
  const average = ms / whole;
  // Of a whole that is nothing, or next to nothing.
  if (!Number.isFinite(average)) return null;
  const what = explained === "gpu" ? "kernels" : kind === "start_end" ? "calls" : "threads";
  return { average, what };
}

/** `3.4 threads on average`; of kernels, while any runs. */
export const atOnceWords = ({ average, what }: AtOnce): string =>
  `${average.toFixed(1)} ${what} ${what === "kernels" ? "at once " : ""}on average`;

/** Whether outermost ranges of several threads, or start/end ranges, were open at the same time. */
function overlaps({ regions, totals }: NCUProfileRegionReport): boolean {
  const roots = regions.filter(({ depth, kind }) => depth === 0 && kind !== "outside");
  const sum = roots.reduce((total, { wall_ms }) => total + (wall_ms ?? 0), 0);
  return sum > (totals.run?.in_ranges_ms ?? totals.wall_ms ?? 0) * 1.001;
}

// Processor time of the threads that opened ranges.

export const haveCpuTime = (regions: readonly NCUProfileRegion[]): boolean =>
  regions.some(({ cpu_ms }) => cpu_ms !== undefined);

export const CPU_HEADING = "On CPU %";

export const CPU_LEGEND =
  "CPU is the processor time of the threads that opened the ranges; On CPU its share of Wall: in the rest they waited, or other programs had the processors.";

/** In percent of the wall time; null if either is unknown. */
export const onCpuShare = ({ cpu_ms, wall_ms }: NCUProfileRegion): number | null =>
  percentOf(cpu_ms ?? null, wall_ms);

/**
 * For communication: whether the others wait for one rank, and for the same one each time. That rank itself waits
 * little.
 */
const isOneLate = ({ min_ms, mean_ms }: RegionRanks): boolean => min_ms <= 0.75 * mean_ms;

/** Times of ranks that differ by less than this part are equal. */
const EVEN = 0.001;

/** Whether no rank is slower than the others: those that entered took equally long, or none waited. */
const areEven = ({ wall_ms, min_ms, max_ms, waiting_ms }: RegionRanks): boolean =>
  waiting_ms === undefined
    ? wall_ms.filter((ms) => ms !== null).length > 1 && max_ms - min_ms <= max_ms * EVEN
    : waiting_ms === 0;

/** The rank that takes longest, or that the others wait for. */
export const slowestRank = (ranks: RegionRanks): string => {
  if (areEven(ranks)) return "none";
  return ranks.waiting_ms === undefined || isOneLate(ranks)
    ? `rank ${ranks.slowest_rank}`
    : "varies";
};

/** What ranks wait for, and the advice. */
export const lastRank = (
  ranks: RegionRanks,
): { readonly title: string; readonly advice: string } =>
  isOneLate(ranks)
    ? {
        title: `waits for rank ${ranks.slowest_rank}, which comes late`,
        advice: `see what rank ${ranks.slowest_rank} does before it, in scope rank:${ranks.slowest_rank}`,
      }
    : {
        title: "waits for the last rank, another one each time",
        advice:
          "give each rank a processor of its own, or look for what varies in what ranks do before it",
      };
