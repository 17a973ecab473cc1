/** The task of `hydraconf run`, which runs a program as the job. */

import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import {
  CHECKPOINT_VARIABLE,
  checkpointOf,
  removeUnusedCheckpoint,
} from "../app/job/checkpoint.ts";
import { endedFromOutside, exitCode, type Job, type Task } from "../app/job/job.ts";
import { METRICS_FILE } from "../app/job/metrics.ts";
import type { JobFacts } from "../app/job/options.ts";
import type { Console, Invocation } from "../app/job/process/invocation.ts";
import { isHeapFull, MORE_HEAP } from "../app/launch/job-log.ts";
import { enderBySignal, FEWER_JOBS, memoryKills } from "../app/launch/local/worker-end.ts";
import { type JobReport, OUTPUT_VARIABLE } from "../app/record/job-report.ts";
import { GRACE_MS } from "../app/record/orphans.ts";
import type { Dialect } from "../engine/values/dialect.ts";
import { ConfigError } from "../engine/values/errors.ts";
import { makeDirectory } from "../foundation/system/files.ts";
import { getOrCreate, once } from "../foundation/system/get-or-create.ts";
import type { Signal } from "../foundation/system/platform-types.ts";
import { openGuard } from "../foundation/system/process-guard.ts";
import { statOf } from "../foundation/system/process-identity.ts";
import { INTERRUPTS } from "../foundation/system/process-signals.ts";
import { jobCommand, RESULT_FILE } from "./job-command.ts";
import { type JobValue, resultInFile, resultInOutput } from "./job-result.ts";
import type { Program } from "./program-command-line.ts";
import { errorIn, errorText, type ProgramError } from "./program-failure.ts";
import {
  type PythonFiles,
  placeCallback,
  placeReport,
  type ResultReport,
} from "./python-callbacks.ts";
import {
  type ProgramEnd,
  type ProgramStart,
  type RunningProgram,
  startProgram,
} from "./running-program.ts";
import { canBeWarm, openWarmPython, type WarmChoice, type WarmPython } from "./warm-python.ts";

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
  const ways = openWays(program, invocation, carried);
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
    const { argv, env, file, hasMode = false } = jobCommand(program, facts);
    const { report, start } = ways(job, config.context.dialect);
    // A job that continues another one has the directory of that one's trial.
    const isNew = job.continues !== undefined || !existsSync(checkpointOf(job));
    let checkpoint: string | undefined;
    try {
      checkpoint = job.checkpoint;
      if (file !== undefined) {
        makeDirectory(job.outputDir);
        // The file holds the secrets that the program needs.
        writeFileSync(file.path, file.text(), { mode: 0o600 });
      }
      const outcome = await runProgram(
        {
          argv: [...argv, ...(report?.overrides ?? [])],
          env: {
            ...env,
            ...report?.env,
            ...ownVariables(job),
            [CHECKPOINT_VARIABLE]: checkpoint,
          },
          // A program of Hydra changes its directory itself.
          cwd: program.pass === "hydra" ? invocation.cwd : process.cwd(),
          hasMode,
          readsStdin: job.number === undefined,
          keepsOutput: program.resultOnStdout,
          isWorker: invocation.worker !== undefined,
        },
        start,
      );
      return judged(outcome, program, {
        report: report?.read(),
        isWorker: invocation.worker !== undefined,
        job,
        tell: invocation.console.stderr,
      });
    } finally {
      report?.remove();
      // Other processes of a scheduler's job may still write it.
      const isAlone = invocation.worker === undefined || invocation.worker.start !== undefined;
      if (checkpoint !== undefined && isNew && isAlone) removeUnusedCheckpoint(checkpoint);
    }
  };
}

/** How the program of a job starts, and how it tells its result. */
interface Way {
  readonly start: (program: ProgramStart) => RunningProgram;
  readonly report?: ResultReport;
}

