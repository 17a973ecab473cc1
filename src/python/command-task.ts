/** The task of `hydraconf run`, which runs a program as the job. */

import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { endedFromOutside, exitCode, type Job, type Task } from "../app/job/job.ts";
import type { JobFacts } from "../app/job/options.ts";
import type { Console, Invocation } from "../app/job/process/invocation.ts";
import { isHeapFull, MORE_HEAP } from "../app/launch/job-log.ts";
import { enderBySignal, FEWER_JOBS, memoryKills } from "../app/launch/local/worker-end.ts";
import { type JobReport, OUTPUT_VARIABLE } from "../app/record/job-report.ts";
import { GRACE_MS } from "../app/record/orphans.ts";
import type { Dialect } from "../engine/values/dialect.ts";
import { ConfigError } from "../engine/values/errors.ts";
import { makeDirectory } from "../foundation/system/files.ts";
import { startProblem } from "../foundation/system/find-program.ts";
import { once } from "../foundation/system/get-or-create.ts";
import type { Signal } from "../foundation/system/platform-types.ts";
import { openGuard } from "../foundation/system/process-guard.ts";
import { statOf } from "../foundation/system/process-identity.ts";
import { INTERRUPTS } from "../foundation/system/process-signals.ts";
import type { Program } from "./command-line.ts";
import { jobCommand, METRICS_FILE, RESULT_FILE } from "./job-command.ts";
import { type JobValue, resultInFile, resultInOutput } from "./job-result.ts";
import { errorIn, errorText, type ProgramError } from "./program-failure.ts";
import { type PythonFiles, placeCallback, placeReport } from "./python-callbacks.ts";

/** How much of a program's output is kept to find its error and its result. */
const TAIL_CHARACTERS = 64_000;

/**
 * A task that runs a program to its end with the job's config. The program's output and result are the job's; its exit
 * code or exception is the job's failure.
 *
 * @param carried files that a program of Python's Hydra is to find
 */
export function commandTask(
  program: Program,
  invocation: Invocation,
  carried: (dialect: Dialect) => PythonFiles,
): Task {
  const guard = once(guardGroup);
  return async (config, job) => {
    if (invocation.worker !== undefined) guard();
    const facts: JobFacts = {
      ...(job.number !== undefined && { number: job.number }),
      outputDir: job.outputDir,
      overrides: job.overrides,
      root: job.root,
      context: config.context,
      resolved: job.resolved,
    };
    const { argv, env, file } = jobCommand(program, facts);
    const report =
      program.pass !== "hydra"
        ? undefined
        : program.app?.kind === "script"
          ? placeReport()
          : placeCallback(process.env, carried(config.context.dialect));
    if (file !== undefined) {
      makeDirectory(job.outputDir);
      // The file holds the secrets that the program needs.
      writeFileSync(file.path, file.text(), { mode: 0o600 });
    }
    try {
      const outcome = await runProgram({
        argv: [...argv, ...(report?.overrides ?? [])],
        env: { ...env, ...report?.env, ...ownVariables(job) },
        // A program of Hydra changes its directory itself.
        cwd: program.pass === "hydra" ? invocation.cwd : process.cwd(),
        readsStdin: job.number === undefined,
        keepsOutput: program.resultOnStdout,
        isWorker: invocation.worker !== undefined,
      });
      return judged(outcome, program, {
        report: report?.read(),
        isWorker: invocation.worker !== undefined,
        job,
        tell: invocation.console.stderr,
      });
    } finally {
      report?.remove();
    }
  };
}

/**
 * Has the process group of this process, a worker, killed when that is gone without having ended by itself: a program would go on
 * alone, beside the same job when the sweep is resumed, if the launcher was killed, too.
 */
function guardGroup(): void {
  if (statOf("self")?.group !== process.pid) return;
  const guard = openGuard();
  guard.watch(-process.pid);
  process.once("exit", guard.release);
}

