import { type Stats, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileProblem } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";
import type { WorkloadConfig } from "../config/config.ts";
import { findExecutable } from "../machine/executable.ts";

/**
 * Makes sure that there is a program to start, before anything is made for its run.
 *
 * @throws ConfigError `profile.program` for an empty command or a program that is not there
 */
export function requireProgram(workload: WorkloadConfig, cwd: string): void {
  if (workload.kind === "shallow_resnet") return;
  const [key, program] =
    workload.kind === "command"
      ? ["workload.command", workload.command[0]]
      : ["workload.python", workload.python];
  if (program === undefined || program === "")
    throw new ConfigError({
      code: "profile.program",
      key,
      message: `${key} is empty: there is nothing to profile`,
      hint: "deep-profile [overrides] -- PROG ARG...   or   workload.command=[prog,arg]",
    });
  if (findExecutable(program, cwd) !== null) return;
  throw new ConfigError({
    code: "profile.program",
    key,
    ...(program.includes("/") ? whatIsThere(program, cwd) : whatIsNotOnPath(program, cwd)),
  });
}

interface Refusal {
  readonly message: string;
  readonly hint?: string;
}

function whatIsThere(program: string, cwd: string): Refusal {
  const stat = lookAt(resolve(cwd, program));
  if (stat instanceof Error) return { message: `'${program}' cannot be run: ${fileProblem(stat)}` };
  if (stat === undefined) return { message: `'${program}' was not found (relative to ${cwd})` };
  if (stat.isDirectory()) return { message: `'${program}' is a directory, not a program` };
  return {
    message: `'${program}' is not executable`,
    hint: `chmod +x ${program}, or name its interpreter: -- ${interpreterOf(program)} ${program}`,
  };
}

/** What runs a script, by the end of its name; most that have none are for a shell. */
const INTERPRETERS: readonly (readonly [RegExp, string])[] = [
  [/\.py$/, "python3"],
  [/\.[cm]?js$/, "node"],
];

const interpreterOf = (program: string): string =>
  INTERPRETERS.find(([ending]) => ending.test(program))?.[1] ?? "bash";

function whatIsNotOnPath(program: string, cwd: string): Refusal {
  const message = `'${program}' was not found on PATH`;
  const here = lookAt(resolve(cwd, program));
  if (here === undefined || here instanceof Error || !here.isFile()) return { message };
  const hint =
    findExecutable(`./${program}`, cwd) === null
      ? `name its interpreter: -- ${interpreterOf(program)} ${program}`
      : `to run a program in this directory, write './${program}'`;
  return { message, hint };
}

/** Undefined where there is nothing; the error where nobody may look, or can. */
function lookAt(path: string): Stats | Error | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error) return error;
    throw error;
  }
}
