import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import type { JobResult } from "../../job/job.ts";
import type { SweepJob } from "../../job/plan-job.ts";
import type { NotedStart } from "../../job/process/invocation.ts";
import {
  begun,
  ended,
  type JobState,
  readJobState,
  writeJobState,
} from "../../record/job-state.ts";
import { jobLog, jobsFolder } from "../../record/layout.ts";
import type { SweepFacts } from "../../record/manifest.ts";
import { GRACE_MS, type LiveWorker, orphanOf, signalWorker } from "../../record/orphans.ts";
import { makeDirectory } from "../../system/files.ts";
import { type PausableTimer, startPausableTimer } from "../../system/long-timer.ts";
import { identityOf, thisProcess } from "../../system/process-identity.ts";
import { suspendGroups } from "../../system/process-signals.ts";
import type { LauncherRequest } from "../launcher.ts";
import { workerCommand } from "../worker.ts";
import type { LocalSettings } from "./settings.ts";
import { type HeldSlots, type SlotAttempt, type SlotPool, slotVariables } from "./slots.ts";
import { type Asked, endOfWorker, memoryKills, type Outcome } from "./worker-end.ts";

/** A job that a worker runs. */
export interface RunningJob {
  readonly job: SweepJob;
  readonly worker: LiveWorker;
  /** The byte of the job's log at which this run of it begins. */
  readonly logStart: number;
  /** Undefined for a worker that another launcher left: it holds its own. */
  readonly slots: HeldSlots | undefined;
}

/** What came of starting a job. */
export type JobStart =
  | { readonly kind: "running"; readonly running: RunningJob }
  /** It had been left running and has come to its end. */
  | { readonly kind: "over"; readonly result: JobResult }
  | { readonly kind: "lacks slots"; readonly attempt: SlotAttempt & { readonly kind: "none" } };

/**
 * Starts a worker for a job, with slots of its own. At its first start here the job may be in the hands of a worker
 * that an earlier launcher left: then that one is followed.
 */
export function startJob(
  job: SweepJob,
  isFirstStart: boolean,
  pool: SlotPool,
  { internals: { invocation, record } }: LauncherRequest,
  { timeLimit }: LocalSettings,
): JobStart {
  if (isFirstStart) {
    // In this order: a worker that is gone by the first look has recorded its end by the second.
    const worker = orphanOf(record.folder, job.number);
    if (worker !== undefined)
      return {
        kind: "running",
        running: {
          job,
          worker,
          logStart: sizeOf(jobLog(record.folder, job.number)),
          slots: undefined,
        },
      };
    const result = record.endedSince(job);
    if (result !== undefined) return { kind: "over", result };
  }
  const facts = record.facts();
  const attempt = pool.take(`job #${job.number} of the sweep in ${facts.directory}`);
  if (attempt.kind === "none") return { kind: "lacks slots", attempt };
  const slots = attempt.held;
  try {
    const worker = startWorker({
      facts,
      folder: record.folder,
      number: job.number,
      env: { ...invocation.env, ...slotVariables(slots.slots) },
      timeLimit,
    });
    if (worker.pid !== undefined) slots.handTo(worker.pid);
    const { logStart } = worker;
    return { kind: "running", running: { job, worker, logStart, slots } };
  } catch (error) {
    slots.giveBack();
    throw error;
  }
}

export interface WorkerRun {
  readonly facts: SweepFacts;
  /** The absolute path of the `.sweep` folder. */
  readonly folder: string;
  readonly number: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds; null for any. */
  readonly timeLimit: number | null;
}

/** A worker that this process started. */
export interface StartedWorker extends LiveWorker {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined;
  /** The byte of the job's log at which its output begins. */
  readonly logStart: number;
}

/**
 * Starts a worker in a process group of its own, so that a key typed at the terminal reaches it once
 * and only through us, and with its output in a file, so that it needs us for nothing.
 *
 * It does nothing before it stands in the job's record as the process that runs it (`launch/worker.ts`): so the
 * next launcher finds it, however soon we are killed.
 *
 * @throws the system's error where the record cannot be written: then nothing runs
 */
function startWorker(run: WorkerRun): StartedWorker {
  const { folder, number, timeLimit } = run;
  makeDirectory(jobsFolder(folder));
  const before = readJobState(folder, number);
  const id = randomUUID();
  const killsBefore = memoryKills();
  const { child, logStart } = spawnWorker(run, { id, launcher: thisProcess() });
  const over = outcomeOf(child);
  const noted = withIdentity(begun(number, before, { id }), child.pid ?? 0);
  if (child.pid !== undefined) noteOrKill(folder, noted, child.pid);
  let asked: Asked;
  let killer: PausableTimer | undefined;
  const kill = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) signalWorker(child.pid, signal);
    killer ??= startPausableTimer(
      GRACE_MS,
      () => child.pid !== undefined && signalWorker(child.pid, "SIGKILL"),
    );
  };
  const limit =
    timeLimit === null
      ? undefined
      : startPausableTimer(timeLimit, () => {
          asked ??= "timeout";
          kill("SIGTERM");
        });
  const record = async (): Promise<JobState> => {
    const outcome = await over;
    limit?.stop();
    killer?.stop();
    const written = readJobState(folder, number);
    // It has written nothing where it could not be started.
    const state = written?.attempts.at(-1)?.id === id ? written : noted;
    const lacksMemory = (memoryKills() ?? 0) > (killsBefore ?? 0);
    const end = endOfWorker(state, { ...outcome, lacksMemory }, asked, { ...run, logStart });
    if (end === undefined) return state;
    const final = ended(state, end);
    writeJobState(folder, final, { durable: true });
    return final;
  };
  return {
    pid: child.pid,
    logStart,
    signal(signal) {
      asked ??= signal;
      kill(signal);
    },
    suspend() {
      const timers = [limit, killer];
      for (const timer of timers) timer?.pause();
      const goOn = child.pid === undefined ? undefined : suspendGroups(child.pid);
      return () => {
        goOn?.();
        for (const timer of timers) timer?.goOn();
      };
    },
    ended: record(),
  };
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function spawnWorker({ env, folder, facts, number }: WorkerRun, start: NotedStart) {
  const command = workerCommand(facts, { folder, number, start });
  const log = openSync(jobLog(folder, number), "a");
  try {
    const logStart = fstatSync(log).size;
    // Not execa, which pipes through us: files must be the worker's own.
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: { ...env, ...command.env },
      stdio: ["ignore", log, log],
      detached: true,
    });
    return { child, logStart };
  } finally {
    closeSync(log);
  }
}

/** One that cannot be found must not wait for us to note it. */
function noteOrKill(folder: string, noted: JobState, pid: number): void {
  try {
    writeJobState(folder, noted);
  } catch (error) {
    signalWorker(pid, "SIGKILL");
    throw error;
  }
}

const outcomeOf = (child: ChildProcess): Promise<Outcome> =>
  new Promise((settle) => {
    child.once("error", ({ message }) =>
      settle({ exitCode: null, signal: null, problem: message }),
    );
    child.once("exit", (exitCode, signal) => settle({ exitCode, signal }));
  });

function withIdentity(state: JobState, pid: number): JobState {
  const last = state.attempts.at(-1);
  return last === undefined
    ? state
    : { ...state, attempts: [...state.attempts.slice(0, -1), { ...last, ...identityOf(pid) }] };
}
