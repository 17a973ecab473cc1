import { readFileSync } from "node:fs";
import { writeFileDurableSync } from "../../../atomic-write.ts";
import { fileProblem } from "../../../file-problem.ts";
import { ConfigError } from "../../../values/errors.ts";
import { manifestFile, SWEEP_FOLDER } from "./layout.ts";

export const MANIFEST_VERSION = 1;

/**
 * What a sweep is: all that another process needs to run any one of its jobs, to run the rest of
 * it, or to say how it stands. Keys are those of the file.
 */
export interface SweepManifest {
  readonly version: typeof MANIFEST_VERSION;
  readonly program: SweepProgram;
  /** The working directory of the launcher: where relative paths start. */
  readonly cwd: string;
  /** The time of the sweep, ISO 8601: one for every `${now:...}` in it, also when it is resumed. */
  readonly now: string;
  /** The absolute path of `hydra.sweep.dir`. */
  readonly directory: string;
  /** The overrides that the sweep itself was composed with, as typed, sweeps and all. */
  readonly overrides: readonly string[];
  /** `hydra.launcher._target_`. */
  readonly launcher: string;
  /** The option of `hydra/launcher`, whoever chose it; null where none is. */
  readonly launcher_choice: string | null;
  /** Fingerprint of the sweep's own composition, before any job's overrides. */
  readonly fingerprint: string;
  /** Whether arguments or overrides are masked: then nothing can be started from this file. */
  readonly holds_secrets: boolean;
  /** Whether the sweep, which has ended, counts failed jobs as no failure of its own. */
  readonly tolerates_failures?: boolean;
  readonly jobs: readonly ManifestJob[];
}

export interface SweepProgram {
  readonly name: string;
  /** What starts it again, before its arguments: `[node, ..., script]`; null where nothing can. */
  readonly command: readonly string[] | null;
  /** Its arguments as typed: flags, overrides, and what stands after `--`. */
  readonly argv: readonly string[];
}

export interface ManifestJob {
  readonly number: number;
  /** All overrides that the job is composed with. */
  readonly overrides: readonly string[];
  /** Those that make it different from other jobs, for people. */
  readonly task_overrides: readonly string[];
  /** Absolute. */
  readonly output_dir: string;
  /** Fingerprint of the job's composed config, interpolations as written. */
  readonly fingerprint: string;
  /**
   * Whether the sweep that went on has no such job any more: a search asked for others once it was told other
   * results. Its record stays, it never runs, and the sweep does not fail because of it.
   */
  readonly left_out?: true;
}

/** The jobs that make a sweep up by now. */
export const currentJobs = ({ jobs }: Pick<SweepManifest, "jobs">): readonly ManifestJob[] =>
  jobs.filter((job) => job.left_out !== true);

/** Written so that it survives the machine, too. */
export const writeManifest = (folder: string, manifest: SweepManifest): void =>
  writeFileDurableSync(manifestFile(folder), `${JSON.stringify(manifest, null, 1)}\n`, {
    mode: 0o600,
  });

/** @throws ConfigError `app.sweep_record` where there is no sweep, or none that can be read */
export function readManifest(folder: string): SweepManifest {
  const file = manifestFile(folder);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw unreadable(folder, cause);
  }
  const version = versionOf(text);
  if (version === MANIFEST_VERSION) return JSON.parse(text) as SweepManifest;
  throw new ConfigError({
    code: "app.sweep_record",
    message:
      version === undefined
        ? `${file} is no manifest of a sweep`
        : `${file} is of version ${version}; this program reads version ${MANIFEST_VERSION}`,
    ...(version === undefined ? {} : { hint: "use the version of the program that made it" }),
  });
}

function unreadable(folder: string, cause: unknown): ConfigError {
  const directory = folder.slice(0, -SWEEP_FOLDER.length - 1) || "/";
  const file = manifestFile(folder);
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const isThere = code !== "ENOENT" && code !== "ENOTDIR";
  return new ConfigError({
    code: "app.sweep_record",
    message: isThere
      ? `The sweep in '${directory}' cannot be read: ${file}: ${fileProblem(cause)}`
      : `There is no sweep in '${directory}': there is no ${file}`,
    hint: isThere
      ? "a sweep is its user's: only they may look at it and go on with it"
      : "name the directory of a sweep (hydra.sweep.dir)",
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
