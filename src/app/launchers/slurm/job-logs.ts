import { readdirSync } from "node:fs";
import { join } from "node:path";
import { lastLines } from "../../worker/log-tail.ts";
import { type SubmittedTask, slurmLog, taskName } from "./submissions.ts";

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
 * The state of Slurm in which the last run of a task ended, by what it wrote there itself: known also where it has forgotten the
 * task. Undefined where it wrote nothing of that.
 */
export const loggedState = (folder: string, task: SubmittedTask): string | undefined => {
  const line = ofLastRun(slurmLog(folder, task)).findLast((one) => CANCELLED.test(one));
  return line && (STATES.find(([cause]) => line.includes(cause))?.[1] ?? "CANCELLED");
};

/** Slurm's words for every end of a job that it brings about; that of a step may have brought itself about. */
const CANCELLED = /^slurmstepd[^ ]*: (?:error: )?\*\*\* JOB .*CANCELLED AT /;

const STATES = [
  ["DUE TO TIME LIMIT", "TIMEOUT"],
  ["DUE TO PREEMPTION", "PREEMPTED"],
  ["DUE TO NODE FAILURE", "NODE_FAIL"],
] as const;

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
