/** Plans the command lines of a run, for `--dry-run`. Leaves no files behind but the native part, if it has to be built. */
import { join } from "node:path";
import { isCodedError } from "../../engine/values/errors.ts";
import { shellCommand } from "../../foundation/text/shell-words.ts";
import { createGpuQueries, type GpuQueries } from "../machine/gpu.ts";
import type { StopRequests } from "../machine/process.ts";
import { interruptOf, listenForInterrupt, signalExitCode } from "../machine/stop-signals.ts";
import type { ProfileConfig } from "../tools/profiler-config.ts";
import { isEnabled, type ProfilingTool, type ToolPlan, type ToolRun } from "../tools/tool.ts";
import { TOOLS } from "../tools/tool-table.ts";
import { chooseDevice, nativeFor, withoutGpuSettings } from "./gpu-settings.ts";
import { createWorkload } from "./workloads.ts";

/** One run of the workload. */
export interface PlannedRun extends ToolRun {
  /** Name of the tool. */
  readonly collector: string;
}

export interface ProfilePlan extends ToolPlan {
  readonly runs: readonly PlannedRun[];
}

export interface PlanRequest {
  readonly cwd: string;
  readonly runDirectory: string;
  /** Called with a line about each step that takes time. */
  readonly say: (line: string) => void;
  /** Shared by the plans of a sweep. Default: a new one. */
  readonly queries?: GpuQueries;
  /** Default: those of the table. */
  readonly tools?: readonly ProfilingTool[];
}

/**
 * The runs of a config. A signal ends the programs that planning runs, such as the build of the native part, and then
 * this process with the exit code 128 + N.
 */
export async function planProfile(
  config: ProfileConfig,
  request: PlanRequest,
): Promise<{ readonly text: string; readonly data: ProfilePlan; readonly written?: string }> {
  const interrupt = listenForInterrupt();
  try {
    const { builtIn, ...data } = await planRuns(config, request, interrupt);
    const written = builtIn === null ? {} : { written: `the native part, in ${builtIn}` };
    return { text: textOf(data), data, ...written };
  } finally {
    interrupt.dispose();
    // After a signal there is no plan, but no error of the config either.
    if (interrupt.stop.aborted) process.exit(signalExitCode(interruptOf(interrupt.stop)));
  }
}

async function planRuns(
  config: ProfileConfig,
  { cwd, runDirectory, say, queries = createGpuQueries(), tools = TOOLS }: PlanRequest,
  interrupt: StopRequests,
): Promise<ProfilePlan & { readonly builtIn: string | null }> {
  const [gpus, native] = await Promise.all([
    queries.gpus(),
    nativeFor(config, queries, say, interrupt.stop).catch((error: unknown) => {
      if (interrupt.stop.aborted && isCodedError(error)) say(error.message);
      throw error;
    }),
  ]);
  const enabled = tools.filter(({ name }) => isEnabled(config.pipeline, name));
  // A config that needs a GPU is planned for another machine if this one has none.
  const isForElsewhere =
    gpus.length === 0 &&
    (enabled.some(({ needsGpu }) => needsGpu) || config.device.startsWith("cuda:"));
  const device = isForElsewhere
    ? config.device.replace("auto", "cuda:0")
    : chooseDevice(config, gpus, native);
  const workloadOn = (where: string, settings: ProfileConfig) =>
    createWorkload(settings, { cwd, device: where, shallowResnet: native.shallowResnet });
  const workload = workloadOn(device, config);
  const withoutGpu = isForElsewhere ? workloadOn("cpu", withoutGpuSettings(config)) : null;
  const runs: PlannedRun[] = [];
  const notes: string[] = [];
  for (const { name, plan } of enabled) {
    const directory = join(runDirectory, name);
    const planned = await plan(workload, { config, native, directory, withoutGpu, interrupt, say });
    runs.push(...planned.runs.map((run) => ({ collector: name, ...run })));
    notes.push(...planned.notes);
  }
  return { runs, notes, builtIn: native.builtIn };
}

function textOf({ runs, notes }: ProfilePlan): string {
  const lines = runs.map(
    ({ collector, pass, command, env }) =>
      `${collector}${pass === undefined ? "" : ` (${pass})`}: ${shellCommand(command, env)}`,
  );
  return `${[...lines, ...notes.map((note) => `note: ${note}`)].join("\n")}\n`;
}
