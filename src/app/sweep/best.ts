/** The best jobs of a recorded sweep: of a search, or of any sweep whose jobs return numbers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dialectNamed } from "../../engine/values/dialect.ts";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { createResolveContext } from "../../engine/values/resolution/context.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import { errorCode } from "../../foundation/system/files.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { andOthers, plural } from "../../foundation/text/plural.ts";
import { shellQuote, splitAtEquals } from "../../foundation/text/shell-words.ts";
import { withoutResumption } from "../job/checkpoint.ts";
import { plainAt } from "../job/hydra-values.ts";
import type { SweepRow } from "../job/options.ts";
import { readSettings } from "../job/settings.ts";
import { currentJobs, type ManifestJob, type SweepManifest } from "../record/manifest.ts";
import { nextCommand } from "../record/next-commands.ts";
import { SWEEP_FILE } from "./plan-sweep.ts";
import {
  type Direction,
  numberKeys,
  type Objective,
  type Outcome,
  scoreIn,
} from "./sweepers/objective.ts";
import { bestOf } from "./sweepers/optimizing-sweeper.ts";
import { SEARCH_SETTINGS, text } from "./sweepers/search-settings.ts";

/** By what jobs are judged. */
export interface Judgement {
  readonly objective: Objective;
  readonly directions: readonly Direction[];
  /** The swept key whose largest values count, that of a budget; undefined without one. */
  readonly budgetKey: string | undefined;
}

/** Jobs with the same overrides, judged together. */
export interface JudgedJobs {
  /** Their numbers, in order. */
  readonly jobs: readonly number[];
  /** The overrides that distinguish them from others, as a command line has them. */
  readonly overrides: readonly string[];
  /** The mean for each direction. */
  readonly values: readonly number[];
  /** The 95 % interval of each mean (Student's t); null for a job that ran once. */
  readonly intervals: readonly (readonly [low: number, high: number])[] | null;
}

export interface BestJobs {
  /** The best first; with several directions all that no other is better than, in their order. */
  readonly best: readonly JudgedJobs[];
  /** How many jobs have a number. */
  readonly judged: number;
  /** How many jobs are completed. */
  readonly completed: number;
}

/** What a user gives instead of the settings of the sweep. */
export interface JudgementReplacement {
  readonly objective: readonly string[] | undefined;
  readonly directions: readonly Direction[] | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The settings of the search, from the sweep's config; those of a sweep that is no search are the defaults.
 *
 * @throws ConfigError `app.usage` if there are not as many keys as directions
 */
export function readJudgement(
  directory: string,
  { dialect }: Pick<SweepManifest, "dialect">,
  env: Environment,
  replacement: JudgementReplacement,
): Judgement {
  const ofSweep = settingsIn(configOf(directory, dialect, env));
  const [only, ...more] = replacement.objective ?? [];
  const objective = more.length === 0 ? (only ?? ofSweep.objective) : replacement.objective;
  const directions =
    replacement.directions ??
    (more.length > 0 && ofSweep.direction.length === 1
      ? (replacement.objective ?? []).map(() => ofSweep.direction[0] ?? "minimize")
      : ofSweep.direction);
  const keys = typeof objective === "string" ? [objective] : objective;
  if (
    keys !== undefined &&
    keys.length !== directions.length &&
    replacement.objective !== undefined
  )
    throw new ConfigError({
      code: "app.usage",
      message: `--objective names ${plural(keys.length, "key")}, but there ${directions.length === 1 ? "is 1 direction" : `are ${directions.length} directions`}: ${directions.join(", ")}`,
      hint: `give as many: --direction ${keys.map(() => "minimize").join(",")}`,
    });
  return { objective, directions, budgetKey: ofSweep.budget_key?.replace(/^\++/, "") };
}

/** By what a page judges jobs. */
export type PageJudgement = Pick<Judgement, "directions" | "objective">;

/** Whether a sweep leaves a page: unless its `hydra.sweep.page` is false. */
export const leavesPage = (
  directory: string,
  { dialect }: Pick<SweepManifest, "dialect">,
  env: Environment,
): boolean =>
  unlessRefused(true, () => {
    const { context, root } = configOf(directory, dialect, env);
    return root.kind !== "map" || plainAt(root, "hydra.sweep.page", context) !== false;
  });

/**
 * The settings of the search; the defaults where they cannot be read: another sweeper gives the keys meanings of its own, and values
 * may need resolvers that only the program has.
 */
export const judgementOfPage = (
  directory: string,
  { dialect }: Pick<SweepManifest, "dialect">,
  env: Environment,
): PageJudgement =>
  unlessRefused<PageJudgement>({ directions: ["minimize"], objective: undefined }, () => {
    const { direction, objective } = settingsIn(configOf(directory, dialect, env));
    return { directions: direction, objective };
  });

function unlessRefused<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return otherwise;
  }
}

