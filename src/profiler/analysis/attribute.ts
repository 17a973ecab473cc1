/**
 * Attributes the events of one process to regions: the instances of each region with their own time, and the kernels
 * launched while they were open. An event of a thread belongs to every range that is open for that thread; the range
 * opened last owns it exclusively.
 */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { bytes, type Column, createColumn, doubles } from "../model/columns.ts";
import { eachHostCall, type HostCallList } from "../model/host-calls.ts";
import { type PayloadNumber, PLAIN_PAYLOAD } from "../model/payload.ts";
import type { ProcessTimeline, RangeInstance } from "../model/timeline.ts";
import { type CallTallies, createCallTallies } from "./call-tally.ts";
import {
  type ActivityTally,
  createActivityTallies,
  createGpuTimelines,
  type GpuTimelines,
  gpuStreams,
  latestActivities,
} from "./gpu-activity.ts";
import { type Coverage, cover, coveredNs, createCoverage, createUnion } from "./interval-union.ts";
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
import { createSampleTallies, type SampleTally } from "./sample-tally.ts";

/**
 * Ranges nested more deeply count as part of the enclosing range: every region of a report contains its full path, so
 * unlimited recursion would make it grow with the square of the depth.
 */
export const MAX_DEPTH = 256;

/** Label, path and kind of the bucket for kernels outside all ranges. */
export const OUTSIDE = "(outside)";

export interface AttributionContext {
  /** Paths and kernel names of the whole run: shared, so that processes can be merged. */
  readonly root: PathNode;
  readonly kernelNames: KernelNames;
  readonly operationDomains: ReadonlySet<string>;
  /** Whether operations are counted: only in a run without GPU kernels. */
  readonly countOperations: boolean;
  /** Maps ranges to their labels in reports; null keeps the program's own. */
  readonly labelOf: LabelOf | null;
  /** Whether times of outermost ranges are kept, so that they can be united with those of other processes. */
  readonly keepsSpans: boolean;
  /** Whether ranks wait for each other in a region; absent without ranks. */
  readonly communicates?: (node: PathNode) => boolean;
}

export interface ProcessAttribution {
  readonly process: ProcessTimeline;
  /** The ranges of each region: all of them, and those during which a device was active. */
  readonly ranges: RangeTallies;
  readonly kernels: KernelTallies;
  /** Copies, sets and waits. */
  readonly activities: ReadonlyMap<RegionIdentity, readonly ActivityTally[]>;
  /** What its threads did in the own time of regions. */
  readonly samples: ReadonlyMap<RegionIdentity, SampleTally>;
  /** Calls of CUDA and of the system in the own time of regions. */
  readonly hostCalls: ReadonlyMap<RegionIdentity, CallTallies>;
  /** The activity of its GPUs over time. */
  readonly gpu: GpuTimelines;
  /** When ranges were open in which ranks communicate, by region. */
  readonly communication: ReadonlyMap<RegionIdentity, CallTimes>;
  readonly unclosed: UnclosedRanges;
  /** The number of operations that were ignored because GPU kernels are counted instead. */
  readonly ignoredOperations: number;
  readonly tooDeep: number;
  /** The number of ranges that closed while one that was opened later was still open. */
  readonly overlapping: number;
}

/**
 * @returns a function that yields the result once all processes are attributed: until then regions may be merged into
 * others
 */
