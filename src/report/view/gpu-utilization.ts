/**
 * How a region or kernel used its GPU: how long it was busy, and how close it came to the peak rates of its processors
 * and memory. Follows the rule of Nsight Compute's section "GPU Speed Of Light Throughput": below 60 % of both peaks,
 * kernels wait for latencies; otherwise the larger share is the limit. Must not import Node modules: the page's script
 * imports it, too.
 */

import { formatPercentage } from "../../pages/numbers.ts";
import type { Limit, NCUProfileRegion } from "../model/document.ts";

export interface SpeedOfLight {
  /** Percent of the peak of the streaming multiprocessors. */
  readonly compute: number;
  /** Percent of the peak of the busiest part of the memory: caches, DRAM or the paths between. */
  readonly memory: number;
  readonly limit: Limit;
}

/** From this percentage of a peak on, that peak is the limit. */
const BUSY = 60;
/** Both peaks are limits if their shares differ by less than this, in percentage points. */
const BALANCED = 10;

type Metrics = NCUProfileRegion["metrics"];

const peakShare = (counter: string): string => `${counter}.avg.pct_of_peak_sustained_elapsed`;

/** In order of preference: metric names, then their labels in ncu's details page, newest first. */
export const LIMIT_OF_COMPUTE = [
  peakShare("sm__throughput"),
  "Compute (SM) Throughput",
  "Compute (SM) [%]",
  "SM [%]",
];
const MEMORY = [peakShare("gpu__compute_memory_throughput"), "Memory Throughput", "Memory [%]"];
const DRAM = [peakShare("gpu__dram_throughput"), peakShare("dram__throughput")];
/** ncu's total is the maximum of these. */
const MEMORY_PARTS = [...DRAM, peakShare("lts__throughput"), peakShare("l1tex__throughput")];

/** Metric names of the traffic of the GPU's memory, and their labels in ncu's details page. */
export const DRAM_NAMES = [...DRAM, "DRAM Throughput", "DRAM [%]"];

const LIMIT_METRICS: ReadonlySet<string> = new Set([
  ...LIMIT_OF_COMPUTE,
  ...MEMORY,
  ...MEMORY_PARTS,
]);

/** Whether a metric, or its label in the details page, is used to determine limits. */
export const isLimitMetric = (name: string): boolean => LIMIT_METRICS.has(name);

/** Null unless both were measured. */
export function speedOfLight({ metrics }: Pick<NCUProfileRegion, "metrics">): SpeedOfLight | null {
  const compute = computeShare(metrics);
  const memory = memoryShare(metrics);
  if (compute === null || memory === null) return null;
  return { compute, memory, limit: limitOf(compute, memory) };
}

/** From this percentage of a peak on, the peak limits a kernel, whatever its warps stall for. */
const NEAR_PEAK = 80;

export function isNearPeak(region: Pick<NCUProfileRegion, "metrics">): boolean {
  const sol = speedOfLight(region);
  return sol !== null && Math.max(sol.memory, sol.compute) >= NEAR_PEAK;
}

/** Percent of the peak of the streaming multiprocessors; null if not measured. */
export const computeShare = (metrics: Metrics): number | null =>
  percentages(metrics, LIMIT_OF_COMPUTE)[0] ?? null;

/** Percent of the peak of the busiest part of the memory; null if not measured. */
export const memoryShare = (metrics: Metrics): number | null =>
  percentages(metrics, MEMORY)[0] ?? largest(percentages(metrics, MEMORY_PARTS));

/** Percent of the peak bandwidth of the GPU's memory itself, where that limits: the multiprocessors are less busy, or not measured. */
export function limitingDramShare(metrics: Metrics): number | null {
  const dram = largest(percentages(metrics, DRAM_NAMES));
  if (dram === null || dram < BUSY) return null;
  return dram - (computeShare(metrics) ?? 0) < BALANCED ? null : dram;
}

export function limitOf(compute: number, memory: number): Limit {
  if (Math.max(compute, memory) < BUSY) return "latency";
  if (Math.abs(compute - memory) < BALANCED) return "both";
  return compute > memory ? "compute" : "memory";
}

/**
 * The first of the names that was measured, as a percentage. A label may also stand for a rate, which is no percentage.
 */
export const percentages = (metrics: Metrics, names: readonly string[]): readonly number[] =>
  names.flatMap((name) => {
    const metric = metrics[name];
    return metric?.unit === "%" && metric.value !== null ? [metric.value] : [];
  });

export const largest = (values: readonly number[]): number | null =>
  values.length === 0 ? null : Math.max(...values);

export const LIMIT_LEGEND = `SM % and Memory % are shares of the peak; the larger one limits, both if they are close, and latency if neither reaches ${BUSY} %.`;

const WORDS: Readonly<Record<Limit, string>> = {
  compute: "arithmetic",
  memory: "moving data",
  both: "arithmetic and moving data alike",
  latency: "waiting, since neither is near its peak",
};

/** A description for readers who do not profile. */
export const limitInWords = ({ compute, memory, limit }: SpeedOfLight): string =>
  `${WORDS[limit]} (memory ${formatPercentage(memory)} % of its peak, arithmetic ${formatPercentage(compute)} %)`;

// GPU activity while a range was open.

type Region = Pick<NCUProfileRegion, "gpu_activity" | "wall_ms">;

/** Percent of the wall time; null if unknown. */
export const busyShare = ({ gpu_activity, wall_ms }: Region): number | null =>
  gpu_activity === undefined || wall_ms === null || wall_ms === 0
    ? null
    : (gpu_activity.busy_ms / wall_ms) * 100;

export const haveActivity = (regions: readonly Region[]): boolean =>
  regions.some(({ gpu_activity }) => gpu_activity !== undefined);

export const BUSY_HEADING = "GPU busy %";

export const BUSY_LEGEND =
  "GPU busy is the part of Wall in which a kernel, copy or set of memory ran, whichever range launched it; for the rest of Wall the GPU was idle.";