/** Chooses the way of each job. A process that runs several jobs may keep an interpreter for them. */
function openWays(
  program: Program,
  { console, worker }: Pick<Invocation, "console" | "worker">,
  carried: (dialect: Dialect) => PythonFiles,
): (job: Job, dialect: Dialect) => Way {
  const mayBeWarm = worker?.isReused === true && canBeWarm(program);
  const kept = new Map<WarmChoice, WarmPython>();
  return (job, dialect) => {
    if (program.pass !== "hydra") return { start: startProgram };
    if (program.app?.kind === "script") return { start: startProgram, report: placeReport() };
    const isOneOfMany = mayBeWarm && job.number !== undefined;
    const choice = isOneOfMany ? ((job.get("hydra.launcher.warm") ?? null) as WarmChoice) : false;
    if (choice !== false) {
      const { callback, start } = getOrCreate(kept, choice, () =>
        openWarmPython(program, { choice, files: carried(dialect), note: console.stderr }),
      );
      return { start, report: callback.report(`report-${job.number}.json`) };
    }
    const callback = placeCallback(process.env, carried(dialect));
    return {
      start: startProgram,
      report: { ...callback.report("report.json"), remove: callback.remove },
    };
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

interface ProgramRun extends Omit<ProgramStart, "onErrors" | "onOutput"> {
  /** Whether to keep the end of its standard output in addition to that of its errors. */
  readonly keepsOutput: boolean;
  /** Whether this process leads the process group that a launcher signals. */
  readonly isWorker: boolean;
}

/** The end of a program. */
interface ProgramOutcome extends ProgramEnd {
  readonly argv: readonly string[];
  /** The first signal that asked this process to end meanwhile. */
  readonly interrupted: Signal | undefined;
  /** Whether the kernel killed processes for lack of memory meanwhile; undefined if it does not say. */
  readonly lacksMemory: boolean | undefined;
  readonly output: string;
  readonly errors: string;
}

/**
 * Runs a program in the process group of this process, so that keyboard signals and the signals of a launcher,
 * including SIGKILL, reach both.
 */
async function runProgram(
  { isWorker, keepsOutput, ...run }: ProgramRun,
  start: (program: ProgramStart) => RunningProgram,
): Promise<ProgramOutcome> {
  const killsBefore = memoryKills();
  const output = keepTail(process.stdout);
  const errors = keepTail(process.stderr);
  const program = start({
    ...run,
    onErrors: errors.take,
    ...(keepsOutput && { onOutput: output.take }),
  });
  const interrupt = passSignals(program.kill, isWorker);
  const ended = await program.ended;
  return {
    argv: run.argv,
    ...ended,
    interrupted: interrupt.release(),
    lacksMemory: killsBefore === undefined ? undefined : (memoryKills() ?? 0) > killsBefore,
    output: output.tail(),
    errors: errors.tail(),
  };
}

/** Keeps the end of a program's output, and copies all of it as long as there is a reader. */
function keepTail(to: NodeJS.WriteStream) {
  let tail = "";
  const decoder = new StringDecoder("utf8");
  return {
    take(chunk: Buffer): void {
      to.write(chunk);
      tail = (tail + decoder.write(chunk)).slice(-TAIL_CHARACTERS);
    },
    tail: () => tail,
  };
}

/** How long to wait before a signal that the launcher sent to the whole group is repeated to the program. */
const AGAIN_MS = 2_000;

/**
 * Forwards signals that ask this process to end, and waits for the program: its end is that of the job. Signals of a
 * terminal or a launcher have reached the program, too, so they are not sent twice at once.
 */
function passSignals(send: RunningProgram["kill"], isWorker: boolean) {
  let first: Signal | undefined;
  const timers: NodeJS.Timeout[] = [];
  const hasTerminal = (statOf("self")?.foreground ?? -1) > 0;
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
  const value =
    report?.broken ?? (report?.result == null ? resultOf(outcome, program, job) : report);
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
