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
import type { LauncherRequest } from "../launch/launcher.ts";
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

/** Runs the jobs of a sweep in parallel on this machine. */
export const joblib: Plugin = {
  name: "joblib",
  configs: { "hydra/launcher/joblib": { create: older } },
  newer: { configs: { "hydra/launcher/joblib": { create: newer } } },
  launchers: async () => {
    const { loggedOverrides } = await import("../launch/job-overrides.ts");
    const { localLauncher } = await import("../launch/local/local-launcher.ts");
    const { NO_RESOURCES, positive, processes, SECOND } = await import(
      "../launch/local/settings.ts"
    );
    // The keys of joblib that have a meaning without Python; `timeout` is in seconds.
    return [
      localLauncher(
        "joblib",
        TARGET,
        (section) => ({
          jobs: processes(section["n_jobs"]),
          timeLimit: positive("timeout", section["timeout"], SECOND),
          retries: 0,
          ...NO_RESOURCES,
        }),
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
