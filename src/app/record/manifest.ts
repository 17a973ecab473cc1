/** The manifest of a sweep: what it is, and how it can be resumed. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { writeFileDurableSync } from "../../foundation/system/atomic-write.ts";
import { isError, isErrorNamed } from "../../foundation/system/builtin-types.ts";
import { errorCode, fileProblem, requireFile } from "../../foundation/system/files.ts";
import { sealedText, unsealed } from "../../foundation/system/sealed-json.ts";
import {
  text as anyText,
  count,
  flag,
  listOf,
  maybe,
  objectOf,
  oneOf,
  orNull,
  type Shape,
  texts,
  time,
  wrongField,
} from "../../foundation/system/shape.ts";
import { type ManifestJob, readJobList, readListedJob } from "./job-list.ts";
import { draftFile, jobListFile, manifestFile, SWEEP_FOLDER, startedFolder } from "./layout.ts";
import { recordRights } from "./rights.ts";

export type { ManifestJob } from "./job-list.ts";

/** The facts about a sweep except its jobs. Keys are those of the file. */
export interface SweepFacts {
  readonly program: SweepProgram;
  /** The working directory of the launcher, where relative paths start. */
  readonly cwd: string;
  /** The time of the sweep, ISO 8601: one for every `${now:...}` in it, also when it is resumed. */
  readonly now: string;
  /** The version of Hydra whose behaviour all its jobs have. */
  readonly dialect: string;
  /** The absolute path of `hydra.sweep.dir`. */
  readonly directory: string;
  /** The overrides that the sweep itself was composed with, as typed, including sweep overrides. */
  readonly overrides: readonly string[];
  /** `hydra.launcher._target_`. */
  readonly launcher: string;
  /** The option of `hydra/launcher`; null if none is chosen. */
  readonly launcher_choice: string | null;
  /** Fingerprint of the sweep's own composition, before any job's overrides. */
  readonly fingerprint: string;
  /** Whether arguments or overrides are masked: then nothing can be started from this file. */
  readonly holds_secrets: boolean;
  /** `run` if it is a single run that a launcher runs, whose only job has no number of its own; absent for a sweep. */
  readonly mode?: "run";
  /** Whether the sweep, which has ended, counts as successful although jobs failed. */
  readonly tolerates_failures?: boolean;
  /** Whether the sweep may have jobs that are not recorded, of a batch that it has not reached. */
  readonly more_to_come?: boolean;
  /** The jobs that were completed or pruned when the sweep was resumed with another space, the last time. Absent if it never was. */
  readonly earlier_jobs?: readonly number[];
}

/** A sweep's record: all that another process needs to run any of its jobs, to resume it, or to report its status. */
export interface SweepManifest extends SweepFacts {
  readonly jobs: readonly ManifestJob[];
}

export interface SweepProgram {
  readonly name: string;
  /** How the user started it, without arguments, for a shell in `cwd`. Absent if unknown. */
  readonly typed?: string;
  /** The command that starts it again, without arguments: `[node, ..., script]`; null if it cannot be started again. */
  readonly command: readonly string[] | null;
  /** Its arguments as typed: flags, overrides, and the arguments after `--`. */
  readonly argv: readonly string[];
}

/** The jobs that currently belong to a sweep. */
export const currentJobs = ({ jobs }: Pick<SweepManifest, "jobs">): readonly ManifestJob[] =>
  jobs.filter((job) => job.left_out !== true);

/** The file, sealed (`foundation/system/sealed-json.ts`). */
type Manifest = SweepFacts & { readonly version: typeof VERSION; readonly job_list: string };

const VERSION = 4;

/**
 * Writes the manifest so that it survives a crash of the machine, too.
 *
 * @param list the name of the file with the jobs
 */
export function writeManifest(folder: string, facts: SweepFacts, list: string): void {
  const file = manifestFile(folder);
  const manifest: Manifest = { version: VERSION, ...facts, job_list: list };
  const options = { mode: recordRights(folder).file, draft: draftFile(folder, randomUUID()) };
  writeFileDurableSync(file, sealedText(file, manifest, 1), options);
}

/**
 * @throws ConfigError `app.sweep_record` if there is no sweep, or its record cannot be read; `app.sweep_damaged` if that
 * is not as it was written
 */
export const readManifest = (folder: string): SweepManifest =>
  withManifest(folder, (manifest) => ({
    ...factsOf(manifest),
    jobs: readJobList(folder, manifest.job_list),
  }));

/**
 * The facts without the jobs, which may be many.
 *
 * @throws ConfigError as `readManifest`
 */
export const readFacts = (folder: string): SweepFacts => withManifest(folder, factsOf);

/**
 * The name of the file with the jobs.
 *
 * @throws ConfigError as `readManifest`
 */
export const readListName = (folder: string): string => parsedManifest(folder).job_list;

/**
 * One of the jobs; undefined if no job has this number.
 *
 * @throws ConfigError as `readManifest`
 */
export const readManifestJob = (folder: string, number: number): ManifestJob | undefined =>
  withManifest(folder, (manifest) => readListedJob(folder, manifest.job_list, number));

/**
 * Reads the manifest at each call, and parses it only after a change, such as added jobs. Does not depend on a clock.
 */
