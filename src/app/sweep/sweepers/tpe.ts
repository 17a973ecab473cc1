/**
 * The tree-structured Parzen estimator: trials are drawn where good ones are dense and others are not.
 *
 * @see Bergstra et al., Algorithms for Hyper-Parameter Optimization (2011); the joint densities of all dimensions are those of Falkner et
 * al., BOHB (2018)
 */

import type { Direction, Score } from "./objective.ts";
import { dominates, type Search, type Trial } from "./optimizing-sweeper.ts";
import {
  allNew,
  type Dimension,
  type Draw,
  type RandomSource,
  type SearchSpace,
} from "./search-space.ts";
import { sobolSequence } from "./sobol.ts";

export interface TpePlan {
  /** Points that count among the trials, and are asked for first. */
  readonly earlier?: readonly Draw[];
  readonly trials: number;
  /** Trials that are asked for before any of them is told. */
  readonly batch: number;
  /** Trials at first that cover the space evenly. */
  readonly startup: number;
  readonly directions: readonly Direction[];
  /** Whether a job that was asked for is not asked for again. */
  readonly isUnique: boolean;
}

/** A trial that was asked for; its score is null if it failed, undefined while it is pending. */
interface Observation {
  readonly shares: Draw["shares"];
  readonly score: Score | null | undefined;
}

/** Asks for batches; each trial of a batch counts as a bad one for the others, so that they differ. */
export function* tpeSearch(space: SearchSpace, random: RandomSource, plan: TpePlan): Search {
  const { batch, directions, earlier = [], isUnique, startup, trials } = plan;
  const even = sobolSequence(space.dimensions.length, random);
  const next = allNew(isUnique);
  const observed: Observation[] = [];
  const tell = (from: number, scores: readonly (Score | null)[]): void => {
    for (const [index, score] of scores.entries()) {
      const pending = observed[from + index];
      if (pending !== undefined) observed[from + index] = { ...pending, score };
    }
  };
  if (earlier.length > 0) {
    for (const point of earlier) {
      next(() => point, 1);
      observed.push({ shares: point.shares, score: undefined });
    }
    tell(0, yield earlier.map(trialOf));
  }
  while (observed.length < trials) {
    const asked: Trial[] = [];
    const from = observed.length;
    while (asked.length < batch && observed.length < trials) {
      const best =
        observed.length < startup
          ? next(() => space.drawAt(even()))
          : next(candidatesOf(space, observed, directions, random), CANDIDATES);
      const draw = best ?? next(() => space.draw(random));
      // Nothing is left that was not asked for.
      if (draw === undefined) break;
      observed.push({ shares: draw.shares, score: undefined });
      asked.push(trialOf(draw));
    }
    if (asked.length === 0) return;
    tell(from, yield asked);
  }
}

const trialOf = ({ overrides, params }: Draw): Trial => ({ overrides, params, level: 0 });

/** Points that are compared for each trial. */
const CANDIDATES = 32;

/** This part of the trials, and at most so many, are the good ones. */
const GOOD_SHARE = 0.15;
const MOST_GOOD = 25;

/** Points where good trials are dense and others are not, the best first. */
function candidatesOf(
  { drawAt, dimensions }: SearchSpace,
  observed: readonly Observation[],
  directions: readonly Direction[],
  random: RandomSource,
): () => Draw | undefined {
  const told = observed.filter(({ score }) => score !== undefined);
  const ranked = ranking(told, directions);
  const count = Math.min(MOST_GOOD, Math.max(1, Math.ceil(GOOD_SHARE * told.length)));
  const good = estimator(dimensions, ranked.slice(0, count));
  const bad = estimator(dimensions, [
    ...ranked.slice(count),
    ...observed.filter(({ score }) => score === undefined),
  ]);
  const gainOf = ({ shares }: Draw) => good.logDensity(shares) - bad.logDensity(shares);
  const candidates = Array.from({ length: CANDIDATES }, () => drawAt(good.sample(random)))
    .flatMap((draw) => draw ?? [])
    .map((draw) => ({ draw, gain: gainOf(draw) }))
    .sort((a, b) => b.gain - a.gain);
  let index = 0;
  return () => candidates[index++]?.draw;
}

/** The best first, failed trials last. With several directions those first that fewest others are better than. */
function ranking(
  told: readonly Observation[],
  directions: readonly Direction[],
): readonly Observation[] {
  const [direction] = directions;
  const rankOf = ({ score }: Observation): number => {
    if (score === null || score === undefined) return Number.POSITIVE_INFINITY;
    if (directions.length > 1)
      return told.filter(
        (other) => other.score != null && dominates(other.score, score, directions),
      ).length;
    const value = score[0] ?? 0;
    return direction === "minimize" ? value : -value;
  };
  return told
    .map((observation) => ({ observation, rank: rankOf(observation) }))
    .sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ observation }) => observation);
}

