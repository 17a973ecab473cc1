import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { COLLECTOR_NAMES } from "../collection/collector-names.ts";
import type { ProfileConfig } from "../config/config.ts";
import { isRangeMode } from "../config/ncu-config.ts";
import { probeGpu } from "../doctor/gpu.ts";
import { thisMachine } from "../doctor/machine.ts";
import { compileLabelRules } from "../labels/label-rules.ts";
import { queryGpus } from "../machine/gpu.ts";
import { findNsightTool } from "../machine/nsight-tools.ts";
import { probeNcu } from "../ncu/run/capabilities.ts";
import { checkModes, checkOptions } from "../ncu/run/cli-options.ts";
import { requireNcu } from "../ncu/run/find-ncu.ts";
import { traces, tracesCuda } from "../nsys/run/command.ts";
import { checkExtraOptions } from "../nsys/run/extra-options.ts";
import { requireNsysPath } from "../nsys/run/tool.ts";
import { resolveDevice } from "./device.ts";
import { requireProgram } from "./require-program.ts";

interface Refusal {
  readonly key: string;
  /** Whether the config asks for what this version cannot do. */
  readonly applies: (config: ProfileConfig) => boolean;
  readonly message: string;
  readonly hint: string;
}

/** Settings that the config tree has and this version does not carry out: refused, never ignored. */
const refusals: readonly Refusal[] = [
  {
    key: "pipeline.nsys.capture_range",
    applies: ({ pipeline: { nsys } }) =>
      nsys.enable &&
      nsys.gating_nvtx &&
      nsys.capture_range === "nvtx" &&
      !traces(nsys).includes("nvtx"),
    message: "capture_range=nvtx needs nvtx in pipeline.nsys.trace",
    hint: `"pipeline.nsys.trace='cuda,nvtx'"`,
  },
  {
    key: "pipeline.nsys.capture_range",
    applies: ({ pipeline: { nsys } }) =>
      nsys.enable &&
      nsys.gating_nvtx &&
      nsys.capture_range === "cudaProfilerApi" &&
      !tracesCuda(nsys),
    message: "capture_range=cudaProfilerApi needs cuda in pipeline.nsys.trace",
    hint: `"pipeline.nsys.trace='cuda,nvtx'"`,
  },
  {
    key: "pipeline.nsys.trace",
    applies: ({ pipeline: { nsys } }) => nsys.enable && !traces(nsys).includes("nvtx"),
    message: "nvtx is missing: regions are NVTX ranges",
    hint: `"pipeline.nsys.trace='cuda,nvtx'"`,
  },
  {
    key: "pipeline.ncu.top_n_kernels",
    applies: ({ pipeline: { ncu } }) =>
      ncu.enable && (ncu.top_n_kernels ?? null) !== null && isRangeMode(ncu.ncu_cli.replay_mode),
    message: "ncu measures a range as a whole, without telling its kernels apart",
    hint: "pipeline.ncu.top_n_kernels=null, or pipeline.ncu.ncu_cli.replay_mode=kernel",
  },
  {
    key: "pipeline.recorder.enable",
    applies: ({ pipeline }) => COLLECTOR_NAMES.every((name) => !pipeline[name].enable),
    message: "no collector is enabled",
    hint: "pipeline.recorder.enable=true",
  },
];

/**
 * What a schema cannot know: whether this version can carry the config out, and this machine.
 * Called before anything is made.
 *
 * @param how `isPlan`: the run is only shown, for which no GPU needs to be there
 * @throws ConfigError `profile.unsupported`, `profile.device`, `profile.program`, `profile.input`,
 *   `profile.tool`, `profile.ncu_option`, `profile.nsys_option`, `profile.label_rule`
 */
