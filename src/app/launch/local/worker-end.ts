/** How a job ended, derived from the end of its worker's process. */

import { readFileSync } from "node:fs";
import type { Signal } from "../../../foundation/system/platform-types.ts";
import { INTERRUPTS } from "../../../foundation/system/process-signals.ts";
import { type Ender, enderText, ITSELF } from "../../job/ender.ts";
import { type AttemptEnd, ended, type JobState } from "../../record/job-state.ts";
import { jobLog } from "../../record/layout.ts";
import { type AskedEnd, endWhenAsked } from "../../record/recorded-job.ts";
import { isHeapFull, lastLines, MORE_HEAP } from "../job-log.ts";

export interface Outcome {
  readonly exitCode: number | null;
  readonly signal: Signal | null;
  /** Why the process could not be started. */
  readonly problem?: string;
  /** Whether the kernel killed processes for lack of memory meanwhile. */
  readonly lacksMemory?: boolean;
}

/** The job of a worker. */
interface StartedJob {
  readonly folder: string;
  readonly number: number;
  /** The byte of its log at which this start begins: the output of earlier starts comes before. */
  readonly logStart: number;
}

/** The state of a job after its worker's end; undefined if its record already has that. */
export function endOfWorker(
  state: JobState,
  outcome: Outcome,
  asked: AskedEnd | undefined,
  job: StartedJob,
): JobState | undefined {
  if (state.status !== "running") return asked && endWhenAsked(state, asked);
  return ended(
    state,
    asked === undefined
      ? unaskedEnd(outcome, job)
      : { endedBy: asked.ender, exitCode: outcome.exitCode },
  );
}

/** The end of a worker that nobody of us asked to end, and that could not record it. */
function unaskedEnd(
  { exitCode, lacksMemory = false, problem, signal }: Outcome,
  job: StartedJob,
): AttemptEnd {
  if (signal === null)
    return {
      endedBy: ITSELF,
      exitCode,
      error: problem ?? lastError(job) ?? "the worker did not start",
    };
  if (isHeapExhausted(signal, job))
    return { endedBy: ITSELF, exitCode, error: `killed by ${signal}: out of memory; ${MORE_HEAP}` };
  const endedBy = enderBySignal(signal, lacksMemory);
  if (endedBy.by === "itself") return { endedBy, exitCode, error: `killed by ${signal}` };
  return endedBy.by === "out_of_memory"
    ? { endedBy, exitCode, error: `${enderText(endedBy)}; ${FEWER_JOBS}` }
    : { endedBy, exitCode };
}

/**
 * Who ended a process that a signal killed, which nobody of us sent. A signal that is not only sent from outside
 * results from what the process itself does: it crashed.
 *
 * @param lacksMemory whether the kernel killed processes for lack of memory meanwhile
 */
export function enderBySignal(signal: Signal, lacksMemory: boolean): Ender {
  if (signal === "SIGKILL" && lacksMemory) return { by: "out_of_memory" };
  return signal === "SIGKILL" || INTERRUPTS.includes(signal) ? { by: "signal", signal } : ITSELF;
}

/** The hint for a job that the kernel killed for lack of memory. */
export const FEWER_JOBS = "run fewer jobs at a time: hydra.launcher.n_jobs=N";

/** The last error message of a worker that could not start its job. */
function lastError(job: StartedJob): string | undefined {
  const lines = lastLogLines(job, 40);
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
}

/** Node reports this before it aborts. */
const isHeapExhausted = (signal: Signal, job: StartedJob): boolean =>
  signal === "SIGABRT" && isHeapFull(lastLogLines(job, 100));

const lastLogLines = ({ folder, number, logStart }: StartedJob, count: number): readonly string[] =>
  lastLines(jobLog(folder, number), count, logStart);

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
