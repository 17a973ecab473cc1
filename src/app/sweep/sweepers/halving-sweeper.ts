/** The sweeper of successive halving. */
import { isAbsolute, join } from "node:path";
import { parseOverride } from "../../../engine/overrides/index.ts";
import type { ConfigError } from "../../../engine/values/errors.ts";
import { floatRepr } from "../../../engine/values/python-text.ts";
import { checkpointOf, resumeOverride } from "../../job/checkpoint.ts";
import { bareKey, keysOf } from "./dimensions.ts";
import type { Direction } from "./objective.ts";
import { byScore, optimizingSweeper, type Search, type Trial } from "./optimizing-sweeper.ts";
import { readOverrides, readSpace, searchRequest, seedOf } from "./search-request.ts";
import { HALVING_SETTINGS, readSweeper, refuseSetting } from "./search-settings.ts";
import { type Draw, type RandomSource, randomSource, type SearchSpace } from "./search-space.ts";
import type { JobOverrides, SweeperDefinition, SweeperRequest } from "./sweeper.ts";

/**
 * `hydra/sweeper=successive_halving`: many trials with a small budget, the best `1/eta` of them with
 * `eta` times as much, and so on up to the largest budget.
 */
export const halvingSweeper: SweeperDefinition = {
  targets: ["hydraconf.sweepers.SuccessiveHalving"],
  open(request) {
    const settings = readSweeper(HALVING_SETTINGS, request);
    const overrides = readOverrides(request);
    const { budget_key: budgetKey, eta, max_budget, min_budget, n_trials } = settings;
    const [direction = "minimize", ...others] = settings.direction;
    if (others.length > 0)
      refuseSetting(request, "direction")("has several directions: trials are promoted by one");
    const keys = overrides.flatMap(keysOf);
    const { resume_file: file, resume_key: key } = settings;
    checkKey("budget_key", budgetKey, request, keys);
    if (key !== undefined) checkKey("resume_key", key, request, [...keys, bareKey(budgetKey)]);
    if (
      file !== undefined &&
      (key === undefined || isAbsolute(file) || file.split("/").includes(".."))
    )
      refuseSetting(
        request,
        "resume_file",
      )(
        key === undefined
          ? "needs hydra.sweeper.resume_key, the key that is told where the file is"
          : `must be a path in $HYDRACONF_CHECKPOINT, not '${file}'`,
      );
    if (Number(max_budget) < Number(min_budget))
      refuseSetting(
        request,
        "max_budget",
      )(`must be at least min_budget, ${min_budget}, not ${max_budget}`);
    const rungs = halvingRungs(min_budget, max_budget, eta, n_trials);
    const random = randomSource(seedOf(settings.seed, request));
    const sweeper = optimizingSweeper({
      name: "successive_halving",
      search: successiveHalving(readSpace(request, overrides), random, {
        budgetKey,
        rungs,
        direction,
      }),
      ...searchRequest(settings, request),
      ...(key !== undefined && { resumption: { key, file } }),
      ...(rungs.length > 1 && { unforeseeable: laterRungs(budgetKey, rungs) }),
    });
    if (key === undefined || rungs.length === 1) return sweeper;
    const outputDir = join(request.directory, "0");
    const resumed = resumeOverride(key, checkpointOf({ outputDir }), file);
    return {
      ...sweeper,
      checkContinuation(batch, problemOf) {
        const refused = firstRefused(batch, resumed, problemOf);
        if (refused !== undefined) {
          const { job, problem } = refused;
          const mayAdd = !key.startsWith("+") && problemOf([...job, `+${resumed}`]) === undefined;
          refuseKey(key, problem.details, mayAdd, request);
        }
      },
    };
  },
};

type ProblemOf = (job: JobOverrides) => ConfigError | undefined;

