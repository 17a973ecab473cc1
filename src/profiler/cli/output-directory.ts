/** Output directories of subcommands, which appear only when they are complete. */
import {
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import {
  draftBeside,
  removeDeadDrafts,
  removeIfAllowed,
} from "../../foundation/system/atomic-write.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import {
  errorCode,
  fileProblem,
  makeDirectory,
  missingFrom,
  removeEmpty,
} from "../../foundation/system/files.ts";
import { DIRECTORY_CLAIM, holderOf, tryClaim } from "../../foundation/system/process-claim.ts";
import { ToolError } from "../machine/tool-error.ts";
import { RESULT_FILES } from "../tools/tool-table.ts";

/** Includes the results of a sweep, and of a collector, whose folder also has its recordings. */
const RESULTS = [...RESULT_FILES, "sweep-report.json", "regions"];

/** The directory in which reports are written until they are complete. */
export interface OutputDraft {
  /** The temporary path, absolute. */
  readonly path: string;
  /** The final path, absolute. */
  readonly directory: string;
  /** @returns the final path; a different one if the name was not given by the user and was taken in the meantime */
  finish(): string;
}

export interface OutputRequest {
  /** The name given by the user; if undefined, the name is made from the time, as for a run. */
  readonly wanted: string | undefined;
  readonly cwd: string;
  readonly now: Date;
}

/**
 * Creates the output directory of reports. Nothing remains of it if the work is stopped or fails before `finish`;
 * errors name files by their final paths.
 *
 * @throws ConfigError `app.run_directory`, before anything is read, if it cannot be created, contains results, or is
 * being written by another process
 */
export async function intoOutputDirectory<T>(
  request: OutputRequest,
  fill: (output: OutputDraft) => Promise<T>,
): Promise<T> {
  const { discard, ...output } = beginOutputDirectory(request);
  try {
    return await fill(output);
  } catch (error) {
    discard();
    throw calledAsItWillBe(error, output);
  }
}

interface BegunDirectory extends OutputDraft {
  /** Removes everything. */
  discard(): void;
}

