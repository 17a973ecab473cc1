import type { Plugin } from "./plugin.ts";
import { slurmLauncherConfig } from "./submitit.ts";

/** Launchers that are ours, each with a config group option of its own. */
export const ownLaunchers: Plugin = {
  name: "hydraconf",
  store: { "hydra/launcher/slurm": { create: slurmLauncherConfig } },
};
