/** The plugin for Slurm: configs under submitit's name and ours. */
import {
  ANY,
  emptyMap,
  type Field,
  field,
  INT,
  listOf,
  object,
  optional,
  STR,
} from "../../../engine/compose/hydra/schema.ts";
import type { Plugin } from "../contract/plugin.ts";
import { queueFields, SUBMITIT_MODULE } from "../submitit/submitit.ts";

type Fields = Readonly<Record<string, Field>>;

const queue = (target: string, ours: Fields = {}, newer: Fields = {}) =>
  object("SlurmQueueConf", {
    ...queueFields(),
    _target_: field(STR, target),
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
    ...newer,
    additional_parameters: emptyMap(ANY),
    array_parallelism: field(INT, 256n),
    setup: field(optional(listOf(STR)), null),
    srun_args: field(optional(listOf(STR)), null),
    ...ours,
  }).node;

/**
 * Runs the jobs of a sweep as a job array of a Slurm cluster, under submitit's name and under ours, which also has
 * `on_failure`.
 */
export const slurm: Plugin = {
  name: "slurm",
  configs: {
    "hydra/launcher/submitit_slurm": { create: () => queue(`${SUBMITIT_MODULE}.SlurmLauncher`) },
    "hydra/launcher/slurm": {
      create: () => queue("hydraconf.SlurmLauncher", { on_failure: field(STR, "continue") }),
      replaceable: true,
    },
  },
  newer: {
    configs: {
      "hydra/launcher/submitit_slurm": {
        create: () =>
          queue(
            `${SUBMITIT_MODULE}.SlurmLauncher`,
            { tasks_per_node: field(optional(INT), 1n) },
            { python: field(optional(STR), null) },
          ),
      },
    },
  },
  launchers: async () => [(await import("./launcher.ts")).slurmLauncher],
};
