/** Adds up attributed processes to the regions of one scope: everything, a process, or a device. */

import { grouped } from "../../foundation/text/plural.ts";
import type { ReportScope } from "../../report/model/document.ts";
import type { Placed } from "../../report/model/region-path.ts";
import { longestOnlyNote, selectedNote } from "../../report/view/notes.ts";
import type { ProgramSpan } from "../model/timeline.ts";
import { outsideRegion, type ProcessAttribution } from "./attribute.ts";
import { type CallTallies, mergedCalls } from "./call-tally.ts";
import { familiesOf } from "./find-families.ts";
import { type ActivityTally, type GpuUse, totalActivities } from "./gpu-activity.ts";
import { coveredNs, type Union, unionOf } from "./interval-union.ts";
import type { KernelIdentity } from "./kernel-names.ts";
import type { KernelRowsReader } from "./kernel-rows.ts";
import { type ExclusiveTime, type KernelTally, ranOn, talliedTogether } from "./kernel-tallies.ts";
import {
  nodesDepthFirst,
  type PathNode,
  type RegionIdentity,
  rangePath,
  type SelectedNodes,
} from "./path-tree.ts";
import { programNumbersOf } from "./program-numbers.ts";
import {
  emptyRangeTally,
  mergeRangeTally,
  type RangeTally,
  threadsTogether,
} from "./range-tally.ts";
import {
  describe,
  isApproximate,
  MOST_EXACT,
  RELATIVE_ERROR,
  type RegionModelEntry,
  type RunSpan,
  type ScopeModel,
  type ScopeTotals,
} from "./region-model.ts";
import { neverClosed } from "./region-notes.ts";
import { outsideUse, runSpan } from "./run-span.ts";
import { mergedSamples, type SampleTally } from "./sample-tally.ts";
import { type ProcessThreads, threadTimes } from "./thread-times.ts";

export interface ScopeRequest {
  readonly scope: ReportScope;
  readonly processes: readonly ProcessAttribution[];
  /** Only kernels of this device, and range instances that launched some of them; null for everything. */
  readonly device: string | null;
  /** The program that all processes of the run belong to, if its start and end are known. */
  readonly program?: ProgramSpan;
  readonly notes: readonly string[];
}

export function buildScope(
  request: ScopeRequest,
  root: PathNode,
  selected: SelectedNodes,
  kernelRows: KernelRowsReader,
): ScopeModel {
  const { processes, device } = request;
  const outside = outsideRegion(root);
  const survey = surveyOf(request, root.tree.regionCount);
  const run = runOf(request);
  const totals = { ...survey.totals, ...(run !== null && { run }) };
  const outsideTimes = run && outsideOf(run, survey.weightOf(outside) !== null);
  const sawGpu = processes.some(({ gpu }) => gpu.timelineOf(device) !== null);
  let isNear = false;
  const { regions, families, count, notes } = scopeEntries(root, selected, {
    weightOf: (identity) =>
      survey.weightOf(identity) ?? (identity === outside && outsideTimes !== null ? 0 : null),
    entryOf: (place, members) => {
      const tally = tallyOf(members, request);
      isNear ||= tally.ranges !== null && isApproximate(tally.ranges.durations);
      const [{ kind }] = members;
      const times = kind === "outside" ? outsideTimes : null;
      return entryOf(place, kind, tally, { totals, sawGpu, device, outside: times }, kernelRows);
    },
  });
  const isUntimed = totals.kernelNs === null && count > 0;
  return {
    scope: request.scope,
    regions,
    ...(families.length > 0 && { families }),
    totals,
    notes: [
      ...request.notes,
      ...notes,
      ...(isUntimed ? [onlyTimesOfRanges(totals)] : []),
      ...(isNear ? [NEAR_QUANTILES] : []),
    ],
  };
}

/** For a device, the run of the processes that used it. */
function runOf({ processes, program, device }: ScopeRequest): RunSpan | null {
  const here =
    device === null ? processes : processes.filter(({ gpu }) => gpu.timelineOf(device) !== null);
  return runSpan(here, program, device);
}

