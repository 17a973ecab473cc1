/** Ends a job's record together with its process, however that ends. */
import type { Signal } from "../../foundation/system/platform-types.ts";
import { hearSignals, INTERRUPTS } from "../../foundation/system/process-signals.ts";
import { type Ender, ITSELF, processCode } from "../job/ender.ts";
import { enderOf, isCompleted, type JobResult } from "../job/job.ts";
import type { RecordedJob } from "./recorded-job.ts";

/** What happens to the process of a job while that runs. */
export interface WatchedProcess {
  /** The result as it counts: a job that fails after its process was asked to end did not end by itself. */
  judged(result: JobResult): JobResult;
  release(): void;
}

export interface WatchRequest {
  readonly recorded: RecordedJob;
  readonly firstLine: (error: unknown) => string;
  /** Who has ended the job if this signal did. */
  readonly enderOf: (signal: Signal) => Ender;
}

/**
 * Ensures that a job's record ends with its process if that ends by an uncaught error or a task that calls
 * `process.exit`. What a signal does that the task does not handle stays as it is.
 */
export function endWithProcess(request: WatchRequest): WatchedProcess {
  const heard = hearSignals(INTERRUPTS);
  const release = recordExit(request);
  return {
    judged: (result) => judged(result, heard.first(), request),
    release() {
      release();
      heard.release();
    },
  };
}

/**
 * How long after a job's failure the scheduler's signal, which caused it, may still arrive. A scheduler signals the
 * processes of a job together, but not in an order: a program may have answered with its end before this process hears
 * of the signal. On a busy machine that takes as long as a thread of Node waits for a processor.
 */
const LATE_SIGNAL_MS = 2_000;

/** What happens to the process of a job that does nothing but this job. */
export interface WatchedWorker {
  /** As `judged` of `WatchedProcess`; of a scheduler's job, once a late signal would have come. */
  settled(result: JobResult): Promise<JobResult>;
  release(): void;
}

export interface WorkerWatch extends WatchRequest {
  /** Whether a scheduler, which does not say in the job's record that it ends it, may end this process. */
  readonly isScheduled: boolean;
  /** Further signals that end the process, unless the task handles them. */
  readonly more: readonly Signal[];
}

/**
 * As `endWithProcess`, for a process that does nothing but this job: it also records a signal that the task does not
 * handle, and ends. Only SIGKILL cannot be handled; the process that started this one records it.
 */
export function endWithWorker(request: WorkerWatch): WatchedWorker {
  const { isScheduled, more, recorded } = request;
  const signals = [...INTERRUPTS, ...more];
  let first: Signal | undefined;
  let wasHandled = false;
  let onLate: (() => void) | undefined;
  const onSignal = (signal: Signal) => {
    first ??= signal;
    if (onLate !== undefined) return onLate();
    const isHandled = process.listenerCount(signal) > 1;
    wasHandled ||= isHandled;
    // A task with its own handler ends in its own way, and its result says so. A scheduler's extra signal may come
    // after the signal that the task handles, and means the same.
    if (isHandled || (wasHandled && more.includes(signal))) return;
    const endedBy = request.enderOf(signal);
    const exitCode = processCode(endedBy, 1);
    recorded.end({ endedBy, exitCode });
    process.exit(exitCode);
  };
  const release = recordExit(request);
  for (const signal of signals) process.on(signal, onSignal);
  const lateSignal = () =>
    new Promise<void>((settle) => {
      const timer = setTimeout(settle, LATE_SIGNAL_MS);
      onLate = () => {
        clearTimeout(timer);
        settle();
      };
    });
  return {
    async settled(result) {
      const hasFailed = !isCompleted(result) && enderOf(result).by === ITSELF.by;
      if (isScheduled && hasFailed && first === undefined) await lateSignal();
      return judged(result, first, request);
    },
    release() {
      release();
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

function recordExit({ firstLine, recorded }: WatchRequest): () => void {
  let uncaught: string | undefined;
  const onUncaught = (error: unknown) => {
    uncaught = firstLine(error);
  };
  const onExit = (code: number) =>
    recorded.end({
      endedBy: ITSELF,
      exitCode: code === 0 ? 1 : code,
      error: uncaught ?? `the process ended with code ${code} before the job did`,
    });
  process.on("uncaughtExceptionMonitor", onUncaught);
  process.on("exit", onExit);
  return () => {
    process.off("uncaughtExceptionMonitor", onUncaught);
    process.off("exit", onExit);
  };
}

function judged(
  result: JobResult,
  signal: Signal | undefined,
  { enderOf }: WatchRequest,
): JobResult {
  if (signal === undefined || isCompleted(result)) return result;
  const endedBy = enderOf(signal);
  return { ...result, endedBy, exitCode: processCode(endedBy, 1) };
}
