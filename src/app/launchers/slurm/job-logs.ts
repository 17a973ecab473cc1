import { readdirSync } from "node:fs";
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

/** The last lines of what Slurm says of a task's last run, and of what each process of its job has printed then. */
export const lastLogLines = (folder: string, task: SubmittedTask): readonly string[] =>
  [slurmLog(folder, task), ...jobLogs(task)].flatMap(ofLastRun);

/** What Slurm said last of the last run of a task; undefined where it said nothing. */
export const lastSlurmLine = (folder: string, task: SubmittedTask): string | undefined =>
  ofLastRun(slurmLog(folder, task)).at(-1)?.trim();

/**
 * How the last run of a task ended, by what Slurm's daemon and its `srun` wrote of it themselves: known also where Slurm has forgotten
 * the task. Undefined where they wrote nothing of that.
 */
export function loggedEnd(
  folder: string,
  task: SubmittedTask,
): Pick<TaskReport, "exitCode" | "state"> | undefined {
  const line = ofLastRun(slurmLog(folder, task)).findLast((one) => CANCELLED.test(one));
  if (line !== undefined) {
    const state = STATES.find(([cause]) => line.includes(cause))?.[1] ?? "CANCELLED";
    return { state, exitCode: null };
  }
  const ends = lastLogLines(folder, task).flatMap((one) => {
    const found = STEP_ENDED.exec(one);
    return found === null ? [] : [found[1]];
  });
  if (ends.length === 0) return undefined;
  const code = ends.at(-1);
  return { state: "FAILED", exitCode: code === undefined ? null : Number(code) };
}

/** Slurm's words for every end of a job that it brings about; that of a step may have brought itself about. */
const CANCELLED = /^slurmstepd[^ ]*: (?:error: )?\*\*\* JOB .*CANCELLED AT /;

const STATES = [
  ["DUE TO TIME LIMIT", "TIMEOUT"],
  ["DUE TO PREEMPTION", "PREEMPTED"],
  ["DUE TO NODE FAILURE", "NODE_FAIL"],
] as const;

/** Of a process that did not end well: `srun: error: n1: task 0: Killed`, `srun: error: n1: tasks 0-3: Exited with exit code 7`. */
const STEP_ENDED =
  /^srun: error: \S+: tasks? [\d,-]+: (?:Exited with exit code (\d+)|Killed|Aborted|Segmentation fault|Bus error|Illegal instruction|Floating point exception)/;

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
