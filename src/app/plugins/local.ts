/** The plugin of our own launcher for processes of this machine. */
import {
  ANY,
  BOOL,
  emptyMap,
  FLOAT,
  field,
  INT,
  object,
  optional,
  STR,
} from "../../engine/compose/hydra/schema.ts";
import type { Plugin } from "./contract/plugin.ts";

const TARGET = "hydraconf.LocalLauncher";

const launcher = () =>
  object("LocalLauncherConf", {
    _target_: field(STR, TARGET),
    n_jobs: field(INT, -1n),
    timeout_min: field(optional(FLOAT), null),
    max_retries: field(INT, 0n),
    on_failure: field(STR, "continue"),
    resources: emptyMap(ANY),
    reuse_workers: field(optional(BOOL), null),
    slot_scope: field(STR, "machine"),
  }).node;

/** Our addition to the plugins of Hydra's repository: runs the jobs of a sweep in processes of this machine. */
export const local: Plugin = {
  name: "local",
  configs: { "hydra/launcher/local": { create: launcher, replaceable: true } },
  launchers: async () => {
    const { localLauncher } = await import("../launch/local/local-launcher.ts");
    const { readLocalSettings } = await import("../launch/local/settings.ts");
    return [localLauncher("local", TARGET, readLocalSettings)];
  },
};
