/** The space from which trials are drawn, and the random numbers for it. */
import { createHash } from "node:crypto";
import {
  type IntervalSweep,
  isSweep,
  type Override,
  overrideKeyElement,
  type PythonNumber,
  type RangeSequence,
  type RangeSweep,
  rangeSequence,
  type Sweep,
  type SweepOptions,
} from "../../../engine/overrides/index.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import { floatRepr } from "../../../engine/values/python-text.ts";
import { splitAtEquals } from "../../../foundation/text/shell-words.ts";
import {
  allExcluded,
  bareKey,
  byKey,
  fixedPoint,
  keysOf,
  type Point,
  pointsOf,
  type SizeLimit,
} from "./dimensions.ts";
import type { JobOverrides } from "./sweeper.ts";

/** The space of a sweep: keys that vary, and overrides that are fixed for all jobs. */
export interface SearchSpace {
  readonly dimensions: readonly Dimension[];
  /** Draws a point of the space. */
  draw(random: RandomSource): Draw;
  /** The point at a share of the way through each dimension; undefined if it is excluded. */
  drawAt(shares: readonly number[]): Draw | undefined;
  /** The point of a job's overrides; undefined if the space does not have it. */
  pointOf(job: JobOverrides): Draw | undefined;
}

/** A key that varies, or the keys of a zip. A share in [0, 1) of the way through it stands for a value. */
export interface Dimension {
  /** Whether values have an order in which near ones are similar. */
  readonly isOrdered: boolean;
  /** How many values there are; infinite for a float. */
  readonly count: number;
  pointAt(share: number): Point;
  /** The shares that stand for the same value as this one: from, to. Both are the share itself for a float. */
  binOf(share: number): readonly [number, number];
  /** A share that stands for a point; undefined if none does. */
  shareOf(point: Point): number | undefined;
}

export interface Draw {
  /** The job's overrides, including those that are the same in all jobs. */
  readonly overrides: JobOverrides;
  /** The overrides that were drawn. */
  readonly params: JobOverrides;
  /** The middle of the shares that stand for the value of each dimension; null for one that this job does not have. */
  readonly shares: readonly (number | null)[];
}

/** So many draws without a point are taken as a sign that there is none. */
const MAX_DRAWS = 2_000;

/**
 * Takes points: of several tries the first that is one.
 *
 * @param isUnique whether no point is taken twice
 * @returns a function that is undefined where no point is left
 */
export function allNew(
  isUnique: boolean,
): (draw: () => Draw | undefined, most?: number) => Draw | undefined {
  const seen = new Set<string>();
  return (draw, most = MAX_DRAWS) => {
    for (let tries = 0; tries < most; tries++) {
      const drawn = draw();
      if (drawn === undefined) continue;
      const key = drawn.overrides.join("\n");
      if (isUnique && seen.has(key)) continue;
      seen.add(key);
      return drawn;
    }
    return undefined;
  };
}

/** What restricts a space. */
export interface SpaceLimits {
  /** Whether a job is left out. */
  readonly isExcluded?: ((job: JobOverrides) => boolean) | undefined;
  /** The condition of a key, by the other overrides of the job: the job has the key only if it holds. */
  readonly conditions?: ReadonlyMap<string, (job: JobOverrides) => boolean> | undefined;
}

/** After this many excluded draws, the rest of a space is not worth searching. */
const MAX_TRIES = 10_000;

/**
 * The space that overrides span: choices, ranges, globs and zips uniformly over their values,
 * intervals uniformly over their numbers, `tag(log, …)` of an interval or a range uniformly over
 * the logarithm.
 *
 * @throws ConfigError `override.sweep_not_allowed` for a sweep that cannot be drawn from
 */
