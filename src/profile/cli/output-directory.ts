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
import { draftBeside, removeDeadDrafts, removeIfAllowed } from "../../system/atomic-write.ts";
import { errorCode, fileProblem, makeDirectory } from "../../system/files.ts";
import { DIRECTORY_CLAIM, holderOf, tryClaim } from "../../system/process-claim.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { ToolError } from "../machine/tool-error.ts";
import { RESULT_FILES } from "../tools/table.ts";

/** Those of a sweep, too, and of a collector, whose folder has what was recorded beside them. */
const RESULTS = [...RESULT_FILES, "sweep-report.json", "regions"];

/** Where reports are written until they are whole. */
export interface OutputDraft {
  /** Where to write meanwhile: absolute. */
  readonly path: string;
  /** The name that it will have: absolute. */
  readonly directory: string;
  /** @returns the name that it has now: another one, where it was free to choose and that was taken meanwhile */
  finish(): string;
}

export interface OutputRequest {
  /** As the user named it; undefined: one named by the time, as for a run. */
  readonly wanted: string | undefined;
  readonly cwd: string;
  readonly now: Date;
}

/**
 * Makes the directory that reports go to. What is stopped or fails before `finish` leaves nothing under its name, and errors call
 * files as they would have been.
 *
 * @throws ConfigError `app.run_directory`, before anything is read, where it cannot be made, holds results, or is being filled
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
  /** Nothing of it is left. */
  discard(): void;
}

function beginOutputDirectory({ wanted, cwd, now }: OutputRequest): BegunDirectory {
  const directory = wanted === undefined ? nextFree(cwd, now) : resolve(cwd, wanted);
  refuseResults(directory, wanted);
  const release = existsSync(directory) ? claimed(directory) : () => {};
  try {
    // Another may have been done with it just before the claim.
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

/** What failed in the draft, which is gone, reported with the directory that it was for. */
function calledAsItWillBe(error: unknown, { path, directory }: OutputDraft): unknown {
  if (!(error instanceof Error) || !error.message.includes(path)) return error;
  const message = error.message.replaceAll(path, directory);
  if (isConfigError(error)) return new ConfigError({ ...error.details, message });
  if (error instanceof ToolError)
    return new ToolError({ ...error.details, tool: error.tool, message });
  return Object.assign(error, { message });
}

/** A directory does not get the name of another one, unless that is empty. */
const TAKEN: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST"]);

/** Results of two imports in one directory would be read as one, so that one with results is refused. */
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
 * For this process alone: the files of two that fill one directory would stand among each other.
 *
 * @returns gives it up
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

/** Named by the time, as for a run. */
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
 * Called before another process begins a directory.
 *
 * @returns removes what is left of it where that process was killed
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

/** A directory that gets its name, or its content, once that is whole. */
export interface DraftDirectory {
  /** Where to write meanwhile: absolute. */
  readonly path: string;
  /**
   * What was written stands in the directory itself.
   *
   * @param name another that it gets instead, beside it
   */
  finish(name?: string): void;
  /** Nothing of it is left, nor of the directories above it that were made for it. */
  discard(): void;
}

/**
 * Begins a directory: beside it, or in it where it is there already. Drafts of processes that were killed are removed
 * by the next process that begins a directory there.
 *
 * @param directory absolute
 * @throws the system's error, of the directory that could not be made; an error for a link that leads nowhere
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

/** What cannot get the name in the end is reported now: the name of a link, and one that is too long. */
function isTaken(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true && !existsSync(directory))
    throw new Error(`it is a link to '${readlinkSync(directory)}', which does not exist`);
  return found !== undefined;
}

/** Those that are not there yet, the innermost first. */
function missingFrom(path: string): readonly string[] {
  const missing: string[] = [];
  for (let at = path; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  return missing;
}

/** The innermost first. Others may have written there meanwhile. */
function removeEmpty(made: readonly string[]): void {
  for (const directory of made) {
    try {
      rmdirSync(directory);
    } catch {
      return;
    }
  }
}

/** Directories that both have become one. */
function moveInto(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (statSync(source).isDirectory() && existsSync(target)) moveInto(source, target);
    else renameSync(source, target);
  }
  rmdirSync(from);
}
