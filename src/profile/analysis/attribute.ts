/**
 * What every region of one process got: its instances with their own time, and the kernels launched
 * while they were open. What happens on a thread belongs to every range the thread sees then; the
 * one opened last owns it exclusively.
 */

import type { ProcessTimeline, RangeInstance } from "../model/timeline.ts";
import {
  type ActivityTally,
  createActivityTallies,
  createGpuTimelines,
  type GpuTimelines,
} from "./gpu-activity.ts";
import { type Coverage, cover, createCoverage } from "./interval-union.ts";
import { deviceName, type KernelNames, type KernelNumber } from "./kernel-names.ts";
import { createKernelTallies, type KernelTallies } from "./kernel-tallies.ts";
import type { LabelOf } from "./labels.ts";
import { createOpenRanges, type RegionInstance } from "./open-ranges.ts";
import { childNode, type PathNode, type RegionIdentity, regionAt } from "./path-tree.ts";
import { closesLater, inOpeningOrder, replay } from "./replay.ts";

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
}

export interface ProcessAttribution {
  readonly process: ProcessTimeline;
  /** In order of opening. */
  readonly instances: readonly RegionInstance[];
  readonly kernels: KernelTallies;
  /** Copies, sets and waits. */
  readonly activities: ReadonlyMap<RegionIdentity, readonly ActivityTally[]>;
  /** What its GPUs did when. */
  readonly gpu: GpuTimelines;
  /** Operations left out because GPU kernels are counted instead. */
  readonly ignoredOperations: number;
  readonly tooDeep: number;
  /** Ranges that closed while one that was opened later was still open. */
  readonly overlapping: number;
}

export function attributeProcess(
  process: ProcessTimeline,
  { root, kernelNames, operationDomains, countOperations, labelOf }: AttributionContext,
): ProcessAttribution {
  const ranges = inOpeningOrder(process.ranges);
  const lastEventNs = lastEvent(process);
  const endOf = (range: RangeInstance) => Math.max(range.endNs ?? lastEventNs, range.startNs);
  const nameOf = ({ name }: RangeInstance) => (labelOf === null ? name : labelOf(name));
  const isOperation = (range: RangeInstance) => operationDomains.has(range.domain);
  const selfTimes = operationSelfTimes(ranges.filter(isOperation), endOf);

  const open = createOpenRanges(root);
  const instances: RegionInstance[] = [];
  const instanceOf = new Map<RangeInstance, RegionInstance>();
  const kernels = createKernelTallies(kernelNames.numbered);
  let ignoredOperations = 0;
  let tooDeep = 0;
  let overlapping = 0;

  const openRegion = (range: RangeInstance) => {
    const visible = open.visibleOn(range.threadId);
    if (visible.length >= MAX_DEPTH) {
      tooDeep++;
      return;
    }
    const endNs = endOf(range);
    // What closes before this range does not contain it: they overlap, and stand beside each other.
    const around = visible.every((other) => other.endNs >= endNs)
      ? visible
      : visible.filter((other) => other.endNs >= endNs);
    const parent = around === visible ? open.pathOn(range.threadId) : pathOf(root, around);
    const node = childNode(parent, nameOf(range), range.domain);
    const region = regionAt(node, range.kind);
    const instance = createInstance(range, region, endNs, around, instances.length);
    instances.push(instance);
    if (range.endNs !== null && !closesLater(range)) return;
    instanceOf.set(range, instance);
    open.open(instance);
  };

  const activities = createActivityTallies();
  const gpu = createGpuTimelines();
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

  const launch = (kernel: KernelNumber, threadId: number | null, ns: number) => {
    const visible = threadId === null ? [] : open.visibleOn(threadId);
    const owner = visible.at(-1)?.region ?? outsideRegion(root);
    kernels.add(regionsOf(threadId), owner, kernel, ns);
    ranOn(kernelNames.numbered.placeOf(kernel).device, threadId);
  };

  replay(
    { ranges, kernels: process.kernels, waits: process.synchronizations ?? [] },
    {
      rangeOpens(range) {
        if (!isOperation(range)) openRegion(range);
        else if (countOperations)
          launch(kernelNames.operation(nameOf(range)), range.threadId, selfTimes.get(range) ?? 0);
        else ignoredOperations++;
      },
      rangeCloses(range) {
        const instance = instanceOf.get(range);
        if (instance !== undefined && !open.close(instance)) overlapping++;
      },
      kernelIsLaunched(kernel) {
        const { kind = "kernel", launchThreadId } = kernel;
        const ns = Math.max(kernel.endNs - kernel.startNs, 0);
        const device = deviceName(kernel.device);
        gpu.add(kind, device, kernel.startNs, kernel.endNs);
        if (kind === "kernel") {
          launch(kernelNames.kernel(kernel), launchThreadId, ns);
          return;
        }
        activities.add(regionsOf(launchThreadId), kind, device, ns, kernel.bytes ?? 0);
        ranOn(device, launchThreadId);
      },
      threadWaits({ threadId, startNs, endNs }) {
        const ns = Math.max(endNs - startNs, 0);
        activities.add(regionsOf(threadId), "synchronization", null, ns, 0);
      },
    },
  );
  return {
    process,
    instances,
    kernels: kernels.finish(),
    activities: activities.byRegion,
    gpu,
    ignoredOperations,
    tooDeep,
    overlapping,
  };
}

