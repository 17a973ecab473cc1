import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../system/files.ts";
import { isRunning, type ProcessIdentity } from "../system/process-identity.ts";
import { resumeGroups, suspendGroups } from "../system/process-signals.ts";
import { ConfigError } from "../values/errors.ts";
import { type Attempt, ended, type JobState, readJobState, writeJobState } from "./job-state.ts";
import { jobFile } from "./layout.ts";

const POLL_MS = 100;

/** A process that runs a job of a sweep. */
export interface LiveWorker {
  /** Passes a signal on. */
  signal(signal: NodeJS.Signals): void;
  /**
   * Stops it, with all that it has started; its time stands still, too.
   * @returns lets it go on
   */
  suspend(): () => void;
  /** The job's state after the worker has ended, whichever process had to write it. */
  readonly ended: Promise<JobState>;
}

/**
 * Waits for a worker that an earlier launcher left behind; undefined where there is none.
 *
 * @throws ConfigError `app.sweep_record` for one on another machine, which cannot be asked about
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
  const wait = async (): Promise<JobState> => {
    while (isRunning(last) === true) await sleep(POLL_MS);
    const after = readJobState(folder, number) ?? state;
    if (after.status !== "running") return after;
    const final = ended(after, { status: "stopped", exitCode: null, error: "killed" });
    writeJobState(folder, final, { durable: true });
    return final;
  };
  // Its launcher may have been killed while both were suspended.
  resumeGroups(last.pid);
  return {
    signal: (signal) => signalWorker(last.pid, signal),
    suspend: () => suspendGroups(last.pid),
    ended: wait(),
  };
}

/**
 * A job's record; of one whose process is gone, as it left it: it may have recorded its end after the first look at its
 * record and before the look at the process.
 */
export function recordOrphan(folder: string, number: number): JobState | undefined {
  const state = readJobState(folder, number);
  return isLost(state) ? readJobState(folder, number) : state;
}

/** Whether a record says that a job runs, in a process that is gone. */
export function isLost(state: JobState | undefined): state is JobState {
  const last = state?.attempts.at(-1);
  return state?.status === "running" && last !== undefined && isRunning(last) === false;
}

/** The processes that run jobs of a sweep by themselves, here or elsewhere: not those of a scheduler. */
export function liveWorkers(
  folder: string,
  jobs: readonly { readonly number: number }[],
): readonly RunningWorker[] {
  return jobs.flatMap(({ number }) => {
    const state = readJobState(folder, number);
    const last = state?.attempts.at(-1);
    if (state?.status !== "running" || last === undefined || isScheduled(last)) return [];
    const alive = isRunning(last);
    return alive === false ? [] : [{ number, alive, process: last }];
  });
}

/** Lets suspended processes go on: their launcher may have been killed while all were suspended. */
export function resumeOrphans(workers: readonly RunningWorker[]): void {
  for (const { alive, process } of workers) if (alive === true) resumeGroups(process.pid);
}

export interface RunningWorker {
  readonly number: number;
  readonly alive: true | "elsewhere";
  readonly process: ProcessIdentity;
}

/** Whether an attempt is a scheduler's, which says itself what becomes of it. */
export const isScheduled = ({ details }: Attempt): boolean => details?.["scheduler"] !== undefined;

/** The notes of an attempt that a scheduler started. */
export const scheduledBy = ({ id }: { readonly id: string }): NonNullable<Attempt["details"]> => ({
  scheduler: id,
});

/** How long a process that was asked to end may take before it is killed. */
export const GRACE_MS = 10_000;

/** Signals the processes of a group by its leader, which may have ended by itself; who may not do so is to know it. */
export function signalWorker(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
