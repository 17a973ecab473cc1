/**
 * Regions with their measured numbers, in nanoseconds on the timeline's clock, independent of units and document
 * formats. Immutable.
 */
import type {
  CounterStatistics,
  DeviceName,
  KernelRecord,
  KernelRepeats,
  PayloadStatistics,
  RankInfo,
  RegionRanks,
  RegionRepeats,
  RegionThreads,
  ReportScope,
  UnshownRegion,
} from "../../report/model/document.ts";
import type { Placed } from "../../report/model/region-path.ts";
import type { SelectionPatterns } from "../../report/selection/range-pattern.ts";
import type { ThreadCounts } from "../model/timeline.ts";
import type { CallTally } from "./call-tally.ts";
import type { ActivityTotals, GpuActivity, GpuUse } from "./gpu-activity.ts";
import type { KernelIdentity } from "./kernel-names.ts";
import type { RegionKind } from "./path-tree.ts";
import type { SampleTally } from "./sample-tally.ts";

/** Regions with their numbers, before they become a report. Fields whose names end with `Ns` are nanoseconds. */
export interface RegionModel {
  readonly collector: string;
  /** The clock of wall times. */
  readonly clock: string;
  readonly selection: SelectionPatterns;
  /** What was measured; absent if everything was, so that `selection` applies only to what is shown. */
  readonly measuredSelection?: MeasuredSelection;
  /** Which kernels were counted; absent if all were. */
  readonly kernelSelection?: KernelSelectionPatterns;
  /** The aggregate, if it is enabled, then processes by id, then devices by name. */
  readonly scopes: readonly ScopeModel[];
}

/** The regions of one scope: everything, a process, or a device. */
export interface ScopeModel {
  readonly scope: ReportScope;
  /** Selected regions, depth first in order of first appearance; the outside bucket last. */
  readonly regions: readonly RegionModelEntry[];
  /** Families of several regions, and what is inside them; absent if there are none. */
  readonly families?: readonly RegionModelEntry[];
  /** The ranks of a parallel program; only in the scope of all. */
  readonly ranks?: readonly RankInfo[];
  readonly totals: ScopeTotals;
  /** Kernels over repeated runs; only in the scope of all, absent for a single run. */
  readonly kernelRepeats?: readonly KernelRepeats[];
  /** Regions that only other runs have than the shown one; as `kernelRepeats`. */
  readonly unshownRegions?: readonly UnshownRegion[];
  readonly notes: readonly string[];
}

/** Totals of the whole scope, independent of the selection. */
export interface ScopeTotals {
  readonly kernelCount: number;
  /** Null if neither kernels nor operations were recorded. */
  readonly kernelNs: number | null;
  readonly outsideNs: number | null;
  readonly outsideKernelCount: number;
  /** Time covered by at least one outermost range. */
  readonly wallNs: number | null;
  /** Processor time of threads in ranges; absent if unknown for all of them. */
  readonly cpuNs?: number;
  /** Instructions of threads in ranges; absent unless known for every range that one thread opened and closed. */
  readonly instructions?: number;
  readonly kernelKinds: readonly KernelIdentity["kind"][];
  /** The run with and without ranges; absent if only kernels were measured. */
  readonly run?: RunSpan;
  /** Over repeated runs, as `kernelRepeats`. */
  readonly repeats?: RegionRepeats;
}

/** Wall times of processes, added up. */
export interface RunSpan {
  /** Time during which at least one process ran. */
  readonly wallNs: number;
  readonly processNs: number;
  readonly processCount: number;
  readonly inRangesNs: number;
  /** Null without ranges. */
  readonly beforeRangesNs: number | null;
  readonly afterRangesNs: number | null;
  /** Null if no GPU activity was recorded. */
  readonly gpu: GpuUse | null;
  readonly gpuInRanges: GpuUse | null;
}