export function searchSpace(
  overrides: readonly Override[],
  options: SweepOptions,
  { conditions, isExcluded }: SpaceLimits = {},
): SearchSpace {
  const parts = [...byKey(overrides).values()].map((override) => ({
    key: bareKey(overrideKeyElement(override)),
    keys: keysOf(override),
    dimension: isSweep(override) ? dimensionOf(override, options) : undefined,
    fixed: isSweep(override) ? [] : fixedPoint(override),
  }));
  const dimensions = parts.flatMap(({ dimension }) => dimension ?? []);

  const drawOf = (shares: readonly number[]): Draw => {
    let next = 0;
    const all = parts.map(({ dimension, fixed, key }) => {
      if (dimension === undefined) return { key, point: fixed, share: undefined };
      const share = shares[next++] ?? 0;
      const [from, to] = dimension.binOf(share);
      return { key, point: dimension.pointAt(share), share: (from + to) / 2 };
    });
    const active = conditions === undefined ? all : activeOf(all, conditions);
    return {
      overrides: active.flatMap(({ point }) => point),
      params: active.flatMap(({ point, share }) => (share === undefined ? [] : point)),
      shares: all.flatMap((parameter) =>
        parameter.share === undefined ? [] : [active.includes(parameter) ? parameter.share : null],
      ),
    };
  };
  const drawAt: SearchSpace["drawAt"] = (shares) => {
    const point = drawOf(shares);
    return isExcluded?.(point.overrides) === true ? undefined : point;
  };
  return {
    dimensions,
    drawAt,
    pointOf(job) {
      if (isExcluded?.(job) === true) return undefined;
      let used = 0;
      const params: string[] = [];
      const shares: (number | null)[] = [];
      for (const { dimension, fixed, key, keys } of parts) {
        const words = job.filter((text) => keys.includes(bareKey(keyIn(text))));
        const isActive = conditions?.get(key)?.(job) !== false;
        if (isActive !== words.length > 0) return undefined;
        used += words.length;
        const share = isActive ? dimension?.shareOf(words) : null;
        if (dimension !== undefined && share === undefined) return undefined;
        if (dimension === undefined && isActive && !isSame(words, fixed)) return undefined;
        if (dimension === undefined) continue;
        shares.push(share ?? null);
        params.push(...words);
      }
      return used === job.length ? { overrides: job, params, shares } : undefined;
    },
    draw(random) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const drawn = drawAt(dimensions.map(() => random()));
        if (drawn !== undefined) return drawn;
      }
      throw allExcluded(MAX_TRIES);
    },
  };
}

const keyIn = (text: string): string => splitAtEquals(text)[0];

const isSame = (point: Point, other: Point): boolean =>
  point.length === other.length && point.every((text, index) => text === other[index]);

/** The value of a point of one override, as a number; NaN for one that is none. */
function numberIn([text = "", ...others]: Point): number {
  const value = splitAtEquals(text)[1] ?? "";
  return others.length > 0 || value.trim() === "" ? Number.NaN : Number(value);
}

/** The parts of a job whose conditions hold; one does not hold because of a part whose own condition does not. */
function activeOf<Part extends { readonly key: string; readonly point: Point }>(
  parts: readonly Part[],
  conditions: NonNullable<SpaceLimits["conditions"]>,
): readonly Part[] {
  const job = parts.flatMap(({ point }) => point);
  const active = parts.filter(({ key }) => conditions.get(key)?.(job) !== false);
  return active.length === parts.length ? parts : activeOf(active, conditions);
}

/** For values that must be enumerated, few of which become jobs. */
const VALUES: SizeLimit = {
  most: 10_000_000,
  unit: "values",
  hint: "draw from an interval: interval(0,1), or tag(log,interval(1e-5,1))",
};

function dimensionOf(override: Override & { readonly value: Sweep }, options: SweepOptions) {
  const { value } = override;
  const key = overrideKeyElement(override);
  if (value.kind === "interval") return intervalDimension(value, override);
  const range =
    value.kind === "range"
      ? rangeDimension(value, key, (what) => refuse(override, what))
      : undefined;
  if (range !== undefined) return range;
  const points = pointsOf(override, options, VALUES);
  if (points.length === 0) refuse(override, "has no values to draw from");
  const count = points.length;
  return {
    isOrdered: false,
    count,
    pointAt: (share) => points[indexOf(share, count)] ?? [],
    binOf: evenBin(count),
    shareOf(point) {
      const index = points.findIndex((candidate) => isSame(candidate, point));
      return index < 0 ? undefined : (index + 0.5) / count;
    },
  } satisfies Dimension;
}

