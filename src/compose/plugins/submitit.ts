import { ANY, BOOL, emptyMap, field, INT, listOf, object, optional, STR } from "../hydra/schema.ts";
import type { Plugin } from "./plugin.ts";

/** What every queue has, in front of its own fields. */
const base = () => ({
  submitit_folder: field(STR, "${hydra.sweep.dir}/.submitit/%j"),
  timeout_min: field(INT, 60n),
  cpus_per_task: field(optional(INT), null),
  gpus_per_node: field(optional(INT), null),
  tasks_per_node: field(INT, 1n),
  mem_gb: field(optional(INT), null),
  nodes: field(INT, 1n),
  name: field(STR, "${hydra.job.name}"),
  stderr_to_stdout: field(BOOL, false),
});

const target = (className: string) => ({
  _target_: field(STR, `hydra_plugins.hydra_submitit_launcher.submitit_launcher.${className}`),
});

const local = () => object("LocalQueueConf", { ...base(), ...target("LocalLauncher") }).node;

const slurmFields = (ours: Parameters<typeof object>[1] = {}) =>
  object("SlurmQueueConf", {
    ...base(),
    ...target("SlurmLauncher"),
    partition: field(optional(STR), null),
    qos: field(optional(STR), null),
    comment: field(optional(STR), null),
    constraint: field(optional(STR), null),
    exclude: field(optional(STR), null),
    gres: field(optional(STR), null),
    cpus_per_gpu: field(optional(INT), null),
    gpus_per_task: field(optional(INT), null),
    mem_per_gpu: field(optional(STR), null),
    mem_per_cpu: field(optional(STR), null),
    account: field(optional(STR), null),
    signal_delay_s: field(INT, 120n),
    max_num_timeout: field(INT, 0n),
    additional_parameters: emptyMap(ANY),
    array_parallelism: field(INT, 256n),
    setup: field(optional(listOf(STR)), null),
    srun_args: field(optional(listOf(STR)), null),
    ...ours,
  }).node;

/** Jobs of a sweep as processes of this machine, or as a job array of a Slurm cluster. */
export const submitit: Plugin = {
  name: "submitit",
  store: {
    "hydra/launcher/submitit_local": { create: local },
    "hydra/launcher/submitit_slurm": { create: () => slurmFields() },
  },
};

/** The same job array under our own name, with what our sweeps know beside submitit's keys. */
const slurmLauncherConfig = () =>
  slurmFields({
    _target_: field(STR, "hydraconf.SlurmLauncher"),
    on_failure: field(STR, "continue"),
  });

/** Ours, under submitit's keys: jobs of a sweep as a job array of a Slurm cluster. */
export const slurm: Plugin = {
  name: "slurm",
  store: { "hydra/launcher/slurm": { create: slurmLauncherConfig, replaceable: true } },
};