export async function checkRequest(
  config: ProfileConfig,
  cwd: string,
  { isPlan }: { readonly isPlan: boolean },
): Promise<void> {
  refuseUnsupported(config);
  if (config.labels !== undefined) compileLabelRules(config.labels);
  requireProgram(config.workload, cwd);
  requireInputFiles(config, cwd);
  // Asking tools and the driver takes a while: only where the answer decides something.
  await refuseTogether(toolChecks(config));
  const { ncu } = config.pipeline;
  if (!ncu.enable && !config.device.startsWith("cuda:")) return;
  const gpus = await queryGpus();
  if (isPlan && gpus.length === 0) return;
  // Its remedy is that of a missing device, too.
  if (ncu.enable && gpus.length === 0) throw await noGpu(config);
  if (config.device.startsWith("cuda:")) resolveDevice(config.device, gpus, true);
}

type RequestCheck = () => unknown;

/** What the collectors need: whoever installs one tool for a run wants to know what else it lacks. */
function toolChecks(config: ProfileConfig): readonly RequestCheck[] {
  const { nsys, ncu } = config.pipeline;
  const ofNcu: readonly RequestCheck[] =
    findNsightTool("ncu") === null
      ? [() => checkModes(ncu.ncu_cli), requireNcu]
      : [async () => checkOptions(ncu.ncu_cli, await probeNcu(requireNcu()))];
  return [
    ...(nsys.enable
      ? [() => checkExtraOptions(nsys), () => requireNsysPath("pipeline.nsys.enable")]
      : []),
    ...(ncu.enable ? [...ofNcu, () => refuseCpu(config)] : []),
  ];
}

/** Throws what all of them find as one error; of several, each with its own remedy below it. */
async function refuseTogether(checks: readonly RequestCheck[]): Promise<void> {
  const problems: ConfigError[] = [];
  for (const check of checks)
    try {
      await check();
    } catch (error) {
      if (!isConfigError(error)) throw error;
      problems.push(error);
    }
  const [first, ...others] = problems;
  if (first === undefined) return;
  throw others.length === 0 ? first : new ConfigError({ ...first.details, others });
}

/** ncu measures kernels on a GPU and nothing else. */
function refuseCpu({ device, workload }: ProfileConfig): void {
  if (device !== "cpu" || workload.kind !== "shallow_resnet") return;
  throw new ConfigError({
    code: "profile.device",
    key: "pipeline.ncu.enable",
    message: "pipeline.ncu.enable: Nsight Compute measures GPU kernels, and device=cpu runs none",
    hint: "device=auto, or pipeline.ncu.enable=false",
  });
}

/** Why there is none, in the words of `deep-profile doctor`. */
async function noGpu({ pipeline }: ProfileConfig): Promise<ConfigError> {
  const { driver } = await probeGpu(thisMachine(process.env));
  const others = pipeline.nsys.enable ? "recorder and nsys" : "recorder alone";
  const remedy = driver.hint ?? "install NVIDIA's driver (nvidia-smi must list the GPU)";
  return new ConfigError({
    code: "profile.device",
    key: "pipeline.ncu.enable",
    message: `pipeline.ncu.enable: Nsight Compute needs an NVIDIA GPU, and this machine has none that answers: ${driver.detail}`,
    hint: `${remedy}; pipeline.ncu.enable=false device=cpu records with the ${others}, --dry-run shows what would run, and deep-profile import reads reports from another machine`,
  });
}

function refuseUnsupported(config: ProfileConfig): void {
  const refusal = refusals.find(({ applies }) => applies(config));
  if (refusal === undefined) return;
  throw new ConfigError({
    code: "profile.unsupported",
    key: refusal.key,
    message: `${refusal.key}: ${refusal.message}`,
    hint: refusal.hint,
  });
}

/** The built-in workload's files: found out here, not after a run has begun. */
function requireInputFiles({ workload, model, infer }: ProfileConfig, cwd: string): void {
  if (workload.kind !== "shallow_resnet") return;
  const files = { "model.weights": model.weights, "infer.input": infer.input };
  for (const [key, file] of Object.entries(files))
    if (file !== null && !existsSync(resolve(cwd, file)))
      throw new ConfigError({
        code: "profile.input",
        key,
        message: `${key}: file '${file}' does not exist (relative to ${cwd})`,
      });
}