/** A region of a scope. Inclusive numbers include inner regions, `exclusive...` ones do not. */
export interface RegionModelEntry extends Placed {
  readonly kind: RegionKind;
  /** The number of regions, for the entry of a family. */
  readonly members?: number;
  readonly device: DeviceName | null;
  readonly processId: number | null;
  readonly invocations: number;
  readonly kernelNs: number | null;
  readonly exclusiveKernelNs: number | null;
  readonly wallNs: number | null;
  readonly exclusiveWallNs: number | null;
  readonly invocationWallNs: Statistics | null;
  /** Processor time of the threads that opened the ranges; absent unless known for every range. */
  readonly cpu?: RegionCpu;
  /** Their page faults, context switches and disk blocks; absent unless known for every range. */
  readonly counts?: ThreadCounts;
  /** Their instructions in user space; absent unless known for every range. */
  readonly instructions?: RegionInstructions;
  /** The number of invocations that were never closed, whose times are lower bounds; absent if there are none. */
  readonly unclosed?: number;
  readonly kernelCount: number;
  /** In descending order of time; in the form of the report, since there can be millions. */
  readonly kernels: readonly KernelRecord[];
  /** Statistics over repeated runs. */
  readonly repeats?: RegionRepeats;
  /** Statistics over the ranks of a parallel program; only in the scope of all. */
  readonly ranks?: RegionRanks;
  /** The program's names of the categories of its ranges, sorted; absent without any. */
  readonly categories?: readonly string[];
  /** Numbers of the program's payloads and counters. */
  readonly payloads?: readonly PayloadStatistics[];
  readonly counters?: readonly CounterStatistics[];
  /** Hardware metrics by the tool's names, including inner regions; absent if none were measured. */
  readonly metrics?: ReadonlyMap<string, MetricNumber>;
  /** Sections of the tool's report, in its order. */
  readonly sections?: readonly SectionModel[];
  /** Copies, sets and waits, including those of inner regions; kinds that were not recorded have no entry. */
  readonly activities?: ReadonlyMap<GpuActivity, ActivityTotals>;
  /** Calls of CUDA and of the system in its own time, the longest first; absent if there are none. */
  readonly hostCalls?: readonly CallTally[];
  /** Its calls by thread; absent unless there are several threads. */
  readonly threads?: RegionThreads;
  /** What threads did in its own time; absent if they were not sampled. */
  readonly samples?: SampleTally;
  /** GPU use while the range was open; absent if no GPU activity was recorded, or the range has no wall time. */
  readonly gpuUse?: GpuUse;
  readonly notes: readonly string[];
}

/** Processor times in nanoseconds. */
export interface RegionCpu {
  readonly ns: number;
  readonly exclusiveNs: number;
  readonly invocationNs: Statistics;
}

/** Instructions of the threads that opened the ranges. */
export interface RegionInstructions {
  readonly count: number;
  /** Without those in ranges that the same thread opened inside. */
  readonly exclusive: number;
}

/** In base units (ns, byte, cycle/s, byte/s); null if the kernels of the region have no common value. */
export interface MetricNumber {
  readonly value: number | null;
  readonly unit: string;
}

/** A section of ncu (`SpeedOfLight`, ...) for one region. */
export interface SectionModel {
  readonly name: string;
  readonly metrics: ReadonlyMap<string, MetricNumber>;
  /** The messages of the tool's rules. */
  readonly messages: readonly SectionMessage[];
}

/** The message of a rule of ncu about a section, e.g. what the bottleneck is. */
export interface SectionMessage {
  readonly rule: string;
  readonly type: string;
  readonly text: string;
  /** The speedup that the tool estimates, in percent; null without an estimate. */
  readonly speedup: number | null;
  /** Whether the estimate refers to the kernel's time (`global`) or to one part of the hardware; absent if unknown. */
  readonly speedup_type?: "local" | "global";
  /** The number of kernels with this message. */
  readonly results: number;
}

/** What a filter of ncu measured: patterns of labels, and expressions in ncu's own grammar. */
export interface MeasuredSelection {
  readonly patterns: SelectionPatterns;
  readonly expressions: SelectionPatterns;
}

/** Patterns of kernel names, as the user wrote them; without include patterns, all kernels count. */
export interface KernelSelectionPatterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly nameBase: "function" | "demangled" | "mangled";
  /** Names that the selection was restricted to in addition, longest kernels first; null for no restriction. */
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
  /** The first value in time, if there is an order. */
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
  // Multiplied as integers, because 0.95 * n is not exact, and the error could change the rank by one.
  const rank = Math.ceil((95 * sorted.length) / 100);
  return { min, median: lower + (upper - lower) / 2, max, p95: sorted[rank - 1] ?? max };
}