const indexOf = (share: number, count: number): number =>
  Math.min(count - 1, Math.floor(share * count));

const evenBin =
  (count: number): Dimension["binOf"] =>
  (share) => {
    const index = indexOf(share, count);
    return [index / count, (index + 1) / count];
  };

/**
 * Draws floats from the start up to, but excluding, the end. An interval cast to int includes both ends, as in Hydra's
 * optuna sweeper.
 */
function intervalDimension(interval: IntervalSweep, override: Override): Dimension {
  const key = overrideKeyElement(override);
  const isLog = interval.tags.includes("log");
  const [start, end] = [Number(interval.start), Number(interval.end)];
  if (!Number.isFinite(start) || !Number.isFinite(end)) refuse(override, "is not finite");
  if (isLog && start <= 0) refuse(override, "is tagged 'log' but has values that are not above 0");
  if (isInt(interval.start) && isInt(interval.end)) {
    if (start > end) refuse(override, "ends before it starts");
    const count = end - start + 1;
    const [low, high] = [start - 0.5, end + 0.5];
    const valueAt = (share: number): number =>
      clamp(
        isLog ? Math.round(logUniform(low, high, share)) : start + Math.floor(share * count),
        start,
        end,
      );
    const shareAt = (value: number): number =>
      isLog
        ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))
        : (value - low) / count;
    return {
      isOrdered: true,
      count,
      pointAt: (share) => [`${key}=${BigInt(valueAt(share))}`],
      binOf: (share) => [shareAt(valueAt(share) - 0.5), shareAt(valueAt(share) + 0.5)],
      shareOf(point) {
        const value = numberIn(point);
        return Number.isInteger(value) && value >= start && value <= end
          ? shareAt(value)
          : undefined;
      },
    };
  }
  if (start >= end) refuse(override, "ends before it starts");
  const last = floatBelow(end);
  return {
    isOrdered: true,
    count: Number.POSITIVE_INFINITY,
    pointAt(share) {
      const value = isLog ? logUniform(start, end, share) : start * (1 - share) + end * share;
      // Rounding may reach the end, which is excluded.
      return [`${key}=${floatRepr(clamp(value, start, last))}`];
    },
    binOf: (share) => [share, share],
    shareOf(point) {
      const value = numberIn(point);
      if (!(value >= start && value < end)) return undefined;
      if (!isLog) return (value - start) / (end - start);
      return (Math.log(value) - Math.log(start)) / (Math.log(end) - Math.log(start));
    },
  };
}

/** The largest float below another. */
function floatBelow(value: number): number {
  if (value === 0) return -Number.MIN_VALUE;
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? -1n : 1n));
  return bits.getFloat64(0);
}

const isInt = (value: PythonNumber): boolean => typeof value !== "number";

const logUniform = (start: number, end: number, share: number): number =>
  Math.exp(Math.log(start) * (1 - share) + Math.log(end) * share);

const clamp = (value: number, low: number, high: number): number =>
  Math.min(Math.max(value, low), high);

function refuse({ keyOrGroup, origin }: Override, problem: string): never {
  throw new ConfigError({
    code: "override.sweep_not_allowed",
    message: `The sweep '${origin.text}' ${problem}`,
    origin,
    key: keyOrGroup,
  });
}

/** Up to this count, a number in [0, 1) can select each value. */
const MAX_COUNT = BigInt(Number.MAX_SAFE_INTEGER);

/** Refuses a sweep: "has no values to draw from". Must throw. */
type Refuse = (problem: string) => never;

