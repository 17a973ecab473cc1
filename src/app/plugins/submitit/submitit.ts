/** The plugin `hydra-submitit-launcher`: its configs, and its local queue. */
import {
  BOOL,
  type Field,
  field,
  INT,
  object,
  optional,
  STR,
} from "../../../engine/compose/hydra/schema.ts";
import type { Plugin } from "../contract/plugin.ts";

/** The Python module of submitit's launchers, whose classes `_target_` names. */
export const SUBMITIT_MODULE = "hydra_plugins.hydra_submitit_launcher.submitit_launcher";

/** The fields of every queue of submitit, which precede its own. */
export const queueFields = () => ({
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

const LOCAL_TARGET = `${SUBMITIT_MODULE}.LocalLauncher`;

const local = (newer: Readonly<Record<string, Field>> = {}) =>
  object("LocalQueueConf", { ...queueFields(), _target_: field(STR, LOCAL_TARGET), ...newer }).node;

/** Runs the jobs of a sweep as processes of this machine, with the keys of submitit's local queue. */
export const submitit: Plugin = {
  name: "submitit",
  configs: { "hydra/launcher/submitit_local": { create: () => local() } },
  newer: {
    configs: {
      "hydra/launcher/submitit_local": {
        create: () => local({ tasks_per_node: field(optional(INT), 1n) }),
      },
    },
  },
  launchers: async () => {
    const { localLauncher } = await import("../../launch/local/local-launcher.ts");
    const { invalid, MINUTE, NO_RESOURCES, positive, processes } = await import(
      "../../launch/local/settings.ts"
    );
    return [
      localLauncher("submitit", LOCAL_TARGET, (section) => {
        for (const key of ["nodes", "tasks_per_node"])
          if (section[key] !== undefined && section[key] !== 1)
            throw invalid(key, section[key], "1: a job is one process of this machine");
        return {
          jobs: processes(-1),
          timeLimit: positive("timeout_min", section["timeout_min"], MINUTE),
          retries: 0,
          ...NO_RESOURCES,
        };
      }),
    ];
  },
};
