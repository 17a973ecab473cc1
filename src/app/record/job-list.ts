/** The list of a sweep's jobs, a line each, in the record. */
import { randomUUID } from "node:crypto";
import { writeFileDurableSync } from "../../foundation/system/atomic-write.ts";
import {
  noteCount,
  openSealedLines,
  readSealedLine,
  readSealedLines,
  sealedLinesText,
} from "../../foundation/system/sealed-json.ts";
import {
  count,
  fits,
  maybe,
  objectOf,
  oneOf,
  type Shape,
  text,
  texts,
  wrongField,
} from "../../foundation/system/shape.ts";
import type { Continuation } from "../job/checkpoint.ts";
import { draftFile, jobListFile, jobListName } from "./layout.ts";
import { recordRights } from "./rights.ts";

/** A job of a sweep. Keys are those of the file. */
export interface ManifestJob {
  readonly number: number;
  /** Its `hydra.job.id`, if that is not its number. */
  readonly id?: string;
  /** All overrides that the job is composed with. */
  readonly overrides: readonly string[];
  /** The overrides that distinguish it from other jobs, for people. */
  readonly task_overrides: readonly string[];
  /** Absolute. */
  readonly output_dir: string;
  /** Fingerprint of the job's composed config, interpolations as written. */
  readonly fingerprint: string;
  /** The earlier job that this one continues; absent if it begins anew. */
  readonly continues?: Continuation;
  /**
   * Whether the resumed sweep no longer has this job: a search asked for other jobs after other results. Its record
   * stays, it never runs, and the sweep does not fail because of it.
   */
  readonly left_out?: true;
}

const JOB: Shape<ManifestJob> = {
  number: count,
  id: maybe(text),
  overrides: texts,
  task_overrides: texts,
  output_dir: text,
  fingerprint: text,
  continues: maybe(objectOf<Continuation>({ job: count, checkpoint: text })),
  left_out: maybe(oneOf(true)),
};

/**
 * The jobs of a sweep as a file with a sealed line of JSON for each. It only grows, so that a sweep of many batches
 * writes each job once, and a worker finds its own job without parsing the others. A launcher that resumes the sweep
 * writes a new list and adds to that one: so a partial line of a killed process can only be the last one of a list, and
 * its job has not started. A list that has fewer lines than were noted is damaged.
 */
export interface JobList {
  /** The name in the manifest. */
  readonly name: string;
  /**
   * Appends jobs, durably: they survive a crash of the machine, too. A carried-over job moves to the place where it is
   * requested.
   */
  add(jobs: readonly ManifestJob[]): void;
}

/** A line of the file. */
interface Entry extends ManifestJob {
  /** Whether the resumed sweep has not requested this earlier job yet: it comes after all others. */
  readonly carried_over?: true;
}

/**
 * Creates a list, which takes effect once the manifest names it.
 *
 * @param carriedOver jobs to place after those that will be added
 */
export function createJobList(
  folder: string,
  jobs: readonly ManifestJob[],
  carriedOver: readonly ManifestJob[],
): JobList {
  const id = randomUUID();
  const name = jobListName(id);
  const file = jobListFile(folder, name);
  const later = carriedOver.map((job): Entry => ({ ...job, carried_over: true }));
  const entries = [...jobs, ...later].map(inOrder);
  const content = sealedLinesText(file, entries);
  const options = { mode: recordRights(folder).file, draft: draftFile(folder, id) };
  writeFileDurableSync(file, content, options);
  noteCount(file, entries.length);
  const lines = openSealedLines(file, Buffer.from(content), entries.length);
  return { name, add: (more) => lines.append(more.map(inOrder)) };
}

/**
 * @throws the system's error, `ENOENT` for a list that was replaced meanwhile; SyntaxError for a damaged list, with the
 * reason
 */
export function readJobList(folder: string, name: string): readonly ManifestJob[] {
  const found = readSealedLines(jobListFile(folder, name));
  if (found.kind === "damaged") throw new SyntaxError(found.problem);
  const entries = found.lines.map(entryOf);
  const asked = entries.filter((entry) => entry.carried_over !== true);
  const numbers = new Set(asked.map(({ number }) => number));
  const later = entries.filter(
    (entry) => entry.carried_over === true && !numbers.has(entry.number),
  );
  return [...asked, ...later.map(jobOf)];
}

/**
 * Reads one job of a list without parsing the others.
 *
 * @throws as `readJobList`
 */
export function readListedJob(
  folder: string,
  name: string,
  number: number,
): ManifestJob | undefined {
  // The last line of a number counts.
  const found = readSealedLine(jobListFile(folder, name), `${beginning(number)},`);
  if (found?.kind === "damaged") throw new SyntaxError(found.problem);
  return found && jobOf(entryOf(found.value));
}

/** @throws SyntaxError for a malformed entry */
function entryOf(entry: unknown): Entry {
  if (fits<Entry>(entry, ENTRY)) return entry;
  const wrong = wrongField(entry, ENTRY);
  throw new SyntaxError(
    `'${wrong}' of a job is missing or invalid: ${JSON.stringify(entry).slice(0, 80)}`,
  );
}

const ENTRY: Shape<Entry> = { ...JOB, carried_over: maybe(oneOf(true)) };

const jobOf = ({ carried_over: _, ...job }: Entry): ManifestJob => job;

/** The number comes first, so that a line is found by it. */
const inOrder = ({ number, ...rest }: Entry): Entry => ({ number, ...rest });

/** The beginning of each line, by which its job is found. */
const beginning = (number: number): string => `{"number":${number}`;
