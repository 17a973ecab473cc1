/**
 * GPU activity while a range was open: how busy the GPUs were, what ran beside kernels, and how long the host waited.
 */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { GpuActivityKind, KernelInstance, ProcessTimeline } from "../model/timeline.ts";
import {
  coveredNs,
  createUnion,
  type Union,
  type UnionBuilder,
  unionOf,
} from "./interval-union.ts";
import { latestRegion, type RegionIdentity } from "./path-tree.ts";

// What the GPUs of a process did while a range was open, whichever thread launched the work: a range in which they are
// idle waits for the host, and a copy beside a kernel costs nothing. Times in nanoseconds.

/** Parts of the wall time of ranges; overlaps of one kind count once. */
export interface GpuUse {
  /** A kernel, copy or set of memory ran. */
  readonly busyNs: number;
  readonly kernelNs: number;
  /** Copies and sets. */
  readonly copyNs: number;
}

export interface GpuTimeline {
  readonly busy: Union;
  readonly kernels: Union;
  readonly copies: Union;
}

export interface GpuTimelines {
  readonly add: (kind: GpuActivityKind, device: string, startNs: number, endNs: number) => void;
  /**
   * The timeline of one device, or of all together (null), once everything has been added; null if nothing ran there.
   */
  readonly timelineOf: (device: string | null) => GpuTimeline | null;
  readonly devices: () => Iterable<string>;
}

interface Builders {
  readonly kernels: UnionBuilder;
  readonly copies: UnionBuilder;
}

export function createGpuTimelines(): GpuTimelines {
  const builders = new Map<string, Builders>();
  let devices: ReadonlyMap<string, GpuTimeline> | null = null;
  let all: GpuTimeline | null = null;
  return {
    devices: () => builders.keys(),
    add(kind, device, startNs, endNs) {
      let unions = builders.get(device);
      if (unions === undefined) {
        unions = { kernels: createUnion(), copies: createUnion() };
        builders.set(device, unions);
      }
      (kind === "kernel" ? unions.kernels : unions.copies).add(startNs, endNs);
    },
    timelineOf(device) {
      devices ??= new Map([...builders].map(([name, unions]) => [name, finished(unions)]));
      if (device !== null) return devices.get(device) ?? null;
      if (devices.size === 0) return null;
      all ??= together([...devices.values()]);
      return all;
    },
  };
}

const finished = ({ kernels, copies }: Builders): GpuTimeline =>
  timelineOf(kernels.finish(), copies.finish());

const timelineOf = (kernels: Union, copies: Union): GpuTimeline => ({
  kernels,
  copies,
  busy: unionOf([kernels, copies]),
});

/** A single device is returned as it is: there can be millions of intervals. */
function together(devices: readonly GpuTimeline[]): GpuTimeline {
  const [only, ...others] = devices;
  if (only !== undefined && others.length === 0) return only;
  return timelineOf(
    unionOf(devices.map(({ kernels }) => kernels)),
    unionOf(devices.map(({ copies }) => copies)),
  );
}

export const useBetween = (
  { busy, kernels, copies }: GpuTimeline,
  fromNs: number,
  toNs: number,
): GpuUse => ({
  busyNs: coveredNs(busy, fromNs, toNs),
  kernelNs: coveredNs(kernels, fromNs, toNs),
  copyNs: coveredNs(copies, fromNs, toNs),
});

// GPU activity of a region beside kernels, and the time in which the host waited for it. Separate from kernels: copies
// run on engines of their own, and would make kernel times incomparable with those of other tools.

/** Activities that are no kernels: copies and sets of memory, and waits of the host. */
export type GpuActivity = "memcpy" | "memset" | "synchronization";

/** The number, duration and bytes of activities. */
export interface ActivityTotals {
  readonly calls: number;
  readonly ns: number;
  /** Bytes copied or set; 0 for waits. */
  readonly bytes: number;
  /** The time of copies of pageable memory, and of all of which the memory is known. */
  readonly pageableNs: number;
  readonly knownNs: number;
  /** The time of copies by their stream, as far as streams are known. */
  readonly streams: ReadonlyMap<GpuStream, number>;
}

/** A stream of a context, and what else it is used for; there is one object for each. */
export interface GpuStream {
  readonly number: number;
  /** Whether it is the null stream of its context; null if unknown. */
  readonly isDefault: boolean | null;
  /** Whether kernels of the same process run on it. */
  readonly runsKernels: boolean;
}

/** The streams of a process, by context and number. */
export interface GpuStreams {
  /** Null if the stream is unknown. */
  readonly streamOf: (
    activity: Pick<KernelInstance, "device" | "context" | "stream">,
  ) => GpuStream | null;
}

