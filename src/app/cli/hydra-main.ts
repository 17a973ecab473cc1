/** `hydraMain`, which loads what a program needs when there is one: most users of the library only compose. */
import type { DataOf } from "../../engine/compose/config-types.ts";
import type { ConfigSchema } from "../../engine/values/config-schema.ts";
import { callerOf } from "../../foundation/system/caller.ts";
import type { Task } from "../job/job.ts";
import type { Invocation } from "../job/process/invocation.ts";
import type { HydraMainOptions } from "./check-main.ts";

/**
 * `@hydra.main` of Python programs: parses the command line, composes the config, sets up the job and calls the task
 * with its config; shows the config, the help or the version instead if a flag asks for it. Never throws for a user's
 * mistakes, nor for options that the types do not allow: both are printed as errors.
 *
 * @param surroundings the command line, environment and console of a test; what it leaves out is that of this process, without
 * arguments. Default: all of this process, whose exit code is then set if it is not 0, as that of a Python program
 * @returns the exit code: 0, the task's own `exitCode`, 1 for errors, 2 for a wrong command line
 */
export async function hydraMain<
  const Schema extends ConfigSchema | undefined = undefined,
  const Dir extends string | null = null,
  const Name extends string | null = null,
>(
  declared: HydraMainOptions<Schema, Dir, Name>,
  task: Task<DataOf<Schema, Dir, Name>>,
  surroundings?: Partial<Invocation>,
): Promise<number> {
  const { file } = callerOf(hydraMain);
  const { startProgram } = await import("./main.ts");
  return startProgram(declared, task, surroundings, file);
}
