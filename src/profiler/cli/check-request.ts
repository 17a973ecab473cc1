/** Checks a request that no schema can check: programs, devices, tools of this machine. */
import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { parseOverrides } from "../../engine/overrides/index.ts";
import { CodedError, ConfigError, isCodedError, nearest } from "../../engine/values/errors.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import { fileProblem } from "../../foundation/system/files.ts";
import { findExecutable, interpreterOf } from "../../foundation/system/find-program.ts";
import { agreeing } from "../../foundation/text/plural.ts";
import { compileLabelRules } from "../analysis/labels.ts";
import { probeGpu } from "../machine/doctor/gpu-checks.ts";
import { thisMachine } from "../machine/doctor/machine.ts";
import { type GpuQueries, resolveDevice } from "../machine/gpu.ts";
import type { ProfileConfig, WorkloadConfig } from "../tools/profiler-config.ts";
import {
  isEnabled,
  type ProfilingTool,
  type SettingsRefusal,
  type ToolSettings,
} from "../tools/tool.ts";
import { TOOLS } from "../tools/tool-table.ts";

export interface CheckOptions {
  /** Whether the run is only shown, so that neither a GPU nor the tools are needed. */
  readonly isPlan: boolean;
}

/**
 * Checks that no schema can express: whether this version and this machine can execute a config. Called for each job
 * before anything is created. Starting tools and querying the driver takes time, so the jobs of a sweep share the
 * results.
 *
 * @param tools default: those of the table
 */
export function createRequestCheck(
  cwd: string,
  queries: GpuQueries,
  tools: readonly ProfilingTool[] = TOOLS,
): (config: ProfileConfig, options: CheckOptions) => Promise<void> {
  const ofTools = new Map<string, readonly CodedError[]>();
  return (config, { isPlan }) => checkRequest(config, { cwd, queries, tools, isPlan, ofTools });
}

interface CheckContext extends CheckOptions {
  readonly cwd: string;
  readonly queries: GpuQueries;
  readonly tools: readonly ProfilingTool[];
  /** The results of the tools' checks, by `pipeline` and the purpose as JSON. */
  readonly ofTools: Map<string, readonly CodedError[]>;
}

/**
 * @throws ConfigError `profile.unsupported`, `profile.device`, `profile.program`, `profile.input`,
 *   `profile.tool`, `profile.ncu_option`, `profile.nsys_option`, `profile.label_rule`
 */
async function checkRequest(
  config: ProfileConfig,
  { cwd, queries, tools, isPlan, ofTools }: CheckContext,
): Promise<void> {
  const enabled = tools.filter(({ name }) => isEnabled(config.pipeline, name));
  const settings = await Promise.all(enabled.map((tool) => tool.settings()));
  refuseUnsupported(config, settings);
  if (config.labels !== undefined) compileLabelRules(config.labels);
  requireProgram(config.workload, cwd);
  requireInputFiles(config, cwd);
  // Tools and the driver are queried only if the result matters, because that takes time.
  const gpuTools = enabled.filter(({ needsGpu }) => needsGpu);
  const asked = JSON.stringify([config.pipeline, isPlan]);
  const ofInstalled =
    ofTools.get(asked) ??
    (await problemsOf(settings.flatMap(({ checks }) => checks?.(config, { isPlan }) ?? [])));
  ofTools.set(asked, ofInstalled);
  refuseTogether([
    ...ofInstalled,
    ...(await problemsOf(gpuTools.map((tool) => () => refuseCpu(tool, config)))),
  ]);
  const isOnDevice = config.device.startsWith("cuda:");
  const [gpuTool] = gpuTools;
  if (gpuTool === undefined && !isOnDevice) return;
  const gpus = await queries.gpus();
  if (isPlan && gpus.length === 0) return;
  // The remedy for a missing device is the same.
  if (gpuTool !== undefined && gpus.length === 0) throw await noGpu(gpuTool, config, tools);
  if (isOnDevice) resolveDevice(config.device, gpus, true);
}

type RequestCheck = () => unknown;

async function problemsOf(checks: readonly RequestCheck[]): Promise<readonly CodedError[]> {
  const problems: CodedError[] = [];
  for (const check of checks)
    try {
      await check();
    } catch (error) {
      if (!isCodedError(error)) throw error;
      problems.push(error);
    }
  return problems;
}

/** Throws several errors as one, each with its own remedy below it. */
function refuseTogether([first, ...others]: readonly CodedError[]): void {
  if (first === undefined) return;
  throw others.length === 0 ? first : new CodedError({ ...first.details, others });
}

function refuseCpu({ name, product }: ProfilingTool, { device, workload }: ProfileConfig): void {
  if (device !== "cpu" || workload.kind !== "shallow_resnet") return;
  const key = `pipeline.${name}.enable`;
  throw new ConfigError({
    code: "profile.device",
    key,
    message: `${key}: ${product} measures GPU kernels, and device=cpu runs none`,
    hint: `device=auto, or ${key}=false`,
  });
}

/** The reason for a missing GPU, in the words of `deep-profile doctor`. */
async function noGpu(
  { name, product }: ProfilingTool,
  { pipeline }: ProfileConfig,
  tools: readonly ProfilingTool[],
): Promise<ConfigError> {
  const { driver } = await probeGpu(thisMachine(process.env));
  const others = tools
    .filter((tool) => !tool.needsGpu && (tool === tools[0] || isEnabled(pipeline, tool.name)))
    .map((tool) => tool.name);
  const remaining = others.length > 1 ? others.join(" and ") : `${others.join()} alone`;
  const remedy = driver.hint ?? "install NVIDIA's driver (nvidia-smi must list the GPU)";
  const key = `pipeline.${name}.enable`;
  return new ConfigError({
    code: "profile.device",
    key,
    message: `${key}: ${product} needs an NVIDIA GPU, and this machine has none that answers: ${driver.detail}`,
    hint: `${remedy}; ${key}=false device=cpu records with the ${remaining}, --dry-run shows what would run, and deep-profile import reads reports from another machine`,
  });
}

