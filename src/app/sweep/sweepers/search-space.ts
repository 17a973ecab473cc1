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
  type SweepOptions,
} from "../../../engine/overrides/index.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import { floatRepr } from "../../../engine/values/python-text.ts";
import {
  allExcluded,
  byKey,
  fixedPoint,
  type Point,
  pointsOf,
  type SizeLimit,
} from "./dimensions.ts";
import type { JobOverrides } from "./sweeper.ts";

/** The space of a sweep: keys that vary, and overrides that are fixed for all jobs. */
export interface SearchSpace {
  /** Draws a point of the space. */
  draw(random: RandomSource): Draw;
}

export interface Draw {
  /** The job's overrides, including those that are the same in all jobs. */
  readonly overrides: JobOverrides;
  /** The overrides that were drawn. */
  readonly params: JobOverrides;
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
  isExcluded?: (job: JobOverrides) => boolean,
): SearchSpace {
  const dimensions = [...byKey(overrides).values()].map((override) => ({
    varies: isSweep(override),
    draw: drawerOf(override, options),
  }));
  const drawOnce = (random: RandomSource): Draw => {
    const points = dimensions.map(({ draw, varies }) => ({ varies, point: draw(random) }));
    return {
      overrides: points.flatMap(({ point }) => point),
      params: points.flatMap(({ point, varies }) => (varies ? point : [])),
    };
  };
  return {
    draw(random) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const drawn = drawOnce(random);
        if (isExcluded?.(drawn.overrides) !== true) return drawn;
      }
      throw allExcluded(MAX_TRIES);
    },
  };
}

/** For values that must be enumerated, few of which become jobs. */
const VALUES: SizeLimit = {
  most: 10_000_000,
  of: "values",
  hint: "draw from an interval: interval(0,1), or tag(log,interval(1e-5,1))",
};

type Drawer = (random: RandomSource) => Point;

function drawerOf(override: Override, options: SweepOptions): Drawer {
  if (!isSweep(override)) return () => fixedPoint(override);
  const { value } = override;
  const key = overrideKeyElement(override);
  if (value.kind === "interval") {
    const draw = intervalDrawer(value, override);
    return (random) => [`${key}=${draw(random)}`];
  }
  const draw =
    value.kind === "range" ? rangeDrawer(value, (what) => refuse(override, what)) : undefined;
  if (draw !== undefined) return (random) => [`${key}=${draw(random)}`];
  const points = pointsOf(override, options, VALUES);
  if (points.length === 0) refuse(override, "has no values to draw from");
  return (random) => points[Math.floor(random() * points.length)] ?? [];
}

/**
 * Draws floats from the start up to, but excluding, the end. An interval cast to int includes both ends, as in Hydra's
 * optuna sweeper.
 */
function intervalDrawer(interval: IntervalSweep, override: Override): (r: RandomSource) => string {
  const isLog = interval.tags.includes("log");
  const [start, end] = [Number(interval.start), Number(interval.end)];
  if (!Number.isFinite(start) || !Number.isFinite(end)) refuse(override, "is not finite");
  if (isLog && start <= 0) refuse(override, "is tagged 'log' but has values that are not above 0");
  if (isInt(interval.start) && isInt(interval.end)) {
    if (start > end) refuse(override, "ends before it starts");
    return (random) => {
      const value = isLog
        ? Math.round(logUniform(start - 0.5, end + 0.5, random()))
        : start + Math.floor(random() * (end - start + 1));
      return String(BigInt(clamp(value, start, end)));
    };
  }
  if (start >= end) refuse(override, "ends before it starts");
  return (random) => {
    const share = random();
    const value = isLog ? logUniform(start, end, share) : start * (1 - share) + end * share;
    // Rounding may reach the end, which is excluded.
    return floatRepr(value >= end ? start : clamp(value, start, end));
  };
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
 * Draws a value of a range, as text: uniformly, or with the tag `log` a number uniformly over the logarithm, and the
 * value that is nearest to it. Nothing is enumerated, because ranges may be long. Undefined for an endless range, and
 * for one without a number of values.
 */
function rangeDrawer(
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
