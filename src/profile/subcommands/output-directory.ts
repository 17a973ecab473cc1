import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileProblem } from "../../file-problem.ts";
import { makeDirectory } from "../../make-directory.ts";
import { errorCode } from "../../system-error.ts";
import { ConfigError } from "../../values/errors.ts";
import { RESULT_FILES } from "../result-files.ts";
import { draftDirectory } from "./draft-directory.ts";

/** Those of a sweep, too. */
const RESULTS = [...RESULT_FILES, "sweep-report.json"];

/**
 * Makes the directory that reports go to: the one named, or one named by the time as for a run.
 *
 * @returns its absolute path
 * @throws ConfigError `app.run_directory`
 */
export function makeOutputDirectory(wanted: string | undefined, cwd: string, now: Date): string {
  const directory = outputDirectory(wanted, cwd, now);
  madeOrRefused(directory, () => makeDirectory(directory));
  return directory;
}

/** What `beginOutputDirectory` began. */
export interface OutputDraft {
  /** Where to write meanwhile: absolute. */
  readonly path: string;
  /** The name that it will have: absolute. */
  readonly directory: string;
  /** @returns the name that it has now: another one, where it was free to choose and somebody took that meanwhile */
  finish(): string;
  /** Nothing of it is left. */
  discard(): void;
}

/** The same as a draft: what is stopped or fails leaves nothing under its name. */
export function beginOutputDirectory(
  wanted: string | undefined,
  cwd: string,
  now: Date,
): OutputDraft {
  const directory = outputDirectory(wanted, cwd, now);
  const { path, finish, discard } = madeOrRefused(directory, () => draftDirectory(directory));
  const finishAs = (name: string): string => {
    try {
      finish(name);
      return name;
    } catch (cause) {
      if (wanted !== undefined || !TAKEN.has(errorCode(cause) ?? ""))
        throw cannotBeMade(name, cause);
      return finishAs(nextFree(cwd, now));
    }
  };
  return { path, directory, discard, finish: () => finishAs(directory) };
}

/** A directory does not get the name of another one, unless that is empty. */
const TAKEN: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST"]);

/** Results of two imports in one directory would be read as one, so that one with results is refused. */
function outputDirectory(wanted: string | undefined, cwd: string, now: Date): string {
  const directory = wanted === undefined ? nextFree(cwd, now) : resolve(cwd, wanted);
  const [result] = RESULTS.filter((name) => existsSync(join(directory, name)));
  if (result !== undefined)
    throw new ConfigError({
      code: "app.run_directory",
      message: `The directory '${wanted}' holds other results: ${result}`,
      hint: "choose another with --output DIR, or move that one away",
    });
  return directory;
}

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
    message: `The directory '${directory}' cannot be made: ${fileProblem(cause)}`,
    hint: "choose another with --output DIR",
    cause,
  });

function nextFree(cwd: string, now: Date): string {
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