/** The first trial that can be composed, but not continued, unless others can be continued. */
function firstRefused(batch: readonly JobOverrides[], resumed: string, problemOf: ProblemOf) {
  let first: { readonly job: JobOverrides; readonly problem: ConfigError } | undefined;
  for (const job of batch) {
    if (problemOf(job) !== undefined) continue;
    const problem = problemOf([...job, resumed]);
    if (problem === undefined) return undefined;
    first ??= { job, problem };
  }
  return first;
}

/** @param mayAdd whether trials could be composed if the override added the key */
function refuseKey(
  key: string,
  { available, hint, message }: ConfigError["details"],
  mayAdd: boolean,
  request: SweeperRequest,
): never {
  return refuseSetting(request, "resume_key")(
    mayAdd
      ? `is '${key}', a key that the config of a trial does not have`
      : `is '${key}', with which no trial can be composed: ${message}`,
    {
      ...(available !== undefined && { available }),
      ...(mayAdd
        ? { hint: `use hydra.sweeper.resume_key=+${key} to add the key` }
        : hint !== undefined && { hint }),
    },
  );
}

function checkKey(
  setting: "budget_key" | "resume_key",
  key: string,
  request: SweeperRequest,
  others: readonly string[],
): void {
  parseOverride(`${key}=1`, { dialect: request.context.dialect });
  if (others.includes(bareKey(key)))
    refuseSetting(request, setting)(`is '${key}', which the sweep also sets`);
}

const laterRungs = (budgetKey: string, rungs: readonly Rung[]): string =>
  `Which trials continue depends on results: ${rungs
    .slice(1)
    .map(({ budget, trials }) => `${trials} with ${budgetKey}=${budget}`)
    .join(", then ")}.`;

export interface HalvingPlan {
  /** The override that sets the budget of a job, without its value: `epochs`, `+epochs`. */
  readonly budgetKey: string;
  /** From the smallest to the largest. */
  readonly rungs: readonly Rung[];
  readonly direction: Direction;
}

/** One step: the number of trials and their budget. */
interface Rung {
  readonly trials: number;
  /** The override's value: an int if the smallest and the largest budget are ints. */
  readonly budget: string;
}

/**
 * The rungs from at least `min` to exactly `max`, each with `eta` times the budget of the one before and one `eta`-th
 * of its trials, but at least one.
 *
 * @param trials trials of the first rung; undefined for just enough to leave one for the last
 * @see Jamieson and Talwalkar, Non-stochastic Best Arm Identification (2016); the budgets are those of one bracket of
 * Hyperband (Li et al. 2018)
 */
export function halvingRungs(
  min: number | bigint,
  max: number | bigint,
  eta: number,
  trials?: number,
): readonly Rung[] {
  const isInt = typeof min === "bigint" && typeof max === "bigint";
  const [least, most] = [Number(min), Number(max)];
  // The tolerance absorbs rounding of logarithms: log(1000) / log(10) is below 3.
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
 * Gives every trial a small budget, the best of them a larger one, and so on. Trials without a score are never
 * promoted; ties go to the earlier trial.
 */
export function* successiveHalving(
  space: SearchSpace,
  random: RandomSource,
  { budgetKey, direction, rungs }: HalvingPlan,
): Search {
  let alive: readonly { readonly draw: Draw; readonly trial?: Trial }[] = Array.from(
    { length: rungs[0]?.trials ?? 0 },
    () => ({ draw: space.draw(random) }),
  );
  for (const [level, { budget, trials }] of rungs.entries()) {
    const round = alive.slice(0, trials).map(({ draw, trial: continues }) => {
      const { overrides, params } = draw;
      const trial: Trial = {
        overrides: [...overrides, `${budgetKey}=${budget}`],
        params,
        level,
        ...(continues !== undefined && { continues }),
      };
      return { draw, trial };
    });
    if (round.length === 0) return;
    const scores = yield round.map(({ trial }) => trial);
    alive = round
      .map((candidate, index) => ({ ...candidate, score: scores[index] ?? null }))
      .filter(({ score }) => score !== null)
      .sort(byScore(direction));
  }
}
