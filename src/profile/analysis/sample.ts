/**
 * The distribution of a number over calls, in bounded memory: every value up to `MOST_EXACT` of them, then how many
 * there are in buckets that grow by a constant factor (DDSketch: Masson, Rim and Lee, VLDB 2019), so that any quantile
 * is known within a constant part of itself, whatever the distribution is, and samples can be merged.
 */
import type { Statistics } from "./region-model.ts";

/** Quantiles of at most so many values are exact. */
export const MOST_EXACT = 10_000;

/** Quantiles of more are at most this part of themselves away from the exact ones. */
export const RELATIVE_ERROR = 0.005;

/** Data and not closures: there can be a million of them, most with one value. */
export interface Sample {
  count: number;
  min: number;
  max: number;
  /** All values but the first, which is `min` of one; null while there is one, and once there are too many. */
  values: number[] | null;
  buckets: Buckets | null;
}

/** How many values are in each bucket: bucket i has those in (g^(i-1), g^i], g = (1 + e) / (1 - e). */
interface Buckets {
  /** At most zero. */
  none: number;
  /** The bucket of `counts[0]`. */
  first: number;
  /** Doubles: they count to 2^53. */
  counts: Float64Array;
}

const GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const PER_E = 1 / Math.log(GROWTH);
const ROOM = 32;

export const createSample = (): Sample => ({
  count: 0,
  // Of none. Whole numbers from the start take no object of their own.
  min: 0,
  max: 0,
  values: null,
  buckets: null,
});

export function addToSample(sample: Sample, value: number): void {
  const { count, min } = sample;
  sample.count = count + 1;
  if (count === 0 || value < min) sample.min = value;
  if (count === 0 || value > sample.max) sample.max = value;
  if (sample.buckets !== null) addToBucket(sample.buckets, value, 1);
  else if (count === 0) return;
  else if (count === 1) sample.values = [min, value];
  else if (count < MOST_EXACT) sample.values?.push(value);
  else {
    addToBucket(bucketsOf(sample), value, 1);
  }
}

/** Adds all values of another sample, which stays as it is. */
export function mergeSample(into: Sample, from: Sample): void {
  if (from.buckets === null && into.count + from.count <= MOST_EXACT) {
    for (const value of valuesOf(from)) addToSample(into, value);
    return;
  }
  if (from.count === 0) return;
  const buckets = bucketsOf(into);
  into.min = into.count === 0 ? from.min : Math.min(into.min, from.min);
  into.max = into.count === 0 ? from.max : Math.max(into.max, from.max);
  into.count += from.count;
  if (from.buckets === null) {
    for (const value of valuesOf(from)) addToBucket(buckets, value, 1);
    return;
  }
  buckets.none += from.buckets.none;
  for (const [at, count] of from.buckets.counts.entries())
    if (count > 0) countIn(buckets, from.buckets.first + at, count);
}

const valuesOf = ({ count, min, values }: Sample): readonly number[] =>
  values ?? (count === 0 ? [] : [min]);

/** From here on there are buckets and no values. */
function bucketsOf(sample: Sample): Buckets {
  if (sample.buckets !== null) return sample.buckets;
  const buckets: Buckets = { none: 0, first: 0, counts: new Float64Array(0) };
  // What is being added is in `count`, and not among the values.
  for (const value of valuesOf(sample)) addToBucket(buckets, value, 1);
  sample.values = null;
  sample.buckets = buckets;
  return buckets;
}

function addToBucket(buckets: Buckets, value: number, count: number): void {
  if (value > 0) countIn(buckets, Math.ceil(Math.log(value) * PER_E), count);
  else buckets.none += count;
}

function countIn(buckets: Buckets, bucket: number, count: number): void {
  let at = bucket - buckets.first;
  if (at < 0 || at >= buckets.counts.length) {
    makeRoom(buckets, bucket);
    at = bucket - buckets.first;
  }
  buckets.counts[at] = (buckets.counts[at] ?? 0) + count;
}

function makeRoom(buckets: Buckets, bucket: number): void {
  const { first, counts } = buckets;
  const isEmpty = counts.length === 0;
  const from = isEmpty ? bucket - ROOM : Math.min(first, bucket - ROOM);
  const to = isEmpty ? bucket + ROOM : Math.max(first + counts.length, bucket + ROOM);
  const larger = new Float64Array(to - from);
  larger.set(counts, isEmpty ? 0 : first - from);
  buckets.first = from;
  buckets.counts = larger;
}

/** Null for an empty sample. Minimum and maximum are exact. */
export function describe(sample: Sample): Statistics | null {
  const { count, min, max, buckets } = sample;
  if (count === 0) return null;
  const valueAt = buckets === null ? exactly(sample) : nearly(sample, buckets);
  const lower = valueAt((count - 1) >> 1);
  const upper = valueAt(Math.floor(count / 2));
  // In integers first: 0.95 * n is not exact, and its error could move the rank by one.
  const rank = Math.ceil((95 * count) / 100);
  return { min, median: lower + (upper - lower) / 2, max, p95: valueAt(rank - 1) };
}

/** The value at a place among all in order, from 0. */
type ValueAt = (place: number) => number;

function exactly(sample: Sample): ValueAt {
  const sorted = Float64Array.from(valuesOf(sample)).sort();
  return (place) => sorted[place] ?? sample.max;
}

function nearly({ min, max }: Sample, { none, first, counts }: Buckets): ValueAt {
  return (place) => {
    let before = none;
    if (place < before) return Math.max(min, Math.min(max, 0));
    for (let at = 0; at < counts.length; at++) {
      before += counts[at] ?? 0;
      // Between the bucket's ends so that neither is further away than the error.
      if (place < before)
        return Math.min(max, Math.max(min, (2 * GROWTH ** (first + at)) / (GROWTH + 1)));
    }
    return max;
  };
}
