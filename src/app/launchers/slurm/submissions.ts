import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomicSync } from "../../../atomic-write.ts";
import { schedulerFolder } from "../../sweep/record/layout.ts";

/** Files of a sweep's Slurm side, in its `.sweep` folder. */
export const slurmFolder = schedulerFolder;
export const timeoutFolder = (folder: string): string => join(slurmFolder(folder), "timeouts");
/** A file for each task that is over and that nobody needs to ask Slurm about again. */
const overFolder = (folder: string): string => join(slurmFolder(folder), "over");
const submissionsFile = (folder: string): string => join(slurmFolder(folder), "submissions.json");

/** A job array that was handed to Slurm: the file `.sweep/slurm/submissions.json` lists them. */
export interface Submission {
  /** The batch script, an absolute path; written before the array exists, so that it names it. */
  readonly script: string;
  /** Slurm's number of the array; null until sbatch has told it. */
  readonly array: string | null;
  /** In the order of the array's indices. */
  readonly jobs: readonly SubmittedJob[];
}

export interface SubmittedJob {
  readonly number: number;
  /** How often it had been started before it was submitted: what comes later is of this array. */
  readonly attempts: number;
}

export function readSubmissions(folder: string): readonly Submission[] {
  try {
    return JSON.parse(readFileSync(submissionsFile(folder), "utf8")) as readonly Submission[];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

export const writeSubmissions = (folder: string, submissions: readonly Submission[]): void =>
  writeFileAtomicSync(submissionsFile(folder), `${JSON.stringify(submissions)}\n`);

/** A job as a task of an array. */
export interface SubmittedTask extends SubmittedJob {
  readonly array: string;
  readonly index: number;
}

/** Where each job was submitted last. */
export function tasksOf(submissions: readonly Submission[]): ReadonlyMap<number, SubmittedTask> {
  const tasks = new Map<number, SubmittedTask>();
  for (const { array, jobs } of submissions)
    if (array !== null)
      for (const [index, job] of jobs.entries()) tasks.set(job.number, { ...job, array, index });
  return tasks;
}

export const taskName = ({ array, index }: Pick<SubmittedTask, "array" | "index">): string =>
  `${array}_${index}`;

/** Notes that a task is over. A file of its own: who only looks must not write where a launcher does. */
export const noteOver = (folder: string, task: Pick<SubmittedTask, "array" | "index">): void =>
  writeFileAtomicSync(join(overFolder(folder), taskName(task)), "");

/** The names of tasks that are over for sure; others may be, too. */
export function tasksKnownOver(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(overFolder(folder)));
  } catch {
    return new Set();
  }
}

/** Where Slurm writes what it has to say of a task itself: that it was killed, and why. */
export const slurmLog = (folder: string, task: Pick<SubmittedTask, "array" | "index">): string =>
  join(slurmFolder(folder), `${taskName(task)}.log`);
