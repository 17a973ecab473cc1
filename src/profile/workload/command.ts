import { basename } from "node:path";
import type { Workload, WorkloadContext } from "./workload.ts";

/** Any program, as the user wrote it: no shell, no reinterpretation. */
export function commandWorkload(command: readonly string[], context: WorkloadContext): Workload {
  return {
    label: basename(command[0] ?? ""),
    argv: command,
    cwd: context.cwd,
    env: {},
    stdout: "forward",
    device: null,
    inputFiles: [],
  };
}
