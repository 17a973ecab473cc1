/** Unions of intervals: how long GPUs were busy, and how much of a time ranges cover. */
import { type Column, createColumn, doubles } from "../model/columns.ts";

// How much of a period kernels and copies of memory cover, counting overlaps once. A run can have millions of them, so
// their union is computed once and searched by bisection. Times in nanoseconds.

/** Disjoint intervals in order, in two columns, since there can be as many as kernels. */
export interface Union {
  readonly length: number;
  readonly starts: Column;
  readonly ends: Column;
  /** The time covered by the intervals before each block of `BLOCK`. */
  readonly sums: Float64Array;
}

export interface UnionBuilder {
  /** In any order; intervals in order of their start need no sorting. */
  readonly add: (startNs: number, endNs: number) => void;
  /** Called once, after all were added. */
  readonly finish: () => Union;
}

const BLOCK = 16;

export function createUnion(): UnionBuilder {
  const starts = createColumn(doubles);
  const ends = createColumn(doubles);
  let length = 0;
  let isOrdered = true;
  let lastStart = Number.NEGATIVE_INFINITY;
  let lastEnd = Number.NEGATIVE_INFINITY;
  return {
    add(startNs, endNs) {
      if (!(endNs > startNs)) return;
      if (startNs < lastStart) isOrdered = false;
      else if (startNs <= lastEnd) {
        if (endNs <= lastEnd) return;
        lastEnd = endNs;
        ends.set(length - 1, endNs);
        return;
      }
      lastStart = startNs;
      lastEnd = endNs;
      starts.set(length, startNs);
      ends.set(length, endNs);
      length++;
    },
    finish() {
      const all: Intervals = { length, starts, ends };
      return isOrdered ? withSums(all) : sorted(all);
    },
  };
}

type Intervals = Omit<Union, "sums">;

function sorted({ length, starts, ends }: Intervals): Union {
  const order = new Uint32Array(length).map((_, index) => index);
  order.sort((a, b) => starts.get(a) - starts.get(b));
  const union = createUnion();
  for (const index of order) union.add(starts.get(index), ends.get(index));
  return union.finish();
}

function withSums({ length, starts, ends }: Intervals): Union {
  const sums = new Float64Array(Math.ceil(length / BLOCK));
  let covered = 0;
  for (let index = 0; index < length; index++) {
    if (index % BLOCK === 0) sums[index / BLOCK] = covered;
    covered += ends.get(index) - starts.get(index);
  }
  return { length, starts, ends, sums };
}

/** The union of several unions, merged in pairs, since a run can have thousands of processes. */
export function unionOf(unions: readonly Union[]): Union {
  const some = unions.filter(({ length }) => length > 0);
  const [first, second] = some;
  if (first === undefined) return createUnion().finish();
  if (second === undefined) return first;
  if (some.length === 2) return unionOfTwo(first, second);
  const half = some.length >>> 1;
  return unionOfTwo(unionOf(some.slice(0, half)), unionOf(some.slice(half)));
}

function unionOfTwo(a: Union, b: Union): Union {
  const union = createUnion();
  let ofA = 0;
  let ofB = 0;
  while (ofA < a.length || ofB < b.length) {
    const isA = ofB >= b.length || (ofA < a.length && a.starts.get(ofA) <= b.starts.get(ofB));
    const from = isA ? a : b;
    const index = isA ? ofA++ : ofB++;
    union.add(from.starts.get(index), from.ends.get(index));
  }
  return union.finish();
}

/** The covered time between two times. */
export const coveredNs = (union: Union, fromNs: number, toNs: number): number =>
  Math.max(0, coveredUntil(union, toNs) - coveredUntil(union, fromNs));

function coveredUntil({ length, starts, ends, sums }: Union, timeNs: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts.get(middle) < timeNs) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return 0;
  const last = low - 1;
  const block = Math.floor(last / BLOCK);
  let covered = sums[block] ?? 0;
  for (let index = block * BLOCK; index < last; index++)
    covered += ends.get(index) - starts.get(index);
  return covered + Math.min(timeNs, ends.get(last)) - starts.get(last);
}

// The time covered by a set of intervals, counting overlaps once. Times in nanoseconds.

export interface Coverage {
  coveredNs: number;
  /** The time before this is already counted, or known to be uncovered. */
  untilNs: number;
}

export const createCoverage = (fromNs: number): Coverage => ({ coveredNs: 0, untilNs: fromNs });

/** Adds an interval. Intervals must come in order of their start, so that one pass suffices. */
export function cover(coverage: Coverage, startNs: number, endNs: number): void {
  const from = Math.max(startNs, coverage.untilNs);
  if (endNs <= from) return;
  coverage.coveredNs += endNs - from;
  coverage.untilNs = endNs;
}

export interface Interval {
  readonly startNs: number;
  readonly endNs: number;
}

/** The time covered by at least one of the intervals, in any order. */
export function unionNs(intervals: readonly Interval[]): number {
  const coverage = createCoverage(Number.NEGATIVE_INFINITY);
  for (const interval of [...intervals].sort((a, b) => a.startNs - b.startNs))
    cover(coverage, interval.startNs, interval.endNs);
  return coverage.coveredNs;
}