const ownVariables = ({ number, outputDir }: Job): Readonly<Record<string, string>> => ({
  HYDRACONF_RESULT: join(outputDir, RESULT_FILE),
  HYDRACONF_METRICS: join(outputDir, METRICS_FILE),
  [OUTPUT_VARIABLE]: outputDir,
  ...(number !== undefined && { HYDRACONF_JOB_NUMBER: String(number) }),
});

interface ProgramRun {
  readonly argv: readonly string[];
  /** Variables to add to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly readsStdin: boolean;
  /** Whether to keep the end of its standard output in addition to that of its errors. */
  readonly keepsOutput: boolean;
  /** Whether this process leads the process group that a launcher signals. */
  readonly isWorker: boolean;
}

/** The end of a program. */
interface ProgramOutcome {
  readonly argv: readonly string[];
  /** Null if a signal ended it, or it never started. */
  readonly code: number | null;
  readonly signal: Signal | null;
  /** Why it never started. */
  readonly problem?: string;
  /** The first signal that asked this process to end meanwhile. */
  readonly interrupted: Signal | undefined;
  /** Whether the kernel killed processes for lack of memory meanwhile; undefined if it does not say. */
  readonly lacksMemory: boolean | undefined;
  readonly output: string;
  readonly errors: string;
}

/**
 * Runs a program in the process group of this process, so that keyboard signals and the signals of a launcher,
 * including SIGKILL, reach both. Without execa: loading it would take as long as many programs run, for each job that a
 * launcher starts.
 */
async function runProgram(run: ProgramRun): Promise<ProgramOutcome> {
  const { argv, cwd, env, keepsOutput, readsStdin } = run;
  const [file = "", ...args] = argv;
  const killsBefore = memoryKills();
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: [readsStdin ? "inherit" : "ignore", keepsOutput ? "pipe" : "inherit", "pipe"],
  });
  const output = keepTail(child.stdout, process.stdout);
  const errors = keepTail(child.stderr, process.stderr);
  const interrupt = passSignals(child, run.isWorker);
  const ended = await endOf(child);
  return {
    argv,
    ...ended,
    interrupted: interrupt.release(),
    lacksMemory: killsBefore === undefined ? undefined : (memoryKills() ?? 0) > killsBefore,
    output: output(),
    errors: errors(),
  };
}

/** Waits for a program's end and its last output, after which it does not keep this process alive. */
export const endOf = (
  child: ChildProcess,
): Promise<Pick<ProgramOutcome, "code" | "signal" | "problem">> =>
  new Promise((settle) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      settle({ code: null, signal: null, problem: startProblem(error.code, error.message) }),
    );
    // Not forever: processes that it left behind may hold its pipes open.
    child.once("exit", (code, signal) => {
      const end = (): void => {
        clearTimeout(timer);
        for (const pipe of [child.stdout, child.stderr])
          if (pipe !== null && "unref" in pipe && typeof pipe.unref === "function") pipe.unref();
        settle({ code, signal });
      };
      const timer = setTimeout(end, LAST_WORDS_MS);
      child.once("close", end);
    });
  });

const LAST_WORDS_MS = 500;

/** Keeps the end of a program's output, and copies all of it as long as there is a reader. */
function keepTail(from: ChildProcess["stdout"], to: NodeJS.WriteStream): () => string {
  let tail = "";
  const decoder = new StringDecoder("utf8");
  from?.on("data", (chunk: Buffer) => {
    to.write(chunk);
    tail = (tail + decoder.write(chunk)).slice(-TAIL_CHARACTERS);
  });
  return () => tail;
}

/** How long to wait before a signal that the launcher sent to the whole group is repeated to the program. */
const AGAIN_MS = 2_000;

/**
 * Forwards signals that ask this process to end, and waits for the program: its end is that of the job. Signals of a
 * terminal or a launcher have reached the program, too, so they are not sent twice at once.
 */
