/** The plugin `hydra-submitit-launcher`: its configs, and its local queue. */
import {
  type Field,
  field,
  INT,
  object,
  optional,
  STR,
} from "../../../engine/compose/hydra/schema.ts";
import { fieldsOf, type Setting } from "../../job/settings.ts";
import { usableCpus } from "../../launch/local/cpus.ts";
import { cannotBe, MINUTE, positive, readLauncher, STANDARD } from "../../launch/local/settings.ts";
import type { Plugin } from "../contract/plugin.ts";
import { QUEUE_SETTINGS } from "./settings.ts";

/** The Python module of submitit's launchers, whose classes `_target_` names. */
export const SUBMITIT_MODULE = "hydra_plugins.hydra_submitit_launcher.submitit_launcher";

const LOCAL_TARGET = `${SUBMITIT_MODULE}.LocalLauncher`;

const local = (newer: Readonly<Record<string, Field>> = {}) =>
  object("LocalQueueConf", {
    ...fieldsOf(QUEUE_SETTINGS),
    _target_: field(STR, LOCAL_TARGET),
    ...newer,
  }).node;

/** A number of which a process of this machine has one. */
const one = ({ field: declared, help }: Setting): Setting<void> => ({
  field: declared,
  help,
  read(value, refuse) {
    if (value !== undefined && value !== 1)
      refuse(cannotBe(value, "1: a job is one process of this machine"));
  },
});

/** The settings that have a meaning here. */
const { nodes, tasks_per_node, timeout_min } = QUEUE_SETTINGS;
const LOCAL_QUEUE = {
  nodes: one(nodes),
  tasks_per_node: one(tasks_per_node),
  timeout_min: { ...timeout_min, read: positive(MINUTE) },
};

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
    return [
      localLauncher("submitit", LOCAL_TARGET, (section) => {
        const { timeout_min: timeLimit } = readLauncher(LOCAL_QUEUE, section);
        return { ...STANDARD, jobs: usableCpus(), timeLimit };
      }),
    ];
  },
};
