/** An attempt at a job that runs in this process, with its record. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { isCodedError } from "../../engine/values/errors.ts";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import { isOfThisBoot } from "../../foundation/system/process-identity.ts";
import { type Ender, enderText, ITSELF } from "../job/ender.ts";
import { enderOf, isCompleted, type JobResult } from "../job/job.ts";
import {
  type AttemptEnd,
  begun,
  ended,
  isScheduled,
  type JobState,
  readJobState,
  recordedEnder,
  storedValue,
  uptimeMs,
  writeJobEnd,
  writeJobStart,
} from "./job-state.ts";
import { isCancelled } from "./launcher-claim.ts";
import { prunedFile } from "./layout.ts";
import { recordRights } from "./rights.ts";

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
  const previous = requeued(readJobState(folder, number), details);
  return recordJob(folder, begun(number, previous, details && { details }), options);
}

/** The record of a job that its scheduler starts again: it has ended the attempt before, which knows a signal at most. */
function requeued(
  state: JobState | undefined,
  details: RecordOptions["details"],
): JobState | undefined {
  const last = state?.attempts.at(-1);
  if (state === undefined || last === undefined || !isScheduled(last)) return state;
  const isSame = last.details?.["scheduler"] === details?.["scheduler"];
  if (!isSame || (last.ended_by !== undefined && last.ended_by.by !== "signal")) return state;
  const ended_by = { by: "scheduler", cause: "requeued" } as const;
  return { ...state, attempts: [...state.attempts.slice(0, -1), { ...last, ended_by }] };
}

/** The record of a job that runs in this process, with a start that another process or the caller has recorded. */
export function recordJob(
  folder: string,
  state: JobState,
  options: Pick<RecordOptions, "durable">,
): RecordedJob {
  forgetPruned(folder, state.number);
  writeJobStart(folder, state, options);
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
  const endedBy = enderOf(result);
  const { exitCode, reason, returnValue } = result;
  const end = { endedBy, exitCode, returnValue: storedValue(returnValue, redact) };
  if (isCompleted(result)) return end;
  if (endedBy.by === "itself") return { ...end, error: whyFailed(result, redact) };
  // What the job itself had to say about it.
  const ownError =
    result.error === undefined
      ? reason
      : `${enderText(endedBy)}: ${firstLine(result.error, redact)}`;
  return ownError === undefined ? end : { ...end, error: firstLine(ownError, redact) };
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
  if (state.status === "completed")
    return { ...base, status: "completed", error: undefined, exitCode: 0 };
  const endedBy = recordedEnder(state);
  if (endedBy === undefined) return undefined;
  const last = state.attempts.at(-1);
  return {
    ...base,
    status: "failed",
    error: describe(last?.error ?? state.status, number),
    exitCode: last?.exit_code || 1,
    ...(endedBy.by !== ITSELF.by && { endedBy }),
  };
}

/** A request to a job's process to end. */
export interface AskedEnd {
  readonly ender: Ender;
  /** Milliseconds of the machine's uptime. */
  readonly uptimeMs: number;
}

/** @param ender who asks, now */
export const askedNow = (ender: Ender): AskedEnd => ({ ender, uptimeMs: uptimeMs() });

/**
 * Who ends a job's process with a signal: the pruner of the search if it has asked for that, or `sweep cancel` if that has begun in
 * this sweep.
 */
export const signalledBy = (folder: string, number: number, ender: Ender): Ender =>
  prunedBy(folder, number) ?? (isCancelled(folder) ? { by: "cancel" } : ender);

function prunedBy(folder: string, number: number): Ender | undefined {
  const file = prunedFile(folder, number);
  if (!existsSync(file)) return undefined;
  const step = Number(readFileSync(file, "utf8"));
  return Number.isFinite(step) ? { by: "pruner", step } : undefined;
}

/** Notes that the pruner ends a job, before it gets the signal: whoever then records the end knows it, also if this process is killed. */
export const notePruned = (folder: string, number: number, step: number): void =>
  writeFileAtomicSync(prunedFile(folder, number), String(step), {
    mode: recordRights(folder).file,
  });

/** A job that starts again has not been pruned. */
export const forgetPruned = (folder: string, number: number): void =>
  rmSync(prunedFile(folder, number), { force: true });

/**
 * The end of a job whose process was asked to end: who asked has ended it, whatever it then said of itself, unless it
 * completed, or had failed before. Undefined for a job that has no recorded end, and for one whose record is right.
 */
export function endWhenAsked(state: JobState, { uptimeMs, ender }: AskedEnd): JobState | undefined {
  const { attempts, status } = state;
  const last = attempts.at(-1);
  if (last === undefined || last.ended === null || status === "completed") return undefined;
  // Whoever asks may be late: it was suspended, or has seen the end only now.
  const hadEnded =
    last.uptime_ms !== undefined && last.took_ms !== undefined && isOfThisBoot(last)
      ? last.uptime_ms + last.took_ms < uptimeMs
      : false;
  if (hadEnded) return undefined;
  return ended(state, {
    endedBy: ender,
    exitCode: last.exit_code,
    returnValue: state.return_value,
    time: new Date(last.ended),
  });
}
