/** What a profile would run, for `--dry-run`: the command lines. Leaves no files behind. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { shellCommand } from "../../text/shell-words.ts";
import { isConfigError } from "../../values/errors.ts";
import { makeTemporaryDirectory } from "../machine/files.ts";
import { queryGpus } from "../machine/gpu.ts";
import { interruptOf, listenForInterrupt, signalExitCode } from "../machine/interrupt.ts";
import type { NativePart } from "../machine/native.ts";
import type { Workload } from "../machine/process.ts";
import { COLLECTOR_NAMES, type CollectorName } from "../tools/collection.ts";
import { silentProgress } from "../tools/collector.ts";
import type { ProfileConfig } from "../tools/config.ts";
import { forAnotherMachine, type NcuCollectorOptions, planNcu } from "../tools/ncu/session.ts";
import { planNsys } from "../tools/nsys/collector.ts";
import { ncuOptions } from "./collectors.ts";
import { chooseDevice, nativeFor, withoutGpuSettings } from "./gpu-settings.ts";
import { createWorkload } from "./workloads.ts";

/** One run of the workload. */
export interface PlannedRun {
  readonly collector: CollectorName;
  /** Which of a collector's runs, if it has several. */
  readonly pass?: string;
  readonly command: readonly string[];
  /** Environment variables that the tool needs. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProfilePlan {
  readonly runs: readonly PlannedRun[];
  readonly notes: readonly string[];
}

export interface PlanRequest {
  readonly cwd: string;
  readonly runDirectory: string;
  /** Receives a line about each step that takes time. */
  readonly say: (line: string) => void;
}

/**
 * The runs that a config leads to. If they depend on the program's regions (the levels of nesting in
 * range replay, or what a filter of regions matches), the program runs once under the recorder, in a
 * temporary directory. A signal ends that run, or the build of the native part, and then this process
 * with the exit code 128 + N.
 */
export async function planProfile(
  config: ProfileConfig,
  request: PlanRequest,
): Promise<{ readonly text: string; readonly data: ProfilePlan }> {
  const [gpus, native] = await Promise.all([queryGpus(), nativeForPlan(config, request.say)]);
  const { ncu } = config.pipeline;
  // A config that needs a GPU is planned for another machine if this one has none.
  const isForElsewhere = gpus.length === 0 && (ncu.enable || config.device.startsWith("cuda:"));
  const device = isForElsewhere
    ? config.device.replace("auto", "cuda:0")
    : chooseDevice(config, gpus, native);
  const workloadOn = (where: string, settings: ProfileConfig) =>
    createWorkload(settings, {
      cwd: request.cwd,
      device: where,
      shallowResnet: native.shallowResnet,
    });
  const workload = workloadOn(device, config);
  const plans = {
    recorder: async () => runsOf({ collector: "recorder", command: workload.argv }),
    nsys: async () => {
      const directory = join(request.runDirectory, "nsys");
      const { argv, env, notes } = await planNsys(config.pipeline.nsys, workload, directory);
      return { runs: [{ collector: "nsys", command: argv, env }], notes };
    },
    ncu: async () => {
      const options = ncuOptions({ config, native });
      if (!isForElsewhere) return planNcuRuns(options, workload, { ...request, workload });
      const elsewhere = forAnotherMachine(config, workload.device);
      const onCpu = workloadOn("cpu", withoutGpuSettings(config));
      const plan = await planNcuRuns({ ...options, config: elsewhere.config }, workload, {
        ...request,
        workload: onCpu,
      }).catch((error: unknown) => withoutRegions(error));
      return { ...plan, notes: [...elsewhere.notes, ...plan.notes] };
    },
  } satisfies Record<CollectorName, () => Promise<ProfilePlan>>;
  const runs: PlannedRun[] = [];
  const notes: string[] = [];
  for (const name of COLLECTOR_NAMES.filter((at) => config.pipeline[at].enable)) {
    const plan = await plans[name]();
    runs.push(...plan.runs);
    notes.push(...plan.notes);
  }
  return { text: textOf({ runs, notes }), data: { runs, notes } };
}

/** A signal ends the build, and then this process. */
async function nativeForPlan(config: ProfileConfig, say: PlanRequest["say"]): Promise<NativePart> {
  const interrupt = listenForInterrupt();
  try {
    return await nativeFor(config, say, interrupt.stop);
  } catch (error) {
    if (!interrupt.stop.aborted || !isConfigError(error)) throw error;
    say(error.details.message);
    process.exit(signalExitCode(interruptOf(interrupt.stop)));
  } finally {
    interrupt.dispose();
  }
}

const runsOf = (...runs: readonly PlannedRun[]): ProfilePlan => ({ runs, notes: [] });

/** The plan for a program that fails without a GPU, so that its regions are unknown. */
function withoutRegions(error: unknown): ProfilePlan {
  if (!isConfigError(error) || error.code !== "profile.ncu") throw error;
  return {
    runs: [],
    notes: [
      `the runs of ncu depend on the program's regions, which are unknown without a GPU (${error.message}): the range modes need one run per level of nesting; use --dry-run on a machine with a GPU to see them`,
    ],
  };
}

async function planNcuRuns(
  options: NcuCollectorOptions,
  workload: Workload,
  {
    runDirectory,
    say,
    workload: discovered,
  }: PlanRequest & {
    /** The workload as it is run to find its regions. */
    readonly workload: Workload;
  },
): Promise<ProfilePlan> {
  const scratch = makeTemporaryDirectory("deep-profile-plan-");
  const interrupt = listenForInterrupt();
  try {
    const { passes, notes } = await planNcu(options, workload, {
      directory: scratch,
      reports: join(runDirectory, "ncu"),
      discovered: silent(discovered),
      interrupt,
      progress: silentProgress,
      say,
      earlier: [],
    });
    const runs = passes.map(
      ({ name, command }): PlannedRun => ({ collector: "ncu", pass: name, command }),
    );
    return { runs, notes };
  } finally {
    interrupt.dispose();
    rmSync(scratch, { recursive: true, force: true });
    // After a signal there is no plan, and the config is not to blame.
    if (interrupt.stop.aborted) process.exit(signalExitCode(interruptOf(interrupt.stop)));
  }
}

/** Keeps the program's output out of the plan. */
const silent = (workload: Workload): Workload => ({ ...workload, stdout: "document" });

function textOf({ runs, notes }: ProfilePlan): string {
  const lines = runs.map(
    ({ collector, pass, command, env }) =>
      `${collector}${pass === undefined ? "" : ` (${pass})`}: ${shellCommand(command, env)}`,
  );
  return `${[...lines, ...notes.map((note) => `note: ${note}`)].join("\n")}\n`;
}