/** The least share of a run, without any range, that is reported as outside. */
const LEAST_OUTSIDE = 0.001;

/** The bucket outside all ranges has the wall time and the GPU activity without any open range. */
interface OutsideTimes {
  readonly ns: number;
  readonly use: GpuUse | null;
}

/** @param isKnown whether anything ran outside; otherwise the result is null if the time is short */
function outsideOf(run: RunSpan, isKnown: boolean): OutsideTimes | null {
  const ns = Math.max(0, run.processNs - run.inRangesNs);
  return isKnown || ns >= run.processNs * LEAST_OUTSIDE ? { ns, use: outsideUse(run) } : null;
}

/** The time covered by at least one outermost range; null without ranges. */
function wallOf(processes: readonly ProcessAttribution[], device: string | null): number | null {
  if (device !== null) {
    const here = processes.flatMap(({ ranges }) => ranges.onDevice.get(device) ?? []);
    return here.every(({ rootCount }) => rootCount === 0)
      ? null
      : coveredInAll(here.map(({ roots }) => roots));
  }
  const all = processes.map(({ ranges }) => ranges.roots);
  if (all.every(({ startNs }) => startNs === null)) return null;
  const [only, ...others] = all;
  return only !== undefined && others.length === 0
    ? only.coveredNs
    : coveredInAll(all.flatMap(({ union }) => union ?? []));
}

const coveredInAll = (unions: readonly Union[]): number =>
  coveredNs(unionOf(unions), Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);

interface About {
  readonly totals: ScopeTotals;
  /** Whether anything ran on a GPU; otherwise the scope has no members about GPUs. */
  readonly sawGpu: boolean;
  readonly device: string | null;
  /** For the bucket outside all ranges; null for regions. */
  readonly outside: OutsideTimes | null;
}

function entryOf(
  place: Placed,
  kind: RegionIdentity["kind"],
  tally: RegionTally,
  { totals, sawGpu, device: scopeDevice, outside }: About,
  kernelRows: KernelRowsReader,
): RegionModelEntry {
  const { records, calls, ns } = kernelRows.rowsOf(tally.kernels, scopeDevice);
  const devices = new Set(records.map(({ device }) => device));
  const { ranges } = tally;
  const timed = ranges !== null || outside !== null;
  const statistics = ranges === null ? null : describe(ranges.durations);
  const unclosed = ranges?.unclosed ?? 0;
  const samples = mergedSamples(tally.samples);
  const hostCalls = mergedCalls(tally.hostCalls);
  const threads = threadTimes(tally.threads);
  return {
    ...place,
    kind,
    device: onlyOne(devices),
    processId: tally.processId === "several" ? null : tally.processId,
    invocations: ranges?.durations.count ?? 0,
    kernelNs: totals.kernelNs === null ? null : ns,
    exclusiveKernelNs: totals.kernelNs === null ? null : tally.exclusiveKernelNs,
    wallNs: ranges?.wallNs ?? outside?.ns ?? null,
    exclusiveWallNs: ranges?.exclusiveWallNs ?? outside?.ns ?? null,
    invocationWallNs:
      statistics === null || ranges === null || tally.processId === "several"
        ? statistics
        : { ...statistics, first: ranges.firstNs },
    ...(ranges !== null && usedBy(ranges)),
    ...programNumbersOf(ranges?.numbers ?? null),
    ...(ranges?.categories != null && { categories: [...ranges.categories].sort() }),
    ...(unclosed > 0 && { unclosed }),
    kernelCount: calls,
    kernels: records,
    activities: totalActivities(tally.activities, scopeDevice),
    ...(samples !== undefined && { samples }),
    ...(hostCalls.length > 0 && { hostCalls }),
    ...(threads !== undefined && { threads }),
    ...(sawGpu && timed && { gpuUse: ranges?.gpu ?? outside?.use ?? UNUSED }),
    notes: unclosed > 0 ? [neverClosed(unclosed)] : [],
  };
}

