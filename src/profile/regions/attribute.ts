/**
 * Replays one process's events in order and notes what every region got: its instances with their
 * own time, and the kernels launched while they were open.
 *
 * A range counts as open from its start up to, not including, its end. What happens on a thread
 * belongs to every range the thread sees then: its own push/pop ranges and the start/end ranges of
 * the process. The one opened last owns it exclusively.
 */
import type { ProcessTimeline, RangeInstance } from "../timeline.ts";
import { cover, createCoverage } from "./coverage.ts";
import type { KernelIdentity, KernelNames } from "./kernel-names.ts";
import { createOpenRanges, type RegionInstance } from "./open-ranges.ts";
import { operationSelfTimes } from "./operations.ts";
import { childNode, type PathNode, type RegionIdentity, regionAt } from "./path-tree.ts";

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
}

export interface ProcessAttribution {
  readonly process: ProcessTimeline;
  /** In order of opening. */
  readonly instances: readonly RegionInstance[];
  readonly kernels: ReadonlyMap<RegionIdentity, ReadonlyMap<KernelIdentity, KernelTally>>;
  /** Operations left out because GPU kernels are counted instead. */
  readonly ignoredOperations: number;
  readonly tooDeep: number;
  /** Ranges that closed while a range opened inside them was still open. */
  readonly overlapping: number;
}

export interface KernelTally {
  calls: number;
  ns: number;
  /** Those that no region inside this one contains. */
  exclusiveCalls: number;
  exclusiveNs: number;
}

/** Something that takes time on a device and belongs to the regions open where it was launched. */
interface Launch {
  readonly identity: KernelIdentity;
  readonly threadId: number;
  readonly ns: number;
}

export function attributeProcess(
  process: ProcessTimeline,
  context: AttributionContext,
): ProcessAttribution {
  const { root, kernelNames, operationDomains } = context;
  const ranges = inOpeningOrder(process.ranges);
  const lastEventNs = lastEvent(process);
  const endOf = (range: RangeInstance) => Math.max(range.endNs ?? lastEventNs, range.startNs);
  const isOperation = (range: RangeInstance) => operationDomains.has(range.domain);
  const selfTimes = operationSelfTimes({ ...process, ranges }, isOperation, endOf);

  const open = createOpenRanges(root);
  const closings = ranges.filter((range) => !isOperation(range) && staysOpen(range));
  closings.sort(byClosing);
  const launches = [...process.kernels].sort((a, b) => a.launchNs - b.launchNs);

  const instances: RegionInstance[] = [];
  const instanceOf = new Map<RangeInstance, RegionInstance>();
  const kernels = new Map<RegionIdentity, Map<KernelIdentity, KernelTally>>();
  let ignoredOperations = 0;
  let tooDeep = 0;
  let overlapping = 0;
  let nextClosing = 0;
  let nextLaunch = 0;

  const closeUntil = (timeNs: number, sequence: number | undefined) => {
    for (;;) {
      const range = closings[nextClosing];
      if (range === undefined || !closesBefore(range, timeNs, sequence)) return;
      nextClosing++;
      const instance = instanceOf.get(range);
      if (instance !== undefined && !open.close(instance)) overlapping++;
    }
  };

  const launch = ({ identity, threadId, ns }: Launch) => {
    const visible = open.visibleOn(threadId);
    const owner = visible.at(-1)?.region ?? outsideRegion(root);
    const regions = visible.length === 0 ? [owner] : visible.map(({ region }) => region);
    // Twice in the list is recursion, which counts once.
    for (const region of new Set(regions)) {
      const tally = tallyOf(kernels, region, identity);
      tally.calls++;
      tally.ns += ns;
      if (region !== owner) continue;
      tally.exclusiveCalls++;
      tally.exclusiveNs += ns;
    }
    for (const instance of visible)
      if (!instance.devices.includes(identity.device))
        instance.devices = [...instance.devices, identity.device];
  };

  const launchUntil = (timeNs: number) => {
    for (;;) {
      const kernel = launches[nextLaunch];
      if (kernel === undefined || kernel.launchNs >= timeNs) return;
      nextLaunch++;
      closeUntil(kernel.launchNs, undefined);
      launch({
        identity: kernelNames.kernel(kernel),
        threadId: kernel.launchThreadId,
        ns: Math.max(kernel.endNs - kernel.startNs, 0),
      });
    }
  };

  const openRegion = (range: RangeInstance) => {
    const visible = open.visibleOn(range.threadId);
    if (visible.length >= MAX_DEPTH) {
      tooDeep++;
      return;
    }
    const node = childNode(open.pathOn(range.threadId), range.name, range.domain);
    const region = regionAt(node, range.domain, range.kind);
    const endNs = endOf(range);
    let countedUntilNs = range.startNs;
    for (const around of visible) {
      cover(around.inner, range.startNs, Math.min(endNs, around.endNs));
      if (around.region === region) countedUntilNs = Math.max(countedUntilNs, around.endNs);
    }
    const instance: RegionInstance = {
      region,
      kind: range.kind,
      threadId: range.threadId,
      order: instances.length,
      isRoot: visible.length === 0,
      startNs: range.startNs,
      endNs,
      closed: range.endNs !== null,
      countedNs: Math.min(countedUntilNs, endNs) - range.startNs,
      inner: createCoverage(range.startNs),
      devices: NO_DEVICES,
    };
    instances.push(instance);
    if (range.endNs !== null && !staysOpen(range)) return;
    instanceOf.set(range, instance);
    open.open(instance);
  };

  for (const range of ranges) {
    launchUntil(range.startNs);
    closeUntil(range.startNs, range.startSequence);
    if (!isOperation(range)) openRegion(range);
    else if (!context.countOperations) ignoredOperations++;
    else
      launch({
        identity: kernelNames.operation(range.name),
        threadId: range.threadId,
        ns: selfTimes.get(range) ?? 0,
      });
  }
  launchUntil(Number.POSITIVE_INFINITY);
  closeUntil(Number.POSITIVE_INFINITY, undefined);
  return { process, instances, kernels, ignoredOperations, tooDeep, overlapping };
}

