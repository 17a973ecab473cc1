/** The plugin of our own launcher for processes of this machine. */
import type { ConfigPlugin } from "../../engine/compose/config-plugin.ts";
import { field, object, STR } from "../../engine/compose/hydra/hydra-schema.ts";
import { fieldsOf } from "../job/settings.ts";
import { LOCAL_SETTINGS } from "../launch/local/local-settings.ts";

/** The class in `_target_` of its config. */
export const LOCAL_TARGET = "hydraconf.LocalLauncher";

const launcher = () =>
  object("LocalLauncherConf", { _target_: field(STR, LOCAL_TARGET), ...fieldsOf(LOCAL_SETTINGS) })
    .node;

/** Our addition to the plugins of Hydra's repository: runs the jobs of a sweep in processes of this machine. */
export const local: ConfigPlugin = {
  name: "local",
  configs: { "hydra/launcher/local": { create: launcher, replaceable: true } },
};