export function gpuStreams({
  kernels,
  defaultStreams,
}: Pick<ProcessTimeline, "kernels" | "defaultStreams">): GpuStreams {
  type Draft = { -readonly [K in keyof GpuStream]: GpuStream[K] };
  const contexts = new Map<string, Map<number, Draft>>();
  const streamOf = ({
    device,
    context,
    stream,
  }: Parameters<GpuStreams["streamOf"]>[0]): Draft | null =>
    stream === null
      ? null
      : getOrCreate(
          getOrCreate(contexts, `${device} ${context ?? ""}`, () => new Map<number, Draft>()),
          stream,
          () => ({
            number: stream,
            isDefault:
              defaultStreams?.some(
                (candidate) => candidate.stream === stream && candidate.context === context,
              ) ?? null,
            runsKernels: false,
          }),
        );
  for (const kernel of kernels)
    if ((kernel.kind ?? "kernel") === "kernel") {
      const stream = streamOf(kernel);
      if (stream !== null) stream.runsKernels = true;
    }
  return { streamOf };
}

export interface ActivityTally extends ActivityTotals {
  readonly activity: GpuActivity;
  /** `cuda:N`; null for waits, which may be for several devices. */
  readonly device: string | null;
}

export interface ActivityTallies {
  add(
    regions: readonly RegionIdentity[],
    activity: GpuActivity,
    device: string | null,
    part: Pick<ActivityTotals, "ns" | "bytes"> & {
      readonly isPageable?: boolean | undefined;
      readonly stream?: GpuStream | null;
    },
  ): void;
  readonly byRegion: ReadonlyMap<RegionIdentity, readonly ActivityTally[]>;
}

export function createActivityTallies(): ActivityTallies {
  type Draft = { -readonly [K in keyof ActivityTally]: ActivityTally[K] } & {
    readonly streams: Map<GpuStream, number>;
  };
  const byRegion = new Map<RegionIdentity, Draft[]>();
  const tallyOf = (region: RegionIdentity, activity: GpuActivity, device: string | null): Draft => {
    let ofRegion = byRegion.get(region);
    if (ofRegion === undefined) {
      ofRegion = [];
      byRegion.set(region, ofRegion);
    }
    const existing = ofRegion.find(
      (draft) => draft.activity === activity && draft.device === device,
    );
    if (existing !== undefined) return existing;
    const created: Draft = {
      activity,
      device,
      calls: 0,
      ns: 0,
      bytes: 0,
      pageableNs: 0,
      knownNs: 0,
      streams: new Map(),
    };
    ofRegion.push(created);
    return created;
  };
  return {
    byRegion,
    add(regions, activity, device, { ns, bytes, isPageable, stream = null }) {
      for (const region of regions) {
        const tally = tallyOf(region, activity, device);
        tally.calls++;
        tally.ns += ns;
        tally.bytes += bytes;
        if (isPageable !== undefined) tally.knownNs += ns;
        if (isPageable === true) tally.pageableNs += ns;
        if (stream !== null) tally.streams.set(stream, (tally.streams.get(stream) ?? 0) + ns);
      }
    },
  };
}

/** Grouped by the regions that theirs were merged into. */
export function latestActivities(
  byRegion: ReadonlyMap<RegionIdentity, readonly ActivityTally[]>,
): ReadonlyMap<RegionIdentity, readonly ActivityTally[]> {
  const latest = new Map<RegionIdentity, readonly ActivityTally[]>();
  for (const [region, tallies] of byRegion) {
    const now = latestRegion(region);
    const earlier = latest.get(now);
    latest.set(now, earlier === undefined ? tallies : [...earlier, ...tallies]);
  }
  return latest;
}

/** Sums by activity. A scope of one device has no waits, because their devices are unknown. */
export function totalActivities(
  tallies: readonly ActivityTally[],
  device: string | null,
): ReadonlyMap<GpuActivity, ActivityTotals> {
  const totals = new Map<GpuActivity, ActivityTotals>();
  for (const tally of tallies) {
    if (device !== null && tally.device !== device) continue;
    const sum = totals.get(tally.activity) ?? {
      calls: 0,
      ns: 0,
      bytes: 0,
      pageableNs: 0,
      knownNs: 0,
      streams: new Map<GpuStream, number>(),
    };
    const streams = new Map(sum.streams);
    for (const [stream, ns] of tally.streams) streams.set(stream, (streams.get(stream) ?? 0) + ns);
    totals.set(tally.activity, {
      calls: sum.calls + tally.calls,
      ns: sum.ns + tally.ns,
      bytes: sum.bytes + tally.bytes,
      pageableNs: sum.pageableNs + tally.pageableNs,
      knownNs: sum.knownNs + tally.knownNs,
      streams,
    });
  }
  return totals;
}
