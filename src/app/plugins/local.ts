/** The plugin of our own launcher for processes of this machine. */
import { field, object, STR } from "../../engine/compose/hydra/schema.ts";
import { fieldsOf } from "../job/settings.ts";
import { LOCAL_SETTINGS, readLocalSettings } from "../launch/local/settings.ts";
import type { Plugin } from "./contract/plugin.ts";

const TARGET = "hydraconf.LocalLauncher";

const launcher = () =>
  object("LocalLauncherConf", { _target_: field(STR, TARGET), ...fieldsOf(LOCAL_SETTINGS) }).node;

/** Our addition to the plugins of Hydra's repository: runs the jobs of a sweep in processes of this machine. */
export const local: Plugin = {
  name: "local",
  configs: { "hydra/launcher/local": { create: launcher, replaceable: true } },
  launchers: async () => {
    const { localLauncher } = await import("../launch/local/local-launcher.ts");
    return [localLauncher("local", TARGET, readLocalSettings)];
  },
};