/**
 * The values of a range: uniformly, or with the tag `log` a number uniformly over the logarithm, and the
 * value that is nearest to it. Nothing is enumerated, because ranges may be long. Undefined for an endless range, and
 * for one without a number of values.
 */
function rangeDimension(range: RangeSweep, key: string, refuse: Refuse): Dimension | undefined {
  const values = rangeSequence(range);
  if (values === undefined || values.count > MAX_COUNT) return undefined;
  const count = Number(values.count);
  if (count === 0) refuse("has no values to draw from");
  const isLog = range.tags.includes("log");
  const log = isLog ? nearestInLog(values, count, refuse) : undefined;
  const pointOf = (index: number): Point => {
    const value = values.at(BigInt(index));
    return [`${key}=${typeof value === "number" ? floatRepr(value) : String(value)}`];
  };
  const indexAt = log?.indexAt ?? ((share: number) => indexOf(share, count));
  const binAt = log?.binAt ?? ((index: number) => [index / count, (index + 1) / count] as const);
  return {
    isOrdered: true,
    count,
    pointAt: (share) => pointOf(indexAt(share)),
    binOf: (share) => binAt(indexAt(share)),
    shareOf(point) {
      const [first, second] = [0, 1].map((index) =>
        index < count ? Number(values.at(BigInt(index))) : Number.NaN,
      );
      const start = first ?? Number.NaN;
      const index =
        count === 1 ? 0 : Math.round((numberIn(point) - start) / ((second ?? 0) - start));
      if (!(index >= 0 && index < count)) return undefined;
      const [from, to] = binAt(index);
      return isSame(point, pointOf(index)) ? (from + to) / 2 : undefined;
    },
  };
}

/** The first of the values that are nearest to a share of the way from the smallest logarithm to the largest. */
function nearestInLog(values: RangeSequence, count: number, refuse: Refuse) {
  const logAt = (index: number) => Math.log(Number(values.at(BigInt(index))));
  const [first, last] = [logAt(0), logAt(count - 1)];
  if (!Number.isFinite(first) || !Number.isFinite(last))
    refuse("is tagged 'log' but has values that are not above 0");
  const reaches = (index: number, log: number) =>
    first < last ? logAt(index) >= log : logAt(index) <= log;
  const firstThatReaches = (log: number) => firstIndex(count, (index) => reaches(index, log));
  const [low, high] = [Math.min(first, last), Math.max(first, last)];
  const shareAt = (log: number): number => (high === low ? 0.5 : (log - low) / (high - low));
  const between = (index: number): number => shareAt((logAt(index) + logAt(index + 1)) / 2);
  return {
    indexAt(share: number): number {
      const wished = low + share * (high - low);
      const after = firstThatReaches(wished);
      if (after === 0) return 0;
      const valueBefore = logAt(after - 1);
      const isNearer =
        after < count && Math.abs(logAt(after) - wished) < Math.abs(valueBefore - wished);
      return isNearer ? after : firstThatReaches(valueBefore);
    },
    binAt(index: number): readonly [number, number] {
      const shareBefore = index === 0 ? shareAt(first) : between(index - 1);
      const after = index === count - 1 ? shareAt(last) : between(index);
      return [Math.min(shareBefore, after), Math.max(shareBefore, after)];
    },
  };
}

/** Binary search: the first index for which a monotonic condition holds; `count` if it holds for none. */
function firstIndex(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Numbers in [0, 1), the same ones for the same seed on every machine. */
export type RandomSource = () => number;

/**
 * A xoshiro128** generator.
 *
 * @param seed any text; a number is given as its decimal digits
 */
export function randomSource(seed: string): RandomSource {
  const digest = createHash("sha256").update(seed).digest();
  let [a, b, c, d] = [0, 4, 8, 12].map((offset) => digest.readUInt32LE(offset)) as [
    number,
    number,
    number,
    number,
  ];
  const next = (): number => {
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotated(d, 11);
    return result;
  };
  // 53 bits, as many as a double has.
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
