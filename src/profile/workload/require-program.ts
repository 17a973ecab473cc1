import { ConfigError } from "../../values/errors.ts";
import type { WorkloadConfig } from "../config.ts";
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
    message: program.includes("/")
      ? `'${program}' was not found, or is not executable (relative to ${cwd})`
      : `'${program}' was not found on PATH`,
    ...(!program.includes("/") && { hint: `a program in this directory is './${program}'` }),
  });
}
