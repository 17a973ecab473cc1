/**
 * What every region of one process got: its instances with their own time, and the kernels launched
 * while they were open. What happens on a thread belongs to every range the thread sees then; the
 * one opened last owns it exclusively.
 */

import { getOrCreate } from "../../system/get-or-create.ts";
import { type Column, createColumn, doubles } from "../model/columns.ts";
import type { ProcessTimeline, RangeInstance } from "../model/timeline.ts";
import {
  type ActivityTally,
  createActivityTallies,
  createGpuTimelines,
  type GpuTimelines,
  latestActivities,
} from "./gpu-activity.ts";
import { type Coverage, cover, createCoverage } from "./interval-union.ts";
import { deviceName, type KernelNames, type KernelNumber } from "./kernel-names.ts";
import { createKernelTallies, type KernelTallies } from "./kernel-tallies.ts";
import type { LabelOf } from "./labels.ts";
import { createOpenRanges, type RegionInstance } from "./open-ranges.ts";
import {
  childNode,
  latestRegion,
  type PathNode,
  type RegionIdentity,
  regionAt,
} from "./path-tree.ts";
import { createRangeTallies, type RangeTallies } from "./range-tally.ts";
import {
  closesLater,
  inOpeningOrder,
  type ReplayHandlers,
  replay,
  replayStream,
} from "./replay.ts";

/**
 * Ranges nested deeper than this count as part of the range around them: paths stand in full in
 * every region of a report, so runaway recursion would make it grow with the square of the depth.
 */
export const MAX_DEPTH = 256;

/** Label, path and kind of the bucket for kernels that no range contains. */
export const OUTSIDE = "(outside)";

export interface AttributionContext {
  /** Paths and kernel names of the whole run: shared, so that processes can be merged. */
  readonly root: PathNode;
  readonly kernelNames: KernelNames;
  readonly operationDomains: ReadonlySet<string>;
  /** Whether operations are counted: only in a run without GPU kernels. */
  readonly countOperations: boolean;
  /** What reports call a range; null: as the program does. */
  readonly labelOf: LabelOf | null;
  /** Whether times of outermost ranges are kept, to be united with those of other processes. */
  readonly keepsSpans: boolean;
  /** Whether ranks wait for each other in a region; absent where there are none. */
  readonly communicates?: (node: PathNode) => boolean;
}

export interface ProcessAttribution {
  readonly process: ProcessTimeline;
  /** What its ranges were, by region: all of them, and those in which something ran on a device. */
  readonly ranges: RangeTallies;
  readonly kernels: KernelTallies;
  /** Copies, sets and waits. */
  readonly activities: ReadonlyMap<RegionIdentity, readonly ActivityTally[]>;
  /** What its GPUs did when. */
  readonly gpu: GpuTimelines;
  /** When ranges were open that communicate with other ranks, by region. */
  readonly communication: ReadonlyMap<RegionIdentity, CallTimes>;
  readonly unclosed: UnclosedRanges;
  /** Operations left out because GPU kernels are counted instead. */
  readonly ignoredOperations: number;
  readonly tooDeep: number;
  /** Ranges that closed while one that was opened later was still open. */
  readonly overlapping: number;
}

