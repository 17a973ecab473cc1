/** The processes that run jobs: started, reused, suspended and ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { type PausableTimer, startPausableTimer } from "../../../foundation/system/long-timer.ts";
import type { Signal } from "../../../foundation/system/platform-types.ts";
import {
  identityOf,
  type ProcessIdentity,
  thisProcess,
} from "../../../foundation/system/process-identity.ts";
import { suspendGroups } from "../../../foundation/system/process-signals.ts";
import type { JobResult } from "../../job/job.ts";
import type { SweepJob } from "../../job/plan-job.ts";
import type { JobBegun, JobDone, NextJob, NotedStart } from "../../job/process/invocation.ts";
import {
  begun,
  type JobState,
  readJobState,
  restoreJobState,
  writeJobState,
} from "../../record/job-state.ts";
import { jobLog, jobsFolder } from "../../record/layout.ts";
import type { SweepFacts } from "../../record/manifest.ts";
import { GRACE_MS, type LiveWorker, orphanOf, signalWorker } from "../../record/orphans.ts";
import {
  type AskedEnd,
  askedNow,
  endWhenAsked,
  forgetPruned,
  signalledBy,
} from "../../record/recorded-job.ts";
import { makeInnerFolder, shareFile } from "../../record/rights.ts";
import { type SharedLog, sharedLog, sizeOf } from "../job-log.ts";
import type { LauncherRequest } from "../launcher.ts";
import { workerCommand } from "../worker.ts";
import type { LocalSettings } from "./local-settings.ts";
import { type HeldSlots, type SlotAttempt, type SlotPool, slotVariables } from "./slots.ts";
import { endOfWorker, memoryKills, type Outcome } from "./worker-end.ts";

/** A process that was given a job. `not begun`: an idle reused process had ended before it received the job. */
export type JobWorker = Omit<LiveWorker, "ended"> & {
  readonly ended: Promise<JobState | "not begun">;
};

/** A job that a worker runs. */
export interface RunningJob {
  readonly job: SweepJob;
  readonly worker: JobWorker;
  /** The byte of the job's log at which this attempt begins. */
  readonly logStart: number;
  /** Undefined for a worker of another launcher: it holds its slots itself. */
  readonly slots: HeldSlots | undefined;
}

/** The result of an attempt to start a job. */
export type JobStart =
  | { readonly kind: "running"; readonly running: RunningJob }
  /** An earlier launcher's worker ran the job, and has ended. */
  | { readonly kind: "over"; readonly result: JobResult }
  | { readonly kind: "lacks slots"; readonly attempt: SlotAttempt & { readonly kind: "none" } };

/** Where jobs can run. */
export interface Places {
  readonly pool: SlotPool;
  readonly workers: Workers;
  /** The largest number of parallel jobs. */
  readonly most: number;
}

/**
 * Starts a worker for a job, with its own slots. At the job's first start here, a worker of an earlier launcher may
 * still run it: then that worker is followed.
 */
