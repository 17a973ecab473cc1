/**
 * Regions with their numbers, as measured: nanoseconds on the timeline's clock, before any unit or
 * document format. Built once, never changed.
 */
import type {
  CounterStatistics,
  KernelRecord,
  KernelRepeats,
  PayloadStatistics,
  RankInfo,
  RegionRanks,
  RegionRepeats,
  ReportScope,
} from "../../report/model/document.ts";
import type { Placed } from "../../report/model/region-path.ts";
import type { SelectionPatterns } from "../../report/selection/range-pattern.ts";
import type { ThreadCounts } from "../model/timeline.ts";
import type { ActivityTotals, GpuActivity, GpuUse } from "./gpu-activity.ts";
import type { KernelIdentity } from "./kernel-names.ts";
import type { RegionKind } from "./path-tree.ts";

/**
 * Regions with their numbers, before they are a report. Times are nanoseconds (fields that end
 * with `Ns`).
 */
export interface RegionModel {
  readonly collector: string;
  /** Clock of the wall times. */
  readonly clock: string;
  readonly selection: SelectionPatterns;
  /** What was measured at all; absent where all was, and `selection` chose what is shown. */
  readonly measuredSelection?: MeasuredSelection;
  /** Which kernels were counted; absent where all were. */
  readonly kernelSelection?: KernelSelectionPatterns;
  /** The aggregate first when it is on, then processes by id, then devices by name. */
  readonly scopes: readonly ScopeModel[];
}

/** The regions of one scope: everything, a process, or a device. */
export interface ScopeModel {
  readonly scope: ReportScope;
  /** Selected regions, depth first in order of first appearance; the outside bucket last. */
  readonly regions: readonly RegionModelEntry[];
  /** Of a parallel program; only of the scope of all. */
  readonly ranks?: readonly RankInfo[];
  readonly totals: ScopeTotals;
  /** Over repeated runs; absent without, and of other scopes than that of all. */
  readonly kernelRepeats?: readonly KernelRepeats[];
  readonly notes: readonly string[];
}

/** Totals of the whole scope, whatever the selection shows of it. */
export interface ScopeTotals {
  readonly kernelCount: number;
  /** Null where neither kernels nor operations were recorded. */
  readonly kernelNs: number | null;
  readonly outsideNs: number | null;
  readonly outsideKernelCount: number;
  /** Time covered by at least one outermost range. */
  readonly wallNs: number | null;
  /** Processor time of threads in ranges; absent where it is not known of any. */
  readonly cpuNs?: number;
  readonly kernelKinds: readonly KernelIdentity["kind"][];
  /** The run with and without ranges; absent where only kernels were measured. */
  readonly run?: RunSpan;
}

/** Wall time of processes, those of several added up. */
export interface RunSpan {
  /** In which at least one process ran. */
  readonly wallNs: number;
  readonly processNs: number;
  readonly processCount: number;
  readonly inRangesNs: number;
  /** Null without ranges. */
  readonly beforeRangesNs: number | null;
  readonly afterRangesNs: number | null;
  /** Null where no GPU was seen. */
  readonly gpu: GpuUse | null;
  readonly gpuInRanges: GpuUse | null;
}

/**
 * A region of a scope. Inclusive numbers contain the regions inside it, `exclusive...` ones do
 * not.
 */
export interface RegionModelEntry extends Placed {
  readonly kind: RegionKind;
  readonly device: string | null;
  readonly processId: number | null;
  readonly invocations: number;
  readonly kernelNs: number | null;
  readonly exclusiveKernelNs: number | null;
  readonly wallNs: number | null;
  readonly exclusiveWallNs: number | null;
  readonly invocationWallNs: Statistics | null;
  /** Processor time of the threads that opened the ranges; absent unless it is known of each. */
  readonly cpu?: RegionCpu;
  /** Their page faults and context switches; absent unless they are known of each. */
  readonly counts?: ThreadCounts;
  /** Invocations that were never closed, whose times are the least that is known; absent for none. */
  readonly unclosed?: number;
  readonly kernelCount: number;
  /** Longest first; as the report has them, since there can be millions. */
  readonly kernels: readonly KernelRecord[];
  /** Over repeated runs. */
  readonly repeats?: RegionRepeats;
  /** Over the ranks of a parallel program; only in the scope of all. */
  readonly ranks?: RegionRanks;
  /** What the program gave with its ranges, and counted meanwhile. */
  readonly payloads?: readonly PayloadStatistics[];
  readonly counters?: readonly CounterStatistics[];
  /** Hardware metrics by the tool's names, children included; absent where none were measured. */
  readonly metrics?: ReadonlyMap<string, MetricNumber>;
  /** Sections of the tool's report, in its order. */
  readonly sections?: readonly SectionModel[];
  /** Copies, sets and waits, children's included; without an entry: none were recorded. */
  readonly activities?: ReadonlyMap<GpuActivity, ActivityTotals>;
  /** What GPUs did while the range was open; absent where no GPU was seen, or the range has no wall time. */
  readonly gpuUse?: GpuUse;
  readonly notes: readonly string[];
}

