import type { ProfileConfig } from "../config.ts";
import { commandWorkload } from "./command.ts";
import { pythonModuleWorkload } from "./python-module.ts";
import { shallowResnetWorkload } from "./shallow-resnet.ts";
import type { Workload } from "./workload.ts";

export type { Workload } from "./workload.ts";

/** What a builder needs beside the config. */
export interface WorkloadContext {
  /** Where the user stands: relative paths are relative to it. */
  readonly cwd: string;
  /** `cpu` or `cuda:N`. */
  readonly device: string;
  /** Path of the built-in executable; empty when the workload does not need it. */
  readonly shallowResnet: string;
}

export function createWorkload(config: ProfileConfig, context: WorkloadContext): Workload {
  const { workload } = config;
  switch (workload.kind) {
    case "shallow_resnet":
      return shallowResnetWorkload(config, workload.program, context);
    case "command":
      return commandWorkload(workload.command, context);
    case "python_module":
      return pythonModuleWorkload(workload, context);
  }
}
