import { isSignalCode, type JobResult, wasStopped } from "../job/job.ts";
import { isError } from "../system/builtin-types.ts";
import { isCodedError } from "../values/errors.ts";
import {
  type AttemptEnd,
  begun,
  ended,
  type JobState,
  readJobState,
  storedValue,
  writeJobEnd,
  writeJobState,
} from "./job-state.ts";
import { isScheduled } from "./orphans.ts";

/** An attempt at a job that runs in this process, and the record of it. */
export interface RecordedJob {
  /** How many starts the job had before. */
  readonly earlierAttempts: number;
  /** Records the end of the attempt; only the first call counts. */
  end(end: AttemptEnd): void;
}

export interface RecordOptions {
  /** Whether the record must survive a crash of the machine at once. */
  readonly durable?: boolean;
  readonly details?: Readonly<Record<string, string>>;
}

/** Records that a job runs in this process from now on. */
export function beginJob(
  folder: string,
  number: number,
  { details, ...options }: RecordOptions = {},
): RecordedJob {
  const before = readJobState(folder, number);
  return recordJob(folder, begun(number, before, details && { details }), options);
}

/** The record of a job that runs in this process, with a start that another process or the caller has recorded. */
export function recordJob(
  folder: string,
  state: JobState,
  options: Pick<RecordOptions, "durable">,
): RecordedJob {
  writeJobState(folder, state, options);
  let isOver = false;
  return {
    earlierAttempts: state.attempts.length - 1,
    end(end) {
      if (isOver) return;
      isOver = true;
      writeJobEnd(folder, ended(state, end), options);
    },
  };
}

/** The end of an attempt, from the result of the job. */
export function endOf(result: JobResult, redact?: (text: string) => string): AttemptEnd {
  const { exitCode, returnValue } = result;
  const stored = storedValue(returnValue, redact);
  if (wasStopped(result))
    return { status: "stopped", exitCode, error: "stopped by a signal", returnValue: stored };
  return result.status === "completed" && exitCode === 0
    ? { status: "completed", exitCode, returnValue: stored }
    : { status: "failed", exitCode, error: whyFailed(result, redact), returnValue: stored };
}

/** Why a job failed, in one line. */
export const whyFailed = (
  { error, exitCode, reason }: Pick<JobResult, "error" | "exitCode" | "reason">,
  redact?: (text: string) => string,
): string => firstLine(error ?? reason ?? "", redact) || `exit code ${exitCode}`;

/** An error in one line. */
export function firstLine(error: unknown, redact = (text: string): string => text): string {
  const text = isError(error)
    ? error.name === "Error" || isCodedError(error)
      ? error.message
      : `${error.name}: ${error.message}`
    : String(error);
  // Before the text is cut: part of a secret would not be recognised.
  return redact(text).trim().split("\n", 1)[0] ?? "";
}

/**
 * The result of a recorded job, for sweepers and exit codes, as if it had run in this process.
 *
 * @param describe makes the error of a failed job
 */
export function resultOf(
  folder: string,
  job: Pick<JobResult, "number" | "outputDir" | "overrides"> & { readonly number: number },
  describe: (line: string, number: number) => unknown,
): JobResult | undefined {
  const state = readJobState(folder, job.number);
  if (state === undefined) return undefined;
  const { number, outputDir, overrides } = job;
  const base = { number, outputDir, overrides, returnValue: state.return_value ?? undefined };
  const exitCode = countedExitCode(state) ?? 1;
  if (state.status === "completed")
    return { ...base, status: "completed", error: undefined, exitCode };
  if (state.status === "running" || state.status === "queued") return undefined;
  const problem = state.attempts.at(-1)?.error ?? state.status;
  return {
    ...base,
    status: "failed",
    error: describe(problem, number),
    exitCode: exitCode === 0 ? 1 : exitCode,
    ...(state.status === "stopped" && { isLeftUndone: true }),
  };
}

/**
 * The exit code of a job's last attempt as its sweep counts it; null if it has none. A signal that ended a scheduler's
 * job was not meant for the sweep, so it counts as an ordinary failure.
 */
export function countedExitCode({ attempts }: JobState): number | null {
  const last = attempts.at(-1);
  const code = last?.exit_code ?? null;
  const isForeign = last !== undefined && isScheduled(last) && isSignalCode(code ?? 0);
  return isForeign ? 1 : code;
}
