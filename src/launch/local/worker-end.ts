/** What the end of a worker's process means for its job. */

import { readFileSync } from "node:fs";
import { constants } from "node:os";
import type { AttemptEnd, JobState } from "../../record/job-state.ts";
import { jobLog } from "../../record/layout.ts";
import { INTERRUPTS } from "../../system/process-signals.ts";
import { isHeapFull, lastLines, MORE_HEAP } from "../job-log.ts";

/** What a worker was asked to end for. */
export type Asked = NodeJS.Signals | "timeout" | undefined;

export interface Outcome {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  readonly problem?: string;
  /** Whether the kernel has killed processes for want of memory while it ran. */
  readonly lacksMemory?: boolean;
}

/** The job of a worker. */
interface StartedJob {
  readonly folder: string;
  readonly number: number;
  /** The milliseconds that it may take; null for any. */
  readonly timeLimit: number | null;
  /** The byte of its log at which this start begins: what earlier ones said stands before. */
  readonly logStart: number;
}

/** How a worker ended that is gone; undefined where its record says so already. */
export function endOfWorker(
  { attempts, status }: JobState,
  { exitCode, lacksMemory = false, problem, signal }: Outcome,
  asked: Asked,
  job: StartedJob,
): AttemptEnd | undefined {
  const { timeLimit } = job;
  // A job that was done in time is done, however long it then took to leave.
  if (status === "completed") return undefined;
  // A launcher that was suspended asks late: before it sees that the job had failed by itself.
  const took = attempts.at(-1)?.took_ms;
  if (asked === "timeout" && status === "failed" && took !== undefined && took < (timeLimit ?? 0))
    return undefined;
  if (asked === "timeout")
    return {
      status: "timed_out",
      exitCode,
      error: `took longer than ${seconds(timeLimit ?? 0)}`,
    };
  // What fails because it was asked to end was stopped: it is still to be done.
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
  // The kernel would have to do it again.
  if (signal === "SIGKILL" && lacksMemory)
    return {
      status: "failed",
      exitCode,
      error: `${error}: the machine ran out of memory; ${FEWER_JOBS}`,
    };
  return { status: isFromOutside(signal) ? "stopped" : "failed", exitCode, error };
}

/** What to do where the kernel ended a job for want of memory. */
export const FEWER_JOBS = "run fewer jobs at a time: hydra.launcher.n_jobs=N";

/** Signals by which a process is ended from outside; by all others it ends because of what it does. */
const isFromOutside = (signal: NodeJS.Signals): boolean =>
  signal === "SIGKILL" || INTERRUPTS.includes(signal);

/** What a worker that could not even begin said last. */
function lastError(job: StartedJob): string | undefined {
  const lines = lastLogLines(job, 40);
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
}

/** Node has said so before it aborts. */
const isHeapExhausted = (signal: NodeJS.Signals, job: StartedJob): boolean =>
  signal === "SIGABRT" && isHeapFull(lastLogLines(job, 100));

const lastLogLines = ({ folder, number, logStart }: StartedJob, count: number): readonly string[] =>
  lastLines(jobLog(folder, number), count, logStart);

const seconds = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${milliseconds / 60_000} min`;

/**
 * How many processes the kernel has killed since this machine began because memory, or the share of a container, was used up.
 * Undefined where it does not say so: that is a matter of Linux.
 */
export function memoryKills(file = "/proc/vmstat"): number | undefined {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
