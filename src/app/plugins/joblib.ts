/** The plugin `hydra-joblib-launcher`: jobs in parallel on this machine. */
import { relative } from "node:path";
import {
  type Field,
  FLOAT,
  field,
  INT,
  object,
  optional,
  STR,
} from "../../engine/compose/hydra/schema.ts";
import { floatRepr } from "../../engine/values/python-text.ts";
import { isBelow } from "../../foundation/system/files.ts";
import { fieldsOf, type Setting, type SettingsTable } from "../job/settings.ts";
import type { LauncherRequest } from "../launch/launcher.ts";
import { PROCESSES, positive, readLauncher, SECOND, STANDARD } from "../launch/local/settings.ts";
import type { Plugin } from "./contract/plugin.ts";

const TARGET = "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher";

/** An argument of joblib that has a meaning in Python only. */
const python = (declared: Field): Setting => ({
  field: declared,
  help: "for Python only",
  read: (value) => value,
});

const SETTINGS = {
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

const { n_jobs, ...OTHERS } = SETTINGS;

/** Of Hydra 1.4. */
const NEWER = {
  n_jobs,
  inner_max_num_threads: python(field(optional(INT), null)),
  ...OTHERS,
  backend: python(field(optional(STR), "loky")),
};

const launcher = (settings: SettingsTable) =>
  object("JobLibLauncherConf", { _target_: field(STR, TARGET), ...fieldsOf(settings) }).node;

/** Runs the jobs of a sweep in parallel on this machine. */
export const joblib: Plugin = {
  name: "joblib",
  configs: { "hydra/launcher/joblib": { create: () => launcher(SETTINGS) } },
  newer: { configs: { "hydra/launcher/joblib": { create: () => launcher(NEWER) } } },
  launchers: async () => {
    const { loggedOverrides } = await import("../launch/job-overrides.ts");
    const { localLauncher } = await import("../launch/local/local-launcher.ts");
    return [
      localLauncher(
        "joblib",
        TARGET,
        (section) => {
          const { n_jobs: jobs, timeout: timeLimit } = readLauncher(SETTINGS, section);
          return { ...STANDARD, jobs, timeLimit };
        },
        {
          jobId: (number, name) => `${name}_${number}`,
          output: "followed",
          logBatch: (batch, request) => logBatch(batch.map(loggedOverrides), request),
        },
      ),
    ];
  },
};

/** Logs a batch as Hydra's own plugin does. */
function logBatch(batch: readonly string[], request: LauncherRequest): void {
  const { directory, internals, logger, settings } = request;
  const log = logger("hydra_plugins.hydra_joblib_launcher._core");
  const given = Object.entries({ ...settings, backend: "loky" })
    .filter(([key]) => !COMMON.includes(key))
    .map(([key, value]) => `${key}=${asPython(key, value)}`);
  log.info(`Joblib.Parallel(${given}) is launching ${batch.length} jobs`);
  log.info(`Launching jobs, sweep output dir : ${shownPath(internals.invocation.cwd, directory)}`);
  for (const [index, overrides] of batch.entries()) log.info(`\t#${index} : ${overrides}`);
}

/** Keys that are not arguments of joblib. */
const COMMON = ["_target_", "_convert_", "_recursive_", "on_failure"];

function asPython(key: string, value: unknown): string {
  if (value === null) return "None";
  return key === "timeout" ? floatRepr(Number(value)) : String(value);
}

/** A path below the working directory is shown as it is usually typed. */
function shownPath(cwd: string, directory: string): string {
  return isBelow(directory, cwd) ? relative(cwd, directory) : directory;
}
