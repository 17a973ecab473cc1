/** A job as its task sees it, and its result. */
import type { Config } from "../../engine/compose/index.ts";
import {
  anything,
  checkOptions,
  type OptionChecks,
  optional,
  text,
} from "../../engine/values/check-options.ts";
import type { ConfigNode, MapNode } from "../../engine/values/node.ts";
import { type Ender, type EndStatus, endStatus, ITSELF, isSettled, processCode } from "./ender.ts";
import type { Logger } from "./logging/logger.ts";

/** What a task can read about its job. */
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
  /** The arguments of a tool, by name; a repeated one is a list. */
  readonly positionals: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The arguments after `--`. */
  readonly restArgs: readonly string[];
  /** The composed tree with its `hydra` node, unresolved. */
  readonly root: MapNode;
  /**
   * The value at a key of the composed tree with its `hydra` node, as plain data with interpolations
   * resolved: `get("hydra.runtime.choices.db")`; undefined where there is no such key.
   * @throws ConfigError `value.missing` for `???`, and of interpolations
   */
  get(key: string): unknown;
  /**
   * The task's config with every interpolation resolved, with exact types and origins; computed on first use.
   * @throws ConfigError of the first interpolation that cannot be resolved
   */
  resolved(): ConfigNode;
  /**
   * Tells how the job is going: a line in `metrics.jsonl` in its directory, `{"step": 1, "loss": 0.3}`. The pruner of a search may end
   * the job for it, by SIGTERM.
   */
  report(step: number, values: Readonly<Record<string, number>>): void;
  /**
   * The absolute path of a directory in which the task may keep its checkpoint, made when this is read and not removed. It stays the same if
   * the job starts again, and for the jobs of a search that continue it: then it holds what they have kept.
   */
  readonly checkpoint: string;
  /** The number of the earlier job of a search that this one continues, from its checkpoint; absent if it begins anew. */
  readonly continues?: number;
  /** The logger of the program's name. */
  readonly log: Logger;
  /** A logger of another name, which `hydra.job_logging` may configure. */
  logger(name: string): Logger;
}

/**
 * The function that runs once the job is set up. Its return value is the job's result, for callbacks and sweeps; it
 * returns an exit code with `exitCode(3)`.
 */
export type Task<Data = unknown> = (config: Config<Data>, job: Job) => unknown;

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
  /** 0, the code that the task gave to `exitCode`, or 1 for a failed job. */
  readonly exitCode: number;
  /** Who ended the job; absent if it ended by itself. */
  readonly endedBy?: Ender;
  /** Why the task ended with that code, in its own words; absent if it gave no reason. */
  readonly reason?: string;
  /** The absolute path of the output of a job that ran in its own process. */
  readonly log?: string;
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

/** Who ended a job. */
export const enderOf = ({ endedBy }: Pick<JobResult, "endedBy">): Ender => endedBy ?? ITSELF;

/** The state in which a job has ended. */
export const statusOf = (result: Pick<JobResult, "endedBy" | "exitCode" | "status">): EndStatus =>
  endStatus(enderOf(result), result.status === "completed" && result.exitCode === 0);

export const isCompleted = (result: JobResult): boolean => statusOf(result) === "completed";

/** Whether a job is done, or was not worth going on. */
export const isSettledJob = (result: JobResult): boolean => isSettled(statusOf(result));

/** Whether a job still has to run: it was ended from outside, or lost. */
export const isUndone = (result: JobResult): boolean => statusOf(result) === "stopped";

/** One for all copies of the package, as an ES module and as CommonJS. */
const EXIT_CODE: unique symbol = Symbol.for("hydraconf.exitCode");

/** A return value of a task that ends the program with a code. */
export interface ExitCode {
  readonly [EXIT_CODE]: number;
  readonly returnValue: unknown;
  readonly reason: string | undefined;
  /** Absent if the task ended by itself. @internal */
  readonly endedBy?: Ender;
}

/** What a task says beside its exit code. */
export interface ExitOptions {
  /** The job's result, as if it had been returned alone. */
  readonly returnValue?: unknown;
  /** The reason, whose first line the tables of a sweep show. */
  readonly reason?: string | undefined;
}

/**
 * Returned from a task: ends the program with this code, without showing an error.
 *
 * @param code 0 to 255
 * @throws ConfigError `value.wrong_type` for options that the types do not allow
 */
export function exitCode(code: number, options: ExitOptions = {}): ExitCode {
  checkOptions("exitCode", options, EXIT_OPTIONS, 'exitCode(3, { reason: "no data" })');
  const { reason, returnValue } = options;
  return { [EXIT_CODE]: code, returnValue, reason };
}

const EXIT_OPTIONS: OptionChecks<ExitOptions> = { returnValue: anything, reason: optional(text) };

/** Returned from a task that did not end by itself. */
export const endedFromOutside = (endedBy: Ender, options?: ExitOptions): ExitCode => ({
  ...exitCode(processCode(endedBy, 1), options),
  endedBy,
});

/** The exit code, the result and the ender in a task's return value. */
export function readReturn(
  returned: unknown,
): Pick<JobResult, "endedBy" | "exitCode" | "returnValue" | "reason"> {
  if (!isExitCode(returned)) return { exitCode: 0, returnValue: returned };
  const { endedBy, returnValue, reason } = returned;
  return {
    exitCode: returned[EXIT_CODE],
    returnValue,
    ...(reason !== undefined && { reason }),
    ...(endedBy !== undefined && { endedBy }),
  };
}

const isExitCode = (value: unknown): value is ExitCode =>
  typeof value === "object" && value !== null && EXIT_CODE in value;

/** `queued`: submitted to a scheduler; also a job without a state file. The others: `EndStatus`. */
export type JobStatus = "queued" | "running" | EndStatus;

/**
 * The status in a job's own record. `missing`: it has not started, or its process is gone, and no process is about to
 * run it. `damaged`: it has started, and its record is not as it was written, so it may have ended or not.
 */
export type SweepJobStatus = JobStatus | "missing" | "damaged";

/** Every status of a job of a sweep, in the order in which tables count them. It is the word for it everywhere. */
export const JOB_STATUSES = [
  "completed",
  "pruned",
  "failed",
  "timed_out",
  "stopped",
  "running",
  "queued",
  "missing",
  "damaged",
] as const satisfies readonly SweepJobStatus[];