export function manifestReader(folder: string): () => SweepManifest {
  let cached: { readonly text: string; readonly manifest: SweepManifest } | undefined;
  return () => {
    const text = withManifest(folder, (manifest) =>
      // A list only grows, and a new list has another name.
      JSON.stringify([manifest, statSync(jobListFile(folder, manifest.job_list)).size]),
    );
    if (cached?.text !== text) cached = { text, manifest: readManifest(folder) };
    return cached.manifest;
  };
}

const factsOf = ({ job_list: _list, version: _version, ...facts }: Manifest): SweepFacts => facts;

/** Retries if a launcher that resumes the sweep replaced the list that was about to be read. */
function withManifest<T>(folder: string, read: (manifest: Manifest) => T): T {
  for (let manifest = parsedManifest(folder); ; ) {
    try {
      return read(manifest);
    } catch (cause) {
      if (isErrorNamed("SyntaxError", cause)) throw damagedList(folder, manifest.job_list, cause);
      if (!(isError(cause) && "syscall" in cause)) throw cause;
      const now = parsedManifest(folder);
      if (now.job_list === manifest.job_list) throw unreadableList(folder, now.job_list, cause);
      manifest = now;
    }
  }
}

function parsedManifest(folder: string): Manifest {
  const file = manifestFile(folder);
  let bytes: Buffer;
  try {
    requireFile(file);
    bytes = readFileSync(file);
  } catch (cause) {
    throw unreadable(folder, cause);
  }
  const found = unsealed(file, bytes);
  const version = versionOf(found.kind === "whole" ? found.value : asJson(bytes));
  if (version !== undefined && version !== VERSION)
    throw new ConfigError({
      code: "app.sweep_record",
      message: `${file} has version ${version}; this program reads version ${VERSION}`,
      hint: "use the version of the program that made it",
    });
  if (found.kind === "damaged") throw damagedManifest(file, found.problem);
  const wrong = wrongField(found.value, MANIFEST);
  if (wrong === undefined) return found.value as Manifest;
  throw damagedManifest(file, `'${wrong}' is missing or invalid`);
}

const PROGRAM: Shape<SweepProgram> = {
  name: anyText,
  typed: maybe(anyText),
  command: orNull(texts),
  argv: texts,
};

const FACTS: Shape<SweepFacts> = {
  program: objectOf(PROGRAM),
  cwd: anyText,
  now: time,
  dialect: anyText,
  directory: anyText,
  overrides: texts,
  launcher: anyText,
  launcher_choice: orNull(anyText),
  fingerprint: anyText,
  holds_secrets: flag,
  mode: maybe(oneOf("run")),
  tolerates_failures: maybe(flag),
  more_to_come: maybe(flag),
  earlier_jobs: maybe(listOf(count)),
};

const MANIFEST: Shape<Manifest> = { ...FACTS, version: oneOf(VERSION), job_list: anyText };

const damagedManifest = (file: string, problem: string): ConfigError =>
  new ConfigError({
    code: "app.sweep_damaged",
    message: `The record of the sweep is damaged: ${file}: ${problem}`,
    hint: "restore the file from a copy; the results of its jobs are in their own directories",
  });

function unreadable(folder: string, cause: unknown): ConfigError {
  const directory = folder.slice(0, -SWEEP_FOLDER.length - 1) || "/";
  const file = manifestFile(folder);
  const code = errorCode(cause);
  const isThere = code !== "ENOENT" && code !== "ENOTDIR";
  // A process that is killed as it begins a sweep leaves a folder without a manifest, but no job that has started.
  if (!isThere && existsSync(startedFolder(folder)))
    return damagedManifest(file, "it is missing although jobs have started");
  return new ConfigError({
    code: "app.sweep_record",
    message: isThere
      ? `Cannot read the sweep in '${directory}': ${file}: ${fileProblem(cause)}`
      : `There is no sweep in '${directory}': ${existsSync(directory) ? file : "the directory"} does not exist`,
    hint: isThere
      ? "only the user who started a sweep may see and resume it"
      : (sweepAbove(directory) ?? "give a sweep directory (hydra.sweep.dir)"),
    cause,
  });
}

/** A user who names a job's directory or the record's folder probably means the sweep that contains it. */
function sweepAbove(directory: string): string | undefined {
  for (let current = directory; dirname(current) !== current; current = dirname(current))
    if (existsSync(manifestFile(join(dirname(current), SWEEP_FOLDER))))
      return `it is inside the sweep directory ${dirname(current)}`;
  return undefined;
}

/** The manifest exists, but its list does not, or cannot be read. */
const unreadableList = (folder: string, name: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: errorCode(cause) === "ENOENT" ? "app.sweep_damaged" : "app.sweep_record",
    message: `Cannot read the sweep in '${dirname(folder)}': ${jobListFile(folder, name)}: ${fileProblem(cause)}`,
    hint: "the file lists its jobs: if you copied the directory, copy all of it",
    cause,
  });

const damagedList = (folder: string, name: string, cause: SyntaxError): ConfigError =>
  new ConfigError({
    code: "app.sweep_damaged",
    message: `The list of jobs of the sweep in '${dirname(folder)}' is damaged: ${jobListFile(folder, name)}: ${cause.message}`,
    hint: "restore the file from a copy; the results of its jobs are in their own directories",
    cause,
  });

const versionOf = (value: unknown): number | undefined =>
  typeof value === "object" &&
  value !== null &&
  "version" in value &&
  typeof value.version === "number"
    ? value.version
    : undefined;

function asJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
