/** Hands a sweep to a process of its own, or to a scheduler. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { makeDirectory } from "../../foundation/system/files.ts";
import { INTERRUPTS } from "../../foundation/system/process-signals.ts";
import { plural } from "../../foundation/text/plural.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import type { Logging } from "../job/logging/logging.ts";
import type { SweepJob } from "../job/plan-job.ts";
import { listenForInterrupt } from "../job/process/interrupt.ts";
import { DRIVER_VARIABLE, DRIVES, type Invocation } from "../job/process/invocation.ts";
import { makeSweepDirectory } from "../job/run-directory.ts";
import { EXIT_ERROR, EXIT_OK } from "../job/session.ts";
import { lastLines } from "../launch/job-log.ts";
import { refuseUnstartable } from "../launch/worker.ts";
import { launcherLog } from "../record/layout.ts";
import { nextCommands, typedCommand } from "../record/next-commands.ts";
import { cancelSweep } from "./cancel.ts";
import { type OpenSweep, openSweep, shownProgram, withResumeHint } from "./open-sweep.ts";
import { type CheckedBatch, type LaunchedTask, planChecked } from "./plan-sweep.ts";
import type { SweepSession } from "./registry.ts";
import { beginSweep } from "./run-sweep.ts";

/**
 * `--detach`: composes, checks and records every job known so far, hands the jobs to a scheduler or to a separate
 * process, and prints how to follow them. The separate process calls the sweep's callbacks. A signal that ends this
 * process takes the sweep back until it is completely handed over; closing the terminal does not.
 *
 * @returns the exit code: 0 after the handover, 128 + N if signal N took the sweep back
 * @throws ConfigError for errors that a sweep in the foreground would report before its first job, and `app.launcher`
 * if the process ended before it took over
 */
export async function detachSweep(
  session: SweepSession,
  task: LaunchedTask,
  logging: Logging,
): Promise<number> {
  const { invocation } = session;
  const open = await openSweep(session, task, logging);
  const { record, sweep } = open;
  try {
    const admitted = await admitAll(open);
    if (admitted === null) return EXIT_ERROR;
    refuseUnstartable(record.facts());
    const interrupt = listenForInterrupt(TAKE_BACK);
    const handed = canLeaveAll(open, admitted)
      ? submit(open, admitted, interrupt.signal)
      : leaveToDriver(open, invocation, interrupt.signal);
    const who = await handed.catch((error: unknown) => {
      if (interrupt.exitCode() === undefined) throw error;
    });
    const exitCode = interrupt.exitCode();
    if (exitCode !== undefined) {
      // Cancelling signals the holder of the claim, which must not be this process.
      record.release();
      await takeBack(sweep.directory, session);
    }
    interrupt.release();
    if (exitCode !== undefined) return exitCode;
    const { stdout } = invocation.console;
    stdout(
      `${who}\n${nextCommands(sweep.directory, undefined, typedCommand(invocation)?.hydraconf)}`,
    );
    return EXIT_OK;
  } catch (error) {
    throw withResumeHint(error, sweep.directory, shownProgram(session));
  } finally {
    record.release();
  }
}

/** Closing the terminal is a normal use of `--detach`. */
const TAKE_BACK = INTERRUPTS.filter((signal) => signal !== "SIGHUP");

/** Cancels the whole sweep: its start has not been reported to the user yet. */
async function takeBack(directory: string, session: SweepSession): Promise<void> {
  const { invocation, registry } = session;
  const { console, env } = invocation;
  const { launchers } = await registry();
  await cancelSweep({ directory, env, launchers, say: (line) => console.stderr(`${line}\n`) });
  console.stderr(
    `The sweep in ${shellQuote(directory)} was stopped before it started\n` +
      `  ${shownProgram(session)} --resume ${shellQuote(directory)}   runs it\n`,
  );
}

/** The known jobs to run, by batch. */
interface Admitted {
  readonly batches: readonly (readonly SweepJob[])[];
}

/**
 * Checks all batches and records them in the manifest. A search needs results for its next batch, so only its
 * first one is recorded.
 *
 * @returns null if jobs were refused
 */
async function admitAll(open: OpenSweep): Promise<Admitted | null> {
  const { record, sweep } = open;
  const { directory, sweeper } = sweep;
  if (record.isResumed) makeSweepDirectory(directory, record);
  const planned: CheckedBatch[] = [];
  let count = 0;
  for (let batch = sweeper.ask(); batch !== undefined; batch = sweeper.ask()) {
    const checked = await planChecked(batch, count, open);
    count += checked.jobs.length;
    planned.push(checked);
    if (sweeper.judgesFailures === true) break;
  }
  if (planned.some(({ isFit }) => !isFit)) return null;
  beginSweep(sweep, record);
  record.admit(
    planned.flatMap(({ jobs }) => jobs),
    sweeper.judgesFailures === true,
  );
  record.conclude(sweeper.judgesFailures !== true);
  return { batches: planned.map(({ due }) => due) };
}