/** @returns what it got, for when all processes are attributed: until then regions may become others */
export function attributeProcess(
  process: ProcessTimeline,
  context: AttributionContext,
): () => ProcessAttribution {
  const { root, kernelNames, operationDomains, countOperations, labelOf } = context;
  const lastEventNs = lastEvent(process);
  const isStreamed = process.allRanges !== undefined;
  const nameOf = ({ name }: RangeInstance) => (labelOf === null ? name : labelOf(name));
  const isOperation = ({ domain }: RangeInstance) => operationDomains.has(domain);

  const gpu = gpuTimelines(process);
  const open = createOpenRanges(root);
  const tallies = createRangeTallies(gpu, context.keepsSpans, process.counters);
  const communication = new Map<RegionIdentity, CallTimes>();
  const unclosed = createUnclosed();
  const instanceOf = new Map<RangeInstance, RegionInstance>();
  const kernels = createKernelTallies(kernelNames.numbered);
  const operations = createOperations();
  let order = 0;
  let ignoredOperations = 0;
  let tooDeep = 0;
  let overlapping = 0;

  const finish = (instance: RegionInstance, endNs: number, isClosed: boolean): void => {
    tallies.add(instance, endNs, isClosed);
    if (!isClosed) unclosed.add(instance);
    const region = latestRegion(instance.region);
    if (context.communicates?.(region.node) === true)
      addCall(communication, region, instance.startNs, endNs);
  };

  /** @param endNs null where it is not known yet, since ranges of a thread close in the reverse order of opening */
  const openRegion = (range: RangeInstance, endNs: number | null): void => {
    const visible = open.visibleOn(range.threadId);
    if (visible.length >= MAX_DEPTH) {
      tooDeep++;
      return;
    }
    // What closes before this range does not contain it: they overlap, and stand beside each other.
    const around =
      endNs === null || visible.every((other) => (other.endNs ?? endNs) >= endNs)
        ? visible
        : visible.filter((other) => (other.endNs ?? endNs) >= endNs);
    const parent = around === visible ? open.pathOn(range.threadId) : pathOf(root, around);
    const region = regionAt(childNode(parent, nameOf(range), range.domain), range.kind);
    const instance = createInstance(range, region, endNs, around, order++);
    tallies.open(instance);
    if (endNs !== null && range.endNs !== null && !closesLater(range)) {
      finish(instance, endNs, true);
      return;
    }
    instanceOf.set(range, instance);
    open.open(instance);
  };

  const closeRegion = (range: RangeInstance): void => {
    const instance = instanceOf.get(range);
    if (instance === undefined) return;
    instanceOf.delete(range);
    if (!open.close(instance)) overlapping++;
    const endNs = instance.endNs ?? Math.max(range.endNs ?? lastEventNs, range.startNs);
    closeInstance(instance, range, endNs);
    finish(instance, endNs, true);
  };

  const activities = createActivityTallies();
  /** What a call counts for; no ranges where its thread is unknown. */
  const regionsOf = (threadId: number | null): readonly RegionIdentity[] => {
    const regions = threadId === null ? [] : open.regionsOn(threadId);
    return regions.length === 0 ? [outsideRegion(root)] : regions;
  };
  const ranOn = (device: string, threadId: number | null) => {
    if (threadId === null) return;
    for (const instance of open.visibleOn(threadId))
      if (!instance.devices.includes(device)) instance.devices = [...instance.devices, device];
  };

  /** Where a launch counts, once its time is known. */
  const launching = (kernel: KernelNumber, threadId: number | null): ((ns: number) => void) => {
    const visible = threadId === null ? [] : open.visibleOn(threadId);
    const owner = visible.at(-1)?.region ?? outsideRegion(root);
    const regions = regionsOf(threadId);
    ranOn(kernelNames.numbered.placeOf(kernel).device, threadId);
    return (ns) => kernels.add(regions, owner, kernel, ns);
  };
  const launch = (kernel: KernelNumber, threadId: number | null, ns: number) => {
    const visible = threadId === null ? [] : open.visibleOn(threadId);
    const owner = visible.at(-1)?.region ?? outsideRegion(root);
    kernels.add(regionsOf(threadId), owner, kernel, ns);
    ranOn(kernelNames.numbered.placeOf(kernel).device, threadId);
  };

  const handlers: ReplayHandlers = {
    rangeOpens(range, endNs) {
      if (!isOperation(range)) openRegion(range, endNs);
      else if (!countOperations) ignoredOperations++;
      else if (endNs === null || isStreamed)
        operations.open(
          range,
          endNs,
          launching(kernelNames.operation(nameOf(range)), range.threadId),
        );
      else
        launch(
          kernelNames.operation(nameOf(range)),
          range.threadId,
          operations.selfTime(range, endNs),
        );
    },
    rangeCloses(range) {
      if (!isOperation(range)) closeRegion(range);
      else if (countOperations) operations.close(range);
    },
    kernelIsLaunched(kernel) {
      const { kind = "kernel", launchThreadId } = kernel;
      const ns = Math.max(kernel.endNs - kernel.startNs, 0);
      if (kind === "kernel") {
        launch(kernelNames.kernel(kernel), launchThreadId, ns);
        return;
      }
      const device = deviceName(kernel.device);
      activities.add(regionsOf(launchThreadId), kind, device, ns, kernel.bytes ?? 0);
      ranOn(device, launchThreadId);
    },
    threadWaits({ threadId, startNs, endNs }) {
      const ns = Math.max(endNs - startNs, 0);
      activities.add(regionsOf(threadId), "synchronization", null, ns, 0);
    },
  };
  const events = { kernels: process.kernels, waits: process.synchronizations ?? [] };
  if (process.allRanges === undefined) {
    const ranges = inOpeningOrder(process.ranges);
    operations.prepare(ranges.filter(isOperation), lastEventNs);
    replay({ ...events, ranges }, lastEventNs, handlers);
  } else replayStream(process.allRanges, events, lastEventNs, handlers);
  operations.closeAll(lastEventNs);
  const endOf = (range: RangeInstance, instance: RegionInstance) =>
    instance.endNs ?? Math.max(range.endNs ?? lastEventNs, range.startNs);
  // Those inside tell the ones around them first.
  for (const [range, instance] of [...instanceOf].reverse())
    closeInstance(instance, range, endOf(range, instance));
  for (const [range, instance] of instanceOf)
    finish(instance, endOf(range, instance), range.endNs !== null);
  return () => ({
    process,
    ranges: tallies.finish(),
    kernels: kernels.finish(),
    activities: latestActivities(activities.byRegion),
    gpu,
    communication,
    unclosed: unclosed.finish(),
    ignoredOperations,
    tooDeep,
    overlapping,
  });
}

