import type { Plugin } from "./plugin.ts";
import { slurmLauncherConfig } from "./submitit.ts";

/** Ours, under submitit's keys: jobs of a sweep as a job array of a Slurm cluster. */
export const slurm: Plugin = {
  name: "slurm",
  store: { "hydra/launcher/slurm": { create: slurmLauncherConfig, replaceable: true } },
};