function passSignals(child: ChildProcess, isWorker: boolean) {
  let first: Signal | undefined;
  const timers: NodeJS.Timeout[] = [];
  const hasTerminal = (statOf("self")?.foreground ?? -1) > 0;
  const send = (signal: Signal): void => void child.kill(signal);
  const onSignal = (signal: Signal): void => {
    if (first === undefined) timers.push(setTimeout(() => send("SIGKILL"), GRACE_MS));
    first ??= signal;
    const isByKey = (signal === "SIGINT" || signal === "SIGQUIT") && hasTerminal;
    if (isByKey) return;
    if (!isWorker) send(signal);
    else if (signal === "SIGTERM" || signal === "SIGHUP")
      timers.push(setTimeout(() => send(signal), AGAIN_MS));
  };
  for (const signal of INTERRUPTS) process.on(signal, onSignal);
  return {
    release() {
      for (const signal of INTERRUPTS) process.off(signal, onSignal);
      for (const timer of timers) clearTimeout(timer);
      return first;
    },
  };
}

/** The result of a job, or why it failed. */
function judged(
  outcome: ProgramOutcome,
  program: Program,
  {
    isWorker,
    job,
    report,
    tell,
  }: {
    readonly isWorker: boolean;
    readonly report: JobReport | undefined;
    readonly job: Job;
    readonly tell: Console["stderr"];
  },
): unknown {
  const { code, interrupted, lacksMemory, problem, signal } = outcome;
  const name = basename(program.app?.file ?? outcome.argv[0] ?? "");
  if (problem !== undefined)
    throw new ConfigError({
      code: "app.job",
      message: `'${outcome.argv[0]}' could not be started: ${problem}`,
      hint: "give the program after -- as the shell would find it: a name on PATH, or a path such as ./prog",
    });
  if (interrupted !== undefined && (code !== 0 || signal !== null))
    return endedFromOutside(
      isWorker ? { by: "signal", signal: interrupted } : { by: "launcher", signal: interrupted },
      { returnValue: report?.result },
    );
  const value = report?.result == null ? resultOf(outcome, program, job) : report;
  if (signal !== null) {
    const why = [`${name} was ended by ${signal}`, ...whyEnded(outcome, job)].join(": ");
    // The program could not say so, and a single job has no table of failures.
    if (job.number === undefined) tell(`${why}\n`);
    const endedBy = enderBySignal(signal, lacksMemory === true);
    return { ...exitCode(1, { reason: why }), endedBy };
  }
  if (code !== 0) {
    const told = report?.reason === undefined ? report?.error : { message: report.reason };
    const error = told ?? errorIn(outcome.errors);
    return exitCode(code ?? 1, {
      returnValue: valueIn(value),
      reason: whyFailed(name, code, error),
    });
  }
  if ("kind" in value && value.kind === "broken") {
    job.log.error(`${value.message}\n  Hint: ${value.hint}`);
    return exitCode(1, { reason: value.message });
  }
  return valueIn(value);
}

type Result = JobValue | { readonly result?: unknown };

const valueIn = (value: Result): unknown =>
  "kind" in value ? (value.kind === "value" ? value.value : undefined) : value.result;

function resultOf(
  { output }: ProgramOutcome,
  { resultOnStdout }: Program,
  { outputDir }: Job,
): JobValue {
  const written = resultInFile(join(outputDir, RESULT_FILE));
  return written.kind === "none" && resultOnStdout ? resultInOutput(output) : written;
}

function whyEnded(
  { errors, lacksMemory, signal }: ProgramOutcome,
  { number }: Pick<Job, "number">,
): readonly string[] {
  if (signal === "SIGKILL") {
    const remedy = number === undefined ? "" : `; ${FEWER_JOBS}`;
    if (lacksMemory === true) return [`the machine ran out of memory${remedy}`];
    return [
      lacksMemory === false
        ? "it was killed from outside"
        : "it was killed, by a user or by the kernel for want of memory",
    ];
  }
  // An uncaught exception of C++ and a failed assertion end with it.
  if (signal !== "SIGABRT") return [];
  if (isHeapFull(errors.split("\n"))) return [`out of memory; ${MORE_HEAP}`];
  const error = errorIn(errors);
  return error === undefined ? [] : [errorText(error)];
}

const whyFailed = (name: string, code: number | null, error: ProgramError | undefined): string =>
  error === undefined ? `${name} ended with exit code ${code}` : errorText(error);
