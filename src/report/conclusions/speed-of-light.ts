/**
 * What limits a region, or a kernel: how near it came to the most that its GPU's processors and memory can do.
 * Follows the rule of Nsight Compute's section "GPU Speed Of Light Throughput": below 60 % of both
 * peaks, kernels wait for latencies; else the larger share tells.
 */
import type { Limit, NCUProfileRegion } from "../document.ts";
import { formatShare, NOT_MEASURED } from "../numbers.ts";

export interface SpeedOfLight {
  /** Percent of the peak of the streaming multiprocessors. */
  readonly compute: number;
  /** Percent of the peak of the busiest part of the memory: caches, DRAM or the paths between. */
  readonly memory: number;
  readonly limit: Limit;
}

/** Percent of a peak from which on it limits. */
const BUSY = 60;
/** Shares that are not further apart, in percent of the peaks, limit together. */
const BALANCED = 10;

type Metrics = NCUProfileRegion["metrics"];

const peakShare = (counter: string): string => `${counter}.avg.pct_of_peak_sustained_elapsed`;

/** By preference: names of metrics, then their labels in ncu's details page, newest first. */
const COMPUTE = [
  peakShare("sm__throughput"),
  "Compute (SM) Throughput",
  "Compute (SM) [%]",
  "SM [%]",
];
const MEMORY = [peakShare("gpu__compute_memory_throughput"), "Memory Throughput", "Memory [%]"];
/** What ncu's own number is the largest of. */
const MEMORY_PARTS = [
  peakShare("gpu__dram_throughput"),
  peakShare("dram__throughput"),
  peakShare("lts__throughput"),
  peakShare("l1tex__throughput"),
];

const LIMIT_METRICS: ReadonlySet<string> = new Set([...COMPUTE, ...MEMORY, ...MEMORY_PARTS]);

/** Whether a metric, or its label in the details page, is one of those that limits are told by. */
export const tellsLimits = (name: string): boolean => LIMIT_METRICS.has(name);

/** Null where one of the two was not measured. */
export function speedOfLight({ metrics }: Pick<NCUProfileRegion, "metrics">): SpeedOfLight | null {
  const compute = computeShare(metrics);
  const memory = memoryShare(metrics);
  if (compute === null || memory === null) return null;
  return { compute, memory, limit: limitOf(compute, memory) };
}

/** Percent of the peak of the streaming multiprocessors; null where it was not measured. */
export const computeShare = (metrics: Metrics): number | null =>
  percentages(metrics, COMPUTE)[0] ?? null;

/** Percent of the peak of the busiest part of the memory; null where it was not measured. */
export const memoryShare = (metrics: Metrics): number | null =>
  percentages(metrics, MEMORY)[0] ?? largest(percentages(metrics, MEMORY_PARTS));

export function limitOf(compute: number, memory: number): Limit {
  if (Math.max(compute, memory) < BUSY) return "latency";
  if (Math.abs(compute - memory) < BALANCED) return "both";
  return compute > memory ? "compute" : "memory";
}

/** Of those that were measured. A label can also name a rate, which is no share. */
export const percentages = (metrics: Metrics, names: readonly string[]): readonly number[] =>
  names.flatMap((name) => {
    const metric = metrics[name];
    return metric?.unit === "%" && metric.value !== null ? [metric.value] : [];
  });

export const largest = (values: readonly number[]): number | null =>
  values.length === 0 ? null : Math.max(...values);

/** A column of a table of regions. */
export interface LimitColumn {
  /** Where there is little room. */
  readonly short: string;
  readonly heading: string;
  /** Words, which the other columns have the numbers of. */
  readonly isVerdict: boolean;
  readonly cell: (region: NCUProfileRegion) => string;
}

/** Of tables of these regions; none where nothing of it was measured. */
export function limitColumns(regions: readonly NCUProfileRegion[]): readonly LimitColumn[] {
  const known = new Map(regions.map((region) => [region, speedOfLight(region)]));
  if ([...known.values()].every((each) => each === null)) return [];
  const cell =
    (text: (of: SpeedOfLight) => string): LimitColumn["cell"] =>
    (region) => {
      const found = known.get(region);
      return found == null ? NOT_MEASURED : text(found);
    };
  const share = (of: (found: SpeedOfLight) => number): LimitColumn["cell"] =>
    cell((found) => formatShare(of(found), 100));
  return [
    { short: "SM %", heading: "SM %", isVerdict: false, cell: share(({ compute }) => compute) },
    { short: "Mem %", heading: "Memory %", isVerdict: false, cell: share(({ memory }) => memory) },
    { short: "Limit", heading: "Limited by", isVerdict: true, cell: cell(({ limit }) => limit) },
  ];
}

export const LIMIT_LEGEND = `SM % and Memory % are shares of the peak; the larger one limits, both where they are near each other, and latency where neither reaches ${BUSY} %.`;

const WORDS: Readonly<Record<Limit, string>> = {
  compute: "arithmetic",
  memory: "moving data",
  both: "arithmetic and moving data alike",
  latency: "waiting, since neither is near its peak",
};

/** For people who do not profile. */
export const limitInWords = ({ compute, memory, limit }: SpeedOfLight): string =>
  `${WORDS[limit]} (memory ${formatShare(memory, 100)} % of its peak, arithmetic ${formatShare(compute, 100)} %)`;
