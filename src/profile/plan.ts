/** What a profile would run, for `--dry-run`: the command lines, without making anything. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COLLECTOR_NAMES, type CollectorName } from "./collectors/collector.ts";
import { ncuOptions } from "./collectors/index.ts";
import { planNcu } from "./collectors/ncu.ts";
import type { ProfileConfig } from "./config.ts";
import { chooseDevice } from "./gpu-settings.ts";
import { queryGpus } from "./machine/gpu.ts";
import { requireNative } from "./native.ts";
import { shellWord } from "./ncu/run/run-pass.ts";
import { silentProgress } from "./progress.ts";
import { createWorkload } from "./workload/index.ts";
import type { Workload } from "./workload/workload.ts";

/** One run of the workload. */
export interface PlannedRun {
  readonly collector: CollectorName;
  /** Of several runs of a collector. */
  readonly pass?: string;
  readonly command: readonly string[];
}

export interface ProfilePlan {
  readonly runs: readonly PlannedRun[];
  readonly notes: readonly string[];
}

export interface PlanRequest {
  readonly cwd: string;
  readonly runDirectory: string;
  /** Told a line at a time what takes time. */
  readonly say: (line: string) => void;
}

/**
 * The runs that a config leads to. Where they depend on which regions the program has (the levels of
 * nesting in range replay), the program runs once under the recorder, in a folder that is removed.
 */
export async function planProfile(
  config: ProfileConfig,
  { cwd, runDirectory, say }: PlanRequest,
): Promise<{ readonly text: string; readonly data: ProfilePlan }> {
  const [gpus, native] = await Promise.all([queryGpus(), requireNative(say)]);
  const device = chooseDevice(config, gpus, native);
  const workload = createWorkload(config, { cwd, device, shallowResnet: native.shallowResnet });
  const enabled = COLLECTOR_NAMES.filter((name) => config.pipeline[name].enable);
  const plain = enabled
    .filter((name) => name !== "ncu")
    .map((collector): PlannedRun => ({ collector, command: workload.argv }));
  if (!enabled.includes("ncu")) return planOf({ runs: plain, notes: [] });
  const scratch = mkdtempSync(join(tmpdir(), "deep-profile-plan-"));
  try {
    const ncu = await planNcu(ncuOptions({ config, native }), silent(workload), {
      directory: scratch,
      reports: join(runDirectory, "ncu"),
      interrupt: { stop: new AbortController().signal, kill: new AbortController().signal },
      progress: silentProgress,
      say,
      earlier: [],
    });
    return planOf({
      runs: [
        ...plain,
        ...ncu.passes.map(
          ({ name, command }): PlannedRun => ({ collector: "ncu", pass: name, command }),
        ),
      ],
      notes: ncu.notes,
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What the program prints is no part of the plan. */
const silent = (workload: Workload): Workload => ({ ...workload, stdout: "document" });

function planOf(data: ProfilePlan) {
  const lines = data.runs.map(
    ({ collector, pass, command }) =>
      `${collector}${pass === undefined ? "" : ` (${pass})`}: ${command.map(shellWord).join(" ")}`,
  );
  const notes = data.notes.map((note) => `note: ${note}`);
  return { text: `${[...lines, ...notes].join("\n")}\n`, data };
}
