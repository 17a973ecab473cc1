/**
 * Which kernels ran in which region, and how long. A run can have millions of them under as many
 * names, so that a row is made once and shared by all scopes that show it.
 */
import type { KernelIdentity } from "./kernel-names.ts";
import type { KernelRow } from "./model.ts";
import type { RegionIdentity } from "./path-tree.ts";

export interface KernelTally {
  /** By identity: equal kernels are one object. */
  readonly rows: ReadonlyMap<KernelIdentity, KernelRow>;
  /** Where they ran, each once. */
  readonly devices: readonly string[];
  /** What no region inside this one contains. */
  readonly exclusive: readonly ExclusiveTime[];
}

/** Of one kind on one device: scopes of a device need it apart. */
export interface ExclusiveTime {
  readonly kind: KernelIdentity["kind"];
  readonly device: string;
  readonly calls: number;
  readonly ns: number;
}

export type KernelTallies = ReadonlyMap<RegionIdentity, KernelTally>;

export interface KernelTallyBuilder {
  /** Counts a kernel for regions of which `owner` holds it directly. */
  add(
    regions: readonly RegionIdentity[],
    owner: RegionIdentity,
    identity: KernelIdentity,
    ns: number,
  ): void;
  readonly tallies: KernelTallies;
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

export function createKernelTallies(): KernelTallyBuilder {
  const tallies = new Map<
    RegionIdentity,
    {
      rows: Map<KernelIdentity, Draft<KernelRow>>;
      devices: string[];
      exclusive: Draft<ExclusiveTime>[];
    }
  >();
  return {
    tallies,
    add(regions, owner, identity, ns) {
      for (const region of regions) {
        let tally = tallies.get(region);
        if (tally === undefined) {
          tally = { rows: new Map(), devices: [], exclusive: [] };
          tallies.set(region, tally);
        }
        const row = tally.rows.get(identity);
        if (row === undefined) {
          const { name, kind, device } = identity;
          tally.rows.set(identity, { name, kind, device, calls: 1, ns });
          if (!tally.devices.includes(device)) tally.devices.push(device);
        } else {
          row.calls++;
          row.ns += ns;
        }
        if (region === owner) addExclusive(tally.exclusive, identity, ns);
      }
    },
  };
}

function addExclusive(
  times: Draft<ExclusiveTime>[],
  { kind, device }: KernelIdentity,
  ns: number,
): void {
  for (const time of times)
    if (time.device === device && time.kind === kind) {
      time.calls++;
      time.ns += ns;
      return;
    }
  times.push({ kind, device, calls: 1, ns });
}

/** Rows of a region in a scope, longest first. */
export interface KernelRows {
  /**
   * @param parts what the processes of the scope ran in the region
   * @param device only kernels of this device; null: of all
   */
  of(parts: readonly KernelTally[], device: string | null): readonly KernelRow[];
}

/** Remembers what it has put together: the scopes of a run mostly show the same rows. */
export function createKernelRows(): KernelRows {
  const known = new Map<KernelTally, readonly KernelRow[]>();
  const allOf = (part: KernelTally): readonly KernelRow[] => {
    let rows = known.get(part);
    if (rows === undefined) {
      rows = [...part.rows.values()].sort(byTime);
      known.set(part, rows);
    }
    return rows;
  };
  return {
    of(parts, device) {
      const relevant = device === null ? parts : parts.filter((part) => ranOn(part, device));
      const [first] = relevant;
      if (first === undefined) return [];
      const rows =
        relevant.length === 1 ? allOf(first) : [...mergeRows(relevant).values()].sort(byTime);
      return device === null || relevant.every(({ devices }) => devices.length === 1)
        ? rows
        : rows.filter((row) => row.device === device);
    },
  };
}

export const ranOn = ({ devices }: KernelTally, device: string): boolean =>
  devices.includes(device);

function mergeRows(parts: readonly KernelTally[]): ReadonlyMap<KernelIdentity, KernelRow> {
  const merged = new Map<KernelIdentity, Draft<KernelRow>>();
  for (const { rows } of parts)
    for (const [identity, { calls, ns }] of rows) {
      const row = merged.get(identity);
      if (row === undefined) {
        merged.set(identity, { ...identity, calls, ns });
      } else {
        row.calls += calls;
        row.ns += ns;
      }
    }
  return merged;
}

const byTime = (a: KernelRow, b: KernelRow): number => b.ns - a.ns || compareText(a.name, b.name);

/** By code unit: the order may not depend on the machine's locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
