import { floatRepr } from "../../../values/python-text.ts";
import type { RandomSource } from "./random-source.ts";
import { byScore, type Direction, type Search } from "./search.ts";
import type { SearchSpace } from "./search-space.ts";

export interface HalvingPlan {
  /** The override that sets the budget of a job, without its value: `epochs`, `+epochs`. */
  readonly budgetKey: string;
  /** From the smallest to the largest. */
  readonly rungs: readonly Rung[];
  readonly direction: Direction;
}

/** So many trials get this much. */
export interface Rung {
  readonly trials: number;
  /** As the override's value: an int where smallest and largest budget are ints. */
  readonly budget: string;
}

/**
 * The rungs from at least `min` to exactly `max`, each with `eta` times the budget of the one before
 * and one `eta`-th of its trials, but at least one.
 *
 * @param trials of the first rung; undefined for just as many as leave one for the last
 * @see Jamieson and Talwalkar, Non-stochastic Best Arm Identification (2016); the budgets are those
 * of one bracket of Hyperband (Li et al. 2018)
 */
export function halvingRungs(
  min: number | bigint,
  max: number | bigint,
  eta: number,
  trials?: number,
): readonly Rung[] {
  const isInt = typeof min === "bigint" && typeof max === "bigint";
  const [least, most] = [Number(min), Number(max)];
  // The slack takes up what logarithms round: log(243) / log(3) is below 5.
  const last = Math.floor(Math.log(most / least) / Math.log(eta) + 1e-9);
  const rungs: Rung[] = [];
  let count = trials ?? Math.ceil(eta ** last - 1e-9);
  for (let rung = 0; rung <= last; rung++) {
    const budget = rung === last ? most : most / eta ** (last - rung);
    rungs.push({
      trials: count,
      budget: isInt ? String(Math.round(budget)) : floatRepr(Number(budget.toPrecision(12))),
    });
    count = Math.max(1, Math.floor(count / eta));
  }
  return rungs;
}

/**
 * Gives every trial a small budget, the best of them a larger one, and so on. Trials without a score
 * are never promoted; among equals the earlier is.
 */
export function* successiveHalving(
  space: SearchSpace,
  random: RandomSource,
  { budgetKey, direction, rungs }: HalvingPlan,
): Search {
  let alive = Array.from({ length: rungs[0]?.trials ?? 0 }, () => space.draw(random));
  for (const [level, { budget, trials }] of rungs.entries()) {
    alive = alive.slice(0, trials);
    if (alive.length === 0) return;
    const scores = yield alive.map(({ overrides, params }) => ({
      overrides: [...overrides, `${budgetKey}=${budget}`],
      params,
      level,
    }));
    alive = alive
      .map((draw, index) => ({ draw, score: scores[index] ?? null }))
      .filter(({ score }) => score !== null)
      .sort(byScore(direction))
      .map(({ draw }) => draw);
  }
}
