/** Runs workloads: process groups, output, time limits, signals. */
import { closeSync, createWriteStream, fstatSync, openSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { Writable } from "node:stream";
import { execa } from "execa";
import { fileProblem, isSystemError } from "../../foundation/system/files.ts";
import type { Signal, StopSignal } from "../../foundation/system/platform-types.ts";
import { openGuard } from "../../foundation/system/process-guard.ts";
import {
  openEnding,
  type Suspension,
  suspendGroups,
} from "../../foundation/system/process-signals.ts";
import { interruptOf } from "./stop-signals.ts";
import { detectSuspension } from "./suspend-detector.ts";

/** How a workload ended; the fields are the same for success and failure. */
export interface ProcessOutcome {
  readonly argv: readonly string[];
  /** Null if it never started or a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: Signal | null;
  /** Why it could not be started; null if it started. */
  readonly startError: string | null;
  /** The signal for which we stopped it, if that is why it ended. */
  readonly interruptedBy: Signal | null;
  /** Only for the contract of `run.json`. */
  readonly durationMs: number;
  /** How long Ctrl-Z suspended it with this process; absent if it did not. */
  readonly pausedMs?: number;
  /** How long this process was suspended from outside, and presumably the workload, too; absent if it was not. */
  readonly suspendedMs?: number;
  /** How long the machine slept meanwhile; absent if it did not. */
  readonly sleptMs?: number;
  readonly stdoutFile: string;
  readonly stderrFile: string;
  /** Last lines of its standard error, for the error message. */
  readonly stderrTail: string;
  /** The file with incomplete output, and why; absent if all output was written. */
  readonly unwritten?: string;
}

/** The start and the end of a program, in nanoseconds of CLOCK_MONOTONIC. */
export interface ProgramTimes {
  readonly pid: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export interface RunOptions {
  /** The directory for `stdout.*` and `stderr.txt`. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly interrupt: StopRequests;
  /** How long a stopped workload may take to end before it is killed; default 5 s. */
  readonly graceMs?: number;
  /** Called when its process has been started. */
  readonly onStart?: (pid: number) => void;
  /** Called when its own process has ended, while its children may still run; not called if it could not be started. */
  readonly onEnd?: (times: ProgramTimes) => void;
}

/** The user's requests to stop a workload; each aborts with a signal's name as its reason. */
export interface StopRequests {
  /** The workload gets the signal, and some seconds to end. */
  readonly stop: StopSignal;
  /** The workload is killed at once. */
  readonly kill: StopSignal;
  /**
   * Ctrl-Z: the workload is suspended and resumed with this process. Without it, the workload continues while this
   * process is suspended.
   */
  readonly suspension?: Suspension;
  /**
   * Whether a workload is killed if this process is gone without having waited for it: as a job of a sweep, it would run beside
   * itself once that is resumed. Without it, it goes on.
   */
  readonly isGuarded?: boolean;
}

const GRACE_MS = 5_000;
const TAIL_BYTES = 4_096;
const TAIL_LINES = 20;

export const succeeded = (outcome: ProcessOutcome): boolean => outcome.exitCode === 0;

/**
 * Runs a workload to its end; never throws for errors of the workload. The workload gets its own process group, so that
 * stopping it also stops its children.
 */
export async function runWorkload(
  workload: Workload,
  options: RunOptions,
): Promise<ProcessOutcome> {
  const [program = "", ...args] = workload.argv;
  const isDocument = workload.stdout === "document";
  const stdoutFile = join(options.directory, isDocument ? "stdout.json" : "stdout.txt");
  const stderrFile = join(options.directory, "stderr.txt");
  // Like the pause, before the process exists, so that they cover its first moment.
  const guard = options.interrupt.isGuarded === true ? openGuard(workload) : undefined;
  const started = performance.now();
  const startNs = process.hrtime.bigint();
  const copies = [fileCopy(stdoutFile), fileCopy(stderrFile)] as const;

  const pause = pauseWithUs(() => child.pid, options.interrupt);
  const child = execa(program, args, {
    cwd: workload.cwd,
    env: { ...workload.env, ...options.env },
    stdio: [
      "inherit",
      // Paired with a pipe, because our stream has no descriptor that the program could inherit.
      [copies[0].stream, isDocument ? "pipe" : terminalCopy(process.stdout)],
      [copies[1].stream, isDocument ? "pipe" : terminalCopy(process.stderr)],
      ...launcherDescriptor(process.env["PMI_FD"]),
    ],
    buffer: false,
    reject: false,
    detached: true,
    cleanup: false,
  });
  const { pid } = child;
  if (pid !== undefined) guard?.watch(-pid);
  // Its children may hold its output open for longer.
  if (pid !== undefined) options.onStart?.(pid);
  if (pid !== undefined)
    child.once("exit", () => options.onEnd?.({ pid, startNs, endNs: process.hrtime.bigint() }));
  const stop = stopOnInterrupt(child.pid, options.interrupt, options.graceMs ?? GRACE_MS);
  const endWatch = detectSuspension();
  const result = await child.finally(() => {
    stop.dispose();
    pause.dispose();
    guard?.release();
  });
  const { sleptMs, suspendedMs } = endWatch();

  const unwritten = copies.map(({ problem }) => problem()).find((problem) => problem !== null);
  const neverStarted = child.pid === undefined;
  return {
    argv: workload.argv,
    exitCode: neverStarted ? null : (result.exitCode ?? null),
    signal: (result.signal as Signal | undefined) ?? null,
    startError: neverStarted ? startErrorText(program, workload.cwd, result.code) : null,
    interruptedBy: stop.interruptedBy(),
    durationMs: performance.now() - started,
    stdoutFile,
    stderrFile,
    stderrTail: readableTail(stderrFile),
    ...(unwritten != null && { unwritten }),
    ...(pause.milliseconds() > 0 && { pausedMs: pause.milliseconds() }),
    ...(suspendedMs > 0 && { suspendedMs }),
    ...(sleptMs > 0 && { sleptMs }),
  };
}

function stopOnInterrupt(pid: number | undefined, { stop, kill }: StopRequests, graceMs: number) {
  if (pid === undefined) return { interruptedBy: () => null, dispose: () => {} };
  let reason: Signal | null = null;
  const ending = openEnding(pid, { graceMs, reach: "leader" });
  const stopGroup = () => {
    reason = interruptOf(stop);
    ending.end(reason);
  };
  if (stop.aborted) stopGroup();
  else stop.addEventListener("abort", stopGroup, { once: true });
  kill.addEventListener("abort", ending.kill, { once: true });
  return {
    interruptedBy: () => reason,
    dispose: () => {
      ending.release();
      stop.removeEventListener("abort", stopGroup);
      kill.removeEventListener("abort", ending.kill);
    },
  };
}

/** The workload leads its own process group, which keyboard signals do not reach. */
function pauseWithUs(pidOf: () => number | undefined, { suspension }: StopRequests) {
  let milliseconds = 0;
  let since = 0;
  let goOn: (() => void) | undefined;
  const separate = suspension?.join({
    suspend() {
      const pid = pidOf();
      since = performance.now();
      goOn = pid === undefined ? undefined : suspendGroups(pid);
    },
    resume() {
      goOn?.();
      milliseconds += performance.now() - since;
    },
  });
  return { milliseconds: () => milliseconds, dispose: () => separate?.() };
}

function startErrorText(program: string, cwd: string, code: string | undefined): string {
  if (code === "ENOENT") return `'${program}' was not found (started in ${cwd})`;
  if (code === "EACCES" && program.includes("/")) return `'${program}' is not executable`;
  // For a bare name, also if a directory of PATH may not be searched.
  if (code === "EACCES")
    return `'${program}' was not found on PATH as a program that this user may run`;
  return `'${program}' could not be started (${code ?? "unknown reason"})`;
}

/** The last lines of a file; empty if it cannot be read, because the measurements matter more. */
function readableTail(file: string): string {
  try {
    return lastLines(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return "";
  }
}

function lastLines(file: string): string {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return "";
  const length = Math.min(size, TAIL_BYTES);
  const bytes = Buffer.alloc(length);
  const descriptor = openSync(file, "r");
  try {
    readSync(descriptor, bytes, 0, length, size - length);
  } finally {
    closeSync(descriptor);
  }
  return bytes.toString("utf8").trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}

/** Notes for readers of the report about files with incomplete output. */
export const cutOutput = ({ unwritten }: ProcessOutcome): readonly string[] =>
  unwritten === undefined ? [] : [`the program's output is incomplete in ${unwritten}`];

/** Notes for readers of times about a workload that was suspended. */
export const pauseNotes = ({
  pausedMs,
  sleptMs,
  suspendedMs,
}: Pick<ProcessOutcome, "pausedMs" | "sleptMs" | "suspendedMs">): readonly string[] => [
  ...(pausedMs === undefined
    ? []
    : [`the program was suspended (Ctrl-Z) for ${shownTime(pausedMs)}: ${INCLUDED}`]),
  ...(suspendedMs === undefined
    ? []
    : [
        `this job was suspended from outside for about ${shownTime(suspendedMs)} (Ctrl-Z at its sweep, the scheduler, a container): ${INCLUDED}`,
      ]),
  ...(sleptMs === undefined
    ? []
    : [
        `the machine slept for ${shownTime(sleptMs)} while the program ran: times do not include that, but what ran next began with cold caches and clocks`,
      ]),
];

const INCLUDED = "wall times of regions that were open then include the pause";

const shownTime = (ms: number): string =>
  ms < 1000 ? `${Math.ceil(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

/** The incomplete output files of several runs. */
export function unwrittenOfAll(
  outcomes: readonly ProcessOutcome[],
): Pick<ProcessOutcome, "unwritten"> {
  const files = [...new Set(outcomes.flatMap(({ unwritten }) => unwritten ?? []))];
  return files.length === 0 ? {} : { unwritten: files.join("; ") };
}

/** How a workload ended, in one line, for logs, notes and errors. */
export function describeOutcome(outcome: ProcessOutcome): string {
  const name = basename(outcome.argv[0] ?? "");
  if (outcome.startError !== null) return outcome.startError;
  if (outcome.interruptedBy !== null) return `${name} was stopped by ${outcome.interruptedBy}`;
  if (outcome.signal !== null) return `${name} was ended by ${outcome.signal}`;
  return `${name} ended with exit code ${outcome.exitCode}`;
}

/** Why a collection is incomplete, in one line: its problem, or how the workload ended; null if it is complete. */
export function whyFailed({
  outcome,
  problem,
}: {
  readonly outcome: ProcessOutcome;
  readonly problem?: { readonly message: string } | null;
}): string | null {
  if (problem) return problem.message;
  return succeeded(outcome) ? null : describeOutcome(outcome);
}

interface FileCopy {
  readonly stream: Writable;
  /** The file's name and why it is incomplete; null if it is complete. Known when the stream has finished. */
  readonly problem: () => string | null;
}

/**
 * Copies to a file as long as that works. A full disk ends only the copy: the workload must not notice, and the
 * terminal still gets all output.
 */
function fileCopy(path: string): FileCopy {
  const file = createWriteStream(path);
  let problem: string | null = null;
  const fail = (error: Error | null | undefined): void => {
    if (error) problem ??= `${basename(path)}: ${fileProblem(error)}`;
  };
  file.on("error", fail);
  const stream = new Writable({
    write(chunk, _encoding, done) {
      if (problem !== null) {
        done();
        return;
      }
      file.write(chunk, (error) => {
        fail(error);
        done();
      });
    },
    final(done) {
      if (problem !== null) {
        done();
        return;
      }
      file.end((error?: Error | null) => {
        fail(error);
        done();
      });
    },
  });
  return { stream, problem: () => problem };
}

/** MPICH's launcher communicates with its ranks through a descriptor that a variable names; Node would close it. */
function launcherDescriptor(named: string | undefined): readonly ("inherit" | "ignore")[] {
  const descriptor = named !== undefined && /^\d{1,3}$/.test(named) ? Number(named) : 0;
  if (descriptor <= 2) return [];
  try {
    fstatSync(descriptor);
  } catch {
    return [];
  }
  return [...Array<"ignore">(descriptor - 3).fill("ignore"), "inherit"];
}

/**
 * A stream that copies to the terminal (or whatever reads our output) as long as that works. A reader that exits
 * (`| head`) ends only the copy: the workload must not notice.
 */
function terminalCopy(target: Writable): Writable {
  let open = true;
  const onError = () => {
    open = false;
  };
  target.once("error", onError);
  return new Writable({
    // Removes the listener, because there may be many runs.
    destroy(error, done) {
      target.off("error", onError);
      done(error);
    },
    write(chunk, _encoding, done) {
      if (!open || target.destroyed) {
        done();
        return;
      }
      target.write(chunk, (error) => {
        if (error) open = false;
        done();
      });
    },
  });
}

/**
 * A program to profile, ready to start: an argument vector (never a shell line), its directory and environment, and the
 * kind of its standard output.
 */
export interface Workload {
  /** Short name for progress and reports, e.g. `shallow_resnet` or the program's base name. */
  readonly label: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Variables to add to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * `forward`: a user's program, its output belongs on the terminal. `document`: the built-in
   * workload prints one JSON document, which is kept as a file.
   */
  readonly stdout: "forward" | "document";
  /** `cpu` or `cuda:N` if known before the run. */
  readonly device: string | null;
  /** Files that it reads, which `inputs.yaml` lists with their hashes. */
  readonly inputFiles: readonly string[];
  /** A command that prints a document with `peaks`, the peak rates of the device; absent without one. */
  readonly peaksArgv?: readonly string[];
}

/** The input of a workload's builder in addition to the config. */
export interface WorkloadContext {
  /** The user's working directory, from which relative paths start. */
  readonly cwd: string;
  /** `cpu` or `cuda:N`. */
  readonly device: string;
  /** Path of the built-in executable; empty if the workload does not need it. */
  readonly shallowResnet: string;
}
