/** What sweepers that learn from results have in common. */
import {
  overrideKeyElement,
  overrideNode,
  parseOverride,
} from "../../../engine/overrides/index.ts";
import type { Dialect } from "../../../engine/values/dialect.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import { map, scalar } from "../../../engine/values/node.ts";
import { fromCode } from "../../../engine/values/origin.ts";
import { floatRepr } from "../../../engine/values/python-text.ts";
import { andOthers, firstFew, plural } from "../../../foundation/text/plural.ts";
import { shellQuote } from "../../../foundation/text/shell-words.ts";
import type { EndStatus } from "../../job/ender.ts";
import type { JobResult } from "../../job/job.ts";
import { isCompleted, statusOf } from "../../job/job.ts";
import type { Direction } from "./settings.ts";
import type { Conclusion, JobOverrides, Sweeper } from "./sweeper.ts";

/** The common parts of all searches. */
export interface OptimizingRequest {
  /** The name of the sweeper in the results file. */
  readonly name: string;
  readonly search: Search;
  readonly direction: Direction;
  /** Trials in a batch; undefined for all that can run in parallel. */
  readonly batchSize: number | undefined;
  /** The share of a batch that may fail before the sweep ends. */
  readonly maxFailureRate: number;
  /** The path of the score in the task's return value; undefined if the value itself is the score. */
  readonly objective: string | undefined;
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  readonly unforeseeable?: string;
  /** The dialect of the sweep. */
  readonly dialect: Dialect;
}

/** The name that Hydra's optimising sweepers use. */
const RESULTS_FILE = "optimization_results.yaml";

interface Scored {
  readonly trial: Trial;
  readonly score: Score;
  /** Of a trial without a score; `failed` also if it returned no number, or never ran. */
  readonly status: EndStatus;
}

/**
 * Makes a sweeper of a search. Its state depends only on the results: given the same results it asks for the same jobs,
 * and this is how a sweep is resumed.
 */
export function optimizingSweeper(request: OptimizingRequest): Sweeper {
  const { batchSize, directory, maxFailureRate, objective, search } = request;
  const trials: Scored[] = [];
  let round: readonly Trial[] = [];
  let scores: Score[] = [];
  let asked = 0;
  let failedTooOften = false;

  return {
    judgesFailures: true,
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
      return batch.length === 0 ? undefined : batch.map(({ overrides }) => overrides);
    },
    mayAskForMore: () => true,
    tell(results) {
      const batch = round.slice(scores.length, asked);
      const problems: string[] = [];
      let areNonFinite = true;
      let lost = 0;
      for (const [index, trial] of batch.entries()) {
        const result = results[index];
        const outcome = result && outcomeOf(result, objective);
        const score = outcome?.score ?? null;
        const status = result === undefined || isCompleted(result) ? "failed" : statusOf(result);
        trials.push({ trial, score, status });
        scores.push(score);
        if (outcome?.score !== null) continue;
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
      const outcome = !isCompleted(result) ? undefined : outcomeOf(result, objective);
      return outcome?.score === null ? outcome.problem : undefined;
    },
    conclude: () => conclusionOf(trials, !failedTooOften, request),
  };
}

function withoutNumber(
  problems: readonly string[],
  { areNonFinite, directory }: { readonly areNonFinite: boolean; readonly directory: string },
): ConfigError {
  const [first, ...others] = problems;
  const shown = shellQuote(directory);
  const again = `--retry-failed ${shown} runs ${others.length === 0 ? "the job" : "these jobs"} again`;
  return new ConfigError({
    code: "app.objective",
    message: `${first}${andOthers(others.length)}`,
    key: "hydra.sweeper.objective",
    hint: areNonFinite
      ? `the training has probably diverged; --resume ${shown} hydra.sweeper.max_failure_rate=1 continues, counting such jobs as failed trials; or let the task return a finite number: ${again}`
      : `name the key of a number in the returned values: --resume ${shown} hydra.sweeper.objective=KEY continues, keeping finished jobs; or let the task return the number: ${again}`,
  });
}

/** The best trial with the largest budget that has scores; ties go to the earlier trial. */
function bestOf(trials: readonly Scored[], direction: Direction): Scored | undefined {
  const scored = trials.filter(({ score }) => score !== null);
  const top = scored.reduce((level, { trial }) => Math.max(level, trial.level), 0);
  return scored.filter(({ trial }) => trial.level === top).sort(byScore(direction))[0];
}

