/** Compares recorded sweeps: their best jobs, and the jobs that they have in common. */
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import type { SweepRow } from "../job/options.ts";
import type { SweepManifest } from "../record/manifest.ts";
import { nextCommand } from "../record/next-commands.ts";
import {
  bestJobs,
  commonKeys,
  intervalOf,
  type JudgedJobs,
  type Judgement,
  judgedJobs,
  meanOf,
  objectiveFlag,
} from "./best.ts";

/** A sweep to compare. */
export interface SweepToCompare {
  /** The absolute path. */
  readonly directory: string;
  readonly manifest: SweepManifest;
  readonly rows: readonly SweepRow[];
}

export interface ComparedSweep {
  readonly directory: string;
  readonly jobs: number;
  readonly completed: number;
  /** How many jobs have a number. */
  readonly judged: number;
  /** The best jobs; several only with several directions. */
  readonly best: readonly JudgedJobs[];
  /** Seconds of the last attempts of all jobs together. */
  readonly seconds: number;
  /** The jobs that the first sweep has, too; null for the first, and where there are none. */
  readonly common: CommonJobs | null;
  /** Why none of its jobs can be judged; null if any can. */
  readonly problem: string | null;
  /** What to do about the problem; null if there is none. */
  readonly hint: string | null;
}

/** Jobs with the same overrides in the first sweep and another one. */
export interface CommonJobs {
  readonly count: number;
  /** The mean of the differences for each direction: this sweep's value less that of the first. */
  readonly differences: readonly number[];
  /** The 95 % interval of each mean (Student's t); null for a single job. */
  readonly intervals: readonly (readonly [low: number, high: number])[] | null;
}

/**
 * @param judgement by what all are judged
 * @throws ConfigError `app.sweep_record` and `app.objective` if no job of the first sweep can be judged
 */
export function compareSweeps(
  sweeps: readonly SweepToCompare[],
  judgement: Judgement,
): readonly ComparedSweep[] {
  let first: ByOverrides | undefined;
  return sweeps.map(({ directory, manifest, rows }) => {
    const facts = {
      directory,
      jobs: rows.length,
      seconds: rows.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0),
    };
    try {
      const { groups } = judgedJobs(directory, manifest, rows, judgement, []);
      const byOverrides = new Map(groups.map((group) => [keyOf(group), group.values]));
      const common = first === undefined ? null : commonJobs(first, byOverrides);
      first ??= byOverrides;
      const best = bestJobs(directory, manifest, rows, judgement, []);
      return { ...facts, ...best, common, problem: null, hint: null };
    } catch (error) {
      if (!isConfigError(error)) throw error;
      const { code, hint, message } = error.details;
      if (first === undefined && code === "app.objective")
        throw new ConfigError({ ...error.details, hint: nameOfAll(sweeps, judgement) });
      if (first === undefined) throw error;
      if (code !== "app.objective" && code !== "app.sweep_record") throw error;
      const completed = rows.filter(({ status }) => status === "completed").length;
      const none = { completed, judged: 0, best: [], common: null };
      // The error's own hint is for a command that judges this sweep alone.
      const remedy = code === "app.objective" ? nameOfAll(sweeps, judgement) : (hint ?? null);
      return { ...facts, ...none, problem: message, hint: remedy };
    }
  });
}

/** The command that compares the same sweeps by a number that the jobs of each return. */
function nameOfAll(sweeps: readonly SweepToCompare[], judgement: Judgement): string {
  const [first = "", ...others] = sweeps.map(({ directory }) => directory);
  const command = [nextCommand("compare", first), ...others.map(shellQuote)].join(" ");
  const completed = sweeps.flatMap(({ rows }) =>
    rows.filter(({ status }) => status === "completed"),
  );
  const results = completed.map(({ result }) => result);
  const keys = commonKeys(results);
  if (keys.length === 0)
    return "no key has a number in all of these sweeps: let their tasks return it under one key, or compare others";
  const choice = keys.length > 1 ? `, where KEY is one of ${keys.join(", ")}` : "";
  return `name the key of a number that jobs of all sweeps return: ${command} ${objectiveFlag(results, judgement)}${choice}`;
}

/** The same overrides in any order. */
const keyOf = ({ overrides }: JudgedJobs): string => JSON.stringify([...overrides].sort());

type ByOverrides = ReadonlyMap<string, readonly number[]>;

function commonJobs(first: ByOverrides, other: ByOverrides): CommonJobs | null {
  const pairs = [...other].flatMap(([key, values]) => {
    const base = first.get(key);
    return base === undefined ? [] : [values.map((value, index) => value - (base[index] ?? 0))];
  });
  const [any] = pairs;
  if (any === undefined) return null;
  const columns = any.map((_, index) => pairs.map((pair) => pair[index] ?? 0));
  return {
    count: pairs.length,
    differences: columns.map(meanOf),
    intervals: pairs.length === 1 ? null : columns.map(intervalOf),
  };
}
