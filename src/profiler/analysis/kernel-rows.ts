/** The lists of kernels in reports, made from the counts. */
import type { KernelRecord } from "../../report/model/document.ts";
import type { KernelNumber, NumberedNames } from "./kernel-names.ts";
import { type KernelTally, ranOn } from "./kernel-tallies.ts";

/** The kernels of a region in a scope. */
export interface KernelRows {
  /** In descending order of time. */
  readonly records: readonly KernelRecord[];
  readonly calls: number;
  readonly ns: number;
}

export interface KernelRowsReader {
  /**
   * @param parts the counts of each process of the scope for the region
   * @param device only kernels of this device; null for all
   */
  readonly rowsOf: (parts: readonly KernelTally[], device: string | null) => KernelRows;
}

const NOTHING: KernelRows = { records: [], calls: 0, ns: 0 };
const NS_PER_MS = 1e6;

/**
 * Caches its results: the scopes of a run usually show the same rows, and a kernel that ran only once has the same
 * record in all enclosing regions.
 */
export function createKernelRows(names: NumberedNames): KernelRowsReader {
  const cached = new Map<KernelTally, KernelRows>();
  const sums = createSums(names.count());
  const latest = new Array<KernelRecord | undefined>(names.count());

  const recordOf = (kernel: KernelNumber, calls: number, ns: number): KernelRecord => {
    const total = ns / NS_PER_MS;
    const previous = latest[kernel];
    if (previous !== undefined && previous.calls === calls && previous.total_ms === total)
      return previous;
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
    // A copy takes exactly its length; an array built by pushing up to half as much again.
    return { records: records.toSorted(byTime), calls: allCalls, ns: allNs };
  };

  return {
    rowsOf(parts, device) {
      const relevant = device === null ? parts : parts.filter((part) => ranOn(part, device));
      const [first] = relevant;
      if (first === undefined) return NOTHING;
      // If everything ran on this device, nothing has to be filtered.
      const only = relevant.every(({ devices }) => devices.length === 1) ? null : device;
      if (relevant.length > 1 || only !== null) return rowsOf(relevant, only);
      let rows = cached.get(first);
      if (rows === undefined) {
        rows = rowsOf(relevant, null);
        cached.set(first, rows);
      }
      return rows;
    },
  };
}

interface Sums {
  readonly add: (kernel: KernelNumber, calls: number, ns: number) => void;
  /** Visits each kernel that was added, in order of first appearance, and resets the sums. */
  readonly take: (visit: (kernel: KernelNumber, calls: number, ns: number) => void) => void;
}

const FIRST_SUMS = 1024;

/** @param kernels maximum number of kernels */
function createSums(kernels: number): Sums {
  /** 1 + the index of a kernel's sums, which are only as long as a region has kernels; 0 for none. */
  const places = new Uint32Array(kernels);
  let calls = new Uint32Array(FIRST_SUMS);
  let times = new Float64Array(FIRST_SUMS);
  let seen: KernelNumber[] = [];
  const grow = (): void => {
    const previous = { calls, times };
    calls = new Uint32Array(2 * previous.calls.length);
    times = new Float64Array(2 * previous.times.length);
    calls.set(previous.calls);
    times.set(previous.times);
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
      for (let index = 0; index < taken.length; index++) {
        const kernel = taken[index] ?? 0;
        places[kernel] = 0;
        visit(kernel, calls[index] ?? 0, times[index] ?? 0);
      }
    },
  };
}

/** In descending order of time, as in reports; those without a time last, also after those of no time at all. */
export const byTime = (a: KernelRecord, b: KernelRecord): number =>
  (b.total_ms ?? NO_TIME) - (a.total_ms ?? NO_TIME) || compareText(a.kernel_name, b.kernel_name);

/** Less than any time. */
const NO_TIME = -1;

/** By code unit, because the order must not depend on the locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
