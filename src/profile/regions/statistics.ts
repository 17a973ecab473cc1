/** Distribution of a sample, in the sample's unit. */
export interface Statistics {
  readonly min: number;
  /** The middle value, or the mean of the two middle ones. */
  readonly median: number;
  readonly max: number;
  /** Nearest rank: the smallest sample that at least 95 % of the samples do not exceed. */
  readonly p95: number;
}

/** Distribution of a sample in its own unit; null for an empty sample. */
export function describeSample(sample: readonly number[]): Statistics | null {
  const sorted = Float64Array.from(sample).sort();
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) return null;
  const lower = sorted[(sorted.length - 1) >> 1] ?? min;
  const upper = sorted[sorted.length >> 1] ?? max;
  // In integers first: 0.95 * n is not exact, and its error could move the rank by one.
  const rank = Math.ceil((95 * sorted.length) / 100);
  return { min, median: lower + (upper - lower) / 2, max, p95: sorted[rank - 1] ?? max };
}
