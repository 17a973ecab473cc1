/** How much of time a set of intervals covers, where overlaps count once. Times in nanoseconds. */

export interface Coverage {
  coveredNs: number;
  /** Everything before this time is already counted or known to be uncovered. */
  untilNs: number;
}

export const createCoverage = (fromNs: number): Coverage => ({ coveredNs: 0, untilNs: fromNs });

/** Adds an interval. Intervals must come in order of their start: that makes the union one pass. */
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

/** The time covered by at least one of the intervals, which may come in any order. */
export function unionNs(intervals: readonly Interval[]): number {
  const coverage = createCoverage(Number.NEGATIVE_INFINITY);
  for (const interval of [...intervals].sort((a, b) => a.startNs - b.startNs))
    cover(coverage, interval.startNs, interval.endNs);
  return coverage.coveredNs;
}
