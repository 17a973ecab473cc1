import { FLOAT, field, INT, object, optional, STR } from "../hydra/schema.ts";
import type { Plugin } from "./plugin.ts";

const launcher = () =>
  object("JobLibLauncherConf", {
    _target_: field(STR, "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher"),
    n_jobs: field(INT, -1n),
    backend: field(optional(STR), null),
    prefer: field(STR, "processes"),
    require: field(optional(STR), null),
    verbose: field(INT, 0n),
    timeout: field(optional(FLOAT), null),
    pre_dispatch: field(STR, "2*n_jobs"),
    batch_size: field(STR, "auto"),
    temp_folder: field(optional(STR), null),
    max_nbytes: field(optional(STR), null),
    mmap_mode: field(STR, "r"),
  }).node;

/** Jobs of a sweep in parallel on this machine. */
export const joblib: Plugin = {
  name: "joblib",
  store: { "hydra/launcher/joblib": { create: launcher } },
};
