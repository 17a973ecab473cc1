/**
 * How much of a time GPUs were busy: what kernels and copies of memory cover of it, where overlaps count once.
 * A run can have millions of them, so that their unions are made once and looked up by halving. Times in
 * nanoseconds.
 */

/** Disjoint intervals in order: two numbers for each, since there can be as many as kernels. */
export interface Union {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** How much the intervals before each block of `BLOCK` cover. */
  readonly sums: Float64Array;
}

export interface UnionBuilder {
  /** In any order; those in order of their start take no sorting. */
  readonly add: (startNs: number, endNs: number) => void;
  /** Once, after all were added. */
  readonly finish: () => Union;
}

const BLOCK = 16;

export function createUnion(): UnionBuilder {
  let starts = new Float64Array(BLOCK);
  let ends = new Float64Array(BLOCK);
  let length = 0;
  let isOrdered = true;
  return {
    add(startNs, endNs) {
      if (!(endNs > startNs)) return;
      const lastStart = starts[length - 1] ?? Number.NEGATIVE_INFINITY;
      const lastEnd = ends[length - 1] ?? Number.NEGATIVE_INFINITY;
      if (startNs < lastStart) isOrdered = false;
      else if (startNs <= lastEnd) {
        if (endNs > lastEnd) ends[length - 1] = endNs;
        return;
      }
      if (length === starts.length) {
        starts = grown(starts);
        ends = grown(ends);
      }
      starts[length] = startNs;
      ends[length] = endNs;
      length++;
    },
    finish() {
      const all = [starts.subarray(0, length), ends.subarray(0, length)] as const;
      return isOrdered ? withSums(...all) : sorted(...all);
    },
  };
}

function grown(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

function sorted(starts: Float64Array, ends: Float64Array): Union {
  const order = Uint32Array.from(starts.keys()).sort((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0));
  const union = createUnion();
  for (const at of order) union.add(starts[at] ?? 0, ends[at] ?? 0);
  return union.finish();
}

function withSums(starts: Float64Array, ends: Float64Array): Union {
  const sums = new Float64Array(Math.ceil(starts.length / BLOCK));
  let covered = 0;
  for (let at = 0; at < starts.length; at++) {
    if (at % BLOCK === 0) sums[at / BLOCK] = covered;
    covered += (ends[at] ?? 0) - (starts[at] ?? 0);
  }
  return { starts, ends, sums };
}

/** What any of them covers. */
export function unionOf(unions: readonly Union[]): Union {
  const some = unions.filter(({ starts }) => starts.length > 0);
  const [only, ...others] = some;
  if (only !== undefined && others.length === 0) return only;
  const union = createUnion();
  const next = some.map(() => 0);
  for (;;) {
    let first = -1;
    let firstStart = Number.POSITIVE_INFINITY;
    for (const [place, { starts }] of some.entries()) {
      const start = starts[next[place] ?? 0] ?? Number.POSITIVE_INFINITY;
      if (start >= firstStart) continue;
      first = place;
      firstStart = start;
    }
    if (first < 0) return union.finish();
    const at = next[first] ?? 0;
    union.add(firstStart, some[first]?.ends[at] ?? firstStart);
    next[first] = at + 1;
  }
}

/** How much of the time between is covered. */
export const coveredNs = (union: Union, fromNs: number, toNs: number): number =>
  Math.max(0, coveredUntil(union, toNs) - coveredUntil(union, fromNs));

function coveredUntil({ starts, ends, sums }: Union, timeNs: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) < timeNs) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return 0;
  const last = low - 1;
  const block = Math.floor(last / BLOCK);
  let covered = sums[block] ?? 0;
  for (let at = block * BLOCK; at < last; at++) covered += (ends[at] ?? 0) - (starts[at] ?? 0);
  return covered + Math.min(timeNs, ends[last] ?? 0) - (starts[last] ?? 0);
}
