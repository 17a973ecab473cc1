import { readdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { lastLines } from "../../worker/log-tail.ts";
import { type SubmittedTask, slurmLog, taskName } from "./submissions.ts";
import type { TaskReport } from "./task-state.ts";

/**
 * The folder where the job of a task logs.
 *
 * @param pattern `submitit_folder`: `%j`, `%A` and `%a` in it stand for the task and its parts
 */
export const logFolder = (pattern: string, task: Pick<SubmittedTask, "array" | "index">): string =>
  pattern
    .replaceAll("%j", taskName(task))
    .replaceAll("%A", task.array)
    .replaceAll("%a", String(task.index));

/** Enough for what Node says as it dies, and what Slurm says then. */
const LINES = 100;

/** The last lines of what Slurm says itself of a task's last run. */
export const lastSlurmLines = (folder: string, task: SubmittedTask): readonly string[] =>
  ofLastRun(slurmLog(folder, task));

/** The last lines of what each process of a task's job has printed in its last run. */
export const lastJobLines = (task: SubmittedTask): readonly string[] =>
  jobLogs(task).flatMap(ofLastRun);

/**
 * How the last run of a task ended, by what Slurm's daemon and its `srun` wrote of it themselves: known also where Slurm has forgotten
 * the task. Undefined where they wrote nothing of that.
 *
 * @param slurmLines what Slurm says itself: `lastSlurmLines`
 * @param jobLines what the job has printed: `lastJobLines`
 */
export function loggedEnd(
  slurmLines: readonly string[],
  jobLines: readonly string[],
): Pick<TaskReport, "exitCode" | "state"> | undefined {
  const line = slurmLines.findLast((one) => CANCELLED.test(one));
  if (line !== undefined) {
    const state = STATES.find(([cause]) => line.includes(cause))?.[1] ?? "CANCELLED";
    return { state, exitCode: null };
  }
  const codes = [...slurmLines, ...jobLines].flatMap(stepCode);
  // As srun itself ends, and the script with it.
  return codes.length === 0 ? undefined : { state: "FAILED", exitCode: Math.max(...codes) };
}

/** Slurm's words for every end of a job that it brings about; that of a step may have brought itself about. */
const CANCELLED = /^slurmstepd[^ ]*: (?:error: )?\*\*\* JOB .*CANCELLED AT /;

const STATES = [
  ["DUE TO TIME LIMIT", "TIMEOUT"],
  ["DUE TO PREEMPTION", "PREEMPTED"],
  ["DUE TO NODE FAILURE", "NODE_FAIL"],
] as const;

/** The code of a process that did not end well, by `srun`; 128 and the number of a signal that ended it. */
function stepCode(line: string): readonly number[] {
  const [, code, signal] = STEP_ENDED.exec(line) ?? [];
  if (code !== undefined) return [Number(code)];
  const name = SIGNALS.find(([words]) => words === signal)?.[1];
  return name === undefined ? [] : [128 + constants.signals[name]];
}

/** As the C library says which it was. */
const SIGNALS = [
  ["Aborted", "SIGABRT"],
  ["Bus error", "SIGBUS"],
  ["Floating point exception", "SIGFPE"],
  ["Hangup", "SIGHUP"],
  ["Illegal instruction", "SIGILL"],
  ["Interrupt", "SIGINT"],
  ["Killed", "SIGKILL"],
  ["Segmentation fault", "SIGSEGV"],
  ["Terminated", "SIGTERM"],
] as const;

/** `srun: error: n1: task 0: Killed`, `srun: error: n1: tasks 0-3: Exited with exit code 7`. */
const STEP_ENDED = new RegExp(
  `^srun: error: \\S+: tasks? [\\d,-]+: (?:Exited with exit code (\\d+)|(${SIGNALS.map(([words]) => words).join("|")}))`,
);

/** A task that is queued again logs behind what it logged before: that was another end. */
function ofLastRun(file: string): readonly string[] {
  const lines = lastLines(file, LINES);
  return lines.slice(lines.findLastIndex((line) => RUN_BOUNDARY.test(line)) + 1);
}

/** As the script of a task writes it (`batch-script.ts`). */
const RUN_BOUNDARY = /^hydraconf: job #\d+ \(\d+_\d+\) (?:is queued|runs) again$/;

/** None where nobody has noted where they are, or they are gone. */
function jobLogs(task: SubmittedTask): readonly string[] {
  if (task.logs === undefined) return [];
  const folder = logFolder(task.logs, task);
  try {
    // Of the job's processes, if there are several, and of its script.
    const names = readdirSync(folder).filter((name) => name.startsWith(`${taskName(task)}_`));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}
