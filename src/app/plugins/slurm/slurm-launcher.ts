/** The launcher for Slurm. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { BackendRequest, LauncherDefinition } from "../../launch/launcher.ts";
import type { SweepBackend } from "../../launch/scheduler.ts";
import { insteadOfSetting, readSlurmSettings } from "./slurm-settings.ts";
import { LAUNCHER } from "./submissions.ts";

/** Runs jobs as tasks of a Slurm job array, with submitit's keys. */
export const slurmLauncher: LauncherDefinition = {
  name: LAUNCHER,
  targets: [
    "hydraconf.SlurmLauncher",
    "hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher",
  ],
  prunes: true,
  runsElsewhere: true,
  settingsByJob: true,
  insteadOf: insteadOfSetting,
  open: (request) => {
    const settings = readSlurmSettings(request.settings, `${request.directory}/.submitit/%j`);
    return {
      async *launch(batch) {
        // Loaded only when used, because it runs programs.
        const { launchOnSlurm } = await import("./launch.ts");
        yield* launchOnSlurm(batch, settings, request);
      },
      async submit(batch, signal) {
        const { submitToSlurm } = await import("./launch.ts");
        await submitToSlurm(batch, settings, request, signal);
      },
    };
  },
  backend: (request) => (existsSync(request.notes) ? openBackend(request) : undefined),
  scheduledTask({ SLURM_ARRAY_JOB_ID: array, SLURM_ARRAY_TASK_ID: index, SLURM_PROCID: rank }) {
    if (array === undefined || index === undefined) return undefined;
    return {
      id: `${array}_${index}`,
      // One of several processes may run a job together (`nodes`, `tasks_per_node`).
      isFirst: rank === undefined || rank === "0",
      signals: ["SIGUSR2"],
    };
  },
};

async function openBackend({ env, notes }: BackendRequest): Promise<SweepBackend> {
  const { createSlurm } = await import("./client.ts");
  const { slurmSweep } = await import("./slurm-sweep.ts");
  return slurmSweep(dirname(notes), createSlurm(env));
}