/** Nanoseconds of processors. */
export interface RegionCpu {
  readonly ns: number;
  readonly exclusiveNs: number;
  readonly invocationNs: Statistics;
}

/** In base units (ns, byte, cycle/s, byte/s); null where the region has no common value. */
export interface MetricNumber {
  readonly value: number | null;
  readonly unit: string;
}

/** A section of ncu (`SpeedOfLight`, ...) for one region. */
export interface SectionModel {
  readonly name: string;
  readonly metrics: ReadonlyMap<string, MetricNumber>;
  /** What the tool's rules say. */
  readonly messages: readonly SectionMessage[];
}

/** What a rule of ncu says of a section, e.g. where the bottleneck is. */
export interface SectionMessage {
  readonly rule: string;
  readonly type: string;
  readonly text: string;
  /** The tool's estimate in percent; null without one. */
  readonly speedup: number | null;
  /** Whether that is of the kernel's time (`global`), or of one part of the hardware; absent where the source does not say. */
  readonly speedup_type?: "local" | "global";
  /** For how many kernels it says so. */
  readonly results: number;
}

/** What a filter of ncu let be measured: what patterns over labels take, and what expressions of its own do. */
export interface MeasuredSelection {
  readonly patterns: SelectionPatterns;
  readonly expressions: SelectionPatterns;
}

/** Patterns over names of kernels, as the user wrote them; no include patterns mean all. */
export interface KernelSelectionPatterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly nameBase: "function" | "demangled" | "mangled";
  /** Names to which they were limited beside the patterns, the longest first; null: not limited. */
  readonly top?: readonly string[] | null;
}

/** Distribution of a sample, in the sample's unit. */
export interface Statistics {
  readonly min: number;
  /** The middle value, or the mean of the two middle ones. */
  readonly median: number;
  readonly max: number;
  /** Nearest rank: the smallest sample that at least 95 % of the samples do not exceed. */
  readonly p95: number;
  /** The first in time, where there is one order. */
  readonly first?: number;
}

/** Distribution of a sample in its own unit; null for an empty sample. */
export function describeSample(sample: readonly number[]): Statistics | null {
  const sorted = Float64Array.from(sample).sort();
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) return null;
  const lower = sorted[(sorted.length - 1) >> 1] ?? min;
  const upper = sorted[sorted.length >> 1] ?? max;
  // In integers first: 0.95 * n is not exact, and its error could move the rank by one.
  const rank = Math.ceil((95 * sorted.length) / 100);
  return { min, median: lower + (upper - lower) / 2, max, p95: sorted[rank - 1] ?? max };
}

// The distribution of a number over calls, in bounded memory: every value up to `MOST_EXACT` of them, then how many
// there are in buckets that grow by a constant factor (DDSketch: Masson, Rim and Lee, VLDB 2019), so that any quantile
// is known within a constant part of itself, whatever the distribution is, and samples can be merged.

/** Quantiles of at most so many values are exact. */
export const MOST_EXACT = 10_000;

/** Quantiles of more are at most this part of themselves away from the exact ones. */
export const RELATIVE_ERROR = 0.005;

/** Data and not closures: there can be a million of them, most with one value. */
export interface Sample {
  count: number;
  min: number;
  max: number;
  /** All values but the first, which is `min` of one; null while there is one, and once there are too many. */
  values: number[] | null;
  buckets: Buckets | null;
}

/** How many values are in each bucket: bucket i has those in (g^(i-1), g^i], g = (1 + e) / (1 - e). */
interface Buckets {
  /** At most zero. */
  none: number;
  /** The bucket of `counts[0]`. */
  first: number;
  /** Doubles: they count to 2^53. */
  counts: Float64Array;
}

const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const PER_E = 1 / Math.log(GROWTH);
const ROOM = 32;

export const createSample = (): Sample => ({
  count: 0,
  // Of none. Whole numbers from the start take no object of their own.
  min: 0,
  max: 0,
  values: null,
  buckets: null,
});

