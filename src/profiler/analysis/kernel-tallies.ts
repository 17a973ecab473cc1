/**
 * Counts kernels and their times by region. A run can have millions of them in deeply nested ranges, so each launch is
 * counted once, for the group of regions that were open; the numbers of a region are sums over its groups.
 */

import { type Column, createColumn, doubles, words } from "../model/columns.ts";
import type { KernelNumber, KernelPlace, NumberedNames } from "./kernel-names.ts";
import { latestRegion, type RegionIdentity } from "./path-tree.ts";

/** The kernels that one process launched in a region. */
export interface KernelTally {
  readonly counts: GroupedCounts;
  /** The groups in `counts` that contain the region. */
  readonly groups: readonly number[];
  /** The devices on which they ran, each once. */
  readonly devices: readonly string[];
  /** The time that no inner region contains. */
  readonly exclusive: readonly ExclusiveTime[];
}

/** Separate by kind and device, as scopes of a device need it. */
export interface ExclusiveTime extends KernelPlace {
  readonly calls: number;
  readonly ns: number;
}

export type KernelTallies = ReadonlyMap<RegionIdentity, KernelTally>;

export interface KernelTallyBuilder {
  /** Counts a kernel for regions, of which `owner` contains it directly. */
  readonly add: (
    regions: readonly RegionIdentity[],
    owner: RegionIdentity,
    kernel: KernelNumber,
    ns: number,
  ) => void;
  /** Called once, after all kernels. */
  readonly finish: () => KernelTallies;
}

/** The regions that were open at a launch, and the one that contains it directly. */
interface Group {
  readonly number: number;
  readonly regions: readonly RegionIdentity[];
  readonly owner: RegionIdentity;
}

/** Groups as a tree of their regions, outermost first. */
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
    // Consecutive launches often have the same list of regions.
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
        const holder = latestRegion(owner);
        // Two regions that were open together may have been merged.
        for (const region of new Set(regions.map(latestRegion))) {
          let tally = tallies.get(region);
          if (tally === undefined) {
            tally = { counts: grouped, groups: [], devices: [], exclusive: [] };
            tallies.set(region, tally);
          }
          addGroup(tally, number, times, region === holder);
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
  const existing = times.find((time) => time.device === device && time.kind === kind);
  if (existing === undefined) times.push({ kind, device, calls, ns });
  else {
    existing.calls += calls;
    existing.ns += ns;
  }
}

/** The tally of several regions of one process: what was launched in two of them counts once. Null without any. */
export function talliedTogether(tallies: readonly KernelTally[]): KernelTally | null {
  const [first, ...others] = tallies;
  if (first === undefined || others.length === 0) return first ?? null;
  const exclusive: Draft<ExclusiveTime>[] = [];
  for (const tally of tallies)
    for (const time of tally.exclusive) addTime(exclusive, time, time.calls, time.ns);
  return {
    counts: first.counts,
    groups: [...new Set(tallies.flatMap(({ groups }) => groups))],
    devices: [...new Set(tallies.flatMap(({ devices }) => devices))],
    exclusive,
  };
}

export const ranOn = ({ devices }: KernelTally, device: string): boolean =>
  devices.includes(device);

// Calls and time by group and kernel, in columns: a run can have as many names as launches, and an object for each name
// of each group would take several times as much memory.

export interface KernelCounts {
  readonly add: (group: number, kernel: KernelNumber, ns: number) => void;
  /** The sums so far, each kernel of a group once, in order of first appearance. */
  readonly byGroup: () => GroupedCounts;
}

type CountVisitor = (kernel: KernelNumber, calls: number, ns: number) => void;

interface GroupedCounts {
  readonly forEach: (group: number, visit: CountVisitor) => void;
}

/** One row for each pair of group and kernel. */
interface Columns {
  readonly groups: Column;
  readonly kernels: Column;
  readonly calls: Column;
  readonly times: Column;
}

const FIRST_SLOTS = 2048;
/** Number of bits of a slot's index within a cache line: 16 slots of 4 bytes. */
const LINE_BITS = 4;
const IN_LINE = (1 << LINE_BITS) - 1;

/**
 * The slot of the pair, or the free slot where it belongs. The hash table uses open addressing and is at most half
 * full; a slot contains 1 + a row, or 0.
 */
function slotOf(
  slots: Uint32Array,
  { groups, kernels }: Columns,
  group: number,
  kernel: KernelNumber,
): number {
  const mask = slots.length - 1;
  // Kernels with neighbouring numbers are placed in one cache line, since they are often launched one after another.
  const mixed = Math.imul(Math.imul(group, 0x85ebca6b) ^ (kernel >>> LINE_BITS), 0x9e3779b1);
  let slot = ((mixed >>> Math.clz32(mask >>> LINE_BITS)) << LINE_BITS) | (kernel & IN_LINE);
  for (;;) {
    const entry = slots[slot] ?? 0;
    if (entry === 0 || (kernels.get(entry - 1) === kernel && groups.get(entry - 1) === group))
      return slot;
    slot = (slot + 1) & mask;
  }
}

export function createKernelCounts(): KernelCounts {
  const columns: Columns = {
    groups: createColumn(words),
    kernels: createColumn(words),
    calls: createColumn(words),
    times: createColumn(doubles),
  };
  const { groups, kernels, calls, times } = columns;
  let slots = new Uint32Array(FIRST_SLOTS);
  let rows = 0;

  const grow = (): void => {
    const larger = new Uint32Array(2 * slots.length);
    for (let row = 0; row < rows; row++)
      larger[slotOf(larger, columns, groups.get(row), kernels.get(row))] = row + 1;
    slots = larger;
  };

  return {
    add(group, kernel, ns) {
      if (2 * rows === slots.length) grow();
      const slot = slotOf(slots, columns, group, kernel);
      let row = (slots[slot] ?? 0) - 1;
      if (row < 0) {
        row = rows++;
        slots[slot] = rows;
        groups.set(row, group);
        kernels.set(row, kernel);
      }
      calls.set(row, calls.get(row) + 1);
      times.set(row, times.get(row) + ns);
    },
    byGroup: () => grouped(columns, rows),
  };
}

/** The rows of each group: `order` from `starts[group]` to `starts[group + 1]`. */
function grouped({ groups, kernels, calls, times }: Columns, rows: number): GroupedCounts {
  let count = 0;
  for (let row = 0; row < rows; row++) count = Math.max(count, groups.get(row) + 1);
  const starts = new Uint32Array(count + 1);
  for (let row = 0; row < rows; row++) increment(starts, groups.get(row) + 1);
  for (let group = 0; group < count; group++)
    starts[group + 1] = (starts[group + 1] ?? 0) + (starts[group] ?? 0);
  const next = starts.slice();
  const order = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) order[increment(next, groups.get(row))] = row;
  return {
    forEach(group, visit) {
      const end = starts[group + 1] ?? 0;
      for (let index = starts[group] ?? 0; index < end; index++) {
        const row = order[index] ?? 0;
        visit(kernels.get(row), calls.get(row), times.get(row));
      }
    },
  };
}

/** Returns the previous value. */
function increment(counts: Uint32Array, index: number): number {
  const count = counts[index] ?? 0;
  counts[index] = count + 1;
  return count;
}
