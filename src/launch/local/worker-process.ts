import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, fstatSync, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { JobResult } from "../../job/job.ts";
import type { SweepJob } from "../../job/plan-job.ts";
import type { JobBegun, JobDone, NextJob, NotedStart } from "../../job/process/invocation.ts";
import {
  begun,
  ended,
  type JobState,
  readJobState,
  restoreJobState,
  writeJobState,
} from "../../record/job-state.ts";
import { jobLog, jobsFolder } from "../../record/layout.ts";
import type { SweepFacts } from "../../record/manifest.ts";
import { GRACE_MS, type LiveWorker, orphanOf, signalWorker } from "../../record/orphans.ts";
import { makeDirectory } from "../../system/files.ts";
import { type PausableTimer, startPausableTimer } from "../../system/long-timer.ts";
import { identityOf, type ProcessIdentity, thisProcess } from "../../system/process-identity.ts";
import { suspendGroups } from "../../system/process-signals.ts";
import { type SharedLog, sharedLog, sizeOf } from "../job-log.ts";
import type { LauncherRequest } from "../launcher.ts";
import { workerCommand } from "../worker.ts";
import type { LocalSettings } from "./settings.ts";
import { type HeldSlots, type SlotAttempt, type SlotPool, slotVariables } from "./slots.ts";
import { type Asked, endOfWorker, memoryKills, type Outcome } from "./worker-end.ts";

/** A process that has been given a job. Its end may be that of a process that waited for one, and was gone before it was notified of this. */
export type JobWorker = Omit<LiveWorker, "ended"> & {
  readonly ended: Promise<JobState | "not begun">;
};

