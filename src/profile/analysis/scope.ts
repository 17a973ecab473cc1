/** Adds up attributed processes into the regions of one scope: everything, a process, a device. */
import type { ReportScope } from "../../report/model/document.ts";
import { partOf } from "../../text/plural.ts";
import type { ProgramSpan } from "../model/timeline.ts";
import { outsideRegion, type ProcessAttribution } from "./attribute.ts";
import {
  type ActivityTally,
  type GpuTimeline,
  type GpuUse,
  totalActivities,
  useBetween,
} from "./gpu-activity.ts";
import { unionNs } from "./interval-union.ts";
import type { KernelIdentity } from "./kernel-names.ts";
import type { KernelRowsReader } from "./kernel-rows.ts";
import { type KernelTally, ranOn } from "./kernel-tallies.ts";
import type { RegionInstance } from "./open-ranges.ts";
import {
  nodesDepthFirst,
  type PathNode,
  placeOf,
  type RegionIdentity,
  type SelectedNodes,
} from "./path-tree.ts";
import { addProgramNumbers, type ProgramNumbers, programNumbersOf } from "./program-numbers.ts";
import {
  describeSample,
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
  const tallies = tallyRegions(request.processes, request.device);
  const run = runOf(request);
  if (run !== null) noteOutside(tallies, run, root, request.processes);
  const totals = { ...scopeTotals(request, tallies), ...(run !== null && { run }) };
  const sawGpu = request.processes.some(({ gpu }) => gpu.of(request.device) !== null);
  const about = { totals, sawGpu, device: request.device };
  const { regions, count, notes } = scopeEntries(root, tallies, selected, (identity, tally) =>
    entryOf(identity, tally, about, kernelRows),
  );
  const isUntimed = totals.kernelNs === null && count > 0;
  return {
    scope: request.scope,
    regions,
    totals,
    notes: [...request.notes, ...notes, ...(isUntimed ? [onlyTimesOfRanges(totals)] : [])],
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
  for (const { process } of processes) tally.processIds.add(process.pid);
  tally.wallNs = outsideNs;
  tally.exclusiveWallNs = outsideNs;
  tally.isOutsideTimed = true;
  Object.assign(tally.gpu, outsideUse(run) ?? {});
}

function scopeTotals(
  { processes, device }: ScopeRequest,
  tallies: ReadonlyMap<RegionIdentity, RegionTally>,
): ScopeTotals {
  const kernelKinds = new Set<KernelIdentity["kind"]>();
  for (const tally of tallies.values()) for (const kind of tally.kernelKinds) kernelKinds.add(kind);
  const roots = processes.flatMap(({ instances }) =>
    instances.filter(
      ({ isRoot, devices }) => isRoot && (device === null || devices.includes(device)),
    ),
  );
  return {
    ...kernelTotals(tallies, ({ exclusiveKernelCount, exclusiveKernelNs }) => ({
      calls: exclusiveKernelCount,
      ns: exclusiveKernelNs,
    })),
    wallNs: roots.length === 0 ? null : unionNs(roots),
    ...cpuTotal(tallies),
    kernelKinds: [...kernelKinds].sort(),
  };
}

/** Each thread's time once: the exclusive numbers add up to it. */
function cpuTotal(tallies: ReadonlyMap<RegionIdentity, RegionTally>): Pick<ScopeTotals, "cpuNs"> {
  let cpuNs = 0;
  let known = false;
  for (const { cpuTimes, exclusiveCpuNs } of tallies.values()) {
    cpuNs += exclusiveCpuNs;
    known ||= cpuTimes.length > 0;
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
  const timed = tally.durations.length > 0 || tally.isOutsideTimed;
  const statistics = describeSample(tally.durations);
  const [first] = tally.durations;
  return {
    ...placeOf(node),
    kind,
    device: onlyOne(devices),
    processId: onlyOne(tally.processIds),
    invocations: tally.durations.length,
    kernelNs: totals.kernelNs === null ? null : ns,
    exclusiveKernelNs: totals.kernelNs === null ? null : tally.exclusiveKernelNs,
    wallNs: timed ? tally.wallNs : null,
    exclusiveWallNs: timed ? tally.exclusiveWallNs : null,
    invocationWallNs:
      statistics === null || first === undefined || tally.processIds.size > 1
        ? statistics
        : { ...statistics, first },
    ...usedBy(tally),
    ...programNumbersOf(tally.numbers),
    ...(tally.unclosed > 0 && { unclosed: tally.unclosed }),
    kernelCount: calls,
    kernels: records,
    activities: totalActivities(tally.activities, scopeDevice),
    ...(sawGpu && timed && { gpuUse: tally.gpu }),
    notes: tally.unclosed > 0 ? [neverClosed(tally.unclosed)] : [],
  };
}

/** What is known of every call: the sum of some would be taken for that of all. */
function usedBy({
  durations,
  cpuTimes,
  cpuNs,
  exclusiveCpuNs,
  counts,
  counted,
}: RegionTally): Pick<RegionModelEntry, "cpu" | "counts"> {
  const calls = durations.length;
  const invocationNs = describeSample(cpuTimes);
  return {
    ...(cpuTimes.length === calls &&
      invocationNs !== null && { cpu: { ns: cpuNs, exclusiveNs: exclusiveCpuNs, invocationNs } }),
    ...(counted === calls && calls > 0 && { counts }),
  };
}

const onlyTimesOfRanges = ({ cpuNs }: ScopeTotals): string =>
  `neither GPU kernels nor CPU operations were recorded: only ${cpuNs === undefined ? "wall times" : "wall times and processor times"} of ranges are known`;

// What the processes of a scope did in each region, added up. Times in nanoseconds.

interface RegionTally {
  readonly durations: number[];
  wallNs: number;
  exclusiveWallNs: number;
  unclosed: number;
  /** Of the calls of which it is known. */
  readonly cpuTimes: number[];
  cpuNs: number;
  exclusiveCpuNs: number;
  readonly counts: [number, number, number, number];
  /** How many calls have `counts`. */
  counted: number;
  numbers: ProgramNumbers | null;
  /** Of the bucket outside all ranges: whether `wallNs` is known, though nothing was opened. */
  isOutsideTimed: boolean;
  readonly processIds: Set<number>;
  /** A part for each process. */
  readonly kernels: KernelTally[];
  readonly kernelKinds: Set<KernelIdentity["kind"]>;
  readonly activities: ActivityTally[];
  /** Parts of `wallNs`. */
  readonly gpu: { -readonly [K in keyof GpuUse]: GpuUse[K] };
  exclusiveKernelNs: number;
  exclusiveKernelCount: number;
}

/** @param device only what ran there, and range instances that launched some of it; null: everything */
function tallyRegions(
  processes: readonly ProcessAttribution[],
  device: string | null,
): Map<RegionIdentity, RegionTally> {
  const tallies = new Map<RegionIdentity, RegionTally>();
  const isHere = (where: string | null): boolean => device === null || where === device;
  for (const { process, instances, kernels, activities, gpu } of processes) {
    const timeline = gpu.of(device);
    const tallyOf = (region: RegionIdentity): RegionTally => {
      let tally = tallies.get(region);
      if (tally === undefined) {
        tally = emptyTally();
        tallies.set(region, tally);
      }
      tally.processIds.add(process.pid);
      return tally;
    };
    for (const instance of instances)
      if (device === null || instance.devices.includes(device)) {
        const tally = tallyOf(instance.region);
        addInstance(tally, instance, timeline);
        tally.numbers = addProgramNumbers(tally.numbers, instance, process);
      }
    for (const [region, part] of kernels)
      if (device === null || ranOn(part, device)) addKernels(tallyOf(region), part, isHere);
    for (const [region, ofRegion] of activities)
      if (ofRegion.some((activity) => isHere(activity.device)))
        tallyOf(region).activities.push(...ofRegion);
  }
  return tallies;
}

const emptyTally = (): RegionTally => ({
  durations: [],
  wallNs: 0,
  exclusiveWallNs: 0,
  unclosed: 0,
  cpuTimes: [],
  cpuNs: 0,
  exclusiveCpuNs: 0,
  counts: [0, 0, 0, 0],
  counted: 0,
  numbers: null,
  isOutsideTimed: false,
  processIds: new Set(),
  kernels: [],
  kernelKinds: new Set(),
  activities: [],
  gpu: { busyNs: 0, kernelNs: 0, copyNs: 0 },
  exclusiveKernelNs: 0,
  exclusiveKernelCount: 0,
});

function addInstance(
  tally: RegionTally,
  instance: RegionInstance,
  timeline: GpuTimeline | null,
): void {
  const duration = instance.endNs - instance.startNs;
  tally.durations.push(duration);
  tally.wallNs += duration - instance.countedNs;
  tally.exclusiveWallNs += duration - instance.inner.coveredNs;
  if (!instance.closed) tally.unclosed++;
  addUsed(tally, instance);
  if (timeline === null) return;
  const use = useBetween(timeline, instance.startNs + instance.countedNs, instance.endNs);
  tally.gpu.busyNs += use.busyNs;
  tally.gpu.kernelNs += use.kernelNs;
  tally.gpu.copyNs += use.copyNs;
}

function addUsed(
  tally: RegionTally,
  { cpuNs, innerCpuNs, counts, isCounted }: RegionInstance,
): void {
  if (cpuNs !== null) {
    tally.cpuTimes.push(cpuNs);
    if (!isCounted) tally.cpuNs += cpuNs;
    tally.exclusiveCpuNs += Math.max(0, cpuNs - innerCpuNs);
  }
  if (counts === null) return;
  tally.counted++;
  if (isCounted) return;
  for (const [which, count] of counts.entries()) tally.counts[which as 0 | 1 | 2 | 3] += count;
}

function addKernels(
  tally: RegionTally,
  part: KernelTally,
  isHere: (device: string) => boolean,
): void {
  tally.kernels.push(part);
  for (const { kind, device, calls, ns } of part.exclusive)
    if (isHere(device)) {
      tally.exclusiveKernelNs += ns;
      tally.exclusiveKernelCount += calls;
      tally.kernelKinds.add(kind);
    }
}

// What scopes of all tools have in common: the order of their regions, their sums, and what a selection hides.

/** The note of a report without regions, for programs to look for. */
export const NO_MATCHING_REGIONS = "no matching regions";

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
  entryOf: (identity: RegionIdentity, tally: T) => RegionModelEntry,
): ScopeEntries {
  const regions: RegionModelEntry[] = [];
  const outside: RegionModelEntry[] = [];
  let leftOut = 0;
  for (const node of nodesDepthFirst(root))
    for (const identity of node.regions) {
      const tally = tallies.get(identity);
      if (tally === undefined) continue;
      if (identity.kind === "outside") outside.push(entryOf(identity, tally));
      else if (selected.has(node)) regions.push(entryOf(identity, tally));
      else leftOut++;
    }
  const count = regions.length + leftOut;
  return {
    regions: [...regions, ...outside],
    count,
    notes: [
      ...(regions.length === 0 ? [NO_MATCHING_REGIONS] : []),
      ...(leftOut > 0
        ? [`the selection leaves out ${partOf(leftOut, count, "region")}; totals cover all of them`]
        : []),
    ],
  };
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
