/** How a job ended, derived from the end of its worker's process. */

import { readFileSync } from "node:fs";
import { constants } from "node:os";
import type { AttemptEnd, JobState } from "../../record/job-state.ts";
import { jobLog } from "../../record/layout.ts";
import { INTERRUPTS } from "../../system/process-signals.ts";
import { isHeapFull, lastLines, MORE_HEAP } from "../job-log.ts";

/** Why a worker was asked to end. */
export type Asked = NodeJS.Signals | "timeout" | undefined;

export interface Outcome {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why the process could not be started. */
  readonly problem?: string;
  /** Whether the kernel killed processes for lack of memory meanwhile. */
  readonly lacksMemory?: boolean;
}

/** The job of a worker. */
interface StartedJob {
  readonly folder: string;
  readonly number: number;
  /** The time limit in milliseconds; null for none. */
  readonly timeLimit: number | null;
  /** The byte of its log at which this start begins: the output of earlier starts comes before. */
  readonly logStart: number;
}

/** How a worker's job ended; undefined if its record already has the end. */
export function endOfWorker(
  { attempts, status }: JobState,
  { exitCode, lacksMemory = false, problem, signal }: Outcome,
  asked: Asked,
  job: StartedJob,
): AttemptEnd | undefined {
  const { timeLimit } = job;
  // A job that completed in time stays completed, however long its process then took to exit.
  if (status === "completed") return undefined;
  // A suspended launcher applies the time limit late: the job may have failed by itself before.
  const took = attempts.at(-1)?.took_ms;
  if (asked === "timeout" && status === "failed" && took !== undefined && took < (timeLimit ?? 0))
    return undefined;
  if (asked === "timeout")
    return {
      status: "timed_out",
      exitCode,
      error: `took longer than ${seconds(timeLimit ?? 0)}`,
    };
  // A job that fails because it was asked to end was stopped: it still has to run.
  if (asked !== undefined && (status === "running" || status === "failed"))
    return {
      status: "stopped",
      exitCode: 128 + constants.signals[asked],
      error: `stopped by ${asked}`,
    };
  if (status !== "running") return undefined;
  if (signal === null)
    return {
      status: "failed",
      exitCode,
      error: problem ?? lastError(job) ?? "the worker did not start",
    };
  const error = `killed by ${signal}`;
  if (isHeapExhausted(signal, job))
    return { status: "failed", exitCode, error: `${error}: out of memory; ${MORE_HEAP}` };
  // A retry would run out of memory again.
  if (signal === "SIGKILL" && lacksMemory)
    return {
      status: "failed",
      exitCode,
      error: `${error}: the machine ran out of memory; ${FEWER_JOBS}`,
    };
  return { status: isFromOutside(signal) ? "stopped" : "failed", exitCode, error };
}

/** The hint for a job that the kernel killed for lack of memory. */
export const FEWER_JOBS = "run fewer jobs at a time: hydra.launcher.n_jobs=N";

/** Signals that end a process from outside; all others result from what the process does. */
const isFromOutside = (signal: NodeJS.Signals): boolean =>
  signal === "SIGKILL" || INTERRUPTS.includes(signal);

/** The last error message of a worker that could not start its job. */
function lastError(job: StartedJob): string | undefined {
  const lines = lastLogLines(job, 40);
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
}

/** Node reports this before it aborts. */
const isHeapExhausted = (signal: NodeJS.Signals, job: StartedJob): boolean =>
  signal === "SIGABRT" && isHeapFull(lastLogLines(job, 100));

const lastLogLines = ({ folder, number, logStart }: StartedJob, count: number): readonly string[] =>
  lastLines(jobLog(folder, number), count, logStart);

const seconds = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${milliseconds / 60_000} min`;

/**
 * How many processes the kernel has killed since boot because memory, or a container's limit, was exhausted. Undefined
 * if the kernel does not report it, as on other systems than Linux.
 */
export function memoryKills(file = "/proc/vmstat"): number | undefined {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
