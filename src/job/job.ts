import type { Config } from "../compose/index.ts";
import type { ConfigNode, MapNode } from "../values/node.ts";
import type { PlainValue } from "../values/plain-objects.ts";
import type { Logger } from "./logging/logger.ts";

/** What a task may know about the job it is. */
export interface Job {
  /** `hydra.job.name`; throws ConfigError where it cannot be resolved. */
  readonly name: string;
  /** `hydra.job.num`: the place in a sweep, from 0; undefined in a single run. */
  readonly number?: number;
  /** The absolute path of the run directory, `hydra.runtime.output_dir`. */
  readonly outputDir: string;
  /** The overrides of the task's own config, as typed. */
  readonly overrides: readonly string[];
  /** The program's own flags that were given, by id. */
  readonly flags: ReadonlyMap<string, string | true>;
  /** What stood after `--`. */
  readonly restArgs: readonly string[];
  /** The composed tree with its `hydra` node, unresolved. */
  readonly root: MapNode;
  /**
   * The value at a key of the composed tree with its `hydra` node, as plain data with interpolations
   * resolved: `get("hydra.runtime.choices.db")`; undefined where there is no such key.
   * @throws ConfigError `value.missing` for `???`, and of interpolations
   */
  get<T = PlainValue>(key: string): T | undefined;
  /**
   * The task's config with every interpolation resolved, with exact types and origins; worked out
   * on first use.
   * @throws ConfigError of the first interpolation that cannot be resolved
   */
  resolved(): ConfigNode;
  /** The logger of the program's name. */
  readonly log: Logger;
  /** A logger of another name, which `hydra.job_logging` may configure. */
  logger(name: string): Logger;
}

/**
 * What runs once the job is set up. What it returns is the job's result, for callbacks and sweeps;
 * an exit code is returned with `exitCode(3)`.
 */
export type Task = (config: Config, job: Job) => unknown;

/** The outcome of a job: the same fields whether it succeeded or not. */
export interface JobResult {
  readonly status: "completed" | "failed";
  readonly number?: number;
  readonly outputDir: string;
  readonly overrides: readonly string[];
  /** What the task returned; undefined for a failed job. */
  readonly returnValue: unknown;
  /** What the task threw; undefined for a completed job. */
  readonly error: unknown;
  /** 0, what the task said with `exitCode`, or 1 for a failed job. */
  readonly exitCode: number;
  /** Why the task ended with that code, in its own words; absent where it did not say. */
  readonly reason?: string;
  /** Where a job that ran in a process of its own printed: an absolute path. */
  readonly log?: string;
  /** Of a job that others ended, or lost: it is still to be done. Where a scheduler did that, the sweep goes on without it. */
  readonly isLeftUndone?: true;
}

/** The outcome of a job that threw. */
export const failedJob = (
  { number, outputDir, overrides }: Pick<JobResult, "number" | "outputDir" | "overrides">,
  error: unknown,
): JobResult => ({
  status: "failed",
  ...(number !== undefined && { number }),
  outputDir,
  overrides,
  returnValue: undefined,
  error,
  exitCode: 1,
});

/** Whether a signal ended a job: then a sweep ends, too. */
export const wasStopped = ({ exitCode }: JobResult): boolean => isSignalCode(exitCode);

/** Whether a job came to no end of its own, so that `--resume` runs it: others ended it, or lost it. */
export const isUndone = (result: JobResult): boolean =>
  wasStopped(result) || result.isLeftUndone === true;

/** Shells add 128 to the number of a signal. */
export const isSignalCode = (exitCode: number): boolean => exitCode > 128 && exitCode < 160;

const EXIT_CODE: unique symbol = Symbol("exit code");

/** What a task returns to end the program with a code. */
export interface ExitCode {
  readonly [EXIT_CODE]: number;
  readonly returnValue: unknown;
  readonly reason: string | undefined;
}

/**
 * Returned from a task: the program ends with this code, without an error being shown.
 *
 * @param code 0 to 255
 * @param returnValue the job's result, as if it had been returned alone
 * @param reason why, for the tables of a sweep, which show its first line
 */
export const exitCode = (code: number, returnValue?: unknown, reason?: string): ExitCode => ({
  [EXIT_CODE]: code,
  returnValue,
  reason,
});

/** The code and the result in what a task returned. */
export function readReturn(
  returned: unknown,
): Pick<JobResult, "exitCode" | "returnValue" | "reason"> {
  if (!isExitCode(returned)) return { exitCode: 0, returnValue: returned };
  const { returnValue, reason } = returned;
  return { exitCode: returned[EXIT_CODE], returnValue, ...(reason !== undefined && { reason }) };
}

const isExitCode = (value: unknown): value is ExitCode =>
  typeof value === "object" && value !== null && EXIT_CODE in value;

/**
 * `queued`: handed to a scheduler; also a job without a file. `stopped`: ended by a signal.
 * `completed`, `failed` and `timed_out` are ends: such a job never runs again unless asked to.
 */
export type JobStatus = "queued" | "running" | "completed" | "failed" | "stopped" | "timed_out";

/**
 * As in a job's own record; and `missing`: it has not started, or its process is gone, and no process is about
 * to run it.
 */
export type SweepJobStatus = JobStatus | "missing";
