/** What sweepers that learn from results have in common. */
import {
  overrideKeyElement,
  overrideNode,
  parseOverride,
} from "../../../engine/overrides/index.ts";
import type { Dialect } from "../../../engine/values/dialect.ts";
import { list, map, scalar } from "../../../engine/values/node.ts";
import { fromCode } from "../../../engine/values/origin.ts";
import { floatRepr } from "../../../engine/values/python-text.ts";
import { plural } from "../../../foundation/text/plural.ts";
import { type Continuation, checkpointOf, resumeOverride } from "../../job/checkpoint.ts";
import type { EndStatus } from "../../job/ender.ts";
import { isCompleted, statusOf } from "../../job/job.ts";
import {
  type Direction,
  type Objective,
  outcomeOf,
  RESULTS_FILE,
  type Score,
  withoutNumber,
} from "./objective.ts";
import type { PruningRule } from "./pruner.ts";
import type { Conclusion, JobOverrides, Sweeper, SweeperMessage } from "./sweeper.ts";

/** The common parts of all searches. */
export interface OptimizingRequest {
  /** The name of the sweeper in the results file. */
  readonly name: string;
  readonly search: Search;
  readonly directions: readonly Direction[];
  /** Trials in a batch; undefined for all that can run in parallel. */
  readonly batchSize: number | undefined;
  /** The share of a batch that may fail before the sweep ends. */
  readonly maxFailureRate: number;
  readonly objective: Objective;
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  readonly unforeseeable?: string;
  readonly pruning?: PruningRule;
  /** How a trial with a larger budget is told where it continues; absent if no override says so. */
  readonly resumption?: Resumption;
  /** The dialect of the sweep. */
  readonly dialect: Dialect;
}

/** The override that tells where a trial continues. */
interface Resumption {
  /** Its key, as in an override: `trainer.ckpt_path`, `+resume`. */
  readonly key: string;
  /** A name in the directory of the checkpoint; undefined for the directory itself. */
  readonly file: string | undefined;
}

interface Scored {
  readonly trial: Trial;
  readonly score: Score | null;
  /** Of a trial without a score; `failed` also if it returned no number, or never ran. */
  readonly status: EndStatus;
}

/**
 * Makes a sweeper of a search. Its state depends only on the results: given the same results it asks for the same jobs,
 * and this is how a sweep is resumed.
 */
export function optimizingSweeper(request: OptimizingRequest): Sweeper {
  const { batchSize, directions, directory, maxFailureRate, objective, search } = request;
  const trials: Scored[] = [];
  let round: readonly Trial[] = [];
  let scores: (Score | null)[] = [];
  let asked = 0;
  let failedTooOften = false;
  const messages: SweeperMessage[] = [];
  /** How others continue a trial that has run. */
  const ran = new WeakMap<Trial, Continuation>();
  const continuations = new WeakMap<JobOverrides, Continuation>();

  const overridesOf = ({ continues, overrides }: Trial): JobOverrides => {
    const earlier = continues && ran.get(continues);
    if (earlier === undefined) return overrides;
    const { resumption } = request;
    const resumed =
      resumption && resumeOverride(resumption.key, earlier.checkpoint, resumption.file);
    const job = [...overrides, ...(resumed === undefined ? [] : [resumed])];
    continuations.set(job, earlier);
    return job;
  };

  return {
    judgesFailures: true,
    ...(request.pruning !== undefined && { pruning: request.pruning }),
    ...(request.unforeseeable !== undefined && { unforeseeable: request.unforeseeable }),
    ask(): readonly JobOverrides[] | undefined {
      if (failedTooOften) return undefined;
      if (asked === round.length) {
        const next = search.next(scores);
        round = next.done === true ? [] : next.value;
        scores = [];
        asked = 0;
      }
      const batch = round.slice(asked, asked + (batchSize ?? round.length));
      asked += batch.length;
      return batch.length === 0 ? undefined : batch.map(overridesOf);
    },
    continuationOf: (job) => continuations.get(job),
    mayAskForMore: () => true,
    tell(results) {
      const batch = round.slice(scores.length, asked);
      const problems: string[] = [];
      let areNonFinite = true;
      let lost = 0;
      for (const [index, trial] of batch.entries()) {
        const result = results[index];
        const outcome = result && outcomeOf(result, objective, directions.length);
        const score = outcome?.score ?? null;
        const status = result === undefined || isCompleted(result) ? "failed" : statusOf(result);
        trials.push({ trial, score, status });
        if (result?.number !== undefined) {
          const earlier = trial.continues && ran.get(trial.continues);
          const checkpoint = earlier?.checkpoint ?? checkpointOf(result);
          ran.set(trial, { job: result.number, checkpoint });
        }
        scores.push(score);
        // A pruned trial has told what it had to tell.
        if (outcome?.score !== null || status === "pruned") continue;
        lost++;
        if (result === undefined || !isCompleted(result)) continue;
        problems.push(`job #${result.number ?? trials.length - 1}: ${outcome.problem}`);
        if (outcome.isNonFinite !== true) areNonFinite = false;
      }
      if (lost === 0 || lost / batch.length <= maxFailureRate) return;
      failedTooOften = true;
      if (problems.length > 0) throw withoutNumber(problems, { directory, areNonFinite });
    },
    problemOf(result) {
      const outcome = !isCompleted(result)
        ? undefined
        : outcomeOf(result, objective, directions.length);
      return outcome?.score === null ? outcome.problem : undefined;
    },
    conclude() {
      const conclusion = conclusionOf(trials, !failedTooOften, request);
      if (conclusion === undefined && trials.length > 0 && !failedTooOften)
        messages.push({ logger: "hydraconf.sweep", level: "warning", text: noBest(trials) });
      return conclusion;
    },
    takeMessages: () => messages.splice(0),
  };
}

