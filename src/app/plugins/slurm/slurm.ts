/** The plugin for Slurm: configs under submitit's name and ours. */
import type { ConfigPlugin } from "../../../engine/compose/config-plugin.ts";
import {
  type Field,
  field,
  INT,
  object,
  optional,
  STR,
} from "../../../engine/compose/hydra/hydra-schema.ts";
import { fieldsOf } from "../../job/settings.ts";
import { ON_FAILURE } from "../../launch/launcher-settings.ts";
import { SUBMITIT_MODULE } from "../submitit/submitit.ts";
import { QUEUE_SETTINGS } from "../submitit/submitit-settings.ts";
import { SLURM_SETTINGS } from "./slurm-settings.ts";

type Fields = Readonly<Record<string, Field>>;

const queue = (target: string, ours: Fields = {}, newer: Fields = {}) => {
  const { additional_parameters, array_parallelism, setup, srun_args, ...options } =
    fieldsOf(SLURM_SETTINGS);
  const last = { additional_parameters, array_parallelism, setup, srun_args };
  return object("SlurmQueueConf", {
    ...fieldsOf(QUEUE_SETTINGS),
    _target_: field(STR, target),
    ...options,
    ...newer,
    ...last,
    ...ours,
  }).node;
};
/**
 * Runs the jobs of a sweep as a job array of a Slurm cluster, under submitit's name and under ours, which also has
 * `on_failure`.
 */
export const slurm: ConfigPlugin = {
  name: "slurm",
  configs: {
    "hydra/launcher/submitit_slurm": { create: () => queue(`${SUBMITIT_MODULE}.SlurmLauncher`) },
    "hydra/launcher/slurm": {
      create: () => queue("hydraconf.SlurmLauncher", fieldsOf({ on_failure: ON_FAILURE })),
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
};
