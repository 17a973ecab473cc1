import { existsSync } from "node:fs";
import { plainAt, textAt } from "../../job/hydra-values.ts";
import type { LauncherKind, SweepBackend } from "../../launch/launcher.ts";
import { schedulerFolder } from "../../record/layout.ts";
import { insteadOfSetting, readSettings } from "./settings.ts";

/** Jobs as tasks of a Slurm job array, under submitit's keys. */
export const slurmLauncher: LauncherKind = {
  targets: [
    "hydraconf.SlurmLauncher",
    "hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher",
  ],
  runsElsewhere: true,
  insteadOf: insteadOfSetting,
  open: (request) => {
    const { context, root } = request;
    const settings = readSettings(
      (plainAt(root, "hydra.launcher", context) ?? {}) as Readonly<Record<string, unknown>>,
      `${textAt(root, "hydra.sweep.dir", context) ?? "None"}/.submitit/%j`,
    );
    return {
      async *launch(batch) {
        // Loaded only where it is used: it runs programs.
        const { launchOnSlurm } = await import("./launch.ts");
        yield* launchOnSlurm(batch, settings, request);
      },
      async submit(batch, signal) {
        const { submitToSlurm } = await import("./launch.ts");
        await submitToSlurm(batch, settings, request, signal);
      },
    };
  },
  backend: (folder, env) =>
    existsSync(schedulerFolder(folder)) ? openBackend(folder, env) : undefined,
};

async function openBackend(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SweepBackend> {
  const { createSlurm } = await import("./client.ts");
  const { slurmSweep } = await import("./slurm-sweep.ts");
  return slurmSweep(folder, createSlurm(env));
}
