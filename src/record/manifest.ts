import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileDurableSync } from "../system/atomic-write.ts";
import { isError, isErrorNamed } from "../system/builtin-types.ts";
import { errorCode, fileProblem, readText } from "../system/files.ts";
import {
  text as anyText,
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
} from "../system/shape.ts";
import { ConfigError } from "../values/errors.ts";
import { JOB, type ManifestJob, readJobList, readListedJob } from "./job-list.ts";
import { draftFile, jobListFile, manifestFile, SWEEP_FOLDER } from "./layout.ts";

export type { ManifestJob } from "./job-list.ts";

/** The facts about a sweep except its jobs. Keys are those of the file. */
export interface SweepFacts {
  readonly program: SweepProgram;
  /** The working directory of the launcher, where relative paths start. */
  readonly cwd: string;
  /** The time of the sweep, ISO 8601: one for every `${now:...}` in it, also when it is resumed. */
  readonly now: string;
  /** The version of Hydra whose behaviour all its jobs have. Absent in records of early versions. */
  readonly dialect?: string;
  /** The absolute path of `hydra.sweep.dir`. */
  readonly directory: string;
  /** The overrides that the sweep itself was composed with, as typed, including sweep overrides. */
  readonly overrides: readonly string[];
  /** `hydra.launcher._target_`. */
  readonly launcher: string;
  /** The option of `hydra/launcher`; null if none is chosen. Absent in records of early versions. */
  readonly launcher_choice?: string | null;
  /** Fingerprint of the sweep's own composition, before any job's overrides. */
  readonly fingerprint: string;
  /** Whether arguments or overrides are masked: then nothing can be started from this file. */
  readonly holds_secrets: boolean;
  /** Whether the sweep, which has ended, counts as successful although jobs failed. */
  readonly tolerates_failures?: boolean;
  /** Whether the sweep may have jobs that are not recorded, of a batch that it has not reached. */
  readonly more_to_come?: boolean;
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

/**
 * The file. Version 1 contains the jobs; since 2 it names their list. Since 3, submissions to a scheduler are in
 * `submissions.jsonl`: a program that knows only 2 would overlook them and submit jobs twice. All versions are read,
 * and 3 is written.
 */
type Manifest =
  | (SweepManifest & { readonly version: 1 })
  | (SweepFacts & { readonly version: 2 | typeof VERSION; readonly job_list: string });

const VERSION = 3;

/**
 * Writes the manifest so that it survives a crash of the machine, too.
 *
 * @param list the name of the file with the jobs
 */
export const writeManifest = (folder: string, facts: SweepFacts, list: string): void =>
  writeFileDurableSync(
    manifestFile(folder),
    `${JSON.stringify({ version: VERSION, ...facts, job_list: list } satisfies Manifest, null, 1)}\n`,
    { mode: 0o600, draft: draftFile(folder, randomUUID()) },
  );

/** @throws ConfigError `app.sweep_record` if there is no sweep, or its record cannot be read */
export const readManifest = (folder: string): SweepManifest =>
  withManifest(folder, (manifest) => ({
    ...factsOf(manifest),
    jobs: manifest.version === 1 ? manifest.jobs : readJobList(folder, manifest.job_list),
  }));

/**
 * The facts without the jobs, which may be many.
 *
 * @throws ConfigError as `readManifest`
 */
export const readFacts = (folder: string): SweepFacts => withManifest(folder, factsOf);

/**
 * The name of the file with the jobs; undefined if the manifest contains them.
 *
 * @throws ConfigError as `readManifest`
 */
export function readListName(folder: string): string | undefined {
  const manifest = parsedManifest(folder);
  return manifest.version === 1 ? undefined : manifest.job_list;
}

/**
 * One of the jobs; undefined if no job has this number.
 *
 * @throws ConfigError as `readManifest`
 */
export const readManifestJob = (folder: string, number: number): ManifestJob | undefined =>
  withManifest(folder, (manifest) =>
    manifest.version === 1
      ? manifest.jobs.find((job) => job.number === number)
      : readListedJob(folder, manifest.job_list, number),
  );

/**
 * Reads the manifest at each call, and parses it only after a change, such as added jobs. Does not depend on a clock.
 */
export function manifestReader(folder: string): () => SweepManifest {
  let known: { readonly text: string; readonly manifest: SweepManifest } | undefined;
  return () => {
    const text = withManifest(folder, (manifest) =>
      // A list only grows, and a new list has another name.
      manifest.version === 1
        ? JSON.stringify(manifest)
        : JSON.stringify([manifest, statSync(jobListFile(folder, manifest.job_list)).size]),
    );
    if (known?.text !== text) known = { text, manifest: readManifest(folder) };
    return known.manifest;
  };
}

const factsOf = (manifest: Manifest): SweepFacts => {
  if (manifest.version === 1) {
    const { jobs: _jobs, version: _version, ...facts } = manifest;
    return facts;
  }
  const { job_list: _list, version: _version, ...facts } = manifest;
  return facts;
};

/** Retries if a launcher that resumes the sweep replaced the list that was about to be read. */
function withManifest<T>(folder: string, read: (manifest: Manifest) => T): T {
  for (let manifest = parsedManifest(folder); ; ) {
    try {
      return read(manifest);
    } catch (cause) {
      if (isErrorNamed("SyntaxError", cause) && manifest.version !== 1)
        throw unreadableList(folder, manifest.job_list, cause);
      if (!(isError(cause) && "syscall" in cause)) throw cause;
      const now = parsedManifest(folder);
      if (manifest.version === 1) throw cause;
      if (now.version !== 1 && now.job_list === manifest.job_list)
        throw unreadableList(folder, now.job_list, cause);
      manifest = now;
    }
  }
}

function parsedManifest(folder: string): Manifest {
  const file = manifestFile(folder);
  let text: string;
  try {
    text = readText(file);
  } catch (cause) {
    throw unreadable(folder, cause);
  }
  const version = versionOf(text);
  if (version === 1 || version === 2 || version === VERSION) return checked(JSON.parse(text), file);
  throw new ConfigError({
    code: "app.sweep_record",
    message:
      version === undefined
        ? `${file} is not the manifest of a sweep`
        : `${file} has version ${version}; this program reads versions 1, 2 and ${VERSION}`,
    ...(version !== undefined && { hint: "use the version of the program that made it" }),
  });
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
  dialect: maybe(anyText),
  directory: anyText,
  overrides: texts,
  launcher: anyText,
  launcher_choice: maybe(orNull(anyText)),
  fingerprint: anyText,
  holds_secrets: flag,
  tolerates_failures: maybe(flag),
  more_to_come: maybe(flag),
};

const VERSIONS = {
  whole: { ...FACTS, version: oneOf(1), jobs: listOf(objectOf(JOB)) } satisfies Shape<
    Extract<Manifest, { readonly version: 1 }>
  >,
  listed: { ...FACTS, version: oneOf(2, VERSION), job_list: anyText } satisfies Shape<
    Exclude<Manifest, { readonly version: 1 }>
  >,
};

function checked(manifest: Manifest, file: string): Manifest {
  const wrong =
    manifest.version === 1
      ? wrongField(manifest, VERSIONS.whole)
      : wrongField(manifest, VERSIONS.listed);
  if (wrong === undefined) return manifest;
  throw new ConfigError({
    code: "app.sweep_record",
    message: `${file} is damaged: '${wrong}' is missing or invalid`,
    hint: "the results of its jobs are in their own directories",
  });
}

function unreadable(folder: string, cause: unknown): ConfigError {
  const directory = folder.slice(0, -SWEEP_FOLDER.length - 1) || "/";
  const file = manifestFile(folder);
  const code = errorCode(cause);
  const isThere = code !== "ENOENT" && code !== "ENOTDIR";
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
  for (let at = directory; dirname(at) !== at; at = dirname(at))
    if (existsSync(manifestFile(join(dirname(at), SWEEP_FOLDER))))
      return `it is inside the sweep directory ${dirname(at)}`;
  return undefined;
}

/** The manifest exists, but its list is absent or malformed. */
function unreadableList(folder: string, name: string, cause: unknown): ConfigError {
  const file = jobListFile(folder, name);
  return new ConfigError({
    code: "app.sweep_record",
    message: `Cannot read the sweep in '${dirname(folder)}': ${file}: ${fileProblem(cause)}`,
    hint: "the file lists its jobs: if you copied the directory, copy all of it",
    cause,
  });
}

function versionOf(text: string): number | undefined {
  try {
    const { version } = JSON.parse(text) as { readonly version?: unknown };
    return typeof version === "number" ? version : undefined;
  } catch {
    return undefined;
  }
}