/** The width of a single kernel; more of them are narrower, by Scott's rule. */
const WIDTH = 0.12;

/** A density over the shares of all dimensions. */
interface Estimator {
  sample(random: RandomSource): readonly number[];
  /** Of a job that lacks a dimension (null): over the others. */
  logDensity(shares: Draw["shares"]): number;
}

/**
 * A mixture of a kernel around each observation and one that covers the space. A kernel is normal in ordered dimensions, cut off at their
 * ends, and prefers the value of its observation in others. An observation without a dimension says nothing about it.
 */
function estimator(
  dimensions: readonly Dimension[],
  observed: readonly Pick<Observation, "shares">[],
): Estimator {
  const sigma = WIDTH * Math.max(1, observed.length) ** (-1 / (dimensions.length + 4));
  const centers = [...observed.map(({ shares }) => shares), dimensions.map(() => null)];
  const masses = centers.map((shares) =>
    shares.map((center) => (center === null ? 1 : massBetween(0, 1, center, sigma))),
  );
  /** How much of a kernel beside its own value is spread over all values. */
  const spread = 1 / (observed.length + 1);
  return {
    sample(random) {
      const kernel = centers[Math.floor(random() * centers.length)] ?? [];
      return dimensions.map(({ count, isOrdered }, axis) => {
        const center = kernel[axis] ?? null;
        if (center === null) return random();
        if (isOrdered) return normalWithin(center, sigma, random);
        const ownWeight = 1 / (1 + spread);
        return random() < ownWeight ? center : Math.floor(random() * count) / count;
      });
    },
    logDensity(shares) {
      const logs = centers.map((kernel, index) => {
        let log = 0;
        for (const [axis, dimension] of dimensions.entries()) {
          const share = shares[axis] ?? null;
          const center = kernel[axis] ?? null;
          if (share === null) continue;
          const [from, to] = dimension.binOf(share);
          const size = to - from;
          if (center === null) log += size > 0 ? Math.log(size) : 0;
          else if (!dimension.isOrdered) {
            const isOwn = center >= from && center < to;
            const rest = spread / dimension.count;
            log += Math.log((isOwn ? 1 + rest : rest) / (1 + spread));
          } else {
            const mass = masses[index]?.[axis] ?? 1;
            log +=
              size > 0
                ? Math.log(Math.max(massBetween(from, to, center, sigma), 1e-300)) - Math.log(mass)
                : logNormal(share, center, sigma) - Math.log(mass);
          }
        }
        return log;
      });
      const most = Math.max(...logs);
      const sum = logs.reduce((total, log) => total + Math.exp(log - most), 0);
      return most + Math.log(sum) - Math.log(centers.length);
    },
  };
}

function normalWithin(center: number, sigma: number, random: RandomSource): number {
  for (;;) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const value = center + sigma * radius * Math.cos(2 * Math.PI * random());
    if (value >= 0 && value < 1) return value;
  }
}

const logNormal = (value: number, center: number, sigma: number): number =>
  -0.5 * ((value - center) / sigma) ** 2 - Math.log(sigma) - 0.5 * Math.log(2 * Math.PI);

/** The mass of a normal distribution between two values. */
function massBetween(from: number, to: number, center: number, sigma: number): number {
  const [low, high] = [(from - center) / sigma, (to - center) / sigma];
  // Differences of tails are exact where those of values near 1 are not.
  return low > 0 ? tail(low) - tail(high) : tail(-high) - tail(-low);
}

/** The mass of the standard normal distribution above a value. */
const tail = (value: number): number => 0.5 * complementOfError(value / Math.SQRT2);

/**
 * The complementary error function: below 2.5 by its power series, above by its continued fraction.
 * @see Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.6 and 7.1.14
 */
function complementOfError(value: number): number {
  const x = Math.abs(value);
  if (x > 26) return value > 0 ? 0 : 2;
  if (x < 2.5) {
    let term = x;
    let sum = x;
    for (let index = 1; Math.abs(term) > 1e-17 * Math.abs(sum); index++) {
      term *= (2 * x * x) / (2 * index + 1);
      sum += term;
    }
    const error = (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
    return value > 0 ? 1 - error : 1 + error;
  }
  let fraction = x;
  for (let index = 40; index > 0; index--) fraction = x + index / 2 / fraction;
  const above = Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
  return value > 0 ? above : 2 - above;
}
