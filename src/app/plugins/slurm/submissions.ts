/** The record of what was submitted to Slurm, so that nothing is submitted twice. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../../engine/values/errors.ts";
import {
  writeFileAtomicSync,
  writeFileDurableSync,
} from "../../../foundation/system/atomic-write.ts";
import { errorCode, fileProblem } from "../../../foundation/system/files.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import {
  noteCount,
  openSealedLines,
  readSealedLines,
  sealedLinesText,
} from "../../../foundation/system/sealed-json.ts";
import {
  text as anyText,
  count,
  fits,
  listOf,
  maybe,
  objectOf,
  oneOf,
  orNull,
} from "../../../foundation/system/shape.ts";
import { launcherFolder } from "../../record/layout.ts";
import { recordRights } from "../../record/rights.ts";

/** The folder for the Slurm side of a sweep, in its `.sweep` folder. */
export const slurmFolder = (folder: string): string => launcherFolder(folder, LAUNCHER);
/** The name of the launcher. */
export const LAUNCHER = "slurm";
export const timeoutFolder = (folder: string): string => join(slurmFolder(folder), "timeouts");
/** A file for each task that is over and about which Slurm need not be asked again. */
const overFolder = (folder: string): string => join(slurmFolder(folder), "over");
/** `.sweep/slurm/submissions.jsonl`, with sealed lines; it only grows, however many arrays there are. */
const submissionsFile = (folder: string): string => join(slurmFolder(folder), "submissions.jsonl");
/** A job array that was submitted to Slurm, or is about to be. */
export interface Submission {
  /** The absolute path of the batch script; written before the array exists, so that it identifies the array. */
  readonly script: string;
  /** Slurm's number of the array; null until sbatch has returned it. */
  readonly array: string | null;
  /** In the order of the array's indices. */
  readonly jobs: readonly SubmittedJob[];
  /** The folder for their logs: `submitit_folder`, absolute. */
  readonly logs?: string;
  /** The key below `hydra.launcher` that sets their memory. Absent if none does. */
  readonly memory_key?: string;
  /** How many of its jobs run at a time. */
  readonly parallelism?: number;
}

export interface SubmittedJob {
  readonly number: number;
  /** How many starts the job had before it was submitted: later ones belong to this array. */
  readonly attempts: number;
}

/**
 * An entry about a submission, one per line of the file: that it exists, what became known since, or that it was
 * abandoned.
 */
export type SubmissionNote =
  | Submission
  | Pick<Submission, "script" | "array">
  | { readonly script: string; readonly given_up: true };

/**
 * The submissions in order.
 *
 * @throws ConfigError `app.sweep_damaged` for a list that is not as it was written
 */
export function readSubmissions(folder: string): readonly Submission[] {
  const made = new Map<string, Submission>();
  for (const note of notesOf(folder)) {
    const previous = made.get(note.script);
    if ("given_up" in note) made.delete(note.script);
    else if ("jobs" in note) made.set(note.script, note);
    else if (previous !== undefined) made.set(note.script, { ...previous, array: note.array });
  }
  return [...made.values()];
}

function notesOf(folder: string): readonly SubmissionNote[] {
  const found = linesOf(folder);
  try {
    return found.lines.map((line) => checked(line, isNote));
  } catch (cause) {
    throw unreadable(folder, fileProblem(cause), cause);
  }
}

/** @throws ConfigError `app.sweep_damaged` for a list that is not as it was written */
function linesOf(folder: string) {
  const file = submissionsFile(folder);
  try {
    const found = readSealedLines(file);
    if (found.kind === "damaged") throw unreadable(folder, found.problem);
    return found;
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return { lines: [], bytes: Buffer.alloc(0) };
  }
}

const unreadable = (folder: string, problem: string, cause?: unknown): ConfigError =>
  new ConfigError({
    code: "app.sweep_damaged",
    message: `Cannot read the sweep's Slurm submissions: ${submissionsFile(folder)}: ${problem}`,
    hint: "`squeue --me` lists the jobs; once they have ended or are cancelled, the folder of that file can be removed",
    ...(cause !== undefined && { cause }),
  });

