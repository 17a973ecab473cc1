/** What the processes of a scope did in each region, added up. Times in nanoseconds. */
import type { ProcessAttribution } from "./attribute.ts";
import type { ActivityTally } from "./gpu-activity.ts";
import { type GpuTimeline, type GpuUse, useBetween } from "./gpu-use.ts";
import type { KernelIdentity } from "./kernel-names.ts";
import { type KernelTally, ranOn } from "./kernel-tallies.ts";
import type { RegionInstance } from "./open-ranges.ts";
import type { RegionIdentity } from "./path-tree.ts";

export interface RegionTally {
  readonly durations: number[];
  wallNs: number;
  exclusiveWallNs: number;
  unclosed: number;
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
export function tallyRegions(
  processes: readonly ProcessAttribution[],
  device: string | null,
): ReadonlyMap<RegionIdentity, RegionTally> {
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
      if (device === null || instance.devices.includes(device))
        addInstance(tallyOf(instance.region), instance, timeline);
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
  if (timeline === null) return;
  const use = useBetween(timeline, instance.startNs + instance.countedNs, instance.endNs);
  tally.gpu.busyNs += use.busyNs;
  tally.gpu.kernelNs += use.kernelNs;
  tally.gpu.copyNs += use.copyNs;
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
