import { ANY, emptyMap, FLOAT, field, INT, object, optional, STR } from "../hydra/typed.ts";
import type { Plugin } from "./plugin.ts";

const launcher = () =>
  object("LocalLauncherConf", {
    _target_: field(STR, "hydraconf.LocalLauncher"),
    n_jobs: field(INT, -1n),
    timeout_min: field(optional(FLOAT), null),
    max_retries: field(INT, 0n),
    on_failure: field(STR, "continue"),
    resources: emptyMap(ANY),
    slot_scope: field(STR, "machine"),
  }).node;

/** Ours, beside those of Hydra's repository: jobs of a sweep in processes of this machine. */
export const local: Plugin = {
  name: "local",
  store: { "hydra/launcher/local": { create: launcher, replaceable: true } },
};
