import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { makeDirectory } from "../../../make-directory.ts";
import {
  begun,
  ended,
  type JobState,
  readJobState,
  writeJobState,
} from "../../sweep/record/job-state.ts";
import { jobLog, jobsFolder } from "../../sweep/record/layout.ts";
import type { LiveWorker } from "../../worker/left-behind.ts";
import { GRACE_MS, identityOf, signalGroup } from "../../worker/process-identity.ts";
import type { WorkerCommand } from "../../worker/worker-command.ts";

export interface WorkerRun {
  readonly command: WorkerCommand;
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
 */
export function startWorker({ command, env, folder, number, timeLimit }: WorkerRun): StartedWorker {
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
  // From its first moment on, so that a launcher that comes after us finds it however soon we are killed.
  if (child.pid !== undefined)
    writeJobState(folder, withIdentity(begun(number, before), child.pid));
  closeSync(log);
  let asked: NodeJS.Signals | "timeout" | undefined;
  let killer: NodeJS.Timeout | undefined;
  const kill = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) signalGroup(child.pid, signal);
    killer ??= setTimeout(
      () => child.pid !== undefined && signalGroup(child.pid, "SIGKILL"),
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
    // What fails because it was asked to end was stopped: it is still to be done.
    const gaveUp = asked !== undefined && asked !== "timeout" && written?.status === "failed";
    if (isOver && asked !== "timeout" && !gaveUp) return written as JobState;
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
    pid: child.pid,
    signal(signal) {
      asked ??= signal;
      kill(signal);
    },
    ended: judge(),
  };
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
  const lines = readFileSync(jobLog(folder, number), "utf8").trimEnd().split("\n").slice(-40);
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
}

const seconds = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${milliseconds / 60_000} min`;