export const outsideRegion = (root: PathNode): RegionIdentity =>
  regionAt(childNode(root, OUTSIDE, ""), "outside");

/** The place of what lies inside these ranges, outermost first. */
const pathOf = (root: PathNode, around: readonly RegionInstance[]): PathNode =>
  around.reduce((node, { region }) => childNode(node, region.node.name, region.node.domain), root);

/** Shared by the many instances in which nothing ran. */
const NO_DEVICES: readonly string[] = [];

/** Also tells the ranges around it that this part of their time is not theirs alone. */
function createInstance(
  range: RangeInstance,
  region: RegionIdentity,
  endNs: number,
  containing: readonly RegionInstance[],
  order: number,
): RegionInstance {
  let countedUntilNs = range.startNs;
  let onThread: RegionInstance | null = null;
  let isCounted = false;
  const cpuNs = range.cpuNs == null ? null : Math.min(range.cpuNs, endNs - range.startNs);
  for (const around of containing) {
    cover(around.inner, range.startNs, Math.min(endNs, around.endNs));
    if (around.region === region) countedUntilNs = Math.max(countedUntilNs, around.endNs);
    if (around.threadId !== range.threadId) continue;
    onThread = around;
    if (around.region === region) isCounted = true;
  }
  if (onThread !== null) onThread.innerCpuNs += cpuNs ?? 0;
  return {
    region,
    kind: range.kind,
    threadId: range.threadId,
    order,
    isRoot: containing.length === 0,
    startNs: range.startNs,
    endNs,
    closed: range.endNs !== null,
    countedNs: Math.min(countedUntilNs, endNs) - range.startNs,
    inner: createCoverage(range.startNs),
    cpuNs,
    innerCpuNs: 0,
    counts: range.counts ?? null,
    values: range.values ?? null,
    isCounted,
    devices: NO_DEVICES,
  };
}

/** Where unclosed ranges are taken to end. */
function lastEvent(process: ProcessTimeline): number {
  let last = process.endNs;
  for (const range of process.ranges) last = Math.max(last, range.endNs ?? range.startNs);
  for (const mark of process.marks) last = Math.max(last, mark.timeNs);
  const { kernels } = process;
  const lastKernels = kernels.isOrdered === true ? [kernels.at(kernels.length - 1)] : kernels;
  for (const kernel of lastKernels) last = Math.max(last, kernel?.launchNs ?? last);
  return last;
}

/**
 * Self time of each CPU operation, in nanoseconds: its duration without the operations inside it on
 * its thread. Counted so, a composite operation and its parts can stand in one list and still add
 * up to the time that was spent. Operations come in order of opening.
 */
function operationSelfTimes(
  operations: readonly RangeInstance[],
  endOf: (range: RangeInstance) => number,
): ReadonlyMap<RangeInstance, number> {
  const openByThread = new Map<number, OpenOperation[]>();
  const all: OpenOperation[] = [];
  for (const range of operations) {
    const open = openByThread.get(range.threadId) ?? [];
    openByThread.set(range.threadId, open);
    while ((open.at(-1)?.endNs ?? Number.POSITIVE_INFINITY) <= range.startNs) open.pop();
    const endNs = endOf(range);
    for (const around of open) cover(around.inner, range.startNs, Math.min(endNs, around.endNs));
    const operation = { range, endNs, inner: createCoverage(range.startNs) };
    open.push(operation);
    all.push(operation);
  }
  return new Map(
    all.map(({ range, endNs, inner }) => [range, endNs - range.startNs - inner.coveredNs]),
  );
}

interface OpenOperation {
  readonly range: RangeInstance;
  readonly endNs: number;
  readonly inner: Coverage;
}