export function addToSample(sample: Sample, value: number): void {
  const { count, min } = sample;
  sample.count = count + 1;
  if (count === 0 || value < min) sample.min = value;
  if (count === 0 || value > sample.max) sample.max = value;
  if (sample.buckets !== null) addToBucket(sample.buckets, value, 1);
  else if (count === 0) return;
  else if (count === 1) sample.values = [min, value];
  else if (count < MOST_EXACT) sample.values?.push(value);
  else {
    addToBucket(bucketsOf(sample), value, 1);
  }
}

/** Adds all values of another sample, which stays as it is. */
export function mergeSample(into: Sample, from: Sample): void {
  if (from.buckets === null && into.count + from.count <= MOST_EXACT) {
    for (const value of valuesOf(from)) addToSample(into, value);
    return;
  }
  if (from.count === 0) return;
  const buckets = bucketsOf(into);
  into.min = into.count === 0 ? from.min : Math.min(into.min, from.min);
  into.max = into.count === 0 ? from.max : Math.max(into.max, from.max);
  into.count += from.count;
  if (from.buckets === null) {
    for (const value of valuesOf(from)) addToBucket(buckets, value, 1);
    return;
  }
  buckets.none += from.buckets.none;
  for (const [at, count] of from.buckets.counts.entries())
    if (count > 0) countIn(buckets, from.buckets.first + at, count);
}

const valuesOf = ({ count, min, values }: Sample): readonly number[] =>
  values ?? (count === 0 ? [] : [min]);

/** From here on there are buckets and no values. */
function bucketsOf(sample: Sample): Buckets {
  if (sample.buckets !== null) return sample.buckets;
  const buckets: Buckets = { none: 0, first: 0, counts: new Float64Array(0) };
  // What is being added is in `count`, and not among the values.
  for (const value of valuesOf(sample)) addToBucket(buckets, value, 1);
  sample.values = null;
  sample.buckets = buckets;
  return buckets;
}

function addToBucket(buckets: Buckets, value: number, count: number): void {
  if (value > 0) countIn(buckets, Math.ceil(Math.log(value) * PER_E), count);
  else buckets.none += count;
}

function countIn(buckets: Buckets, bucket: number, count: number): void {
  let at = bucket - buckets.first;
  if (at < 0 || at >= buckets.counts.length) {
    makeRoom(buckets, bucket);
    at = bucket - buckets.first;
  }
  buckets.counts[at] = (buckets.counts[at] ?? 0) + count;
}

function makeRoom(buckets: Buckets, bucket: number): void {
  const { first, counts } = buckets;
  const isEmpty = counts.length === 0;
  const from = isEmpty ? bucket - ROOM : Math.min(first, bucket - ROOM);
  const to = isEmpty ? bucket + ROOM : Math.max(first + counts.length, bucket + ROOM);
  const larger = new Float64Array(to - from);
  larger.set(counts, isEmpty ? 0 : first - from);
  buckets.first = from;
  buckets.counts = larger;
}

/** Whether its quantiles are within `RELATIVE_ERROR` and not exact. */
export const isApproximate = ({ buckets }: Sample): boolean => buckets !== null;

/** Null for an empty sample. Minimum and maximum are exact. */
export function describe(sample: Sample): Statistics | null {
  const { count, min, max, buckets } = sample;
  if (count === 0) return null;
  const valueAt = buckets === null ? exactly(sample) : nearly(sample, buckets);
  const lower = valueAt((count - 1) >> 1);
  const upper = valueAt(Math.floor(count / 2));
  // In integers first: 0.95 * n is not exact, and its error could move the rank by one.
  const rank = Math.ceil((95 * count) / 100);
  return { min, median: lower + (upper - lower) / 2, max, p95: valueAt(rank - 1) };
}

/** The value at a place among all in order, from 0. */
type ValueAt = (place: number) => number;

function exactly(sample: Sample): ValueAt {
  const sorted = Float64Array.from(valuesOf(sample)).sort();
  return (place) => sorted[place] ?? sample.max;
}

function nearly({ min, max }: Sample, { none, first, counts }: Buckets): ValueAt {
  return (place) => {
    let before = none;
    if (place < before) return Math.max(min, Math.min(max, 0));
    for (let at = 0; at < counts.length; at++) {
      before += counts[at] ?? 0;
      // Between the bucket's ends so that neither is further away than the error.
      if (place < before)
        return Math.min(max, Math.max(min, (2 * GROWTH ** (first + at)) / (GROWTH + 1)));
    }
    return max;
  };
}