export function startJob(
  job: SweepJob,
  isFirstStart: boolean,
  { most, pool, workers }: Places,
  { internals: { invocation, record } }: LauncherRequest,
  { timeLimit }: LocalSettings,
): JobStart {
  if (isFirstStart) {
    // In this order: a worker that is gone at the first check has recorded its end by the second.
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
    const run = { facts, folder: record.folder, number: job.number, timeLimit };
    const variables = slotVariables(slots.slots);
    const { env, trust } = invocation;
    const request = { ...run, env, variables, ...(trust !== undefined && { trust }) };
    const worker = startWorker(request, workers, most);
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
  /** Variables added for this job. */
  readonly variables: Readonly<Record<string, string>>;
  /** What the worker trusts (`Invocation`). */
  readonly trust?: string;
  /** Milliseconds; null for no limit. */
  readonly timeLimit: number | null;
}

/** A worker that this process started. */
interface StartedWorker extends JobWorker {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  /** The byte of the job's log at which its output begins. */
  readonly logStart: number;
}

/**
 * Starts a worker in its own process group, so that keyboard signals reach it only once, through this process, and with
 * its output in a file, so that it does not depend on this process. Or gives the job to an idle worker.
 *
 * The worker does nothing before the job's record names it as the process that runs the job (`app/launch/worker.ts`): so
 * the next launcher finds it, even if this one is killed at once.
 *
 * @param most how many workers are kept
 * @throws the system's error if the record cannot be written: then nothing runs
 */
function startWorker(run: WorkerRun, workers: Workers, most: number): StartedWorker {
  const { folder, number, timeLimit } = run;
  makeInnerFolder(folder, jobsFolder(folder));
  const previous = readJobState(folder, number);
  forgetPruned(folder, number);
  const start = { id: randomUUID(), launcher: thisProcess() };
  const killsBefore = memoryKills();
  const worker = workers.take(run, start, most);
  const { logStart, pid } = worker;
  const over = worker.over();
  const noted = withIdentity(begun(number, previous, { id: start.id }), worker.identity);
  if (pid !== undefined) noteOrKill(folder, noted, pid);
  worker.begin({ number, start });
  let asked: AskedEnd | undefined;
  let killer: PausableTimer | undefined;
  const kill = (signal: Signal): void => {
    if (pid !== undefined) signalWorker(pid, signal);
    killer ??= startPausableTimer(
      GRACE_MS,
      () => pid !== undefined && signalWorker(pid, "SIGKILL"),
    );
  };
  const limit =
    timeLimit === null
      ? undefined
      : startPausableTimer(timeLimit, () => {
          asked ??= askedNow({ by: "time_limit", limit_ms: timeLimit });
          kill("SIGTERM");
        });
  /** Whether another launcher has started the job anew meanwhile, since this one has lost its claim: that start stays. */
  const isTakenOver = (): boolean =>
    (readJobState(folder, number)?.attempts.length ?? 0) > noted.attempts.length;
  /** @param final what the record is to say; undefined: what it says */
  const keep = (state: JobState, final: JobState | undefined): JobState => {
    if (final !== undefined && !isTakenOver()) writeJobState(folder, final, { durable: true });
    return final ?? state;
  };
  const record = async (): Promise<JobState | "not begun"> => {
    const outcome = await over;
    limit?.stop();
    killer?.stop();
    const written = readJobState(folder, number);
    // A worker that could not be started has written nothing.
    const state = written?.attempts.at(-1)?.id === start.id ? written : noted;
    if (outcome === "done") {
      // A worker that was asked to end is about to; its program may have answered before it heard of that itself.
      worker.giveBack(asked === undefined);
      return keep(state, asked && endWhenAsked(state, asked));
    }
    // Its child processes would otherwise run at the same time as the retry of this job.
    if (outcome.signal === "SIGKILL" && pid !== undefined) signalWorker(pid, "SIGKILL");
    // What it has said is lost with it.
    const hasBegun = await worker.hasBegun();
    worker.giveBack(false);
    if (asked === undefined && state.status === "running" && !hasBegun) {
      if (!isTakenOver()) restoreJobState(folder, number, previous);
      return "not begun";
    }
    const lacksMemory = (memoryKills() ?? 0) > (killsBefore ?? 0);
    const final = endOfWorker(state, { ...outcome, lacksMemory }, asked, { ...run, logStart });
    return keep(state, final);
  };
  return {
    pid,
    logStart,
    signal(signal) {
      asked ??= askedNow(signalledBy(folder, number, { by: "launcher", signal }));
      kill(signal);
    },
    suspend() {
      const timers = [limit, killer];
      for (const timer of timers) timer?.pause();
      const goOn = pid === undefined ? undefined : suspendGroups(pid);
      return () => {
        goOn?.();
        for (const timer of timers) timer?.goOn();
      };
    },
    abandon() {
      limit?.stop();
      worker.abandon();
    },
    ended: record(),
  };
}

/** The processes that run jobs. */
export interface Workers {
  /** A process for a job: an idle one with the same environment, or a new one. */
  take(run: WorkerRun, start: NotedStart, most: number): WorkerOfJob;
  /** Ends the idle processes. */
  close(): void;
}

/** A process while it runs a job. */
interface WorkerOfJob {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly identity: ProcessIdentity;
  /** The byte of the job's log at which its output begins. */
  readonly logStart: number;
  /** How it ended; or `done`: the job has ended, and the process is idle. */
  over(): Promise<Outcome | "done">;
  /** To be called once the job's record names the process: sends the job to an idle process. */
  begin(next: NextJob): void;
  /** Whether the process received the job; to be called after its end. */
  hasBegun(): Promise<boolean>;
  /** Neither this process nor the other waits for what comes after the job. */
  abandon(): void;
  /** To be called when the job is over. @param isKept whether the process may run another */
  giveBack(isKept: boolean): void;
}

/** A process that runs one job after the other. */
interface ReusableWorker {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  /** Identifies the environment that it was started with. */
  readonly key: string;
  /** Undefined for a process that prints on the console. */
  readonly log: SharedLog | undefined;
  readonly ended: Promise<Outcome>;
}

interface WorkersOptions {
  /** Whether a process runs one job after the other. */
  readonly isReusing: boolean;
  /** Whether processes print on the console of this one, rather than into the log of their job. */
  readonly isOnConsole?: boolean;
}

export function createWorkers({ isReusing, isOnConsole = false }: WorkersOptions): Workers {
  const waiting: ReusableWorker[] = [];
  const isAlive = ({ child }: ReusableWorker) =>
    child.connected && child.exitCode === null && child.signalCode === null;
  const letGo = ({ child, log }: ReusableWorker): void => {
    if (child.connected) child.disconnect();
    log?.remove();
  };
  const waitingFor = (key: string): ReusableWorker | undefined => {
    for (const worker of waiting.filter((worker) => !isAlive(worker))) {
      waiting.splice(waiting.indexOf(worker), 1);
      letGo(worker);
    }
    const index = waiting.findIndex((worker) => worker.key === key);
    return index === -1 ? undefined : waiting.splice(index, 1)[0];
  };
  const ofJob = (
    worker: ReusableWorker,
    run: WorkerRun,
    logStart: number,
    most: number,
    isWaiting: boolean,
  ): WorkerOfJob => {
    const { child, ended, identity, log } = worker;
    const begun = isWaiting ? saidOf(child, ({ begun }) => begun === run.number) : undefined;
    return {
      pid: child.pid,
      identity,
      logStart,
      over: () =>
        Promise.race([
          ended,
          saidOf(child, ({ done }) => done === run.number).then(() => "done" as const),
        ]),
      begin(next) {
        if (!isWaiting) return;
        child.ref();
        child.channel?.ref();
        // The end of a process that has just ended is handled elsewhere.
        child.send(next, () => {});
      },
      async hasBegun() {
        if (begun === undefined) return true;
        // What a process has sent before its end is read in the same round of the event loop as its end. The channel
        // may stay open, since its child processes have it, too.
        const silent = setImmediate().then(() => setImmediate(false));
        return Promise.race([begun.then(() => true), silent]);
      },
      abandon() {
        child.unref();
        if (child.connected) child.disconnect();
      },
      giveBack(isKept) {
        const isSeparate = log?.separate(jobLog(run.folder, run.number)) ?? true;
        if (!isKept || !isAlive(worker) || !isSeparate) return letGo(worker);
        child.unref();
        child.channel?.unref();
        waiting.push(worker);
        while (waiting.length > most) {
          const [first] = waiting.splice(0, 1);
          if (first !== undefined) letGo(first);
        }
      },
    };
  };
  return {
    take(run, start, most) {
      const file = jobLog(run.folder, run.number);
      const key = JSON.stringify(Object.entries(run.variables).sort());
      const old = isReusing ? waitingFor(key) : undefined;
      if (old !== undefined) {
        try {
          return ofJob(old, run, old.log?.begin(file) ?? 0, most, true);
        } catch {
          // The process cannot write to that log: a new process has its own.
          letGo(old);
        }
      }
      const log = isReusing && !isOnConsole ? sharedLog(file) : undefined;
      const isReused = log !== undefined || (isReusing && isOnConsole);
      const to = isOnConsole ? undefined : (log?.file ?? file);
      const { child, logStart } = spawnWorker(run, start, isReused, to);
      const identity = identityOf(child.pid ?? 0);
      const ended = outcomeOf(child);
      if (isReused) return ofJob({ child, identity, key, log, ended }, run, logStart, most, false);
      return {
        ...{ pid: child.pid, identity, logStart, over: () => ended },
        begin: () => {},
        hasBegun: async () => true,
        abandon: () => child.unref(),
        giveBack: () => {},
      };
    },
    close() {
      for (const worker of waiting.splice(0)) letGo(worker);
    },
  };
}

/** Resolves when a process sends a matching message about its job. */
const saidOf = (
  child: ChildProcess,
  isIt: (said: Partial<JobBegun & JobDone>) => boolean,
): Promise<void> =>
  new Promise((settle) => {
    const onMessage = (message: unknown): void => {
      if (!isIt(message as Partial<JobBegun & JobDone>)) return;
      child.off("message", onMessage);
      settle();
    };
    child.on("message", onMessage);
  });

/** @param to the file for its output; undefined for the console of this process */
function spawnWorker(
  { env, folder, facts, number, variables, trust }: WorkerRun,
  start: NotedStart,
  isReused: boolean,
  to: string | undefined,
) {
  const trusted = trust === undefined ? {} : { trust };
  const command = workerCommand(facts, { folder, number, start, isReused, ...trusted });
  const log = to === undefined ? undefined : openSync(to, "a");
  try {
    if (to !== undefined) shareFile(folder, to);
    const logStart = log === undefined ? 0 : fstatSync(log).size;
    // Not execa, which pipes through this process: the worker must own its files.
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: { ...env, ...variables, ...command.env },
      stdio: ["ignore", log ?? 1, log ?? 2, ...(isReused ? (["ipc"] as const) : [])],
      detached: true,
    });
    return { child, logStart };
  } finally {
    if (log !== undefined) closeSync(log);
  }
}

/** Records a start, or kills the process: without a record, the next launcher cannot find it. */
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

function withIdentity(state: JobState, identity: ProcessIdentity): JobState {
  const last = state.attempts.at(-1);
  return last === undefined
    ? state
    : { ...state, attempts: [...state.attempts.slice(0, -1), { ...last, ...identity }] };
}
