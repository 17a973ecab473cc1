import type { ProfileConfig } from "../config/config.ts";
import { commandWorkload } from "./command.ts";
import { pythonModuleWorkload } from "./python-module.ts";
import { shallowResnetWorkload } from "./shallow-resnet.ts";
import type { Workload, WorkloadContext } from "./workload.ts";

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
