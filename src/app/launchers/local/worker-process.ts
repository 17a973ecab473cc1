import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { makeDirectory } from "../../../make-directory.ts";
import { startTimer } from "../../long-timer.ts";
import {
  type AttemptEnd,
  begun,
  ended,
  type JobState,
  readJobState,
  writeJobState,
} from "../../sweep/record/job-state.ts";
import { jobLog, jobsFolder } from "../../sweep/record/layout.ts";
import type { SweepFacts } from "../../sweep/record/manifest.ts";
import type { LiveWorker } from "../../worker/left-behind.ts";
import { lastLines } from "../../worker/log-tail.ts";
import { isHeapFull, MORE_HEAP } from "../../worker/out-of-memory.ts";
import { GRACE_MS, identityOf, signalGroup, thisProcess } from "../../worker/process-identity.ts";
import { workerCommand } from "../../worker/worker-command.ts";
import type { NotedStart } from "../../worker/worker-request.ts";

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
}

/**
 * Starts a worker in a process group of its own, so that a key typed at the terminal reaches it once
 * and only through us, and with its output in a file, so that it needs us for nothing.
 *
 * It does nothing before it stands in the job's record as the process that runs it (`noted-start.ts`): so whoever
 * launches after us finds it, however soon we are killed.
 *
 * @throws the system's error where the record cannot be written: then nothing runs
 */
export function startWorker(run: WorkerRun): StartedWorker {
  const { folder, number, timeLimit } = run;
  makeDirectory(jobsFolder(folder));
  const before = readJobState(folder, number);
  const id = randomUUID();
  const child = spawnWorker(run, { id, launcher: thisProcess() });
  const over = outcomeOf(child);
  const noted = withIdentity(begun(number, before, { id }), child.pid ?? 0);
  if (child.pid !== undefined) noteOrKill(folder, noted, child.pid);
  let asked: Asked;
  let killer: NodeJS.Timeout | undefined;
  const kill = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) signalGroup(child.pid, signal);
    killer ??= setTimeout(
      () => child.pid !== undefined && signalGroup(child.pid, "SIGKILL"),
      GRACE_MS,
    );
  };
  const stopLimit =
    timeLimit === null
      ? undefined
      : startTimer(timeLimit, () => {
          asked ??= "timeout";
          kill("SIGTERM");
        });
  const record = async (): Promise<JobState> => {
    const outcome = await over;
    stopLimit?.();
    clearTimeout(killer);
    const written = readJobState(folder, number);
    // It has written nothing where it could not be started.
    const state = written?.attempts.at(-1)?.id === id ? written : noted;
    const end = endOf(state, outcome, asked, run);
    if (end === undefined) return state;
    const final = ended(state, end);
    writeJobState(folder, final, { durable: true });
    return final;
  };
  return {
    pid: child.pid,
    signal(signal) {
      asked ??= signal;
      kill(signal);
    },
    ended: record(),
  };
}

/** What a worker was asked to end for. */
type Asked = NodeJS.Signals | "timeout" | undefined;

function spawnWorker({ env, folder, facts, number }: WorkerRun, start: NotedStart) {
  const command = workerCommand(facts, { folder, number, start });
  const log = openSync(jobLog(folder, number), "a");
  try {
    // Not execa, which pipes through us: files must be the worker's own.
    return spawn(command.file, command.args, {
      cwd: command.cwd,
      env: { ...env, ...command.env },
      stdio: ["ignore", log, log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
}

/** One that nobody can find must not wait for us to note it. */
function noteOrKill(folder: string, noted: JobState, pid: number): void {
  try {
    writeJobState(folder, noted);
  } catch (error) {
    signalGroup(pid, "SIGKILL");
    throw error;
  }
}

/** How a worker ended that is gone; undefined where its record says so already. */
function endOf(
  { status }: JobState,
  { exitCode, problem, signal }: Outcome,
  asked: Asked,
  { folder, number, timeLimit }: WorkerRun,
): AttemptEnd | undefined {
  // A job that was done in time is done, however long it then took to leave.
  if (status === "completed") return undefined;
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
  const error =
    problem ??
    (signal === null
      ? (lastError(folder, number) ?? "the worker did not start")
      : `killed by ${signal}${ranOutOfMemory(signal, folder, number) ? `: out of memory; ${MORE_HEAP}` : ""}`);
  return { status: "failed", exitCode, error };
}

interface Outcome {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  readonly problem?: string;
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

/** What a worker that could not even begin said last. */
function lastError(folder: string, number: number): string | undefined {
  const lines = lastLines(jobLog(folder, number), 40);
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
}

/** Node has said so before it aborts. */
const ranOutOfMemory = (signal: NodeJS.Signals, folder: string, number: number): boolean =>
  signal === "SIGABRT" && isHeapFull(lastLines(jobLog(folder, number), 100));

const seconds = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${milliseconds / 60_000} min`;
