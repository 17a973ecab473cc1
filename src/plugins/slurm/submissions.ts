import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { launcherFolder } from "../../record/layout.ts";
import {
  appendLinesDurableSync,
  writeFileAtomicSync,
  writeFileDurableSync,
} from "../../system/atomic-write.ts";
import { errorCode, fileProblem } from "../../system/files.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import {
  text as anyText,
  count,
  fits,
  listOf,
  maybe,
  objectOf,
  oneOf,
  orNull,
} from "../../system/shape.ts";
import { ConfigError } from "../../values/errors.ts";

/** Files of a sweep's Slurm side, in its `.sweep` folder. */
export const slurmFolder = (folder: string): string => launcherFolder(folder, LAUNCHER);
/** The name of the launcher. */
export const LAUNCHER = "slurm";
export const timeoutFolder = (folder: string): string => join(slurmFolder(folder), "timeouts");
/** A file for each task that is over and that Slurm need not be asked about again. */
const overFolder = (folder: string): string => join(slurmFolder(folder), "over");
/** `.sweep/slurm/submissions.jsonl`; it only grows, however many arrays there are. */
const submissionsFile = (folder: string): string => join(slurmFolder(folder), "submissions.jsonl");
/** What earlier versions wrote anew for each array: a list of submissions, in front of what was added since. */
const earlierFile = (folder: string): string => join(slurmFolder(folder), "submissions.json");

/** A job array that was handed to Slurm, or is about to be. */
export interface Submission {
  /** The batch script, an absolute path; written before the array exists, so that it names it. */
  readonly script: string;
  /** Slurm's number of the array; null until sbatch has told it. */
  readonly array: string | null;
  /** In the order of the array's indices. */
  readonly jobs: readonly SubmittedJob[];
  /** Where they log: `submitit_folder`, absolute. Not there in what early versions noted. */
  readonly logs?: string;
  /** The key below `hydra.launcher` that says how much memory they get. Not there where none does, or early versions noted it. */
  readonly memory_key?: string;
  /** How many of its jobs run at a time. Not there in what early versions noted. */
  readonly parallelism?: number;
}

export interface SubmittedJob {
  readonly number: number;
  /** How often it had been started before it was submitted: what comes later is of this array. */
  readonly attempts: number;
}

/** What is noted of a submission, a line of the file each: that there is one, what is known of it since, or that it came to nothing. */
export type SubmissionNote =
  | Submission
  | Pick<Submission, "script" | "array">
  | { readonly script: string; readonly given_up: true };

/**
 * In the order in which they were made.
 *
 * @throws ConfigError `app.sweep_record` for what is no list of them
 */
export function readSubmissions(folder: string): readonly Submission[] {
  const made = new Map<string, Submission>();
  for (const note of notesOf(folder)) {
    const before = made.get(note.script);
    if ("given_up" in note) made.delete(note.script);
    else if ("jobs" in note) made.set(note.script, note);
    else if (before !== undefined) made.set(note.script, { ...before, array: note.array });
  }
  return [...made.values()];
}

function notesOf(folder: string): readonly SubmissionNote[] {
  const earlier = parsedFile(earlierFile(folder), (text) =>
    checked(JSON.parse(text), isSubmissions),
  );
  // Behind the last whole line there may be half of one that a dead launcher was about to write.
  const since = parsedFile(submissionsFile(folder), (text) =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => checked(JSON.parse(line), isNote)),
  );
  return [...earlier, ...since];
}

const isSubmission = (value: unknown): value is Submission =>
  fits<Submission>(value, {
    script: anyText,
    array: orNull(anyText),
    jobs: listOf(objectOf<SubmittedJob>({ number: count, attempts: count })),
    logs: maybe(anyText),
    memory_key: maybe(anyText),
    parallelism: maybe(count),
  });

const isSubmissions = (value: unknown): value is readonly Submission[] =>
  Array.isArray(value) && value.every(isSubmission);

/** Told apart as `readSubmissions` does. */
function isNote(value: unknown): value is SubmissionNote {
  if (typeof value !== "object" || value === null) return false;
  if ("given_up" in value) return fits<GivenUp>(value, { script: anyText, given_up: oneOf(true) });
  if ("jobs" in value) return isSubmission(value);
  return fits<Known>(value, { script: anyText, array: orNull(anyText) });
}

type Known = Pick<Submission, "script" | "array">;
type GivenUp = Extract<SubmissionNote, { readonly given_up: true }>;

/** @throws SyntaxError for what is something else */
function checked<T>(value: unknown, isWhole: (value: unknown) => value is T): T {
  if (isWhole(value)) return value;
  throw new SyntaxError(`not a valid submission record: ${JSON.stringify(value).slice(0, 80)}`);
}

/** Nothing where there is no file. */
function parsedFile<T>(file: string, parse: (text: string) => readonly T[]): readonly T[] {
  const text = textOf(file);
  try {
    return text === undefined ? [] : parse(text);
  } catch (cause) {
    throw new ConfigError({
      code: "app.sweep_record",
      message: `Cannot read the sweep's Slurm submissions: ${file}: ${fileProblem(cause)}`,
      hint: "`squeue --me` lists the jobs; once they have ended or are cancelled, the file can be removed",
      cause,
    });
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Survives the machine, too: what Slurm has must not be submitted a second time. Only for who has claimed the sweep. */
export function noteSubmissions(folder: string, notes: readonly SubmissionNote[]): void {
  const file = submissionsFile(folder);
  const lines = notes.map((note) => `${JSON.stringify(note)}\n`).join("");
  if (existsSync(file)) appendLinesDurableSync(file, lines);
  else writeFileDurableSync(file, lines);
}

/** A job as a task of an array. */
export interface SubmittedTask extends SubmittedJob, Pick<Submission, "logs" | "memory_key"> {
  readonly array: string;
  readonly index: number;
}

/** Where each job was submitted last. */
export function tasksOf(submissions: readonly Submission[]): ReadonlyMap<number, SubmittedTask> {
  const tasks = new Map<number, SubmittedTask>();
  for (const { array, jobs, script: _, ...known } of submissions)
    if (array !== null)
      for (const [index, job] of jobs.entries())
        tasks.set(job.number, { ...known, ...job, array, index });
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

/** Tasks as Slurm's commands take them, an argument for each array: `77_[0-2,5]`, `78_3`. */
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
