/**
 * What the GPUs of a process did while a range was open, whoever launched it: a range in which they are idle
 * waits for the host, and a copy beside a kernel costs nothing. Times in nanoseconds.
 */
import type { GpuActivityKind } from "../timeline.ts";
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

interface Unions {
  readonly kernels: UnionBuilder;
  readonly copies: UnionBuilder;
}

export function createGpuTimelines(): GpuTimelines {
  const devices = new Map<string, Unions>();
  const known = new Map<string | null, GpuTimeline | null>();
  const timelineOf = (device: string | null): GpuTimeline | null => {
    const some = [...devices].filter(([name]) => device === null || name === device);
    if (some.length === 0) return null;
    const kernels = unionOf(some.map(([, unions]) => unions.kernels.finish()));
    const copies = unionOf(some.map(([, unions]) => unions.copies.finish()));
    return { kernels, copies, busy: unionOf([kernels, copies]) };
  };
  return {
    add(kind, device, startNs, endNs) {
      let unions = devices.get(device);
      if (unions === undefined) {
        unions = { kernels: createUnion(), copies: createUnion() };
        devices.set(device, unions);
      }
      (kind === "kernel" ? unions.kernels : unions.copies).add(startNs, endNs);
    },
    of(device) {
      const found = known.get(device);
      if (found !== undefined) return found;
      const made = timelineOf(device);
      known.set(device, made);
      return made;
    },
  };
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