// The distribution of a number over calls in bounded memory: up to `MOST_EXACT` single values, then counts in buckets
// that grow by a constant factor (DDSketch: Masson, Rim and Lee, VLDB 2019). So any quantile has a bounded relative
// error for any distribution, and samples can be merged.

/** Quantiles of up to this many values are exact. */
export const MOST_EXACT = 10_000;

/** The maximum relative error of quantiles of more values. */
export const RELATIVE_ERROR = 0.005;

/**
 * Plain data without methods: there can be a million samples, most with one value. The values are durations, never negative: readers of
 * recordings let no range end before it starts, nor use less than no processor time. Buckets could not tell negative ones apart.
 */
export interface Sample {
  count: number;
  min: number;
  max: number;
  /** All values except the first, which `min` has for one value; null for one value, and if there are too many. */
  values: number[] | null;
  buckets: Buckets | null;
}

/** The number of values per bucket: bucket i contains those in (g^(i-1), g^i], g = (1 + e) / (1 - e). */
interface Buckets {
  /** Values that are zero. */
  none: number;
  /** The index of the bucket of `counts[0]`. */
  first: number;
  /** Doubles, which count to 2^53. */
  counts: Float64Array;
}

const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const PER_E = 1 / Math.log(GROWTH);
const ROOM = 32;

export const createSample = (): Sample => ({
  count: 0,
  // For an empty sample. A number that is always an integer is stored without an object of its own.
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

/** Adds all values of another sample, which is not changed. */
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
  for (const [index, count] of from.buckets.counts.entries())
    if (count > 0) countIn(buckets, from.buckets.first + index, count);
}

const valuesOf = ({ count, min, values }: Sample): readonly number[] =>
  values ?? (count === 0 ? [] : [min]);

/** From now on the sample has buckets instead of values. */
function bucketsOf(sample: Sample): Buckets {
  if (sample.buckets !== null) return sample.buckets;
  const buckets: Buckets = { none: 0, first: 0, counts: new Float64Array(0) };
  // The value that is being added is included in `count`, but not in the values.
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
  let index = bucket - buckets.first;
  if (index < 0 || index >= buckets.counts.length) {
    makeRoom(buckets, bucket);
    index = bucket - buckets.first;
  }
  buckets.counts[index] = (buckets.counts[index] ?? 0) + count;
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

/** Whether its quantiles have a relative error of up to `RELATIVE_ERROR`. */
export const isApproximate = ({ buckets }: Sample): boolean => buckets !== null;

/** Null for an empty sample. Minimum and maximum are exact. */
export function describe(sample: Sample): Statistics | null {
  const { count, min, max, buckets } = sample;
  if (count === 0) return null;
  const valueAt = buckets === null ? exactly(sample) : nearly(sample, buckets);
  const lower = valueAt((count - 1) >> 1);
  const upper = valueAt(Math.floor(count / 2));
  // Multiplied as integers, because 0.95 * n is not exact, and the error could change the rank by one.
  const rank = Math.ceil((95 * count) / 100);
  return { min, median: lower + (upper - lower) / 2, max, p95: valueAt(rank - 1) };
}

/** The value at an index of the sorted sample. */
type ValueAt = (place: number) => number;

function exactly(sample: Sample): ValueAt {
  const sorted = Float64Array.from(valuesOf(sample)).sort();
  return (place) => sorted[place] ?? sample.max;
}

function nearly({ min, max }: Sample, { none, first, counts }: Buckets): ValueAt {
  return (place) => {
    let counted = none;
    if (place < counted) return Math.max(min, Math.min(max, 0));
    for (let index = 0; index < counts.length; index++) {
      counted += counts[index] ?? 0;
      // The value within the bucket that minimises the relative error at both ends.
      if (place < counted)
        return Math.min(max, Math.max(min, (2 * GROWTH ** (first + index)) / (GROWTH + 1)));
    }
    return max;
  };
}