const isSubmission = (value: unknown): value is Submission =>
  fits<Submission>(value, {
    script: anyText,
    array: orNull(anyText),
    jobs: listOf(objectOf<SubmittedJob>({ number: count, attempts: count })),
    logs: maybe(anyText),
    memory_key: maybe(anyText),
    parallelism: maybe(count),
  });

/** Distinguishes entries as `readSubmissions` does. */
function isNote(value: unknown): value is SubmissionNote {
  if (typeof value !== "object" || value === null) return false;
  if ("given_up" in value) return fits<GivenUp>(value, { script: anyText, given_up: oneOf(true) });
  if ("jobs" in value) return isSubmission(value);
  return fits<Known>(value, { script: anyText, array: orNull(anyText) });
}

type Known = Pick<Submission, "script" | "array">;
type GivenUp = Extract<SubmissionNote, { readonly given_up: true }>;

/** @throws SyntaxError for an invalid value */
function checked<T>(value: unknown, isWhole: (value: unknown) => value is T): T {
  if (isWhole(value)) return value;
  throw new SyntaxError(`not a valid submission record: ${JSON.stringify(value).slice(0, 80)}`);
}

/**
 * Survives a crash of the machine, too: jobs that Slurm has must not be submitted twice. Only for the process that has
 * claimed the sweep.
 */
export function noteSubmissions(folder: string, notes: readonly SubmissionNote[]): void {
  const file = submissionsFile(folder);
  const mode = recordRights(folder).file;
  if (existsSync(file)) {
    const { bytes, lines } = linesOf(folder);
    openSealedLines(file, bytes, lines.length).append(notes);
    return;
  }
  writeFileDurableSync(file, sealedLinesText(file, notes), { mode });
  noteCount(file, notes.length);
}

/** A job as a task of an array. */
export interface SubmittedTask extends SubmittedJob, Pick<Submission, "logs" | "memory_key"> {
  readonly array: string;
  readonly index: number;
}

/** The last submission of each job. */
export function tasksOf(submissions: readonly Submission[]): ReadonlyMap<number, SubmittedTask> {
  const tasks = new Map<number, SubmittedTask>();
  for (const { array, jobs, script: _, ...facts } of submissions)
    if (array !== null)
      for (const [index, job] of jobs.entries())
        tasks.set(job.number, { ...facts, ...job, array, index });
  return tasks;
}

export const taskName = ({ array, index }: Pick<SubmittedTask, "array" | "index">): string =>
  `${array}_${index}`;

/**
 * Records that a task is over, in a file of its own: a command that only reads must not write to the launcher's file.
 */
export const noteOver = (folder: string, task: Pick<SubmittedTask, "array" | "index">): void =>
  writeFileAtomicSync(join(overFolder(folder), taskName(task)), "", {
    mode: recordRights(folder).file,
  });

/** The names of tasks that are certainly over; others may be, too. */
export function tasksKnownOver(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(overFolder(folder)));
  } catch {
    return new Set();
  }
}

/** The file for Slurm's own messages about a task, such as that it was killed, and why. */
export const slurmLog = (folder: string, task: Pick<SubmittedTask, "array" | "index">): string =>
  join(slurmFolder(folder), `${taskName(task)}.log`);

/** Tasks in the form of Slurm's commands, an argument for each array: `77_[0-2,5]`, `78_3`. */
export function taskRanges(
  tasks: readonly Pick<SubmittedTask, "array" | "index">[],
): readonly string[] {
  const byArray = new Map<string, number[]>();
  for (const { array, index } of tasks) getOrCreate(byArray, array, () => []).push(index);
  return [...byArray].map(([array, indices]) => {
    const [only, ...more] = indices;
    return more.length === 0 ? `${array}_${only}` : `${array}_[${ranges(indices)}]`;
  });
}

function ranges(indices: readonly number[]): string {
  const found: [first: number, last: number][] = [];
  for (const index of indices.toSorted((a, b) => a - b)) {
    const last = found.at(-1);
    if (last?.[1] === index - 1) last[1] = index;
    else found.push([index, index]);
  }
  return found.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(",");
}
