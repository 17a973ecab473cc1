/**
 * How much of a time GPUs were busy: what kernels and copies of memory cover of it, where overlaps count once.
 * A run can have millions of them, so that their unions are made once and looked up by halving. Times in
 * nanoseconds.
 */

/** Disjoint intervals in order, and how much those before each of them cover. */
export interface Union {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly before: Float64Array;
}

export interface UnionBuilder {
  /** In any order; those in order of their start take no sorting. */
  readonly add: (startNs: number, endNs: number) => void;
  readonly finish: () => Union;
}

export function createUnion(): UnionBuilder {
  const starts: number[] = [];
  const ends: number[] = [];
  let isOrdered = true;
  return {
    add(startNs, endNs) {
      if (!(endNs > startNs)) return;
      const last = starts.length - 1;
      const lastStart = starts[last] ?? Number.NEGATIVE_INFINITY;
      const lastEnd = ends[last] ?? Number.NEGATIVE_INFINITY;
      if (startNs < lastStart) isOrdered = false;
      else if (startNs <= lastEnd) {
        if (endNs > lastEnd) ends[last] = endNs;
        return;
      }
      starts.push(startNs);
      ends.push(endNs);
    },
    finish: () => (isOrdered ? withSums(starts, ends) : sorted(starts, ends)),
  };
}

function sorted(starts: readonly number[], ends: readonly number[]): Union {
  const order = Array.from(starts.keys()).sort((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0));
  const union = createUnion();
  for (const at of order) union.add(starts[at] ?? 0, ends[at] ?? 0);
  return union.finish();
}

function withSums(starts: readonly number[], ends: readonly number[]): Union {
  const before = new Float64Array(starts.length);
  for (let at = 1; at < starts.length; at++)
    before[at] = (before[at - 1] ?? 0) + (ends[at - 1] ?? 0) - (starts[at - 1] ?? 0);
  return { starts: Float64Array.from(starts), ends: Float64Array.from(ends), before };
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

function coveredUntil({ starts, ends, before }: Union, timeNs: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) < timeNs) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return 0;
  const at = low - 1;
  const inside = Math.min(timeNs, ends[at] ?? 0) - (starts[at] ?? 0);
  return (before[at] ?? 0) + inside;
}
