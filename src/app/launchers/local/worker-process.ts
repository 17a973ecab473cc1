import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { makeDirectory } from "../../../make-directory.ts";
import { ConfigError } from "../../../values/errors.ts";
import {
  begun,
  ended,
  type JobState,
  readJobState,
  writeJobState,
} from "../../sweep/record/job-state.ts";
import { jobFile, jobLog, jobsFolder } from "../../sweep/record/layout.ts";
import { identityOf, isRunning } from "../../worker/process-identity.ts";
import type { WorkerCommand } from "../../worker/worker-command.ts";

/** How long a process that was asked to end may take before it is killed. */
const GRACE_MS = 10_000;
const POLL_MS = 100;

export interface WorkerRun {
  readonly command: WorkerCommand;
  readonly folder: string;
  readonly number: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds; null for any. */
  readonly timeLimit: number | null;
}

/** A worker that runs. */
export interface WorkerProcess {
  /** Passes a signal on. */
  signal(signal: NodeJS.Signals): void;
  /** The job's state after the worker has ended, whoever had to write it. */
  readonly ended: Promise<JobState>;
}

/**
 * Starts a worker in a process group of its own, so that a key typed at the terminal reaches it once
 * and only through us, and with its output in a file, so that it needs us for nothing.
 */
export function startWorker({ command, env, folder, number, timeLimit }: WorkerRun): WorkerProcess {
  makeDirectory(jobsFolder(folder));
  const before = readJobState(folder, number);
  const log = openSync(jobLog(folder, number), "a");
  // Not execa, which pipes through us: files must be the worker's own.
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: { ...env, ...command.env },
    stdio: ["ignore", log, log],
    detached: true,
  });
  const over = outcomeOf(child);
  closeSync(log);
  let asked: NodeJS.Signals | "timeout" | undefined;
  let killer: NodeJS.Timeout | undefined;
  const kill = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) killGroup(child.pid, signal);
    killer ??= setTimeout(
      () => child.pid !== undefined && killGroup(child.pid, "SIGKILL"),
      GRACE_MS,
    );
  };
  const limit =
    timeLimit === null
      ? undefined
      : setTimeout(() => {
          asked ??= "timeout";
          kill("SIGTERM");
        }, timeLimit);
  const judge = async (): Promise<JobState> => {
    const { exitCode, problem, signal } = await over;
    clearTimeout(limit);
    clearTimeout(killer);
    const written = readJobState(folder, number);
    const started = (written?.attempts.length ?? 0) > (before?.attempts.length ?? 0);
    const isOver = started && written?.status !== "running";
    if (isOver && asked !== "timeout") return written as JobState;
    const state = started
      ? (written as JobState)
      : withIdentity(begun(number, before), child.pid ?? 0);
    const [status, code, error] =
      asked === "timeout"
        ? (["timed_out", exitCode, `took longer than ${seconds(timeLimit ?? 0)}`] as const)
        : asked !== undefined
          ? (["stopped", 128 + constants.signals[asked], `stopped by ${asked}`] as const)
          : ([
              "failed",
              exitCode,
              problem ??
                (signal === null
                  ? (lastError(folder, number) ?? "the worker did not start")
                  : `killed by ${signal}`),
            ] as const);
    // A job that was done in time is done, however long it then took to leave.
    if (isOver && state.status === "completed") return state;
    const final = ended(state, { status, exitCode: code, error });
    writeJobState(folder, final, true);
    return final;
  };
  return {
    signal(signal) {
      asked ??= signal;
      kill(signal);
    },
    ended: judge(),
  };
}

/**
 * Waits for a worker that an earlier launcher left behind; undefined where there is none.
 *
 * @throws ConfigError `app.sweep_record` for one on another machine, which cannot be asked about
 */
export function leftBehind(folder: string, number: number): WorkerProcess | undefined {
  const state = readJobState(folder, number);
  const last = state?.attempts.at(-1);
  if (state?.status !== "running" || last === undefined) return undefined;
  const running = isRunning(last);
  if (running === "elsewhere")
    throw new ConfigError({
      code: "app.sweep_record",
      message: `Job #${number} was running as process ${last.pid} on ${last.host}, which cannot be asked from here`,
      hint: `resume on ${last.host}; if that process is no more, remove ${jobFile(folder, number)}`,
    });
  if (!running) return undefined;
  const wait = async (): Promise<JobState> => {
    while (isRunning(last) === true) await sleep(POLL_MS);
    const after = readJobState(folder, number) ?? state;
    if (after.status !== "running") return after;
    const final = ended(after, { status: "failed", exitCode: null, error: "killed" });
    writeJobState(folder, final, true);
    return final;
  };
  return { signal: (signal) => killGroup(last.pid, signal), ended: wait() };
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

/** The process may have ended by itself. */
function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function withIdentity(state: JobState, pid: number): JobState {
  const last = state.attempts.at(-1);
  return last === undefined
    ? state
    : { ...state, attempts: [...state.attempts.slice(0, -1), { ...last, ...identityOf(pid) }] };
}

/** What a worker that could not even begin said last. */
function lastError(folder: string, number: number): string | undefined {
  const lines = readFileSync(jobLog(folder, number), "utf8").trimEnd().split("\n").slice(-40);
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
}

const seconds = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${milliseconds / 60_000} min`;
