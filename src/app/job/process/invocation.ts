/** What a program takes from its process: arguments, environment, console, requests of other processes. */
import { statSync, writeSync } from "node:fs";
import { type ProcessIdentity, statOf } from "../../../foundation/system/process-identity.ts";
import {
  type DirectOutput,
  standardStream,
  takesColor,
  terminalWidth,
  tolerateClosedPipes,
} from "../../../foundation/system/standard-streams.ts";
import { writerTo } from "../../../foundation/text/printable.ts";

/** Everything a program takes from its surroundings, in one place, so that tests can replace them. */
export interface Invocation {
  /** The arguments, without the interpreter and the script. */
  readonly argv: readonly string[];
  /** The file that was started, as it was called: `/usr/bin/deep-profile`, `/home/me/train.mjs`. */
  readonly script?: string;
  /** The command that starts this program again, without arguments: `[node, ..., script]`. */
  readonly command?: readonly string[];
  /**
   * The one job that this process is to run for a launcher.
   * @internal
   */
  readonly worker?: WorkerRequest;
  /**
   * Tells the process that started this one that it now drives the sweep.
   * @internal
   */
  readonly announce?: () => void;
  /**
   * The recorded sweep to resume.
   * @internal
   */
  readonly resumed?: ResumedSweep;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly console: Console;
  /**
   * The value of `HYDRACONF_TRUST` for processes that run this project again (docs/plugins.md).
   * @internal
   */
  readonly trust?: string;
  /** The dialect with which the sweep of a worker, or a resumed sweep, began. */
  readonly dialect?: string;
  /** The time of the run: one for every `${now:...}` in it. */
  readonly now: Date;
}

/** A resumed sweep, and which of its jobs are to run. */
export interface ResumedSweep extends Resumption {
  /** The absolute path of its directory. */
  readonly directory: string;
  /** Whether a separate process is to run it. */
  readonly detach?: boolean;
  /** Overrides that were added on the command line. */
  readonly added?: readonly string[];
  /** The numbers of the jobs that ran before the space of the search changed for the last time; absent if it never did. */
  readonly earlierJobs?: readonly number[];
}

/** The invocation that a test or another caller gives: what it leaves out is that of this process, without arguments. */
export const completeInvocation = (partial: Partial<Invocation>): Invocation => ({
  argv: [],
  env: process.env,
  cwd: partial.cwd ?? ownDirectory(),
  console: partial.console ?? processConsole(),
  now: new Date(),
  ...withoutUndefined(partial),
});

const withoutUndefined = (fields: Partial<Invocation>): Partial<Invocation> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** The invocation of this process. @param isCommand whether this is one of our commands, and not part of another program */
export function processInvocation(isCommand = false): Invocation {
  const worker = takeWorkerRequest(process.env);
  const announce = takeDriverRequest(process.env);
  return {
    argv: process.argv.slice(2),
    ...ownCommand(process.argv[1]),
    ...(worker !== undefined && { worker }),
    ...(announce !== undefined && { announce }),
    env: process.env,
    cwd: ownDirectory(),
    console: isCommand ? commandConsole() : programConsole(),
    now: new Date(),
  };
}

const commandConsole = (): Console => ({
  ...processConsole(standardStream("stdout"), standardStream("stderr")),
  openStreams: tolerateClosedPipes,
});

function programConsole(): Console {
  tolerateClosedPipes();
  return processConsole();
}

const processConsole = (
  stdout: NodeJS.WriteStream | DirectOutput = process.stdout,
  stderr: NodeJS.WriteStream | DirectOutput = process.stderr,
): Console => ({
  stdout: writerTo(stdout),
  stderr: writerTo(stderr),
  color: takesColor(stderr, process.env),
  stdoutColor: takesColor(stdout, process.env),
  ...(stdout.isTTY && { stdoutWidth: terminalWidth(process.env) }),
  ...(stderr.isTTY && canRedraw(process.env) && { terminal: terminalOf(stderr) }),
});

/** A single-file executable (with Node.js in it) is its own script. */
function ownCommand(script: string | undefined): Pick<Invocation, "command" | "script"> {
  if (script === undefined) return {};
  if (script === process.execPath) return { command: [script] };
  return { script, command: [process.execPath, ...inheritedOptions(), script] };
}

/** CI systems log their terminals, and a dumb terminal cannot move its cursor. */
const canRedraw = (env: NodeJS.ProcessEnv): boolean =>
  env["TERM"] !== "dumb" && ["", "0", "false", undefined].includes(env["CI"]);