/** Shared by the many instances in which nothing ran. */
const NO_DEVICES: readonly string[] = [];

export const outsideRegion = (root: PathNode): RegionIdentity =>
  regionAt(childNode(root, OUTSIDE, ""), "", "outside");

/** As the timeline promises; sorted again only where a collector did not keep the promise. */
function inOpeningOrder(ranges: readonly RangeInstance[]): readonly RangeInstance[] {
  const sorted = ranges.every(
    (range, index) => index === 0 || (ranges[index - 1]?.startNs ?? 0) <= range.startNs,
  );
  return sorted ? ranges : [...ranges].sort((a, b) => a.startNs - b.startNs);
}

/**
 * Whether anything can happen between opening and closing. With a zero duration, only the recorded
 * order could tell.
 */
const staysOpen = (range: RangeInstance): boolean =>
  range.endNs !== null && (range.endNs > range.startNs || range.endSequence !== undefined);

const byClosing = (a: RangeInstance, b: RangeInstance): number =>
  (a.endNs ?? 0) - (b.endNs ?? 0) || (a.endSequence ?? 0) - (b.endSequence ?? 0);

function closesBefore(range: RangeInstance, timeNs: number, sequence: number | undefined): boolean {
  const endNs = range.endNs ?? Number.POSITIVE_INFINITY;
  if (endNs !== timeNs) return endNs < timeNs;
  return sequence === undefined || range.endSequence === undefined || range.endSequence < sequence;
}

/** Where unclosed ranges are taken to end. */
function lastEvent(process: ProcessTimeline): number {
  let last = process.endNs;
  for (const range of process.ranges) last = Math.max(last, range.endNs ?? range.startNs);
  for (const mark of process.marks) last = Math.max(last, mark.timeNs);
  for (const kernel of process.kernels) last = Math.max(last, kernel.launchNs);
  return last;
}

function tallyOf(
  kernels: Map<RegionIdentity, Map<KernelIdentity, KernelTally>>,
  region: RegionIdentity,
  identity: KernelIdentity,
): KernelTally {
  let ofRegion = kernels.get(region);
  if (ofRegion === undefined) {
    ofRegion = new Map();
    kernels.set(region, ofRegion);
  }
  let tally = ofRegion.get(identity);
  if (tally === undefined) {
    tally = { calls: 0, ns: 0, exclusiveCalls: 0, exclusiveNs: 0 };
    ofRegion.set(identity, tally);
  }
  return tally;
}