export function attributeProcess(
  process: ProcessTimeline,
  context: AttributionContext,
): () => ProcessAttribution {
  const { root, kernelNames, operationDomains, countOperations, labelOf } = context;
  const lastEventNs = lastEvent(process);
  const isStreamed = process.allRanges !== undefined;
  const nameOf = ({ name }: RangeInstance) => (labelOf === null ? name : labelOf(name));
  const isOperation = ({ domain }: RangeInstance) => operationDomains.has(domain);

  const categoryOf = categoryNames(process);
  const gpu = gpuTimelines(process);
  const streams = gpuStreams(process);
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

  /** When a range was open on any thread; only where calls ask for it. */
  const roots = process.hostCalls === undefined ? null : createUnion();
  /** Calls of the first thread in their order: 1 if it had a range open. */
  const isInside = createColumn(bytes);
  let firstThreadCalls = 0;

  const finish = (instance: RegionInstance, endNs: number, isClosed: boolean): void => {
    tallies.add(instance, endNs, isClosed);
    if (instance.isRoot) roots?.add(instance.startNs, endNs);
    if (!isClosed) unclosed.add(instance);
    const region = latestRegion(instance.region);
    if (context.communicates?.(region.node) === true)
      addCall(communication, region, instance.startNs, endNs);
  };

  /** @param endNs null if it is not known yet, because ranges of a thread close in the reverse order of opening */
  const openRegion = (range: RangeInstance, endNs: number | null): void => {
    const visible = open.visibleOn(range.threadId);
    if (visible.length >= MAX_DEPTH) {
      tooDeep++;
      return;
    }
    // A range that closes before this one does not contain it: they overlap, and become siblings.
    const around =
      endNs === null || visible.every((other) => (other.endNs ?? endNs) >= endNs)
        ? visible
        : visible.filter((other) => (other.endNs ?? endNs) >= endNs);
    const parent = around === visible ? open.pathOn(range.threadId) : rangePath(root, around);
    const region = regionAt(childNode(parent, nameOf(range), range.domain), range.kind);
    const instance = createInstance(range, region, endNs, around, {
      order: order++,
      category: categoryOf(range),
    });
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

  const samples = createSampleTallies();
  const hostCalls = createCallTallies();
  const activities = createActivityTallies();
  /** The regions that a call counts for; none if its thread is unknown. */
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
    const innermost = threadId === null ? undefined : open.visibleOn(threadId).at(-1);
    const owner = innermost?.region ?? outsideRegion(root);
    const regions = regionsOf(threadId);
    ranOn(kernelNames.numbered.placeOf(kernel).device, threadId);
    return (ns) => kernels.add(regions, owner, kernel, ns);
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
        launching(
          kernelNames.operation(nameOf(range)),
          range.threadId,
        )(operations.selfTime(range, endNs));
    },
    rangeCloses(range) {
      if (!isOperation(range)) closeRegion(range);
      else operations.close(range);
    },
    kernelIsLaunched(kernel) {
      const { kind = "kernel", launchThreadId } = kernel;
      const ns = Math.max(kernel.endNs - kernel.startNs, 0);
      if (kind === "kernel") {
        launching(kernelNames.kernel(kernel), launchThreadId)(ns);
        return;
      }
      const device = deviceName(kernel.device);
      activities.add(regionsOf(launchThreadId), kind, device, {
        ns,
        bytes: kernel.bytes ?? 0,
        isPageable: kernel.isPageable,
        stream: kind === "memcpy" ? streams.streamOf(kernel) : null,
      });
      ranOn(device, launchThreadId);
    },
    threadWaits({ threadId, startNs, endNs }) {
      const ns = Math.max(endNs - startNs, 0);
      activities.add(regionsOf(threadId), "synchronization", null, { ns, bytes: 0 });
    },
    hostIsCalled(call) {
      const ownRange = open
        .visibleOn(call.threadId)
        .findLast((instance) => instance.threadId === call.threadId);
      if (call.threadId === process.pid)
        isInside.set(firstThreadCalls++, ownRange === undefined ? 0 : 1);
      hostCalls.add(
        ownRange === undefined ? outsideRegion(root) : latestRegion(ownRange.region),
        call,
      );
    },
    threadIsSampled(sample) {
      const { threadId } = sample;
      const ownRange = open
        .visibleOn(threadId)
        .findLast((instance) => instance.threadId === threadId);
      if (ownRange !== undefined) samples.add(latestRegion(ownRange.region), ownRange, sample);
      // Outside of ranges the first thread stands for the process: others may be idle helpers.
      else if (threadId === process.pid && !open.isAnyOpen())
        samples.add(outsideRegion(root), null, sample);
    },
  };
  const events = {
    kernels: process.kernels,
    waits: process.synchronizations ?? [],
    samples: process.threadSamples ?? [],
    hostCalls: process.hostCalls ?? NO_CALLS,
  };
  if (process.allRanges === undefined) {
    const ranges = inOpeningOrder(process.ranges);
    operations.prepare(ranges.filter(isOperation), lastEventNs);
    replay({ ...events, ranges }, lastEventNs, handlers);
  } else replayStream(process.allRanges, events, lastEventNs, handlers);
  operations.closeAll(lastEventNs);
  const endOf = ({ endNs, startNs }: RegionInstance) => endNs ?? Math.max(lastEventNs, startNs);
  // All report their time to the enclosing ones first.
  for (const [range, instance] of instanceOf) closeInstance(instance, range, endOf(instance));
  for (const instance of instanceOf.values()) finish(instance, endOf(instance), false);
  const covered = roots?.finish();
  let place = 0;
  if (covered !== undefined)
    for (const call of eachHostCall(process.hostCalls)) {
      // The first thread stands for the process: others may be idle helpers.
      if (call.threadId !== process.pid) continue;
      // One that outlasts its range counts there as a whole.
      if (isInside.get(place++) === 1) continue;
      const alone = call.endNs - call.startNs - coveredNs(covered, call.startNs, call.endNs);
      if (alone > 0) hostCalls.addAlone(outsideRegion(root), call, alone);
    }
  return () => ({
    process,
    ranges: tallies.finish(),
    kernels: kernels.finish(),
    activities: latestActivities(activities.byRegion),
    samples: samples.finish(),
    hostCalls: hostCalls.finish(),
    gpu,
    communication,
    unclosed: unclosed.finish(),
    ignoredOperations,
    tooDeep,
    overlapping,
  });
}