/** A job that a worker runs. */
export interface RunningJob {
  readonly job: SweepJob;
  readonly worker: JobWorker;
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

/** Where jobs find place. */
export interface Places {
  readonly pool: SlotPool;
  readonly workers: Workers;
  /** How many jobs run at a time. */
  readonly most: number;
}

/**
 * Starts a worker for a job, with slots of its own. At its first start here the job may be in the hands of a worker
 * that an earlier launcher left: then that one is followed.
 */
export function startJob(
  job: SweepJob,
  isFirstStart: boolean,
  { most, pool, workers }: Places,
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
    const run = { facts, folder: record.folder, number: job.number, timeLimit };
    const own = slotVariables(slots.slots);
    const worker = startWorker({ ...run, env: invocation.env, own }, workers, most);
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
  /** Added to it for this job. */
  readonly own: Readonly<Record<string, string>>;
  /** Milliseconds; null for any. */
  readonly timeLimit: number | null;
}

/** A worker that this process started. */
export interface StartedWorker extends JobWorker {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined;
  /** The byte of the job's log at which its output begins. */
  readonly logStart: number;
}

/**
 * Starts a worker in a process group of its own, so that a key typed at the terminal reaches it once
 * and only through us, and with its output in a file, so that it needs us for nothing. Or a worker that has done its job
 * is given this one.
 *
 * It does nothing before it stands in the job's record as the process that runs it (`launch/worker.ts`): so the
 * next launcher finds it, however soon we are killed.
 *
 * @param most as many workers are kept
 * @throws the system's error where the record cannot be written: then nothing runs
 */
function startWorker(run: WorkerRun, workers: Workers, most: number): StartedWorker {
  const { folder, number, timeLimit } = run;
  makeDirectory(jobsFolder(folder));
  const before = readJobState(folder, number);
  const start = { id: randomUUID(), launcher: thisProcess() };
  const killsBefore = memoryKills();
  const worker = workers.take(run, start, most);
  const { logStart, pid } = worker;
  const over = worker.over();
  const noted = withIdentity(begun(number, before, { id: start.id }), worker.identity);
  if (pid !== undefined) noteOrKill(folder, noted, pid);
  worker.begin({ number, start });
  let asked: Asked;
  let killer: PausableTimer | undefined;
  const kill = (signal: NodeJS.Signals): void => {
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
          asked ??= "timeout";
          kill("SIGTERM");
        });
  const record = async (): Promise<JobState | "not begun"> => {
    const outcome = await over;
    limit?.stop();
    killer?.stop();
    const written = readJobState(folder, number);
    // It has written nothing where it could not be started.
    const state = written?.attempts.at(-1)?.id === start.id ? written : noted;
    if (outcome === "done") {
      // One that was told to end is about to.
      worker.giveBack(asked === undefined);
      return state;
    }
    worker.giveBack(false);
    // What it has started would go on beside the same job, which is to run again.
    if (outcome.signal === "SIGKILL" && pid !== undefined) signalWorker(pid, "SIGKILL");
    if (asked === undefined && state.status === "running" && !(await worker.hasBegun())) {
      restoreJobState(folder, number, before);
      return "not begun";
    }
    const lacksMemory = (memoryKills() ?? 0) > (killsBefore ?? 0);
    const end = endOfWorker(state, { ...outcome, lacksMemory }, asked, { ...run, logStart });
    if (end === undefined) return state;
    const final = ended(state, end);
    writeJobState(folder, final, { durable: true });
    return final;
  };
  return {
    pid,
    logStart,
    signal(signal) {
      asked ??= signal;
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
    ended: record(),
  };
}

/** The processes that run jobs. */
export interface Workers {
  /** A process for a job: one that has done its job before and waits for another with the same environment, or a new one. */
  take(run: WorkerRun, start: NotedStart, most: number): WorkerOfJob;
  /** Lets those end that wait. */
  close(): void;
}

/** A process, while it runs a job. */
interface WorkerOfJob {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined;
  readonly identity: ProcessIdentity;
  /** The byte of the job's log at which its output begins. */
  readonly logStart: number;
  /** How it ended; or that the job is done, and it waits for another. */
  over(): Promise<Outcome | "done">;
  /** To be called once the job's record names the process: a process that waits is notified of the job. */
  begin(next: NextJob): void;
  /** Whether the process was notified of the job; to be asked when it has ended. */
  hasBegun(): Promise<boolean>;
  /** To be called when the job is over. @param isKept whether it may run another */
  giveBack(isKept: boolean): void;
}

/** A process that runs jobs one after the other. */
interface ReusableWorker {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  /** What its environment has of its own. */
  readonly key: string;
  readonly log: SharedLog;
  readonly ended: Promise<Outcome>;
}

/** @param isReusing whether they run one job after the other */
export function createWorkers(isReusing: boolean): Workers {
  const waiting: ReusableWorker[] = [];
  const isAlive = ({ child }: ReusableWorker) =>
    child.connected && child.exitCode === null && child.signalCode === null;
  const letGo = ({ child, log }: ReusableWorker): void => {
    if (child.connected) child.disconnect();
    log.remove();
  };
  const waitingFor = (key: string): ReusableWorker | undefined => {
    for (const one of waiting.filter((one) => !isAlive(one))) {
      waiting.splice(waiting.indexOf(one), 1);
      letGo(one);
    }
    const at = waiting.findIndex((one) => one.key === key);
    return at === -1 ? undefined : waiting.splice(at, 1)[0];
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
        // One that ended meanwhile is found by its end.
        child.send(next, () => {});
      },
      async hasBegun() {
        if (begun === undefined) return true;
        // What it said last comes before the end of its channel.
        const silent = child.connected
          ? once(child, "disconnect").then(() => false)
          : setImmediate(false);
        return Promise.race([begun.then(() => true), silent]);
      },
      giveBack(isKept) {
        if (!isKept || !isAlive(worker) || !log.separate(jobLog(run.folder, run.number)))
          return letGo(worker);
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
      const key = JSON.stringify(Object.entries(run.own).sort());
      const old = isReusing ? waitingFor(key) : undefined;
      if (old !== undefined) {
        try {
          return ofJob(old, run, old.log.begin(file), most, true);
        } catch {
          // It cannot have that log: a new process has its own.
          letGo(old);
        }
      }
      const log = isReusing ? sharedLog(file) : undefined;
      const { child, logStart } = spawnWorker(run, start, log);
      const identity = identityOf(child.pid ?? 0);
      const ended = outcomeOf(child);
      if (log !== undefined)
        return ofJob({ child, identity, key, log, ended }, run, logStart, most, false);
      return {
        ...{ pid: child.pid, identity, logStart, over: () => ended },
        begin: () => {},
        hasBegun: async () => true,
        giveBack: () => {},
      };
    },
    close() {
      for (const one of waiting.splice(0)) letGo(one);
    },
  };
}

/** When a process says something of its job. */
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

function spawnWorker(
  { env, folder, facts, number, own }: WorkerRun,
  start: NotedStart,
  shared: SharedLog | undefined,
) {
  const isReused = shared !== undefined;
  const command = workerCommand(facts, { folder, number, start, isReused });
  const log = openSync(shared?.file ?? jobLog(folder, number), "a");
  try {
    const logStart = fstatSync(log).size;
    // Not execa, which pipes through us: files must be the worker's own.
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: { ...env, ...own, ...command.env },
      stdio: ["ignore", log, log, ...(isReused ? (["ipc"] as const) : [])],
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

function withIdentity(state: JobState, identity: ProcessIdentity): JobState {
  const last = state.attempts.at(-1);
  return last === undefined
    ? state
    : { ...state, attempts: [...state.attempts.slice(0, -1), { ...last, ...identity }] };
}