const JUDGEMENT_SETTINGS = {
  direction: SEARCH_SETTINGS.direction,
  objective: SEARCH_SETTINGS.objective,
  budget_key: text("of successive halving"),
};

/** The config of the sweep, as its directory has it. */
function configOf(directory: string, dialectName: string, env: Environment) {
  const path = join(directory, SWEEP_FILE);
  const dialect = dialectNamed(dialectName);
  const root = readYaml(configText(path), { name: path, dialect, env });
  return { root, context: createResolveContext({ dialect, env }) };
}

function settingsIn({ context, root }: ReturnType<typeof configOf>) {
  return readSettings(JUDGEMENT_SETTINGS, {
    key: "hydra.sweeper",
    valueOf: (name) =>
      (root.kind === "map" ? plainAt(root, `hydra.sweeper.${name}`, context) : undefined) ??
      (name === "direction" ? "minimize" : undefined),
  });
}

/** Empty without a file: a single run under a launcher has none. */
function configText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "{}";
    throw error;
  }
}

/** Jobs of a sweep that have a number, those with the same overrides together. */
export interface JudgedSweep {
  readonly groups: readonly (JudgedJobs & { readonly level: number })[];
  /** How many jobs have a number. */
  readonly judged: number;
  /** How many jobs are completed. */
  readonly completed: number;
}

/**
 * Judges the jobs of a sweep.
 *
 * @param averageOver swept keys that only tell repetitions apart
 * @throws ConfigError `app.sweep_record` if no job is completed, `app.objective` if none returned a number
 */
export function judgedJobs(
  directory: string,
  manifest: SweepManifest,
  rows: readonly SweepRow[],
  judgement: Judgement,
  averageOver: readonly string[],
): JudgedSweep {
  const { budgetKey, directions, objective } = judgement;
  const jobs = new Map(currentJobs(manifest).map((job) => [job.number, job]));
  const ended = rows.flatMap((row) => {
    const job = jobs.get(row.number);
    if (job === undefined || row.status !== "completed") return [];
    const outcome = scoreIn(row.result ?? undefined, objective, directions.length);
    return [{ row, job, outcome }];
  });
  const scored = ended.flatMap(({ outcome: { score }, ...job }) =>
    score === null ? [] : [{ ...job, score }],
  );
  if (scored.length === 0) throw withoutBest(directory, ended, judgement);
  refuseUnknownKeys(averageOver, scored);
  const groups = new Map<string, (typeof scored)[number][]>();
  for (const job of scored)
    getOrCreate(groups, JSON.stringify(overridesOf(job.job, averageOver)), () => []).push(job);
  const judged = [...groups.values()].map((group) => {
    const columns = directions.map((_, index) => group.map(({ score }) => score[index] ?? 0));
    const [first] = group;
    return {
      jobs: group.map(({ job }) => job.number),
      overrides: first === undefined ? [] : overridesOf(first.job, averageOver),
      values: columns.map(meanOf),
      intervals: group.length === 1 ? null : columns.map(intervalOf),
      level: budgetKey === undefined ? 0 : Number(first?.row.swept[budgetKey] ?? 0),
    };
  });
  return { groups: judged, judged: scored.length, completed: ended.length };
}

/**
 * Finds the best jobs of a sweep; the arguments and errors are those of `judgedJobs`.
 */