/** The starts and ends of the calls of a region, in 16 bytes per call. */
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

/** Built before the ranges are processed, whose times on GPUs are looked up in it. */
function gpuTimelines({ kernels }: ProcessTimeline): GpuTimelines {
  const gpu = createGpuTimelines();
  for (const { kind = "kernel", device, startNs, endNs } of kernels)
    gpu.add(kind, deviceName(device), startNs, endNs);
  return gpu;
}

/** Ranges that were still open at the end. */
export interface UnclosedRanges {
  readonly count: number;
  /** Labels, each once, in order of opening. */
  readonly names: readonly string[];
  /** The range opened last on the thread that was active last: other threads may have been waiting for a long time. */
  readonly innermost: RegionInstance | null;
}

function createUnclosed() {
  const names = new Set<string>();
  let count = 0;
  let innermost: RegionInstance | null = null;
  return {
    /** In order of opening. */
    add(instance: RegionInstance): void {
      count++;
      names.add(latestRegion(instance.region).node.name);
      innermost = instance;
    },
    finish: (): UnclosedRanges => ({ count, names: [...names], innermost }),
  };
}

export const outsideRegion = (root: PathNode): RegionIdentity =>
  regionAt(childNode(root, OUTSIDE, ""), "outside");

/** The path of regions inside these ranges, which are given outermost first. */
const rangePath = (root: PathNode, around: readonly RegionInstance[]): PathNode =>
  around.reduce((node, { region }) => childNode(node, region.node.name, region.node.domain), root);

const NO_CALLS: HostCallList = { length: 0, at: () => undefined };

/** Shared by the many instances during which nothing ran. */
const NO_DEVICES: readonly string[] = [];

/**
 * Creates an instance and, if its end is known, subtracts its time from the exclusive time of the enclosing ranges, which end no
 * earlier.
 */
function createInstance(
  range: RangeInstance,
  region: RegionIdentity,
  endNs: number | null,
  containing: readonly RegionInstance[],
  { order, category }: Pick<RegionInstance, "order" | "category">,
): RegionInstance {
  let onThread: RegionInstance | null = null;
  for (const around of containing) {
    if (endNs !== null) cover(around.inner, range.startNs, endNs);
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
    instructions: null,
    innerInstructions: 0,
    category,
    values: numbersOf(range),
    devices: NO_DEVICES,
  };
}

/** The numbers of its payloads, the plain one last; null without any. */
function numbersOf({ payload, values }: RangeInstance): readonly PayloadNumber[] | null {
  const value = payload === null ? Number.NaN : Number(payload);
  if (!Number.isFinite(value)) return values ?? null;
  return [...(values ?? []), { field: PLAIN_PAYLOAD, value }];
}