/** Some terminals, in containers for example, report a width of 0. */
const terminalOf = (stream: NodeJS.WriteStream): Terminal => ({
  get columns() {
    return stream.columns || 80;
  },
  get rows() {
    return stream.rows || 24;
  },
  get isOthers() {
    return isInBackground();
  },
  control: (text) => void stream.write(text),
});

/** False if the system does not provide this. */
function isInBackground(): boolean {
  const stat = statOf("self");
  return stat !== undefined && stat.foreground > 0 && stat.foreground !== stat.group;
}

/** Node's own options, except for the debugger's, whose port is taken. */
const inheritedOptions = (): readonly string[] =>
  process.execArgv.filter((option) => !option.startsWith("--inspect"));

/** Where a program writes. Tests pass their own, the entry points that of the process. */
export interface Console {
  /**
   * Writes text, which includes its line breaks. To the terminal of a process, control characters other than line breaks,
   * tabs and colours are written as escapes; elsewhere it is unchanged.
   */
  readonly stdout: (text: string) => void;
  /** Likewise. */
  readonly stderr: (text: string) => void;
  /** Whether text on `stderr` may be coloured. */
  readonly color?: boolean;
  /** Whether text on `stdout` may be coloured. */
  readonly stdoutColor?: boolean;
  /** The columns of the terminal that `stdout` is; absent if it is none. */
  readonly stdoutWidth?: number;
  /** `stderr` as a terminal whose lines can be redrawn; absent if they cannot. */
  readonly terminal?: Terminal;
  /**
   * Called before work during which text is written: from then on no reader that is slow makes the process wait. Absent where
   * that is so from the beginning.
   * @internal
   */
  readonly openStreams?: () => void;
  /** Removes secrets from a text that will be stored. */
  readonly redact?: (text: string) => string;
  /** How many secrets `redact` knows. When this has grown, texts redacted earlier may still contain one. */
  readonly secretsKnown?: () => number;
}

/** The current state of a terminal. */
export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  /** Whether this process is in the background, so that the terminal belongs to another one. */
  readonly isOthers?: boolean;
  /** Writes text unchanged, with control sequences: none of it may be foreign. Absent: `stderr` of the console does. */
  readonly control?: (text: string) => void;
}

/**
 * The working directory of this process. If it was removed, or its name is not UTF-8, paths cannot be resolved or written:
 * then this ends the process with a message and exit code 1.
 */
export function ownDirectory(): string {
  let path: string;
  try {
    path = process.cwd();
  } catch {
    return end("The current directory was removed\n  Hint: change to an existing directory (cd)\n");
  }
  return isWholeName(path)
    ? path
    : end(
        `The name of the current directory is not UTF-8: ${path}\n  Hint: rename it, or change to another directory (cd)\n`,
      );
}

/** Node reads invalid UTF-8 as U+FFFD, which names another directory or none: results would be written to the wrong place. */
function isWholeName(path: string): boolean {
  if (!path.includes("\uFFFD")) return true;
  const named = statSync(path, { throwIfNoEntry: false });
  const here = statSync(".");
  return named !== undefined && named.ino === here.ino && named.dev === here.dev;
}

function end(message: string): never {
  try {
    writeSync(2, message);
  } catch {
    // The reader of stderr is gone.
  }
  return process.exit(1);
}

/** Which jobs of a recorded sweep are to run again. */
export interface Resumption {
  /** Jobs without an end of their own: never started, stopped, or killed with their process. */
  readonly missing: boolean;
  readonly failed: boolean;
  /** Whether a job's config may differ from the recorded one. */
  readonly acceptChanges: boolean;
  /** The numbers of jobs with a damaged record that may run again, although they may have ended. */
  readonly acceptDamaged?: readonly number[];
  /** Whether a search evaluates the recorded results differently than it did. */
  readonly judgesAnew?: boolean;
  /** Whether the sweep has other jobs than it began with: the values of its keys have changed. */
  readonly changesSpace?: boolean;
  /** Whether an earlier call changed them, and ended before it had recorded all the other jobs. */
  readonly changedSpaceInPart?: boolean;
}

// Requests in the environment from the process that started this one: to run one job of a sweep, or to drive the sweep.

