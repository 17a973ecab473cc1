/** The kinds of workloads: the built-in model, a command, a Python module. */

import { basename, resolve } from "node:path";
import { parseOverrides } from "../../engine/overrides/index.ts";
import type { Workload, WorkloadContext } from "../machine/process.ts";
import type { ProfileConfig, WorkloadConfig } from "../tools/profiler-config.ts";
import { overrideText } from "./command-override.ts";

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

/** Keys and groups of what is measured and how, in place of the program. */
const OF_MEASURING = /^(?:pipeline|profiling|repeats|warmup_runs|runners?)(?:[./]|$)/;

/**
 * The overrides that run a workload again, as typed.
 *
 * @param overrides of the job
 * @returns null if the program's own command line does
 */
export const workloadOverrides = (
  { kind }: WorkloadConfig,
  overrides: readonly string[],
): readonly string[] | null =>
  kind === "command"
    ? null
    : overrides.filter((text) =>
        parseOverrides([text]).every(({ keyOrGroup }) => !OF_MEASURING.test(keyOrGroup)),
      );

/** The built-in ShallowResNet: one flag per key of `model` and `infer`. */
function shallowResnetWorkload(
  config: ProfileConfig,
  program: "forward" | "regions",
  context: WorkloadContext,
): Workload {
  const { model, infer } = config;
  const path = (file: string) => resolve(context.cwd, file);
  const files = {
    weights: model.weights === null ? null : path(model.weights),
    input: infer.input === null ? null : path(infer.input),
  };
  const onGpu = context.device !== "cpu";
  const flags: Flags = {
    model: model.name,
    "in-channels": model.in_channels,
    "base-channels": model.base_channels,
    "num-blocks": model.num_blocks,
    "num-classes": model.num_classes,
    "batch-size": infer.batch_size,
    "image-size": infer.image_size,
    device: context.device,
    "batch-norm": infer.batch_norm,
    warmup: infer.warmup,
    iterations: infer.iterations,
    seed: infer.seed,
    weights: files.weights,
    input: files.input,
    output: infer.output === null ? null : path(infer.output),
    program,
    // Only for GPUs: the executable refuses it on the CPU.
    dtype: onGpu ? infer.dtype : null,
    tf32: infer.tf32,
    "gpu-library": onGpu ? infer.gpu_library : null,
    "cuda-graph": infer.cuda_graph,
  };
  const { output: _, ...others } = flags;
  // In a separate, minimal run: measuring the machine takes longer than the model, and would dominate a profile of
  // both.
  const peaks = { ...others, warmup: 0, iterations: 1, peaks: true };
  return {
    label: config.model.name,
    argv: [context.shallowResnet, ...flagWords(flags)],
    ...(config.pipeline.static_analysis.enable && {
      peaksArgv: [context.shallowResnet, ...flagWords(peaks)],
    }),
    cwd: context.cwd,
    // The numbering of nvidia-smi, which users know; CUDA's default numbers the fastest device first.
    env: onGpu ? { CUDA_DEVICE_ORDER: "PCI_BUS_ID" } : {},
    stdout: "document",
    device: context.device,
    inputFiles: Object.values(files).filter((file) => file !== null),
  };
}

/** `true` is a flag without a value; `false` and null are omitted. */
type Flags = Readonly<Record<string, string | number | boolean | null>>;

const flagWords = (flags: Flags): readonly string[] =>
  Object.entries(flags).flatMap(([name, value]) => {
    if (value === null || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  });

/** Any program, exactly as given: without a shell. */
function commandWorkload(command: readonly string[], context: WorkloadContext): Workload {
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

type PythonModule = Extract<WorkloadConfig, { kind: "python_module" }>;

/** `python -m MODULE OVERRIDES...` for a Hydra program, in a run directory of its own. */
function pythonModuleWorkload(config: PythonModule, context: WorkloadContext): Workload {
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
