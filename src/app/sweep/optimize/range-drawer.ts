import { type RangeSequence, type RangeSweep, rangeSequence } from "../../../overrides/index.ts";
import { floatRepr } from "../../../values/python-text.ts";
import type { RandomSource } from "./random-source.ts";

/** Up to here a number in [0, 1) tells all values apart. */
const MAX_COUNT = BigInt(Number.MAX_SAFE_INTEGER);

/** Refuses a sweep: "has no values to draw from". Must throw. */
type Refuse = (problem: string) => never;

/**
 * Draws a value of a range, as text: uniformly, or with the tag `log` a number uniformly over the logarithm, and the
 * value that is nearest to it. Ranges may be long: nothing is enumerated. Undefined for one that never ends, and
 * others without a number of values.
 */
export function rangeDrawer(
  range: RangeSweep,
  refuse: Refuse,
): ((random: RandomSource) => string) | undefined {
  const values = rangeSequence(range);
  if (values === undefined || values.count > MAX_COUNT) return undefined;
  const count = Number(values.count);
  if (count === 0) refuse("has no values to draw from");
  const indexAt = range.tags.includes("log")
    ? nearestInLog(values, count, refuse)
    : (share: number) => Math.floor(share * count);
  return (random) => {
    const value = values.at(BigInt(indexAt(random())));
    return typeof value === "number" ? floatRepr(value) : String(value);
  };
}

/** The first of the values that are nearest to a share of the way from the smallest logarithm to the largest. */
function nearestInLog(
  values: RangeSequence,
  count: number,
  refuse: Refuse,
): (share: number) => number {
  const logAt = (index: number) => Math.log(Number(values.at(BigInt(index))));
  const [first, last] = [logAt(0), logAt(count - 1)];
  if (!Number.isFinite(first) || !Number.isFinite(last))
    refuse("is tagged 'log' but has values that are not above 0");
  const reaches = (index: number, log: number) =>
    first < last ? logAt(index) >= log : logAt(index) <= log;
  const firstThatReaches = (log: number) => firstIndex(count, (index) => reaches(index, log));
  const [low, high] = [Math.min(first, last), Math.max(first, last)];
  return (share) => {
    const wished = low + share * (high - low);
    const after = firstThatReaches(wished);
    if (after === 0) return 0;
    const before = logAt(after - 1);
    const isNearer = after < count && Math.abs(logAt(after) - wished) < Math.abs(before - wished);
    return isNearer ? after : firstThatReaches(before);
  };
}

/** The first index that a condition holds for, as for all that follow it; the count where it holds for none. */
function firstIndex(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
