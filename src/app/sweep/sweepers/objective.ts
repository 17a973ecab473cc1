/** What a search reads of what a task returned. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { child, type MapNode } from "../../../engine/values/node.ts";
import { andOthers, firstFew } from "../../../foundation/text/plural.ts";
import { shellQuote } from "../../../foundation/text/shell-words.ts";
import { isCompleted, type JobResult } from "../../job/job.ts";

/** The name that Hydra's optimising sweepers use. */
export const RESULTS_FILE = "optimization_results.yaml";

/** Whether lower or higher numbers are better. */
export const DIRECTIONS = ["minimize", "maximize"] as const;

export type Direction = (typeof DIRECTIONS)[number];

/** The path of the score in a return value, or one for each direction; undefined if the value itself is the score. */
export type Objective = string | readonly string[] | undefined;

/** A number for each direction. */
export type Score = readonly number[];

/** Whether a best value is worse than the one of an earlier results file; false where that has none. */
export function isWorse(value: number, earlier: MapNode, direction: Direction): boolean {
  const best = child(earlier, "best_value");
  if (best?.kind !== "scalar") return false;
  return direction === "minimize" ? value > Number(best.value) : value < Number(best.value);
}

/** The error for jobs whose return value is of no use. */
export function withoutNumber(
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

/** The score of a job, or why it has none. */
export type Outcome =
  | { readonly score: Score }
  | {
      readonly score: null;
      readonly problem: string;
      /** Whether the task returned a float there, but NaN or an infinity. */
      readonly isNonFinite?: boolean;
    };

/**
 * The score of a job that has ended.
 *
 * @param count how many numbers a score has: one for each direction
 */
export const outcomeOf = (result: JobResult, objective: Objective, count: number): Outcome =>
  isCompleted(result)
    ? scoreIn(result.returnValue, objective, count)
    : { score: null, problem: "the job failed" };

/**
 * Reads the score from what a task returned.
 *
 * @param count how many numbers a score has: one for each direction
 */
export function scoreIn(returnValue: unknown, objective: Objective, count: number): Outcome {
  const value = returnedAt(returnValue, objective);
  if (count === 1 && (objective === undefined || typeof objective === "string"))
    return oneOf(value, objective, returnValue);
  const what = "the value that the task returned";
  if (!isArrayLike(value) || value.length !== count)
    return {
      score: null,
      problem: `${what} is not a list of ${count} numbers but ${value === undefined ? "nothing" : shown(value)}`,
    };
  const keys = typeof objective === "string" ? undefined : objective;
  const each = Array.from(value, (value, index) => oneOf(value, keys?.[index], returnValue));
  const scores = each.flatMap(({ score }) => score ?? []);
  return each.find(({ score }) => score === null) ?? { score: scores };
}

function oneOf(value: unknown, key: string | undefined, returned: unknown): Outcome {
  const score = numberOr(typeof value === "bigint" ? Number(value) : value);
  if (score !== null) return { score: [score] };
  const what =
    key === undefined ? "the value that the task" : `'${key}' in the value that the task`;
  const float = nonFinite(value);
  if (float !== undefined)
    return {
      score: null,
      problem: `${what} returned is not a finite number but the float ${float}`,
      isNonFinite: true,
    };
  const instead = value === undefined ? `nothing${fields(returned)}` : shown(value);
  return { score: null, problem: `${what} returned is not a finite number but ${instead}` };
}

/** The part of a return value that a search reads; one for each key of several. */
export function returnedAt(returned: unknown, objective: Objective): unknown {
  if (objective === undefined) return returned;
  return typeof objective === "string"
    ? valueAt(returned, objective)
    : objective.map((key) => valueAt(returned, key));
}

/** A number that the sweep's record cannot store does not count: a resumed sweep would not find it there. */
const numberOr = (value: unknown): number | null =>
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
export function numberKeys(value: unknown): readonly string[] {
  const keys: string[] = [];
  // A task may return any object: skip objects that were visited, as in a cycle.
  const seen = new Set([value]);
  const level = [{ value, parent: "" }];
  for (const { value: holder, parent } of level) {
    if (typeof holder !== "object" || holder === null || isArrayLike(holder)) continue;
    for (const [name, value] of Object.entries(holder)) {
      const key = `${parent}${name}`;
      if (typeof value === "number" || typeof value === "bigint") keys.push(key);
      else if (!seen.has(value)) level.push({ value, parent: `${key}.` });
      seen.add(value);
    }
  }
  return keys;
}

const isArrayLike = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || ArrayBuffer.isView(value);
