/** Adds up attributed processes into the regions of one scope: everything, a process, a device. */
import type { ReportScope } from "../../report/model/document.ts";
import { grouped, partOf, plural } from "../../text/plural.ts";
import type { ProgramSpan } from "../model/timeline.ts";
import { outsideRegion, type ProcessAttribution } from "./attribute.ts";
import { type ActivityTally, type GpuUse, totalActivities } from "./gpu-activity.ts";
import { coveredNs, type Union, unionOf } from "./interval-union.ts";
import type { KernelIdentity } from "./kernel-names.ts";
import type { KernelRowsReader } from "./kernel-rows.ts";
import { type KernelTally, ranOn } from "./kernel-tallies.ts";
import {
  latestRegion,
  nodesDepthFirst,
  type PathNode,
  placeOf,
  type RegionIdentity,
  type SelectedNodes,
} from "./path-tree.ts";
import { programNumbersOf } from "./program-numbers.ts";
import { emptyRangeTally, mergeRangeTally, type RangeTally } from "./range-tally.ts";
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

export interface ScopeRequest {
  readonly scope: ReportScope;
  readonly processes: readonly ProcessAttribution[];
  /** Only kernels of this device, and range instances that launched some; null: everything. */
  readonly device: string | null;
  /** The program that all processes of the run belong to, where its start and end are known. */
  readonly program?: ProgramSpan;
  readonly notes: readonly string[];
}

export function buildScope(
  request: ScopeRequest,
  root: PathNode,
  selected: SelectedNodes,
  kernelRows: KernelRowsReader,
): ScopeModel {
  const kinds = new Set<KernelIdentity["kind"]>();
  const tallies = tallyRegions(request.processes, request.device, kinds);
  const run = runOf(request);
  if (run !== null) noteOutside(tallies, run, root, request.processes);
  const totals = { ...scopeTotals(request, tallies, kinds), ...(run !== null && { run }) };
  const sawGpu = request.processes.some(({ gpu }) => gpu.of(request.device) !== null);
  const about = { totals, sawGpu, device: request.device };
  const { regions, count, notes } = scopeEntries(
    root,
    tallies,
    selected,
    ({ ranges, exclusiveKernelNs }) => ranges?.wallNs ?? exclusiveKernelNs,
    (identity, tally) => entryOf(identity, tally, about, kernelRows),
  );
  const isUntimed = totals.kernelNs === null && count > 0;
  const isNear = [...tallies.values()].some(
    ({ ranges }) => ranges !== null && isApproximate(ranges.durations),
  );
  return {
    scope: request.scope,
    regions,
    totals,
    notes: [
      ...request.notes,
      ...notes,
      ...(isUntimed ? [onlyTimesOfRanges(totals)] : []),
      ...(isNear ? [NEAR_QUANTILES] : []),
    ],
  };
}

/** Of a device: the run of the processes that used it. */
function runOf({ processes, program, device }: ScopeRequest): RunSpan | null {
  const here = device === null ? processes : processes.filter(({ gpu }) => gpu.of(device) !== null);
  return runSpan(here, program, device);
}

/** Less of a run without ranges than this is nothing to look for. */
const LEAST_OUTSIDE = 0.001;

/** The bucket outside all ranges has the wall time that no range has. */
function noteOutside(
  tallies: Map<RegionIdentity, RegionTally>,
  run: RunSpan,
  root: PathNode,
  processes: readonly ProcessAttribution[],
): void {
  const outsideNs = Math.max(0, run.processNs - run.inRangesNs);
  const identity = outsideRegion(root);
  const known = tallies.get(identity);
  if (known === undefined && outsideNs < run.processNs * LEAST_OUTSIDE) return;
  const tally = known ?? emptyTally();
  tallies.set(identity, tally);
  for (const { process } of processes) addProcess(tally, process.pid);
  tally.outsideNs = outsideNs;
  tally.outsideUse = outsideUse(run);
}

function scopeTotals(
  { processes, device }: ScopeRequest,
  tallies: ReadonlyMap<RegionIdentity, RegionTally>,
  kernelKinds: ReadonlySet<KernelIdentity["kind"]>,
): ScopeTotals {
  return {
    ...kernelTotals(tallies, ({ exclusiveKernelCount, exclusiveKernelNs }) => ({
      calls: exclusiveKernelCount,
      ns: exclusiveKernelNs,
    })),
    wallNs: wallOf(processes, device),
    ...cpuTotal(tallies),
    kernelKinds: [...kernelKinds].sort(),
  };
}

/** Covered by at least one outermost range; null without any. */
function wallOf(processes: readonly ProcessAttribution[], device: string | null): number | null {
  if (device !== null) {
    const here = processes.flatMap(({ ranges }) => ranges.onDevice.get(device) ?? []);
    return here.every(({ rootCount }) => rootCount === 0)
      ? null
      : coveredInAll(here.map(({ roots }) => roots));
  }
  const all = processes.map(({ ranges }) => ranges.roots);
  if (all.every(({ count }) => count === 0)) return null;
  const [only, ...others] = all;
  return only !== undefined && others.length === 0
    ? only.coveredNs
    : coveredInAll(all.flatMap(({ union }) => union ?? []));
}