function beginOutputDirectory({ wanted, cwd, now }: OutputRequest): BegunDirectory {
  const directory = wanted === undefined ? nextFree(cwd, now) : resolve(cwd, wanted);
  refuseResults(directory, wanted);
  const release = existsSync(directory) ? claimed(directory) : () => {};
  try {
    // Another process may have written results just before the claim.
    refuseResults(directory, wanted);
    const draft = madeOrRefused(directory, () => draftDirectory(directory));
    const finishAs = (name: string): string => {
      try {
        draft.finish(name);
        return name;
      } catch (cause) {
        if (!TAKEN.has(errorCode(cause) ?? "")) throw cannotBeMade(name, cause);
        if (wanted !== undefined) throw takenMeanwhile(name, cause);
        return finishAs(nextFree(cwd, now));
      }
    };
    return {
      path: draft.path,
      directory,
      finish() {
        const name = finishAs(directory);
        release();
        return name;
      },
      discard() {
        release();
        draft.discard();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** An error in the temporary directory, which is gone, in terms of the final directory. */
function calledAsItWillBe(error: unknown, { path, directory }: OutputDraft): unknown {
  if (!isError(error) || !error.message.includes(path)) return error;
  const message = error.message.replaceAll(path, directory);
  if (isConfigError(error)) return new ConfigError({ ...error.details, message });
  if (error instanceof ToolError)
    return new ToolError({ ...error.details, tool: error.tool, message });
  const named = "path" in error && typeof error.path === "string" ? error.path : undefined;
  return Object.assign(error, {
    message,
    ...(named !== undefined && { path: named.replaceAll(path, directory) }),
  });
}

/** Errors of renaming a directory to an existing one that is not empty. */
const TAKEN: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST"]);

/** Refuses a directory with results: those of two imports in one directory would be read as one. */
function refuseResults(directory: string, wanted: string | undefined): void {
  const [result] = RESULTS.filter((name) => existsSync(join(directory, name)));
  if (result === undefined) return;
  throw new ConfigError({
    code: "app.run_directory",
    message: `The directory '${wanted}' holds other results: ${result}`,
    hint: "choose another directory with --output DIR, or move this one away",
  });
}

/**
 * Claims it for this process: two processes that write into one directory would mix their files.
 *
 * @returns releases the claim
 */
function claimed(directory: string): () => void {
  const file = join(directory, DIRECTORY_CLAIM);
  const attempt = madeOrRefused(directory, () => tryClaim(file));
  if (attempt.kind === "taken") return attempt.claim.release;
  const { alive, holder } = attempt;
  throw new ConfigError({
    code: "app.run_directory",
    message: `The directory '${directory}' is in use by process ${holder.pid} on ${holder.host}`,
    hint: `${alive === "elsewhere" ? `if that process has ended, remove ${file}; otherwise ` : ""}choose another directory with --output DIR`,
  });
}

const takenMeanwhile = (directory: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: "app.run_directory",
    message: `The directory '${directory}' was created in the meantime and holds other files`,
    hint: "choose another directory with --output DIR",
    cause,
  });

function madeOrRefused<T>(directory: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw cannotBeMade(directory, cause);
  }
}

const cannotBeMade = (directory: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: "app.run_directory",
    message: `Cannot create the directory '${directory}': ${fileProblem(cause)}`,
    hint: "choose another directory with --output DIR",
    cause,
  });

/** Named after the time, as a run. */
export function nextFree(cwd: string, now: Date): string {
  const path = join(cwd, "tmp", "profile-output", stamp(now));
  let free = path;
  for (let number = 2; existsSync(free); number++) free = `${path}-${number}`;
  return free;
}

/** `20260102-030405` in local time, as `hydra.run.dir` names runs. */
function stamp(now: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const date = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join("");
  return `${date}-${[now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join("")}`;
}

/**
 * Called before another process begins an output directory.
 *
 * @returns removes the remains of it if that process was killed
 */
export function watchBegun(wanted: string | undefined, cwd: string): () => void {
  const directory = wanted === undefined ? nextFree(cwd, new Date()) : resolve(cwd, wanted);
  const isThere = existsSync(directory);
  const place = isThere ? directory : dirname(directory);
  const made = missingFrom(place);
  return () => {
    removeDeadDrafts(place);
    const claim = join(directory, DIRECTORY_CLAIM);
    if (isThere && holderOf(claim) === undefined) removeIfAllowed(claim);
    removeEmpty(made);
  };
}

/** A directory that gets its name, or its contents, only when it is complete. */
export interface DraftDirectory {
  /** The temporary path, absolute. */
  readonly path: string;
  /**
   * Moves the files to the directory.
   *
   * @param name another name for the directory, beside it
   */
  finish(name?: string): void;
  /** Removes everything, including parent directories that were created for it. */
  discard(): void;
}

/**
 * Begins a directory: beside the final place, or inside the directory if it exists. The remains of killed processes are
 * removed by the next process that begins a directory there.
 *
 * @param directory absolute
 * @throws the system's error for a directory that cannot be created, or an error for a dangling link
 */
export function draftDirectory(directory: string): DraftDirectory {
  const isThere = isTaken(directory);
  const place = isThere ? directory : dirname(directory);
  const made = missingFrom(place);
  makeDirectory(place);
  removeDeadDrafts(place);
  const path = draftBeside(join(place, "draft"));
  makeDirectory(path);
  return {
    path,
    finish(name = directory) {
      if (isThere) moveInto(path, directory);
      else renameSync(path, name);
    },
    discard() {
      rmSync(path, { recursive: true, force: true });
      removeEmpty(made);
    },
  };
}

/** Detects names that could not be given at the end: dangling links and names that are too long. */
function isTaken(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true && !existsSync(directory))
    throw new Error(`it is a link to '${readlinkSync(directory)}', which does not exist`);
  return found !== undefined;
}

/** Merges directories that exist in both places. */
function moveInto(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (statSync(source).isDirectory() && existsSync(target)) moveInto(source, target);
    else renameSync(source, target);
  }
  rmdirSync(from);
}
