/**
 * The tree-structured Parzen estimator: trials are drawn where good ones are dense and others are not.
 *
 * @see Bergstra et al., Algorithms for Hyper-Parameter Optimization (2011); the joint densities of all dimensions are those of Falkner et
 * al., BOHB (2018)
 */

import type { Direction, Score } from "./objective.ts";
import { dominates, type Search, type Trial } from "./optimizing-sweeper.ts";
import { parzenEstimator } from "./parzen.ts";
import { allNew, type Draw, type RandomSource, type SearchSpace } from "./search-space.ts";
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
  const good = parzenEstimator(dimensions, ranked.slice(0, count));
  const bad = parzenEstimator(dimensions, [
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
