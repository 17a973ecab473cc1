/**
 * Which kernels ran in which region, and how long. A run can have millions of them, deep inside of
 * ranges, so that each launch is counted once, for the group of regions that were open then; what a
 * region got is the sum over its groups.
 */
import { createKernelCounts, type GroupedCounts } from "./kernel-counts.ts";
import type { KernelNumber, KernelPlace, NumberedNames } from "./kernel-names.ts";
import type { RegionIdentity } from "./path-tree.ts";

/** What one process ran in a region. */
export interface KernelTally {
  readonly counts: GroupedCounts;
  /** Of `counts`: those in which the region was open. */
  readonly groups: readonly number[];
  /** Where they ran, each once. */
  readonly devices: readonly string[];
  /** What no region inside this one contains. */
  readonly exclusive: readonly ExclusiveTime[];
}

/** Of one kind on one device: scopes of a device need it apart. */
export interface ExclusiveTime extends KernelPlace {
  readonly calls: number;
  readonly ns: number;
}

export type KernelTallies = ReadonlyMap<RegionIdentity, KernelTally>;

export interface KernelTallyBuilder {
  /** Counts a kernel for regions of which `owner` holds it directly. */
  readonly add: (
    regions: readonly RegionIdentity[],
    owner: RegionIdentity,
    kernel: KernelNumber,
    ns: number,
  ) => void;
  /** Once, after all kernels. */
  readonly finish: () => KernelTallies;
}

/** Regions that were open at a launch, and the one that holds it directly. */
interface Group {
  readonly number: number;
  readonly regions: readonly RegionIdentity[];
  readonly owner: RegionIdentity;
}

/** Groups by their regions, outermost first. */
interface GroupNode {
  readonly inside: Map<RegionIdentity, GroupNode>;
  readonly byOwner: Map<RegionIdentity, Group>;
}

const createNode = (): GroupNode => ({ inside: new Map(), byOwner: new Map() });

function nodeInside(node: GroupNode, region: RegionIdentity): GroupNode {
  let inner = node.inside.get(region);
  if (inner === undefined) {
    inner = createNode();
    node.inside.set(region, inner);
  }
  return inner;
}

export function createKernelTallies({ placeOf }: NumberedNames): KernelTallyBuilder {
  const counts = createKernelCounts();
  const root = createNode();
  const groups: Group[] = [];
  let latest: Group | null = null;

  const groupOf = (regions: readonly RegionIdentity[], owner: RegionIdentity): Group => {
    // Kernels that are launched one after another see the same list.
    if (latest !== null && latest.regions === regions && latest.owner === owner) return latest;
    const { byOwner } = regions.reduce(nodeInside, root);
    let group = byOwner.get(owner);
    if (group === undefined) {
      group = { number: groups.length, regions, owner };
      groups.push(group);
      byOwner.set(owner, group);
    }
    latest = group;
    return group;
  };

  return {
    add: (regions, owner, kernel, ns) => counts.add(groupOf(regions, owner).number, kernel, ns),
    finish() {
      const grouped = counts.byGroup();
      const tallies = new Map<RegionIdentity, TallyDraft>();
      for (const { number, regions, owner } of groups) {
        const times = timesByPlace(grouped, number, placeOf);
        for (const region of regions) {
          let tally = tallies.get(region);
          if (tally === undefined) {
            tally = { counts: grouped, groups: [], devices: [], exclusive: [] };
            tallies.set(region, tally);
          }
          addGroup(tally, number, times, region === owner);
        }
      }
      return tallies;
    },
  };
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

interface TallyDraft extends KernelTally {
  readonly groups: number[];
  readonly devices: string[];
  readonly exclusive: Draft<ExclusiveTime>[];
}

function timesByPlace(
  counts: GroupedCounts,
  group: number,
  placeOf: NumberedNames["placeOf"],
): readonly ExclusiveTime[] {
  const times: Draft<ExclusiveTime>[] = [];
  counts.forEach(group, (kernel, calls, ns) => addTime(times, placeOf(kernel), calls, ns));
  return times;
}

function addGroup(
  tally: TallyDraft,
  group: number,
  times: readonly ExclusiveTime[],
  isOwner: boolean,
): void {
  tally.groups.push(group);
  for (const time of times) {
    if (!tally.devices.includes(time.device)) tally.devices.push(time.device);
    if (isOwner) addTime(tally.exclusive, time, time.calls, time.ns);
  }
}

function addTime(
  times: Draft<ExclusiveTime>[],
  { kind, device }: KernelPlace,
  calls: number,
  ns: number,
): void {
  const known = times.find((time) => time.device === device && time.kind === kind);
  if (known === undefined) times.push({ kind, device, calls, ns });
  else {
    known.calls += calls;
    known.ns += ns;
  }
}

export const ranOn = ({ devices }: KernelTally, device: string): boolean =>
  devices.includes(device);