export function bestJobs(
  directory: string,
  manifest: SweepManifest,
  rows: readonly SweepRow[],
  judgement: Judgement,
  averageOver: readonly string[],
): BestJobs {
  const { groups, ...counts } = judgedJobs(directory, manifest, rows, judgement, averageOver);
  const trials = groups.map(({ level, values, ...group }) => ({
    ...group,
    score: values,
    trial: { level },
  }));
  const best = bestOf(trials, judgement.directions).map(({ score, trial: _, ...group }) => ({
    ...group,
    values: score,
  }));
  return { best, ...counts };
}

const keyOf = (override: string): string => splitAtEquals(override)[0].replace(/^[+~]+/, "");

const overridesOf = (
  { continues, task_overrides }: ManifestJob,
  averageOver: readonly string[],
): readonly string[] => {
  const overrides = withoutResumption(task_overrides, continues);
  return averageOver.length === 0
    ? overrides
    : overrides.filter((override) => !averageOver.includes(keyOf(override)));
};

/** A misspelt key would average nothing. */
function refuseUnknownKeys(
  averageOver: readonly string[],
  jobs: readonly { readonly job: ManifestJob }[],
): void {
  const keys = new Set(jobs.flatMap(({ job }) => job.task_overrides.map(keyOf)));
  const unknown = averageOver.find((key) => !keys.has(key));
  if (unknown === undefined) return;
  throw new ConfigError({
    code: "app.usage",
    message: `--average-over: no job has an override of '${unknown}'`,
    available: [...keys],
  });
}

/** The keys under which all jobs returned a number. */
export function commonKeys(results: readonly unknown[]): readonly string[] {
  const [first = [], ...others] = results.map(numberKeys);
  return first.filter((key) => others.every((keys) => keys.includes(key)));
}

/** `--objective` with the only key under which all jobs returned a number; with `KEY` where it is not the only one. */
export function objectiveFlag(
  results: readonly unknown[],
  { directions }: Pick<Judgement, "directions">,
): string {
  const common = commonKeys(results);
  const [only] = common;
  const isOne = only !== undefined && common.length === 1 && directions.length === 1;
  return `--objective ${isOne ? shellQuote(only) : "KEY"}`;
}

function withoutBest(
  directory: string,
  ended: readonly { readonly row: SweepRow; readonly outcome: Outcome }[],
  { directions, objective }: Judgement,
): ConfigError {
  const [first, ...others] = ended.flatMap(({ outcome, row: { number } }) =>
    outcome.score === null ? [`job #${number}: ${outcome.problem}`] : [],
  );
  if (first === undefined)
    return new ConfigError({
      code: "app.sweep_record",
      message: `No job of the sweep in '${directory}' is completed`,
      hint: `${nextCommand("status", directory)} shows why`,
    });
  const flag = objectiveFlag(
    ended.map(({ row }) => row.result),
    { directions },
  );
  return new ConfigError({
    code: "app.objective",
    message: `No job of the sweep in '${directory}' has a number to judge it by: ${first}${andOthers(others.length)}`,
    hint: `${objective === undefined ? "name" : "correct"} the key of a number in what the jobs returned: ${nextCommand("best", directory)} ${flag}; or let the task return a number`,
  });
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The interval of a mean that holds the true one in 95 of 100 cases, of at least two normally distributed values. */
export function intervalOf(values: readonly number[]): readonly [low: number, high: number] {
  const mean = meanOf(values);
  const freedom = values.length - 1;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / freedom;
  const half = studentT95(freedom) * Math.sqrt(variance / values.length);
  return [mean - half, mean + half];
}

/** What the size of Student's t exceeds with a probability of 5 %. */
export function studentT95(freedom: number): number {
  let low = 0;
  let high = 13;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (withinT(middle, freedom) < 0.95) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * The probability that the size of Student's t is at most `t`.
 *
 * @param freedom whole degrees of freedom
 * @see Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4
 */
function withinT(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const square = Math.cos(angle) ** 2;
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let power = isOdd ? 2 : 1; power <= freedom - 3; power += 2) {
    term *= (square * power) / (power + 1);
    sum += term;
  }
  const tail = Math.sin(angle) * sum;
  return isOdd ? (2 / Math.PI) * (angle + tail) : tail;
}
