/** What several runs say about a number together. */
import type { RepeatStatistics } from "../../report/document.ts";

/** A number is stable when the 95 % interval of its mean lies within this share of it. */
const STABLE_WITHIN = 0.05;

/**
 * Mean, sample standard deviation and the 95 % interval of the mean by Student's t, which few runs
 * need. Null for less than two values: one run has no spread.
 */
export function repeatStatistics(values: readonly number[]): RepeatStatistics | null {
  const count = values.length;
  if (count < 2) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const std = Math.sqrt(squares / (count - 1));
  const half = (studentT(count - 1) * std) / Math.sqrt(count);
  return {
    mean,
    std,
    ci95_low: mean - half,
    ci95_high: mean + half,
    stable: half <= Math.abs(mean) * STABLE_WITHIN,
  };
}

/**
 * The 97.5 % quantile of Student's t: exact to the third digit for up to 30 degrees of freedom,
 * beyond that by Cornish and Fisher's expansion around the normal quantile, as exact.
 */
export function studentT(freedom: number): number {
  const known = T_975[freedom - 1];
  if (known !== undefined) return known;
  const z = 1.959964;
  return (
    z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
  );
}

const T_975: readonly number[] = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048,
  2.045, 2.042,
];
