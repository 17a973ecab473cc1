/**
 * What the GPUs of a process did while a range was open, whoever launched it: a range in which they are idle
 * waits for the host, and a copy beside a kernel costs nothing. Times in nanoseconds.
 */
import type { GpuActivityKind } from "../timeline/timeline.ts";
import { coveredNs, createUnion, type Union, type UnionBuilder, unionOf } from "./busy-time.ts";

/** Parts of the wall time of ranges, in which overlaps of one kind count once. */
export interface GpuUse {
  /** A kernel, a copy or a set of memory ran. */
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
  /** Of one device, or of all together (null), once all have been added; null where nothing ran there. */
  readonly of: (device: string | null) => GpuTimeline | null;
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
    add(kind, device, startNs, endNs) {
      let unions = builders.get(device);
      if (unions === undefined) {
        unions = { kernels: createUnion(), copies: createUnion() };
        builders.set(device, unions);
      }
      (kind === "kernel" ? unions.kernels : unions.copies).add(startNs, endNs);
    },
    of(device) {
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

/** Of a single device its own: there can be millions of intervals. */
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