/**
 * Whether a scheduler alone can finish the sweep: nothing depends on the outcome of its jobs, neither the next
 * batch nor (with `on_failure`) whether waiting jobs may start, and no callback waits for the sweep's end.
 */
const canLeaveAll = (
  { launcher, policy, surroundings, sweep }: OpenSweep,
  { batches }: Admitted,
): boolean =>
  launcher.submit !== undefined &&
  batches.length === 1 &&
  sweep.sweeper.judgesFailures !== true &&
  policy.kind !== "stop" &&
  !surroundings.callbacks.hasAny(SWEEP_METHODS);

/** The callbacks that the process running the sweep calls, and not its jobs. */
const SWEEP_METHODS = ["onComposeConfig", "onMultirunStart", "onMultirunEnd"] as const;

async function submit(
  { launcher, sweep }: OpenSweep,
  { batches }: Admitted,
  signal: AbortSignal,
): Promise<string> {
  const jobs = batches.flat();
  if (jobs.length > 0) await launcher.submit?.(jobs, signal);
  const directory = shellQuote(sweep.directory);
  return sweep.mode === "run"
    ? `The job in ${directory} was handed to the scheduler`
    : `${plural(jobs.length, "job")} of the sweep in ${directory} handed to the scheduler`;
}

async function leaveToDriver(
  { record, sweep }: OpenSweep,
  invocation: Invocation,
  signal: AbortSignal,
): Promise<string> {
  const log = launcherLog(record.folder);
  const pid = await startDriver({
    command: invocation.command ?? [],
    args: driverArguments(sweep.directory, invocation.resumed),
    cwd: invocation.cwd,
    env: invocation.env,
    log,
    onStart: record.handOver,
    signal,
  });
  return `Process ${pid} runs the ${sweep.mode === "run" ? "job" : "sweep"} in ${shellQuote(sweep.directory)}; it logs to ${shellQuote(log)}`;
}

/** The arguments with which another process continues the sweep, as `--resume` would. */
function driverArguments(directory: string, resumed: Invocation["resumed"]): readonly string[] {
  if (resumed === undefined) return ["--resume", directory];
  const { acceptChanges, added = [], failed, missing } = resumed;
  return [
    ...(missing ? ["--resume", directory] : []),
    ...(failed ? ["--retry-failed", directory] : []),
    ...(acceptChanges ? ["--accept-changes"] : []),
    ...added,
  ];
}

export interface DriverStart {
  /** What starts the program: `[node, ..., script]`. */
  readonly command: readonly string[];
  /** Its arguments: those that carry the sweep on. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The log file for all its output; appended to. */
  readonly log: string;
  /** Called as soon as the process exists. */
  readonly onStart: (pid: number) => void;
  /** Ends the wait for its first message; the caller then takes care of the process. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a process that continues a sweep after this one, its terminal and its session are gone: the leader of a new
 * session, without input and with its output in a file.
 *
 * @returns its process id, once it drives the sweep
 * @throws ConfigError `app.launcher` if it ended before, with its last output, or if the signal came
 */
export async function startDriver(request: DriverStart): Promise<number> {
  const { args, command, cwd, env, log, onStart, signal } = request;
  const [file = "", ...first] = command;
  makeDirectory(dirname(log));
  const output = openSync(log, "a", 0o600);
  const sizeBefore = fstatSync(output).size;
  // Not execa, which pipes through this process; `detached` calls setsid: no terminal signal reaches it.
  const child = spawn(file, [...first, ...args], {
    cwd,
    env: { ...env, [DRIVER_VARIABLE]: "1" },
    stdio: ["ignore", output, output, "ipc"],
    detached: true,
  });
  closeSync(output);
  if (child.pid !== undefined) onStart(child.pid);
  const problem = await firstWord(child, signal);
  if (child.connected) child.disconnect();
  child.unref();
  if (problem === undefined) return child.pid ?? 0;
  const said = lastLines(log, LINES, sizeBefore).join("\n");
  throw new ConfigError({
    code: "app.launcher",
    message: `The process that was to run the sweep ${problem}${said === "" ? "" : `:\n${said}`}`,
    hint: `its full output is in ${log}`,
  });
}

/** Undefined once the process drives the sweep; else why it will not. */
const firstWord = (child: ChildProcess, stop?: AbortSignal): Promise<string | undefined> =>
  new Promise((settle) => {
    const onStop = () => settle("was not waited for");
    stop?.addEventListener("abort", onStop, { once: true });
    if (stop?.aborted === true) onStop();
    child.once("error", ({ message }) => settle(`could not be started: ${message}`));
    child.once("message", (word) => word === DRIVES && settle(undefined));
    child.once("exit", (code, signal) =>
      settle(signal === null ? `ended with code ${code}` : `was killed by ${signal}`),
    );
  });

/** How many lines of its output an error shows. */
const LINES = 12;
