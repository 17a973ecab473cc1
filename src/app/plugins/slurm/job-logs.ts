/** What the logs of Slurm's tasks say of their ends. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { lastLines } from "../../launch/job-log.ts";
import { type SubmittedTask, slurmLog, taskName } from "./submissions.ts";
import type { TaskReport } from "./task-state.ts";

/**
 * The folder for logs of a task's job.
 *
 * @param pattern `submitit_folder`, in which `%j`, `%A` and `%a` stand for the task and its parts
 */
export const logFolder = (pattern: string, task: Pick<SubmittedTask, "array" | "index">): string =>
  pattern
    .replaceAll("%j", taskName(task))
    .replaceAll("%A", task.array)
    .replaceAll("%a", String(task.index));

/** Enough for the last messages of a dying Node process and of Slurm. */
const LINES = 100;

/** The last lines of Slurm's own messages about a task's last run. */
export const lastSlurmLines = (folder: string, task: SubmittedTask): readonly string[] =>
  ofLastRun(slurmLog(folder, task)).filter((line) => !SCRIPT_END.test(line));

/** Finds the logs of a task's job: one for each of its processes, and that of its script. */
export type JobLogs = (task: SubmittedTask) => readonly string[];

/** Lists each folder once: it may hold the logs of all jobs of a sweep. */
export function createJobLogs(): JobLogs {
  const found = new Map<string, ReadonlyMap<string, readonly string[]>>();
  return (task) => {
    // Empty if the folder is not recorded.
    if (task.logs === undefined) return [];
    const folder = logFolder(task.logs, task);
    const names = found.get(folder) ?? namesByTask(folder);
    found.set(folder, names);
    return (names.get(taskName(task)) ?? []).map((name) => join(folder, name));
  };
}

/** The last lines of output of each process of a task's job in its last run. */
export const lastJobLines = (files: readonly string[]): readonly string[] =>
  files.flatMap(ofLastRun);

export interface LoggedEnd extends Pick<TaskReport, "exitCode" | "state"> {
  /** The time of the end; null if unknown. */
  readonly ended: Date | null;
}

/**
 * How the last run of a task ended, according to the log of Slurm's daemon and of the task's script: available even if
 * Slurm has forgotten the task. Undefined if they logged nothing about it.
 */
export function loggedEnd(folder: string, task: SubmittedTask): LoggedEnd | undefined {
  const file = slurmLog(folder, task);
  const lines = ofLastRun(file);
  const line = lines.findLast((text) => CANCELLED.test(text));
  if (line !== undefined) {
    const state = STATES.find(([cause]) => line.includes(cause))?.[1] ?? "CANCELLED";
    return { state, exitCode: null, ended: writtenLast(file) };
  }
  const code = lines
    .map((text) => SCRIPT_END.exec(text)?.[1])
    .findLast((code) => code !== undefined);
  if (code === undefined) return undefined;
  return { state: "FAILED", exitCode: Number(code), ended: writtenLast(file) };
}

/** The end of the run is the last entry of the file. Null if the file is gone. */
const writtenLast = (file: string): Date | null =>
  statSync(file, { throwIfNoEntry: false })?.mtime ?? null;

/** Slurm's message for each end of a job that Slurm causes; a step may have ended by itself. */
const CANCELLED = /^slurmstepd[^ ]*: (?:error: )?\*\*\* JOB .*CANCELLED AT /;

const STATES = [
  ["DUE TO TIME LIMIT", "TIMEOUT"],
  ["DUE TO PREEMPTION", "PREEMPTED"],
  ["DUE TO NODE FAILURE", "NODE_FAIL"],
] as const;

/** A requeued task appends to its earlier log, which describes another end. */
function ofLastRun(file: string): readonly string[] {
  const lines = lastLines(file, LINES);
  return lines.slice(lines.findLastIndex((line) => RUN_BOUNDARY.test(line)) + 1);
}

/** The line that the script of a task writes (`batch-script.ts`). */
const RUN_BOUNDARY = /^hydraconf: job #\d+ \(\d+_\d+\) (?:is queued|runs) again$/;
/** The script's own end; a job may start steps that end in any way, and continue. */
const SCRIPT_END = /^hydraconf: job #\d+ \(\d+_\d+\) ended with code (\d+)$/;

function namesByTask(folder: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const name of namesIn(folder)) {
    const task = /^\d+_\d+(?=_)/.exec(name)?.[0];
    if (task !== undefined) getOrCreate(names, task, () => []).push(name);
  }
  return names;
}

/** Empty if the folder is gone. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