/**
 * How a launcher asks a program to run one job of a sweep: it starts the program again with the arguments of the sweep
 * and with this variable, `NUMBER:FOLDER`. A variable rather than a flag, so that the program reads its own arguments
 * as it did the first time.
 */
export const WORKER_VARIABLE = "HYDRACONF_WORKER";

/** Set by a launcher that records the start itself: a `NotedStart` as JSON. */
const START_VARIABLE = "HYDRACONF_WORKER_START";

/** Set by a launcher that may send further jobs over an IPC channel. */
const REUSED_VARIABLE = "HYDRACONF_WORKER_REUSED";

/** One job of a sweep, to be run in this process. */
export interface WorkerRequest {
  /** The absolute path of the sweep's `.sweep` folder. */
  readonly folder: string;
  readonly number: number;
  /** Absent if this process records its start itself. */
  readonly start?: NotedStart;
  /** Whether the process that started this one may send it other jobs when this one is done. */
  readonly isReused?: boolean;
  /** What the worker trusts, because the process that began the sweep did; it may run where no record is. */
  readonly trust?: string;
}

/** The message of a launcher to an idle worker: its next job. */
export type NextJob = Required<Pick<WorkerRequest, "number" | "start">>;

/** The worker's reply on receipt of a job, before it begins work on it. */
export interface JobBegun {
  readonly begun: number;
}

/** The worker's message when a job is done. */
export interface JobDone {
  readonly done: number;
}

/** A start that the launcher records in the job's record, with the process that it started. */
export interface NotedStart {
  /** The attempt's id in the record. */
  readonly id: string;
  readonly launcher: ProcessIdentity;
}

/**
 * The variable that stands for the record of trusted projects (docs/plugins.md): `1` trusts every project, and a
 * fingerprint only the project that has it.
 */
export const TRUST_VARIABLE = "HYDRACONF_TRUST";

export const workerEnvironment = ({
  folder,
  isReused,
  number,
  start,
  trust,
}: WorkerRequest): Readonly<Record<string, string>> => ({
  ...(trust !== undefined && { [TRUST_VARIABLE]: trust }),
  ...(isReused === true && { [REUSED_VARIABLE]: "1" }),
  [WORKER_VARIABLE]: `${number}:${folder}`,
  ...(start !== undefined && { [START_VARIABLE]: JSON.stringify(start) }),
});

/**
 * Reads the request and removes it from the environment, so that programs that a job starts are not taken for workers.
 * Undefined without a request.
 */
export function takeWorkerRequest(
  env: Record<string, string | undefined>,
): WorkerRequest | undefined {
  const [, number, folder] = /^(\d+):(.+)$/s.exec(env[WORKER_VARIABLE] ?? "") ?? [];
  const start = env[START_VARIABLE];
  delete env[WORKER_VARIABLE];
  const isReused = env[REUSED_VARIABLE] !== undefined;
  delete env[START_VARIABLE];
  delete env[REUSED_VARIABLE];
  if (number === undefined || folder === undefined) return undefined;
  return {
    number: Number(number),
    folder,
    ...(start !== undefined && { start: JSON.parse(start) as NotedStart }),
    ...(isReused && { isReused }),
  };
}

/**
 * How `--detach` asks a program to continue a sweep in the background: this variable, and an IPC channel on which the
 * program confirms.
 */
export const DRIVER_VARIABLE = "HYDRACONF_DRIVER";

/** The program's message once it drives the sweep. */
export const DRIVES = "drives";

/**
 * Reads the request and removes it from the environment, so that programs that a job starts drive nothing.
 *
 * @returns confirms that this process now drives the sweep; undefined without a request
 */
function takeDriverRequest(env: Record<string, string | undefined>): (() => void) | undefined {
  if (env[DRIVER_VARIABLE] === undefined) return undefined;
  delete env[DRIVER_VARIABLE];
  return () => {
    if (!process.connected) return;
    // The process that asked may be gone: then no answer is needed.
    process.send?.(DRIVES, () => process.disconnect());
  };
}

/**
 * Reports a task whose promise can never settle: without this, Node ends the program silently, with a code that depends
 * on how the promise was awaited.
 *
 * @returns stops the check
 */
export function watchForLostTask(console: Console): () => void {
  const report = (): void => {
    console.stderr(
      "The program ended before its task did: the task awaits a promise that nothing can settle any more\n",
    );
    process.exitCode = 1;
  };
  process.once("beforeExit", report);
  return () => void process.removeListener("beforeExit", report);
}
