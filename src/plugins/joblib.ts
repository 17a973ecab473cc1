import { type Field, FLOAT, field, INT, object, optional, STR } from "../compose/hydra/schema.ts";
import type { Plugin } from "./contract/plugin.ts";

const TARGET = "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher";

const launcher = (backend: Readonly<Record<string, Field>>) =>
  object("JobLibLauncherConf", {
    _target_: field(STR, TARGET),
    n_jobs: field(INT, -1n),
    ...backend,
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

const older = () => launcher({ backend: field(optional(STR), null) });

const newer = () =>
  launcher({
    inner_max_num_threads: field(optional(INT), null),
    backend: field(optional(STR), "loky"),
  });

/** Jobs of a sweep in parallel on this machine. */
export const joblib: Plugin = {
  name: "joblib",
  configs: { "hydra/launcher/joblib": { create: older } },
  newer: { configs: { "hydra/launcher/joblib": { create: newer } } },
  launchers: async () => {
    const { localLauncher } = await import("../launch/local/local-launcher.ts");
    const { NO_RESOURCES, positive, processes, SECOND } = await import(
      "../launch/local/settings.ts"
    );
    // Of joblib's keys, these have a meaning without Python; `timeout` is in seconds.
    return [
      localLauncher("joblib", TARGET, (section) => ({
        jobs: processes(section["n_jobs"]),
        timeLimit: positive("timeout", section["timeout"], SECOND),
        retries: 0,
        ...NO_RESOURCES,
      })),
    ];
  },
};
