import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { lastLines } from "../../launch/job-log.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
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
  ofLastRun(slurmLog(folder, task)).filter((line) => !SCRIPT_END.test(line));

/** Finds the logs of tasks' jobs: of each of a job's processes, if there are several, and of its script. */
export type JobLogs = (task: SubmittedTask) => readonly string[];

/** Each folder is listed once: it may have the logs of all jobs of a sweep. */
export function createJobLogs(): JobLogs {
  const found = new Map<string, ReadonlyMap<string, readonly string[]>>();
  return (task) => {
    // None where their place is not noted.
    if (task.logs === undefined) return [];
    const folder = logFolder(task.logs, task);
    const names = found.get(folder) ?? namesByTask(folder);
    found.set(folder, names);
    return (names.get(taskName(task)) ?? []).map((name) => join(folder, name));
  };
}

/** The last lines of what each process of a task's job has printed in its last run. */
export const lastJobLines = (files: readonly string[]): readonly string[] =>
  files.flatMap(ofLastRun);

export interface LoggedEnd extends Pick<TaskReport, "exitCode" | "state"> {
  /** When; null where that is not known. */
  readonly at: Date | null;
}

/**
 * How the last run of a task ended, by what Slurm's daemon and the task's script wrote of it themselves: known also where Slurm has
 * forgotten the task. Undefined where they wrote nothing of that.
 */
export function loggedEnd(folder: string, task: SubmittedTask): LoggedEnd | undefined {
  const file = slurmLog(folder, task);
  const lines = ofLastRun(file);
  const line = lines.findLast((one) => CANCELLED.test(one));
  if (line !== undefined) {
    const state = STATES.find(([cause]) => line.includes(cause))?.[1] ?? "CANCELLED";
    return { state, exitCode: null, at: writtenLast(file) };
  }
  const code = lines.map((one) => SCRIPT_END.exec(one)?.[1]).findLast((one) => one !== undefined);
  if (code === undefined) return undefined;
  return { state: "FAILED", exitCode: Number(code), at: writtenLast(file) };
}

/** Its end is the last that is written there. Null where the file is gone by now. */
const writtenLast = (file: string): Date | null =>
  statSync(file, { throwIfNoEntry: false })?.mtime ?? null;

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
/** Its own end; a job may start steps that end in any way, and go on. */
const SCRIPT_END = /^hydraconf: job #\d+ \(\d+_\d+\) ended with code (\d+)$/;

function namesByTask(folder: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const name of namesIn(folder)) {
    const task = /^\d+_\d+(?=_)/.exec(name)?.[0];
    if (task !== undefined) getOrCreate(names, task, () => []).push(name);
  }
  return names;
}

/** None where they are gone. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