const UNUSED: GpuUse = { busyNs: 0, kernelNs: 0, copyNs: 0 };

/** Numbers that are known for every call: a sum of some calls would be mistaken for that of all. */
function usedBy({
  durations,
  cpu,
  counts,
  instructions,
}: RangeTally): Pick<RegionModelEntry, "cpu" | "counts" | "instructions"> {
  const calls = durations.count;
  const invocationNs = cpu === null || cpu.times.count < calls ? null : describe(cpu.times);
  return {
    ...(cpu !== null &&
      invocationNs !== null && {
        cpu: { ns: cpu.ns, exclusiveNs: cpu.exclusiveNs, invocationNs },
      }),
    ...(counts !== null && counts.calls === calls && { counts: counts.sums }),
    ...(instructions !== null &&
      instructions.calls === calls && {
        instructions: { count: instructions.count, exclusive: instructions.exclusive },
      }),
  };
}

const NEAR_QUANTILES = `medians and 95th percentiles of more than ${grouped(String(MOST_EXACT))} calls are within ${100 * RELATIVE_ERROR} % of the exact ones`;

const onlyTimesOfRanges = ({ cpuNs }: ScopeTotals): string =>
  `neither GPU kernels nor CPU operations were recorded: only ${cpuNs === undefined ? "wall times" : "wall times and processor times"} of ranges are known`;

// The sums of the processes of a scope for each region. Times in nanoseconds.

interface RegionTally {
  /** The tally of a process if only one has the region; null without ranges. */
  ranges: RangeTally | null;
  /** Whether `ranges` is a copy that belongs to this scope, and may be changed. */
  isMerged: boolean;
  processId: number | "several" | null;
  /** One part per process. */
  kernels: readonly KernelTally[];
  activities: readonly ActivityTally[];
  samples: readonly SampleTally[];
  /** One part per process. */
  threads: readonly ProcessThreads[];
  hostCalls: readonly CallTallies[];
  exclusiveKernelNs: number;
}

/** The regions of an entry: a single one, or the members of a family. */
type Members = readonly [RegionIdentity, ...RegionIdentity[]];

/**
 * The sums of processes for some regions. For a device, only what ran there, and range instances that launched some of it.
 */
function tallyOf(regions: Members, { processes, device }: ScopeRequest): RegionTally {
  const tally: RegionTally = {
    ranges: null,
    isMerged: false,
    processId: null,
    kernels: [],
    activities: [],
    samples: [],
    threads: [],
    hostCalls: [],
    exclusiveKernelNs: 0,
  };
  for (const attribution of processes) {
    const ranges = regions.flatMap((region) => rangesOf(attribution, device)?.get(region) ?? []);
    const kernels = talliedTogether(
      regions.flatMap((region) => attribution.kernels.get(region) ?? []),
    );
    const activities = regions.flatMap((region) => attribution.activities.get(region) ?? []);
    const isActive = activities.some((activity) => isHere(activity.device, device));
    const hasKernels = kernels !== null && (device === null || ranOn(kernels, device));
    if (device === null) {
      const samples = regions.flatMap((region) => attribution.samples.get(region) ?? []);
      tally.samples = [...tally.samples, ...samples];
      const calls = regions.flatMap((region) => attribution.hostCalls.get(region) ?? []);
      tally.hostCalls = [...tally.hostCalls, ...calls];
      const threads = threadsTogether(ranges);
      if (threads !== null)
        tally.threads = [...tally.threads, { process: attribution.process, threads }];
    }
    for (const part of ranges) addRanges(tally, part);
    if (hasKernels) addKernels(tally, kernels, device);
    if (isActive) tally.activities = [...tally.activities, ...activities];
    // The bucket outside all ranges has nothing but time.
    if (ranges.length > 0 || hasKernels || isActive || regions[0].kind === "outside")
      addProcess(tally, attribution.process.pid);
  }
  return tally;
}

const isHere = (where: string | null, device: string | null): boolean =>
  device === null || where === device;

const rangesOf = ({ ranges }: ProcessAttribution, device: string | null) =>
  device === null ? ranges.byRegion : ranges.onDevice.get(device)?.byRegion;

