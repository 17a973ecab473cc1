import { overrideText } from "../config/command-override.ts";
import type { WorkloadConfig } from "../config/config.ts";
import type { Workload, WorkloadContext } from "./workload.ts";

type PythonModule = Extract<WorkloadConfig, { kind: "python_module" }>;

/** `python -m MODULE OVERRIDES...` of a Hydra program, kept in a run directory of its own. */
export function pythonModuleWorkload(config: PythonModule, context: WorkloadContext): Workload {
  return {
    label: config.module,
    argv: [
      config.python,
      "-m",
      config.module,
      ...config.overrides,
      `hydra.run.dir=${overrideText(config.run_dir)}`,
    ],
    cwd: context.cwd,
    env: {},
    stdout: "forward",
    device: null,
    inputFiles: [],
  };
}
