/** The lists of kernels that reports show, of what was counted. */
import type { KernelRecord } from "../../report/model/document.ts";
import type { KernelNumber, NumberedNames } from "./kernel-names.ts";
import { type KernelTally, ranOn } from "./kernel-tallies.ts";

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
  readonly of: (parts: readonly KernelTally[], device: string | null) => KernelRows;
}

const NOTHING: KernelRows = { records: [], calls: 0, ns: 0 };
const NS_PER_MS = 1e6;

/**
 * Remembers what it has put together: the scopes of a run mostly show the same rows, and what ran only
 * once is the same record in all regions around it.
 */
export function createKernelRows(names: NumberedNames): KernelRowsReader {
  const known = new Map<KernelTally, KernelRows>();
  const sums = createSums(names.count());
  const latest = new Array<KernelRecord | undefined>(names.count());

  const recordOf = (kernel: KernelNumber, calls: number, ns: number): KernelRecord => {
    const total = ns / NS_PER_MS;
    const before = latest[kernel];
    if (before !== undefined && before.calls === calls && before.total_ms === total) return before;
    const { kind, device } = names.placeOf(kernel);
    const record: KernelRecord = {
      kernel_name: names.nameOf(kernel),
      kind,
      total_ms: total,
      calls,
      mean_ms: ns / calls / NS_PER_MS,
      device,
    };
    latest[kernel] = record;
    return record;
  };

  const rowsOf = (parts: readonly KernelTally[], device: string | null): KernelRows => {
    for (const { counts, groups } of parts)
      for (const group of groups) counts.forEach(group, sums.add);
    const records: KernelRecord[] = [];
    let allCalls = 0;
    let allNs = 0;
    sums.take((kernel, calls, ns) => {
      if (device !== null && names.placeOf(kernel).device !== device) return;
      records.push(recordOf(kernel, calls, ns));
      allCalls += calls;
      allNs += ns;
    });
    // A copy takes no more than its length; what was pushed to, up to half as much again.
    return { records: records.toSorted(byTime), calls: allCalls, ns: allNs };
  };

  return {
    of(parts, device) {
      const relevant = device === null ? parts : parts.filter((part) => ranOn(part, device));
      const [first] = relevant;
      if (first === undefined) return NOTHING;
      // Where all of it ran on this device, there is nothing to leave out.
      const only = relevant.every(({ devices }) => devices.length === 1) ? null : device;
      if (relevant.length > 1 || only !== null) return rowsOf(relevant, only);
      let rows = known.get(first);
      if (rows === undefined) {
        rows = rowsOf(relevant, null);
        known.set(first, rows);
      }
      return rows;
    },
  };
}

interface Sums {
  readonly add: (kernel: KernelNumber, calls: number, ns: number) => void;
  /** Each kernel that was added, in order of first appearance; begins anew. */
  readonly take: (visit: (kernel: KernelNumber, calls: number, ns: number) => void) => void;
}

const FIRST_SUMS = 1024;

/** @param kernels how many there are at most */
function createSums(kernels: number): Sums {
  /** 1 + where a kernel's sums stand: they are only as long as a region has kernels. 0: nowhere. */
  const places = new Uint32Array(kernels);
  let calls = new Uint32Array(FIRST_SUMS);
  let times = new Float64Array(FIRST_SUMS);
  let seen: KernelNumber[] = [];
  const grow = (): void => {
    const before = { calls, times };
    calls = new Uint32Array(2 * before.calls.length);
    times = new Float64Array(2 * before.times.length);
    calls.set(before.calls);
    times.set(before.times);
  };
  return {
    add(kernel, count, ns) {
      const place = places[kernel] ?? 0;
      if (place > 0) {
        calls[place - 1] = (calls[place - 1] ?? 0) + count;
        times[place - 1] = (times[place - 1] ?? 0) + ns;
        return;
      }
      if (seen.length === calls.length) grow();
      calls[seen.length] = count;
      times[seen.length] = ns;
      places[kernel] = seen.push(kernel);
    },
    take(visit) {
      const taken = seen;
      seen = [];
      for (let at = 0; at < taken.length; at++) {
        const kernel = taken[at] ?? 0;
        places[kernel] = 0;
        visit(kernel, calls[at] ?? 0, times[at] ?? 0);
      }
    },
  };
}

/** Longest first, as reports list them. */
export const byTime = (a: KernelRecord, b: KernelRecord): number =>
  b.total_ms - a.total_ms || compareText(a.kernel_name, b.kernel_name);

/** By code unit: the order may not depend on the machine's locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