/** Category 0 is none. */
function categoryNames({
  categoryNames: names = [],
}: ProcessTimeline): (range: RangeInstance) => string | null {
  if (names.length === 0) return () => null;
  const namesByCategory = new Map(
    names.map(({ domain, category, name }) => [`${category} ${domain}`, name]),
  );
  return ({ category, domain }) =>
    category === 0 ? null : (namesByCategory.get(`${category} ${domain}`) ?? null);
}

/** Completes an instance when its range closes, and reports its time to the enclosing range. */
function closeInstance(instance: RegionInstance, range: RangeInstance, endNs: number): void {
  const { onThread } = instance;
  const ns = endNs - range.startNs;
  instance.cpuNs = range.cpuNs == null ? null : Math.min(range.cpuNs, ns);
  instance.counts = range.counts ?? null;
  instance.instructions = range.instructions ?? null;
  instance.values = numbersOf(range);
  if (onThread === null) return;
  onThread.innerCpuNs += instance.cpuNs ?? 0;
  onThread.innerInstructions += instance.instructions ?? 0;
  // Ranges that close in the reverse order of opening cannot overlap inside one range.
  if (instance.endNs === null) onThread.inner.coveredNs += ns;
}

/** The assumed end of unclosed ranges. */
function lastEvent(process: ProcessTimeline): number {
  let last = process.endNs;
  // If not all ranges are kept, the process knows the last event.
  for (const range of process.ranges) last = Math.max(last, range.endNs ?? range.startNs);
  for (const mark of process.marks) last = Math.max(last, mark.timeNs);
  const { kernels } = process;
  const lastKernels = kernels.isOrdered === true ? [kernels.at(kernels.length - 1)] : kernels;
  for (const kernel of lastKernels) last = Math.max(last, kernel?.launchNs ?? last);
  return last;
}

/**
 * Self time of CPU operations in nanoseconds: their duration without the operations inside them on the same thread. So
 * a composite operation and its parts can be in one list whose sum is the time spent.
 */
function createOperations() {
  const openByThread = new Map<number, OpenOperation[]>();
  const exclusiveNs = new Map<RangeInstance, number>();
  const stackOf = (threadId: number) =>
    getOrCreate(openByThread, threadId, (): OpenOperation[] => []);
  const closeAt = (open: OpenOperation[], index: number, endNs: number): void => {
    const [operation] = open.splice(index, 1);
    if (operation === undefined) return;
    const ns = Math.max(endNs - operation.range.startNs, 0);
    const around = open[index - 1];
    // Otherwise it was reported when it opened.
    if (around !== undefined && operation.endNs === null) around.inner.coveredNs += ns;
    operation.count?.(ns - operation.inner.coveredNs);
  };
  const coverAround = (open: readonly OpenOperation[], startNs: number, endNs: number): void => {
    for (const around of open) cover(around.inner, startNs, Math.min(endNs, around.endNs ?? endNs));
  };
  return {
    /** For a list of all operations, in order of opening. */
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
        exclusiveNs.set(range, endNs - range.startNs - inner.coveredNs);
    },
    selfTime: (range: RangeInstance, endNs: number): number =>
      exclusiveNs.get(range) ?? endNs - range.startNs,
    /**
     * For operations that arrive one by one.
     * @param endNs null if it is not known yet
     * @param count called with its self time
     */
    open(range: RangeInstance, endNs: number | null, count: (ns: number) => void): void {
      const open = stackOf(range.threadId);
      if (endNs !== null) coverAround(open, range.startNs, endNs);
      open.push({ range, endNs, inner: createCoverage(range.startNs), count });
    },
    /** Must be called for each operation that `open` was called with; does nothing if there was none. */
    close(range: RangeInstance): void {
      const open = stackOf(range.threadId);
      const index = open.findLastIndex((operation) => operation.range === range);
      if (index >= 0) closeAt(open, index, range.endNs ?? range.startNs);
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
  /** Null if it is not known yet. */
  readonly endNs: number | null;
  readonly inner: Coverage;
  readonly count?: (ns: number) => void;
}