function* exclusiveTimes({
  processes,
  device,
}: ScopeRequest): Generator<readonly [RegionIdentity, ExclusiveTime]> {
  for (const { kernels } of processes)
    for (const [region, { exclusive }] of kernels)
      for (const time of exclusive) if (isHere(time.device, device)) yield [region, time];
}

interface Survey {
  readonly totals: ScopeTotals;
  /** Its wall time or, without one, the time of its own kernels; null if it does not belong to the scope. */
  readonly weightOf: (region: RegionIdentity) => number | null;
}

/** Scans all regions, of which there can be many more than a report contains; two numbers each. */
function surveyOf(request: ScopeRequest, regionCount: number): Survey {
  const { processes, device } = request;
  const walls = new Float64Array(regionCount).fill(Number.NaN);
  const kernels = new Float64Array(regionCount).fill(Number.NaN);
  const add = (to: Float64Array, { number }: RegionIdentity, ns: number): void => {
    const sum = to[number] ?? Number.NaN;
    to[number] = Number.isNaN(sum) ? ns : sum + ns;
  };
  const kinds = new Set<KernelIdentity["kind"]>();
  let cpuNs: number | null = null;
  let instructions = 0;
  /** Calls without instructions: of those with processor time, and of all. */
  let uncountedTimed = 0;
  let uncounted = 0;
  for (const attribution of processes) {
    for (const [region, tally] of rangesOf(attribution, device) ?? []) {
      add(walls, region, tally.wallNs);
      // Exclusive times, so that each thread's time is counted once.
      if (tally.cpu !== null) cpuNs = (cpuNs ?? 0) + tally.cpu.exclusiveNs;
      instructions += tally.instructions?.exclusive ?? 0;
      const counted = tally.instructions?.calls ?? 0;
      uncountedTimed += Math.max(0, (tally.cpu?.times.count ?? 0) - counted);
      uncounted += tally.durations.count - counted;
    }
    if (device === null) for (const [region] of attribution.hostCalls) add(kernels, region, 0);
    for (const [region, activities] of attribution.activities)
      if (activities.some((activity) => isHere(activity.device, device))) add(kernels, region, 0);
  }
  for (const [region, { kind, ns }] of exclusiveTimes(request)) {
    add(kernels, region, ns);
    kinds.add(kind);
  }
  const measured = (ns: number | undefined) => (ns === undefined || Number.isNaN(ns) ? null : ns);
  return {
    totals: {
      ...kernelTotals(exclusiveTimes(request)),
      wallNs: wallOf(processes, device),
      ...(cpuNs !== null && { cpuNs }),
      // Ranges that two threads opened and closed have neither.
      ...((cpuNs === null ? uncounted : uncountedTimed) === 0 &&
        instructions > 0 && { instructions }),
      kernelKinds: [...kinds],
    },
    weightOf: ({ number }) => measured(walls[number]) ?? measured(kernels[number]),
  };
}

function addProcess(tally: RegionTally, pid: number): void {
  if (tally.processId === null) tally.processId = pid;
  else if (tally.processId !== pid) tally.processId = "several";
}

function addRanges(tally: RegionTally, part: RangeTally): void {
  if (tally.ranges === null) {
    tally.ranges = part;
    return;
  }
  if (!tally.isMerged) {
    const first = tally.ranges;
    tally.ranges = emptyRangeTally();
    tally.isMerged = true;
    mergeRangeTally(tally.ranges, first);
  }
  mergeRangeTally(tally.ranges, part);
}

function addKernels(tally: RegionTally, part: KernelTally, device: string | null): void {
  tally.kernels = [...tally.kernels, part];
  for (const { device: where, ns } of part.exclusive)
    if (isHere(where, device)) tally.exclusiveKernelNs += ns;
}

// Common to the scopes of all tools: the order of regions, their sums, and the selection.

/** The note of a report without regions, which programs may look for. */
export const NO_MATCHING_REGIONS = "no matching regions";