/** When the calls of a region began and ended: 16 bytes for each. */
export interface CallTimes {
  length: number;
  readonly starts: Column;
  readonly ends: Column;
}

function addCall(
  calls: Map<RegionIdentity, CallTimes>,
  region: RegionIdentity,
  startNs: number,
  endNs: number,
): void {
  const times = getOrCreate(calls, region, () => ({
    length: 0,
    starts: createColumn(doubles),
    ends: createColumn(doubles),
  }));
  times.starts.set(times.length, startNs);
  times.ends.set(times.length++, endNs);
}

/** Before ranges are looked at: their times on GPUs are read off it. */
function gpuTimelines({ kernels }: ProcessTimeline): GpuTimelines {
  const gpu = createGpuTimelines();
  for (const { kind = "kernel", device, startNs, endNs } of kernels)
    gpu.add(kind, deviceName(device), startNs, endNs);
  return gpu;
}

/** Ranges that were open to the end. */
export interface UnclosedRanges {
  readonly count: number;
  /** Labels, each once, in order of opening. */
  readonly names: readonly string[];
  /** The one that was opened last, on the thread that did something last: another one may have waited for long. */
  readonly innermost: RegionInstance | null;
}

function createUnclosed() {
  const names = new Set<string>();
  let count = 0;
  let innermost: RegionInstance | null = null;
  return {
    add(instance: RegionInstance): void {
      count++;
      names.add(latestRegion(instance.region).node.name);
      if (innermost === null || instance.startNs >= innermost.startNs) innermost = instance;
    },
    finish: (): UnclosedRanges => ({ count, names: [...names], innermost }),
  };
}

export const outsideRegion = (root: PathNode): RegionIdentity =>
  regionAt(childNode(root, OUTSIDE, ""), "outside");

/** The place of what lies inside these ranges, outermost first. */
const pathOf = (root: PathNode, around: readonly RegionInstance[]): PathNode =>
  around.reduce((node, { region }) => childNode(node, region.node.name, region.node.domain), root);

/** Shared by the many instances in which nothing ran. */
const NO_DEVICES: readonly string[] = [];

/** Also tells the ranges around it that this part of their time is not theirs alone, where its end is known. */
function createInstance(
  range: RangeInstance,
  region: RegionIdentity,
  endNs: number | null,
  containing: readonly RegionInstance[],
  order: number,
): RegionInstance {
  let onThread: RegionInstance | null = null;
  for (const around of containing) {
    if (endNs !== null) cover(around.inner, range.startNs, Math.min(endNs, around.endNs ?? endNs));
    if (around.threadId === range.threadId) onThread = around;
  }
  return {
    region,
    kind: range.kind,
    threadId: range.threadId,
    order,
    isRoot: containing.length === 0,
    onThread,
    startNs: range.startNs,
    endNs,
    inner: createCoverage(range.startNs),
    cpuNs: null,
    innerCpuNs: 0,
    counts: null,
    values: range.values ?? null,
    devices: NO_DEVICES,
  };
}

