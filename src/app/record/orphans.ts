/** Workers whose launcher is gone: whether they live, and how they end. */
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../../engine/values/errors.ts";
import { errorCode } from "../../foundation/system/files.ts";
import type { Signal } from "../../foundation/system/platform-types.ts";
import { isRunning, type ProcessIdentity } from "../../foundation/system/process-identity.ts";
import { resumeGroups, suspendGroups } from "../../foundation/system/process-signals.ts";
import { lastProcessOf } from "./damage.ts";
import {
  type DamagedState,
  ended,
  isScheduled,
  type JobState,
  lookAtJob,
  readJobState,
  writeJobState,
} from "./job-state.ts";
import { jobFile } from "./layout.ts";
import { type AskedEnd, askedNow, endWhenAsked, signalledBy } from "./recorded-job.ts";

const POLL_MS = 100;

/** A process that runs a job of a sweep. */
export interface LiveWorker {
  /** Sends a signal to the worker. */
  signal(signal: Signal): void;
  /**
   * Suspends it with all processes that it started; its clock stands still, too.
   * @returns resumes it
   */
  suspend(): () => void;
  /** Leaves it to itself: it goes on, and this process does not wait for it any more. */
  abandon(): void;
  /** The job's state after the worker's end, whichever process writes it. */
  readonly ended: Promise<JobState>;
}

/**
 * Waits for a worker of an earlier launcher; undefined if there is none.
 *
 * @throws ConfigError `app.sweep_record` for a worker on another machine, whose processes are unknown here
 */
export function orphanOf(folder: string, number: number): LiveWorker | undefined {
  const state = readJobState(folder, number);
  const last = state?.attempts.at(-1);
  if (state?.status !== "running" || last === undefined) return undefined;
  const running = isRunning(last);
  if (running === "elsewhere")
    throw new ConfigError({
      code: "app.sweep_record",
      message: `Job #${number} was running as process ${last.pid} on ${last.host}, which cannot be checked from this machine`,
      hint: `resume on ${last.host}; if that process has ended, remove ${jobFile(folder, number)}`,
    });
  if (!running) return undefined;
  let asked: AskedEnd | undefined;
  let isAbandoned = false;
  const wait = async (): Promise<JobState> => {
    while (isRunning(last) === true) {
      if (isAbandoned) return state;
      await sleep(POLL_MS);
    }
    const after = readJobState(folder, number) ?? state;
    // Another launcher has started the job anew.
    if (after.attempts.length > state.attempts.length) return state;
    const final =
      after.status === "running"
        ? ended(after, { endedBy: asked?.ender ?? { by: "unknown" }, exitCode: null })
        : asked && endWhenAsked(after, asked);
    if (final === undefined) return after;
    writeJobState(folder, final, { durable: true });
    return final;
  };
  // The launcher may have been killed while both were suspended.
  resumeGroups(last.pid);
  return {
    signal(signal) {
      asked ??= askedNow(signalledBy(folder, number, { by: "launcher", signal }));
      signalWorker(last.pid, signal);
    },
    suspend: () => suspendGroups(last.pid),
    abandon() {
      isAbandoned = true;
    },
    ended: wait(),
  };
}

/**
 * A job's record. If the job's process is gone, the record is read again: the process may have recorded its end between
 * the first read and the check for the process.
 */
export function recordOrphan(folder: string, number: number): JobState | DamagedState | undefined {
  const state = lookAtJob(folder, number);
  return isLost(state) ? lookAtJob(folder, number) : state;
}

/** Whether a record says that a job runs although its process is gone. */
export function isLost(state: JobState | DamagedState | undefined): state is JobState {
  if (state?.status !== "running") return false;
  const last = state.attempts.at(-1);
  return last !== undefined && isRunning(last) === false;
}

/** The processes, here or elsewhere, that run jobs of a sweep without a scheduler. */
export function liveWorkers(
  folder: string,
  jobs: readonly { readonly number: number }[],
): readonly RunningWorker[] {
  return jobs.flatMap(({ number }) => {
    const state = lookAtJob(folder, number);
    if (state?.status === "damaged") return liveWorkerOf(state);
    const last = state?.attempts.at(-1);
    if (state?.status !== "running" || last === undefined || isScheduled(last)) return [];
    const alive = isRunning(last);
    return alive === false ? [] : [{ number, alive, process: last }];
  });
}

function liveWorkerOf(state: DamagedState): readonly RunningWorker[] {
  const process = lastProcessOf(state);
  if (process === undefined || isScheduled(process.last)) return [];
  return [{ number: state.number, alive: process.alive, process: process.last }];
}

/** Resumes suspended processes, whose launcher may have been killed while all were suspended. */
export function resumeOrphans(workers: readonly RunningWorker[]): void {
  for (const { alive, process } of workers) if (alive === true) resumeGroups(process.pid);
}

export interface RunningWorker {
  readonly number: number;
  readonly alive: true | "elsewhere";
  readonly process: ProcessIdentity;
}

/** How long a process may take to end after a signal before it is killed. */
export const GRACE_MS = 10_000;

/** Signals a process group by its leader, which may have ended already; lack of permission is an error. */
export function signalWorker(pid: number, signal: Signal): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
