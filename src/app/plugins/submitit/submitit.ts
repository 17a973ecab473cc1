/** The plugin `hydra-submitit-launcher`: its configs. */
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
import { QUEUE_SETTINGS } from "./submitit-settings.ts";

/** The Python module of submitit's launchers, whose classes `_target_` names. */
export const SUBMITIT_MODULE = "hydra_plugins.hydra_submitit_launcher.submitit_launcher";

/** The class of its local queue. */
export const SUBMITIT_LOCAL = `${SUBMITIT_MODULE}.LocalLauncher`;

const local = (newer: Readonly<Record<string, Field>> = {}) =>
  object("LocalQueueConf", {
    ...fieldsOf(QUEUE_SETTINGS),
    _target_: field(STR, SUBMITIT_LOCAL),
    ...newer,
  }).node;

/** Runs the jobs of a sweep as processes of this machine, with the keys of submitit's local queue. */
export const submitit: ConfigPlugin = {
  name: "submitit",
  configs: { "hydra/launcher/submitit_local": { create: () => local() } },
  newer: {
    configs: {
      "hydra/launcher/submitit_local": {
        create: () => local({ tasks_per_node: field(optional(INT), 1n) }),
      },
    },
  },
};
