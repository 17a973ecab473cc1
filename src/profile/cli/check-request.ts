import { existsSync, type Stats, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseOverrides } from "../../overrides/index.ts";
import { fileProblem } from "../../system/files.ts";
import { agreeing } from "../../text/plural.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { compileLabelRules } from "../analysis/labels.ts";
import { findExecutable, findNsightTool } from "../machine/find-program.ts";
import { queryGpus, resolveDevice } from "../machine/gpu.ts";
import { COLLECTOR_NAMES } from "../tools/collection.ts";
import { isRangeMode, type ProfileConfig, type WorkloadConfig } from "../tools/config.ts";
import { probeNcu, requireNcu } from "../tools/ncu/run/capabilities.ts";
import { checkModes, checkOptions } from "../tools/ncu/run/cli-options.ts";
import { checkExtraOptions, traces, tracesCuda } from "../tools/nsys/command.ts";
import { requireNsysPath } from "../tools/nsys/tool.ts";
import { probeGpu } from "./doctor/gpu.ts";
import { thisMachine } from "./doctor/machine.ts";

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

interface ProgramRefusal {
  readonly message: string;
  readonly hint?: string;
}

function whatIsThere(program: string, cwd: string): ProgramRefusal {
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

function whatIsNotOnPath(program: string, cwd: string): ProgramRefusal {
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

/** The recorder's settings also apply to what the others measure. */
const COLLECTORS = ["nsys", "ncu"] as const;
type Collector = (typeof COLLECTORS)[number];

/**
 * Notes about settings that the command line has for a collector that is off: most likely it was meant to be on.
 *
 * @param overrides those of the job, as typed
 */
export function idleSettings(
  pipeline: Readonly<Record<Collector, { readonly enable: boolean }>>,
  overrides: readonly string[],
): readonly string[] {
  const keys = parseOverrides(overrides).map(({ keyOrGroup }) => keyOrGroup);
  return COLLECTORS.filter((name) => !pipeline[name].enable).flatMap((name) => {
    const enable = `pipeline.${name}.enable`;
    const idle = keys.filter((key) => isAbout(name, key) && key !== enable);
    if (idle.length === 0) return [];
    return [
      `${idle.join(", ")} ${agreeing(idle.length, "has", "have")} no effect: ${enable} is false`,
    ];
  });
}

/** Presets of its settings, too. */
const isAbout = (name: Collector, key: string): boolean =>
  key.startsWith(`pipeline.${name}.`) || key === `profiling/${name}`;