/** Takes what is known only now, and tells the range around it. */
function closeInstance(instance: RegionInstance, range: RangeInstance, endNs: number): void {
  const { onThread } = instance;
  const ns = endNs - range.startNs;
  instance.cpuNs = range.cpuNs == null ? null : Math.min(range.cpuNs, ns);
  instance.counts = range.counts ?? null;
  instance.values = range.values ?? null;
  if (onThread === null) return;
  onThread.innerCpuNs += instance.cpuNs ?? 0;
  // Of ranges that close in the reverse order of opening, those directly inside one do not overlap.
  if (instance.endNs === null) onThread.inner.coveredNs += ns;
}

/** Where unclosed ranges are taken to end. */
function lastEvent(process: ProcessTimeline): number {
  let last = process.endNs;
  // Of those that are not all kept the process knows the last.
  if (process.allRanges === undefined)
    for (const range of process.ranges) last = Math.max(last, range.endNs ?? range.startNs);
  for (const mark of process.marks) last = Math.max(last, mark.timeNs);
  const { kernels } = process;
  const lastKernels = kernels.isOrdered === true ? [kernels.at(kernels.length - 1)] : kernels;
  for (const kernel of lastKernels) last = Math.max(last, kernel?.launchNs ?? last);
  return last;
}

/**
 * Self time of CPU operations, in nanoseconds: their duration without the operations inside them on
 * their thread. Counted so, a composite operation and its parts can stand in one list and still add
 * up to the time that was spent.
 */
function createOperations() {
  const openByThread = new Map<number, OpenOperation[]>();
  const known = new Map<RangeInstance, number>();
  const stackOf = (threadId: number) =>
    getOrCreate(openByThread, threadId, (): OpenOperation[] => []);
  const closeAt = (open: OpenOperation[], at: number, endNs: number): void => {
    const [operation] = open.splice(at, 1);
    if (operation === undefined) return;
    const ns = Math.max(endNs - operation.range.startNs, 0);
    const around = open[at - 1];
    // Otherwise it was reported when it opened.
    if (around !== undefined && operation.endNs === null) around.inner.coveredNs += ns;
    operation.count?.(ns - operation.inner.coveredNs);
  };
  const coverAround = (open: readonly OpenOperation[], startNs: number, endNs: number): void => {
    for (const around of open) cover(around.inner, startNs, Math.min(endNs, around.endNs ?? endNs));
  };
  return {
    /** Of all that there are, in order of opening. */
    prepare(operations: readonly RangeInstance[], lastEventNs: number): void {
      const all: EndedOperation[] = [];
      const stacks = new Map<number, EndedOperation[]>();
      for (const range of operations) {
        const open = getOrCreate(stacks, range.threadId, (): EndedOperation[] => []);
        while ((open.at(-1)?.endNs ?? Number.POSITIVE_INFINITY) <= range.startNs) open.pop();
        const endNs = Math.max(range.endNs ?? lastEventNs, range.startNs);
        coverAround(open, range.startNs, endNs);
        const operation = { range, endNs, inner: createCoverage(range.startNs) };
        open.push(operation);
        all.push(operation);
      }
      for (const { range, endNs, inner } of all)
        known.set(range, endNs - range.startNs - inner.coveredNs);
    },
    selfTime: (range: RangeInstance, endNs: number): number =>
      known.get(range) ?? endNs - range.startNs,
    /** Of one that comes alone. @param endNs null where it is not known yet @param count gets its self time */
    open(range: RangeInstance, endNs: number | null, count: (ns: number) => void): void {
      const open = stackOf(range.threadId);
      if (endNs !== null) coverAround(open, range.startNs, endNs);
      open.push({ range, endNs, inner: createCoverage(range.startNs), count });
    },
    /** Of those that `open` was notified of. */
    close(range: RangeInstance): void {
      const open = stackOf(range.threadId);
      const at = open.findLastIndex((operation) => operation.range === range);
      if (at >= 0) closeAt(open, at, range.endNs ?? range.startNs);
    },
    closeAll(endNs: number): void {
      for (const open of openByThread.values())
        while (open.length > 0) closeAt(open, open.length - 1, endNs);
    },
  };
}

interface EndedOperation extends OpenOperation {
  readonly endNs: number;
}

interface OpenOperation {
  readonly range: RangeInstance;
  /** Null where it is not known yet. */
  readonly endNs: number | null;
  readonly inner: Coverage;
  readonly count?: (ns: number) => void;
}