const coveredInAll = (unions: readonly Union[]): number =>
  coveredNs(unionOf(unions), Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);

/** Each thread's time once: the exclusive numbers add up to it. */
function cpuTotal(tallies: ReadonlyMap<RegionIdentity, RegionTally>): Pick<ScopeTotals, "cpuNs"> {
  let cpuNs = 0;
  let known = false;
  for (const { ranges } of tallies.values()) {
    if (ranges === null || ranges.cpu === null) continue;
    cpuNs += ranges.cpu.exclusiveNs;
    known = true;
  }
  return known ? { cpuNs } : {};
}

interface About {
  readonly totals: ScopeTotals;
  /** Whether anything ran on a GPU: a scope without says nothing of GPUs. */
  readonly sawGpu: boolean;
  readonly device: string | null;
}

function entryOf(
  { node, kind }: RegionIdentity,
  tally: RegionTally,
  { totals, sawGpu, device: scopeDevice }: About,
  kernelRows: KernelRowsReader,
): RegionModelEntry {
  const { records, calls, ns } = kernelRows.of(tally.kernels, scopeDevice);
  const devices = new Set(records.map(({ device }) => device));
  const { ranges, outsideNs } = tally;
  const timed = ranges !== null || outsideNs !== null;
  const statistics = ranges === null ? null : describe(ranges.durations);
  const unclosed = ranges?.unclosed ?? 0;
  return {
    ...placeOf(node),
    kind,
    device: onlyOne(devices),
    processId: tally.processId === "several" ? null : tally.processId,
    invocations: ranges?.durations.count ?? 0,
    kernelNs: totals.kernelNs === null ? null : ns,
    exclusiveKernelNs: totals.kernelNs === null ? null : tally.exclusiveKernelNs,
    wallNs: timed ? (ranges?.wallNs ?? outsideNs) : null,
    exclusiveWallNs: timed ? (ranges?.exclusiveWallNs ?? outsideNs) : null,
    invocationWallNs:
      statistics === null || ranges === null || tally.processId === "several"
        ? statistics
        : { ...statistics, first: ranges.firstNs },
    ...(ranges !== null && usedBy(ranges)),
    ...programNumbersOf(ranges?.numbers ?? null),
    ...(unclosed > 0 && { unclosed }),
    kernelCount: calls,
    kernels: records,
    activities: totalActivities(tally.activities, scopeDevice),
    ...(sawGpu && timed && { gpuUse: ranges?.gpu ?? tally.outsideUse ?? UNUSED }),
    notes: unclosed > 0 ? [neverClosed(unclosed)] : [],
  };
}

const UNUSED: GpuUse = { busyNs: 0, kernelNs: 0, copyNs: 0 };

/** What is known of every call: the sum of some would be taken for that of all. */
function usedBy({ durations, cpu, counts }: RangeTally): Pick<RegionModelEntry, "cpu" | "counts"> {
  const calls = durations.count;
  const invocationNs = cpu === null || cpu.times.count < calls ? null : describe(cpu.times);
  return {
    ...(cpu !== null &&
      invocationNs !== null && {
        cpu: { ns: cpu.ns, exclusiveNs: cpu.exclusiveNs, invocationNs },
      }),
    ...(counts !== null && counts.calls === calls && { counts: counts.sums }),
  };
}

const NEAR_QUANTILES = `medians and 95th percentiles of more than ${grouped(String(MOST_EXACT))} calls are within ${100 * RELATIVE_ERROR} % of the exact ones`;

const onlyTimesOfRanges = ({ cpuNs }: ScopeTotals): string =>
  `neither GPU kernels nor CPU operations were recorded: only ${cpuNs === undefined ? "wall times" : "wall times and processor times"} of ranges are known`;

// What the processes of a scope did in each region, added up. Times in nanoseconds.

interface RegionTally {
  /** That of a process where only one has the region; null without ranges. */
  ranges: RangeTally | null;
  /** Whether `ranges` is this scope's own, to be added to. */
  isMerged: boolean;
  /** Of the bucket outside all ranges: its time, and what GPUs did meanwhile. */
  outsideNs: number | null;
  outsideUse: GpuUse | null;
  processId: number | "several" | null;
  /** A part for each process. */
  kernels: readonly KernelTally[];
  activities: readonly ActivityTally[];
  exclusiveKernelNs: number;
  exclusiveKernelCount: number;
}