const NO_TOOL: SettingsRefusal = {
  key: "pipeline.recorder.enable",
  applies: () => true,
  message: "no collector is enabled",
  hint: "pipeline.recorder.enable=true",
};

/** @param settings settings of the enabled tools */
function refuseUnsupported(config: ProfileConfig, settings: readonly ToolSettings[]): void {
  const refusals = settings.flatMap((tool) => tool.refusals ?? []);
  const refusal = settings.length === 0 ? NO_TOOL : refusals.find(({ applies }) => applies(config));
  if (refusal === undefined) return;
  throw new ConfigError({
    code: "profile.unsupported",
    key: refusal.key,
    message: `${refusal.key}: ${refusal.message}`,
    hint: refusal.hint,
  });
}

/** Checks the files of the built-in workload before the run rather than during it. */
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
 * Checks that the program exists, before anything is created for its run.
 *
 * @throws ConfigError `profile.program` for an empty command or a missing program
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
  const [first = "", ...more] = program.trim().split(/\s+/);
  throw new ConfigError({
    code: "profile.program",
    key,
    ...(more.length > 0 &&
      findExecutable(first, cwd) !== null && {
        hint: `the program and its arguments are words of their own, without quotes around them all: -- ${[first, ...more].join(" ")}`,
      }),
    ...(program.includes("/") ? whatIsThere(program, cwd) : whatIsNotOnPath(program, cwd)),
  });
}

interface ProgramRefusal {
  readonly message: string;
  readonly hint?: string;
  readonly nearest?: string;
}

function whatIsThere(program: string, cwd: string): ProgramRefusal {
  const stat = lookAt(resolve(cwd, program));
  if (isError(stat)) return { message: `'${program}' cannot be run: ${fileProblem(stat)}` };
  if (stat === undefined) {
    const near = nearest(basename(program), programsBeside(program, cwd));
    return {
      message: `'${program}' was not found (relative to ${cwd})`,
      ...(near !== undefined && { nearest: `${dirname(program)}/${near}` }),
    };
  }
  if (stat.isDirectory()) return { message: `'${program}' is a directory, not a program` };
  return {
    message: `'${program}' is not executable`,
    ...(SOURCE.test(program)
      ? refusalOfSource(program, cwd)
      : { hint: `chmod +x ${program}, or name its interpreter: -- ${startOf(program)}` }),
  };
}

const SOURCE = /\.(?:c|cc|cpp|cxx|cu|f|f90|rs|go|java)$/i;

/** What is compiled is often beside its source, with its name. */
function refusalOfSource(source: string, cwd: string): { hint: string; nearest?: string } {
  const compiled = source.replace(SOURCE, "");
  const path = compiled.includes("/") ? compiled : `./${compiled}`;
  const isThere = findExecutable(path, cwd) !== null;
  return {
    hint: `it is source code: name the program that the compiler makes of it${isThere ? `: -- ${path}` : ""}`,
    ...(isThere && { nearest: path }),
  };
}

/** The programs in its directory; none if that cannot be read. */
function programsBeside(program: string, cwd: string): readonly string[] {
  const folder = dirname(program);
  try {
    return readdirSync(resolve(cwd, folder)).filter(
      (name) => findExecutable(`${folder}/${name}`, cwd) !== null,
    );
  } catch {
    return [];
  }
}

/** Most scripts without an ending are for a shell. */
const startOf = (script: string): string => `${interpreterOf(script) ?? "bash"} ${script}`;

function whatIsNotOnPath(program: string, cwd: string): ProgramRefusal {
  const message = `'${program}' was not found on PATH`;
  const here = lookAt(resolve(cwd, program));
  if (here === undefined || isError(here) || !here.isFile()) return { message };
  if (SOURCE.test(program)) return { message, ...refusalOfSource(program, cwd) };
  const hint =
    findExecutable(`./${program}`, cwd) === null
      ? `name its interpreter: -- ${startOf(program)}`
      : `to run a program in this directory, write './${program}'`;
  return { message, hint };
}

/** Undefined if nothing is there; an error if it cannot be accessed. */
function lookAt(path: string): Stats | Error | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isError(error) && "code" in error) return error;
    throw error;
  }
}

/**
 * Notes about settings on the command line for a disabled tool, which was most likely meant to be enabled.
 *
 * @param overrides the job's overrides, as typed
 */
export async function idleSettings(
  pipeline: object,
  overrides: readonly string[],
  tools: readonly ProfilingTool[] = TOOLS,
): Promise<readonly string[]> {
  const keys = parseOverrides(overrides).map(({ keyOrGroup }) => keyOrGroup);
  const notes: string[] = [];
  for (const { name, settings } of tools) {
    const enable = `pipeline.${name}.enable`;
    const idle = keys.filter((key) => isAbout(name, key) && key !== enable);
    if (idle.length === 0 || isEnabled(pipeline, name) || (await settings()).shared) continue;
    notes.push(
      `${idle.join(", ")} ${agreeing(idle.length, "has", "have")} no effect: ${enable} is false`,
    );
  }
  return notes;
}

/** Includes presets of its settings. */
const isAbout = (name: string, key: string): boolean =>
  key.startsWith(`pipeline.${name}.`) || key === `profiling/${name}`;