function conclusionOf(
  trials: readonly Scored[],
  toleratesFailures: boolean,
  { dialect, direction, name }: OptimizingRequest,
): Conclusion | undefined {
  const best = bestOf(trials, direction);
  if (best === undefined || best.score === null) return undefined;
  const origin = fromCode("sweep");
  const params = best.trial.params.map((text) => {
    const override = parseOverride(text, { dialect });
    return [overrideKeyElement(override), overrideNode(override) ?? scalar(null, origin)] as const;
  });
  const lost = trials.filter(({ score }) => score === null).map(({ status }) => status);
  const counts = [
    plural(trials.length, "trial"),
    ...(["failed", "timed_out", "stopped"] as const).flatMap((word) => {
      const count = lost.filter((status) => status === word).length;
      return count === 0 ? [] : [`${count} ${word}`];
    }),
  ].join(", ");
  return {
    file: RESULTS_FILE,
    content: map(
      [
        ["name", scalar(name, origin)],
        ["best_params", map(params, origin)],
        ["best_value", scalar(best.score, origin)],
      ],
      origin,
    ),
    text: `Best of ${counts}: ${bestText(best.trial, floatRepr(best.score))}`,
    toleratesFailures,
  };
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
}

/** The score of a trial; null if it failed or never ran. */
type Score = number | null;

/**
 * Yields trials that may run in parallel and receives their scores, in the same order. It has no other input, so that
 * the same scores lead to the same trials.
 */
export type Search = Generator<readonly Trial[], void, readonly Score[]>;

/** Sorts the best first; trials without a score come last, and ties keep their order. */
export const byScore =
  (direction: Direction) =>
  (a: { readonly score: Score }, b: { readonly score: Score }): number => {
    if (a.score === null || b.score === null)
      return Number(a.score === null) - Number(b.score === null);
    return direction === "minimize" ? a.score - b.score : b.score - a.score;
  };

/** The score of a job, or why it has none. */
type Outcome =
  | { readonly score: number }
  | {
      readonly score: null;
      readonly problem: string;
      /** Whether the task returned a float there, but NaN or an infinity. */
      readonly isNonFinite?: boolean;
    };

/**
 * Reads the score from a job's return value.
 *
 * @param key the path of the score, with dots; undefined if the value itself is the score
 */
function outcomeOf(result: JobResult, key: string | undefined): Outcome {
  if (!isCompleted(result)) return { score: null, problem: "the job failed" };
  const value = key === undefined ? result.returnValue : valueAt(result.returnValue, key);
  const score = numberOr(typeof value === "bigint" ? Number(value) : value);
  if (score !== null) return { score };
  const what =
    key === undefined ? "the value that the task" : `'${key}' in the value that the task`;
  const float = nonFinite(value);
  if (float !== undefined)
    return {
      score: null,
      problem: `${what} returned is not a finite number but the float ${float}`,
      isNonFinite: true,
    };
  const instead = value === undefined ? `nothing${fields(result.returnValue)}` : shown(value);
  return { score: null, problem: `${what} returned is not a finite number but ${instead}` };
}

/** A number that the sweep's record cannot store does not count: a resumed sweep would not find it there. */
const numberOr = (value: unknown): Score =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** Records and Python's results hold such floats as texts, because JSON has none. */
const nonFinite = (value: unknown): string | undefined =>
  /^(?:NaN|-?Infinity)$/.test(String(value)) && typeof value !== "object"
    ? String(value)
    : undefined;

/** A key that contains dots itself takes precedence. */
function valueAt(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, key)) return Reflect.get(value, key);
  const dot = key.indexOf(".");
  if (dot < 0) return undefined;
  const first = key.slice(0, dot);
  return Object.hasOwn(value, first)
    ? valueAt(Reflect.get(value, first), key.slice(dot + 1))
    : undefined;
}

function shown(value: unknown): string {
  if (typeof value === "string") return `the string '${value.slice(0, 40)}'`;
  return typeof value === "object" && value !== null ? `an object${fields(value)}` : String(value);
}

/** Names that an objective could have: most errors are misspellings. */
function fields(value: unknown): string {
  const numbers = numberKeys(value);
  const all = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const names = numbers.length > 0 ? numbers : all;
  return names.length === 0 ? "" : ` (there is ${firstFew(names, MOST_NAMES)})`;
}

const MOST_NAMES = 8;

/** The keys of the numbers in a return value, as an objective names them. */
function numberKeys(value: unknown): readonly string[] {
  const keys: string[] = [];
  // A task may return any object: skip objects that were visited, as in a cycle.
  const seen = new Set([value]);
  const level = [{ value, parent: "" }];
  for (const { value: holder, parent } of level) {
    if (typeof holder !== "object" || holder === null || isArrayLike(holder)) continue;
    for (const [name, one] of Object.entries(holder)) {
      const key = `${parent}${name}`;
      if (typeof one === "number" || typeof one === "bigint") keys.push(key);
      else if (!seen.has(one)) level.push({ value: one, parent: `${key}.` });
      seen.add(one);
    }
  }
  return keys;
}

const isArrayLike = (value: object): boolean => Array.isArray(value) || ArrayBuffer.isView(value);