/** @param device only what ran there, and range instances that launched some of it; null: everything */
function tallyRegions(
  processes: readonly ProcessAttribution[],
  device: string | null,
  kinds: Set<KernelIdentity["kind"]>,
): Map<RegionIdentity, RegionTally> {
  const tallies = new Map<RegionIdentity, RegionTally>();
  const isHere = (where: string | null): boolean => device === null || where === device;
  for (const { process, ranges, kernels, activities } of processes) {
    const tallyOf = (region: RegionIdentity): RegionTally => {
      const latest = latestRegion(region);
      let tally = tallies.get(latest);
      if (tally === undefined) {
        tally = emptyTally();
        tallies.set(latest, tally);
      }
      addProcess(tally, process.pid);
      return tally;
    };
    const byRegion = device === null ? ranges.byRegion : ranges.onDevice.get(device)?.byRegion;
    for (const [region, part] of byRegion ?? []) addRanges(tallyOf(region), part);
    for (const [region, part] of kernels)
      if (device === null || ranOn(part, device)) addKernels(tallyOf(region), part, isHere, kinds);
    for (const [region, ofRegion] of activities)
      if (ofRegion.some((activity) => isHere(activity.device))) {
        const tally = tallyOf(region);
        tally.activities = [...tally.activities, ...ofRegion];
      }
  }
  return tallies;
}

/** Shared: most regions have none. */
const NO_KERNELS: readonly KernelTally[] = [];
const NO_ACTIVITIES: readonly ActivityTally[] = [];

const emptyTally = (): RegionTally => ({
  ranges: null,
  isMerged: false,
  outsideNs: null,
  outsideUse: null,
  processId: null,
  kernels: NO_KERNELS,
  activities: NO_ACTIVITIES,
  exclusiveKernelNs: 0,
  exclusiveKernelCount: 0,
});

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

function addKernels(
  tally: RegionTally,
  part: KernelTally,
  isHere: (device: string) => boolean,
  kinds: Set<KernelIdentity["kind"]>,
): void {
  tally.kernels = [...tally.kernels, part];
  for (const { kind, device, calls, ns } of part.exclusive)
    if (isHere(device)) {
      tally.exclusiveKernelNs += ns;
      tally.exclusiveKernelCount += calls;
      kinds.add(kind);
    }
}

// What scopes of all tools have in common: the order of their regions, their sums, and what a selection hides.

/** The note of a report without regions, for programs to look for. */
export const NO_MATCHING_REGIONS = "no matching regions";

/**
 * A report has at most so many regions, those with the most time: a million of them take a gigabyte, and nobody reads them.
 */
export const MOST_REGIONS = 10_000;

export interface ScopeEntries {
  /** Depth first, the outside bucket last. */
  readonly regions: readonly RegionModelEntry[];
  /** How many there are, shown or not, without that bucket. */
  readonly count: number;
  readonly notes: readonly string[];
}

export function scopeEntries<T>(
  root: PathNode,
  tallies: ReadonlyMap<RegionIdentity, T>,
  selected: SelectedNodes,
  weightOf: (tally: T) => number,
  entryOf: (identity: RegionIdentity, tally: T) => RegionModelEntry,
): ScopeEntries {
  const chosen: (readonly [identity: RegionIdentity, tally: T])[] = [];
  const outside: RegionModelEntry[] = [];
  let leftOut = 0;
  for (const node of nodesDepthFirst(root))
    for (const identity of node.regions) {
      const tally = tallies.get(identity);
      if (tally === undefined) continue;
      if (identity.kind === "outside") outside.push(entryOf(identity, tally));
      else if (selected.has(node)) chosen.push([identity, tally]);
      else leftOut++;
    }
  const count = chosen.length + leftOut;
  const regions = heaviest(chosen, ([, tally]) => weightOf(tally)).map(([identity, tally]) =>
    entryOf(identity, tally),
  );
  return {
    regions: [...regions, ...outside],
    count,
    notes: [
      ...(regions.length === 0 ? [NO_MATCHING_REGIONS] : []),
      ...(leftOut > 0
        ? [`the selection leaves out ${partOf(leftOut, count, "region")}; totals cover all of them`]
        : []),
      ...(chosen.length > regions.length
        ? [
            `only the ${grouped(String(regions.length))} longest of ${plural(chosen.length, "region")} are in this report; totals cover all of them. Label rules unify labels that name single calls (labels.rules; import and report: --label-rule 'REGEX=>TEXT')`,
          ]
        : []),
    ],
  };
}

/** At most `MOST_REGIONS`, in their order: of equal ones the first, so that regions come with those around them. */
function heaviest<T>(items: readonly T[], weightOf: (item: T) => number): readonly T[] {
  if (items.length <= MOST_REGIONS) return items;
  const weights = Float64Array.from(items, weightOf);
  const least = weights.toSorted()[weights.length - MOST_REGIONS] ?? 0;
  let equal = MOST_REGIONS;
  for (const weight of weights) if (weight > least) equal--;
  return items.filter((_, at) => {
    const weight = weights[at] ?? 0;
    return weight > least || (weight === least && equal-- > 0);
  });
}

/** Each kernel has exactly one exclusive owner, so the exclusive numbers add up to the total. */
export function kernelTotals<T>(
  tallies: ReadonlyMap<RegionIdentity, T>,
  exclusiveOf: (tally: T) => { readonly calls: number; readonly ns: number },
): Pick<ScopeTotals, "kernelCount" | "kernelNs" | "outsideNs" | "outsideKernelCount"> {
  let kernelNs = 0;
  let kernelCount = 0;
  let outsideNs = 0;
  let outsideKernelCount = 0;
  for (const [identity, tally] of tallies) {
    const { calls, ns } = exclusiveOf(tally);
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
