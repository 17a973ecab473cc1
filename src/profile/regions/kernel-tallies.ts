/**
 * Which kernels ran in which region, and how long. A run can have millions of them under as many
 * names, so that a record is made once and shared by all scopes, and regions, that show it.
 */
import type { KernelRecord } from "../../report/document.ts";
import { createKernelCounts, createPlaces, type KernelCounts } from "./kernel-counts.ts";
import type { KernelIdentity, NumberedKernel } from "./kernel-names.ts";
import type { RegionIdentity } from "./path-tree.ts";

export interface KernelTally {
  readonly counts: Pick<KernelCounts, "forEach">;
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
    kernel: NumberedKernel,
    ns: number,
  ): void;
  readonly tallies: KernelTallies;
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

export function createKernelTallies(): KernelTallyBuilder {
  const places = createPlaces();
  const tallies = new Map<
    RegionIdentity,
    { counts: KernelCounts; devices: string[]; exclusive: Draft<ExclusiveTime>[] }
  >();
  return {
    tallies,
    add(regions, owner, kernel, ns) {
      for (const region of regions) {
        let tally = tallies.get(region);
        if (tally === undefined) {
          tally = { counts: createKernelCounts(places), devices: [], exclusive: [] };
          tallies.set(region, tally);
        }
        tally.counts.add(kernel.index, 1, ns);
        if (!tally.devices.includes(kernel.device)) tally.devices.push(kernel.device);
        if (region === owner) addExclusive(tally.exclusive, kernel, ns);
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

/** What ran in a region, as a scope shows it. */
export interface KernelRows {
  /** Longest first. */
  readonly records: readonly KernelRecord[];
  readonly calls: number;
  readonly ns: number;
}

export interface KernelRowsReader {
  /**
   * @param parts what the processes of the scope ran in the region
   * @param device only kernels of this device; null: of all
   */
  of(parts: readonly KernelTally[], device: string | null): KernelRows;
}

const NOTHING: KernelRows = { records: [], calls: 0, ns: 0 };

/**
 * Remembers what it has put together: the scopes of a run mostly show the same rows, and what ran only
 * once is the same record in all regions around it.
 *
 * @param names by their numbers
 */
export function createKernelRows(names: readonly NumberedKernel[]): KernelRowsReader {
  const known = new Map<KernelTally, KernelRows>();
  const places = createPlaces();
  const latest = new Array<KernelRecord | undefined>(names.length);
  const recordOf = (kernel: NumberedKernel, calls: number, ns: number): KernelRecord => {
    const total = ns / NS_PER_MS;
    const before = latest[kernel.index];
    if (before !== undefined && before.calls === calls && before.total_ms === total) return before;
    const record: KernelRecord = {
      kernel_name: kernel.name,
      kind: kernel.kind,
      total_ms: total,
      calls,
      mean_ms: ns / calls / NS_PER_MS,
      device: kernel.device,
    };
    latest[kernel.index] = record;
    return record;
  };
  const rowsOf = (counts: KernelTally["counts"], device: string | null): KernelRows => {
    const records: KernelRecord[] = [];
    let allCalls = 0;
    let allNs = 0;
    counts.forEach((index, calls, ns) => {
      const kernel = names[index];
      if (kernel === undefined || (device !== null && kernel.device !== device)) return;
      records.push(recordOf(kernel, calls, ns));
      allCalls += calls;
      allNs += ns;
    });
    return { records: records.sort(byTime), calls: allCalls, ns: allNs };
  };
  const allOf = (part: KernelTally): KernelRows => {
    let rows = known.get(part);
    if (rows === undefined) {
      rows = rowsOf(part.counts, null);
      known.set(part, rows);
    }
    return rows;
  };
  return {
    of(parts, device) {
      const relevant = device === null ? parts : parts.filter((part) => ranOn(part, device));
      const [first] = relevant;
      if (first === undefined) return NOTHING;
      // Where all of it ran on this device, there is nothing to leave out.
      const only = relevant.every(({ devices }) => devices.length === 1) ? null : device;
      if (relevant.length === 1) return only === null ? allOf(first) : rowsOf(first.counts, only);
      const merged = createKernelCounts(places);
      for (const { counts } of relevant) counts.forEach(merged.add);
      return rowsOf(merged, only);
    },
  };
}

export const ranOn = ({ devices }: KernelTally, device: string): boolean =>
  devices.includes(device);

/** Longest first, as reports list them. */
export const byTime = (a: KernelRecord, b: KernelRecord): number =>
  b.total_ms - a.total_ms || compareText(a.kernel_name, b.kernel_name);

const NS_PER_MS = 1e6;

/** By code unit: the order may not depend on the machine's locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