const noBest = (trials: readonly Scored[]): string =>
  `No trial has a result (${countsOf(trials)}), so there is no best one, and no ${RESULTS_FILE}`;

/**
 * The best trials with the largest budget that has scores: one, the earlier of equal ones; with several directions all that no
 * other is better than.
 */
export function bestOf<
  One extends { readonly trial: Pick<Trial, "level">; readonly score: Score | null },
>(
  trials: readonly One[],
  directions: readonly Direction[],
): readonly (Omit<One, "score"> & { readonly score: Score })[] {
  const scored = trials.flatMap(({ score, ...trial }) =>
    score === null ? [] : [{ ...trial, score }],
  );
  const top = scored.reduce((level, { trial }) => Math.max(level, trial.level), 0);
  const last = scored.filter(({ trial }) => trial.level === top);
  const [direction, ...others] = directions;
  if (direction !== undefined && others.length === 0)
    return last.sort(byScore(direction)).slice(0, 1);
  return last.filter(
    ({ score }) => !last.some((other) => dominates(other.score, score, directions)),
  );
}

/** Whether a score is nowhere worse than another, and somewhere better. */
export function dominates(score: Score, other: Score, directions: readonly Direction[]): boolean {
  const gains = directions.map((direction, index) => {
    const gain = (other[index] ?? 0) - (score[index] ?? 0);
    return direction === "minimize" ? gain : -gain;
  });
  return gains.every((gain) => gain >= 0) && gains.some((gain) => gain > 0);
}

function conclusionOf(
  trials: readonly Scored[],
  toleratesFailures: boolean,
  { dialect, directions, name }: OptimizingRequest,
): Conclusion | undefined {
  const best = bestOf(trials, directions);
  const [first] = best;
  if (first === undefined) return undefined;
  const origin = fromCode("sweep");
  const paramsOf = ({ params }: Trial) =>
    map(
      params.map((text) => {
        const override = parseOverride(text, { dialect });
        return [
          overrideKeyElement(override),
          overrideNode(override) ?? scalar(null, origin),
        ] as const;
      }),
      origin,
    );
  const numbers = (score: Score) => score.map((value) => scalar(value, origin));
  const solutions = best.map(({ score, trial }) =>
    map(
      [
        ["params", paramsOf(trial)],
        ["values", list(numbers(score), origin)],
      ],
      origin,
    ),
  );
  const [direction = "minimize", ...more] = directions;
  const isSingle = more.length === 0;
  const [value = Number.NaN] = first.score;
  const others =
    isSingle || best.length === 1 ? "" : `, and ${best.length - 1} others that none is better than`;
  return {
    file: RESULTS_FILE,
    content: map(
      [
        ["name", scalar(name, origin)],
        ...(isSingle
          ? ([
              ["best_params", paramsOf(first.trial)],
              ["best_value", scalar(first.score[0] ?? null, origin)],
            ] as const)
          : ([["solutions", list(solutions, origin)]] as const)),
      ],
      origin,
    ),
    text: `Best of ${countsOf(trials)}: ${bestText(first.trial, first.score.map(floatRepr).join(", "))}${others}`,
    ...(isSingle && { best: { value, direction } }),
    toleratesFailures,
  };
}

/** How many trials there are, and what became of those without a score. */
function countsOf(trials: readonly Scored[]): string {
  const lost = trials.filter(({ score }) => score === null).map(({ status }) => status);
  return [
    plural(trials.length, "trial"),
    ...(["pruned", "failed", "timed_out", "stopped"] as const).flatMap((word) => {
      const count = lost.filter((status) => status === word).length;
      return count === 0 ? [] : [`${count} ${word}`];
    }),
  ].join(", ");
}

const bestText = ({ params }: Trial, score: string): string =>
  params.length === 0 ? `${score} (nothing was swept)` : `${params.join(" ")} with ${score}`;

/** One job of a search. */
export interface Trial {
  readonly overrides: JobOverrides;
  /** The overrides whose values the search chose. */
  readonly params: JobOverrides;
  /** Results of a higher level are worth more: they come from a larger budget. */
  readonly level: number;
  /** The earlier one with a smaller budget, whose checkpoint it may continue; absent for one that begins anew. */
  readonly continues?: Trial;
}

/**
 * Yields trials that may run in parallel and receives their scores, in the same order. It has no other input, so that
 * the same scores lead to the same trials.
 */
export type Search = Generator<readonly Trial[], void, readonly (Score | null)[]>;

/** Sorts the best first; trials without a score come last, and ties keep their order. */
export const byScore =
  (direction: Direction) =>
  (a: { readonly score: Score | null }, b: { readonly score: Score | null }): number => {
    const [left, other] = [a.score?.[0], b.score?.[0]];
    if (left === undefined || other === undefined)
      return Number(left === undefined) - Number(other === undefined);
    return direction === "minimize" ? left - other : other - left;
  };