/**
 * The maximum number of regions of a report, those with the most time: a million would take a gigabyte and would not be
 * read.
 */
export const MOST_REGIONS = 10_000;

export interface ScopeEntries {
  /** Depth first, with the outside bucket last. */
  readonly regions: readonly RegionModelEntry[];
  readonly families: readonly RegionModelEntry[];
  /** The number of regions, shown or not, without the outside bucket. */
  readonly count: number;
  readonly notes: readonly string[];
}

/** The regions of a scope by their identity. */
interface ScopeReader {
  /** The weight by which regions of the report are chosen; null if the region does not belong to the scope. */
  readonly weightOf: (identity: RegionIdentity) => number | null;
  readonly entryOf: (place: Placed, members: Members) => RegionModelEntry;
}

export function scopeEntries(
  root: PathNode,
  selected: SelectedNodes,
  { weightOf, entryOf }: ScopeReader,
): ScopeEntries {
  const chosen: RegionIdentity[] = [];
  const outside: RegionModelEntry[] = [];
  const single = (identity: RegionIdentity) => entryOf(rangePath(identity.node), [identity]);
  let leftOut = 0;
  for (const node of nodesDepthFirst(root))
    for (let identity = node.region; identity !== null; identity = identity.next) {
      if (weightOf(identity) === null) continue;
      if (identity.kind === "outside") outside.push(single(identity));
      else if (selected.has(node)) chosen.push(identity);
      else leftOut++;
    }
  const count = chosen.length + leftOut;
  const weight = (identity: RegionIdentity) => weightOf(identity) ?? 0;
  const regions = heaviest(chosen, weight).map(single);
  const families = heaviest(familiesOf(chosen), ({ members }) =>
    members.reduce((sum, member) => sum + weight(member), 0),
  );
  return {
    regions: [...regions, ...outside],
    families: families.map(({ place, members }) => ({
      ...entryOf(place, members),
      members: members.length,
    })),
    count,
    notes: [
      ...(regions.length === 0 ? [NO_MATCHING_REGIONS] : []),
      ...(leftOut > 0 ? [selectedNote(leftOut, count)] : []),
      ...(chosen.length > regions.length ? [longestOnlyNote(regions.length, chosen.length)] : []),
    ],
  };
}

/**
 * At most `MOST_REGIONS` items in their order; among equal ones the first, so that regions are kept together with their
 * enclosing regions.
 */
function heaviest<T>(items: readonly T[], weightOf: (item: T) => number): readonly T[] {
  if (items.length <= MOST_REGIONS) return items;
  const weights = Float64Array.from(items, weightOf);
  const least = weights.toSorted()[weights.length - MOST_REGIONS] ?? 0;
  let equal = MOST_REGIONS;
  for (const weight of weights) if (weight > least) equal--;
  return items.filter((_, index) => {
    const weight = weights[index] ?? 0;
    return weight > least || (weight === least && equal-- > 0);
  });
}

/** Each kernel has exactly one exclusive owner, so the exclusive numbers add up to the total. */
export function kernelTotals(
  exclusive: Iterable<readonly [RegionIdentity, { readonly calls: number; readonly ns: number }]>,
): Pick<ScopeTotals, "kernelCount" | "kernelNs" | "outsideNs" | "outsideKernelCount"> {
  let kernelNs = 0;
  let kernelCount = 0;
  let outsideNs = 0;
  let outsideKernelCount = 0;
  for (const [identity, { calls, ns }] of exclusive) {
    kernelNs += ns;
    kernelCount += calls;
    if (identity.kind !== "outside") continue;
    outsideNs += ns;
    outsideKernelCount += calls;
  }
  return {
    kernelCount,
    kernelNs: kernelCount === 0 ? null : kernelNs,
    outsideNs: kernelCount === 0 ? null : outsideNs,
    outsideKernelCount,
  };
}

/** The only member of a set; null if it has none or several. */
export function onlyOne<T>(values: ReadonlySet<T>): T | null {
  const [only] = values;
  return values.size === 1 && only !== undefined ? only : null;
}
