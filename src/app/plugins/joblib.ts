/** The plugin `hydra-joblib-launcher`: jobs in parallel on this machine. */
import type { ConfigPlugin } from "../../engine/compose/config-plugin.ts";
import {
  type Field,
  FLOAT,
  field,
  INT,
  object,
  optional,
  STR,
} from "../../engine/compose/hydra/hydra-schema.ts";
import { fieldsOf, type Setting, type SettingsTable } from "../job/settings.ts";
import { PROCESSES, positive, SECOND } from "../launch/local/local-settings.ts";

export const JOBLIB_TARGET = "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher";

/** An argument of joblib that has a meaning in Python only. */
const python = (declared: Field): Setting => ({
  field: declared,
  help: "for Python only",
  read: (value) => value,
});

/** The settings of `hydra/launcher=joblib`. */
export const JOBLIB_SETTINGS = {
  n_jobs: PROCESSES,
  backend: python(field(optional(STR), null)),
  prefer: python(field(STR, "processes")),
  require: python(field(optional(STR), null)),
  verbose: python(field(INT, 0n)),
  timeout: {
    field: field(optional(FLOAT), null),
    help: "seconds that a job may take",
    read: positive(SECOND),
  },
  pre_dispatch: python(field(STR, "2*n_jobs")),
  batch_size: python(field(STR, "auto")),
  temp_folder: python(field(optional(STR), null)),
  max_nbytes: python(field(optional(STR), null)),
  mmap_mode: python(field(STR, "r")),
};

const { n_jobs, ...OTHERS } = JOBLIB_SETTINGS;

/** Of Hydra 1.4. */
const NEWER = {
  n_jobs,
  inner_max_num_threads: python(field(optional(INT), null)),
  ...OTHERS,
  backend: python(field(optional(STR), "loky")),
};

const launcher = (settings: SettingsTable) =>
  object("JobLibLauncherConf", { _target_: field(STR, JOBLIB_TARGET), ...fieldsOf(settings) }).node;

/** Runs the jobs of a sweep in parallel on this machine. */
export const joblib: ConfigPlugin = {
  name: "joblib",
  configs: { "hydra/launcher/joblib": { create: () => launcher(JOBLIB_SETTINGS) } },
  newer: { configs: { "hydra/launcher/joblib": { create: () => launcher(NEWER) } } },
};
