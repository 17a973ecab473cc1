import { basename } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import type { WorkloadContext } from "./index.ts";
import type { Workload } from "./workload.ts";

/** Any program, as the user wrote it: no shell, no reinterpretation. */
export function commandWorkload(command: readonly string[], context: WorkloadContext): Workload {
  const [program] = command;
  if (program === undefined || program === "")
    throw new ConfigError({
      code: "profile.nothing_to_do",
      key: "workload.command",
      message: "workload.command is empty: there is nothing to profile",
      hint: "deep-profile [overrides] -- PROG ARG...   or   workload.command=[prog,arg]",
    });
  return {
    label: basename(program),
    argv: command,
    cwd: context.cwd,
    env: {},
    stdout: "forward",
    device: null,
    inputFiles: [],
  };
}
