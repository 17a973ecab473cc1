/** The launcher of the plugin `hydra-joblib-launcher`, whose log is joblib's. */
import { relative } from "node:path";
import { floatRepr } from "../../engine/values/python-text.ts";
import { isBelow } from "../../foundation/system/files.ts";
import { loggedOverrides } from "../launch/job-overrides.ts";
import type { LauncherRequest } from "../launch/launcher.ts";
import { localLauncher } from "../launch/local/local-launcher.ts";
import { readLauncher, STANDARD } from "../launch/local/local-settings.ts";
import { JOBLIB_SETTINGS, JOBLIB_TARGET } from "./joblib.ts";

export const joblibLauncher = localLauncher(
  "joblib",
  JOBLIB_TARGET,
  (section) => {
    const { n_jobs: jobs, timeout: timeLimit } = readLauncher(JOBLIB_SETTINGS, section);
    return { ...STANDARD, jobs, timeLimit };
  },
  {
    jobId: (number, name) => `${name}_${number}`,
    output: "followed",
    logBatch: (batch, request) => logBatch(batch.map(loggedOverrides), request),
  },
);

/** Logs a batch as Hydra's own plugin does. */
function logBatch(batch: readonly string[], request: LauncherRequest): void {
  const { directory, internals, logger, settings } = request;
  const log = logger("hydra_plugins.hydra_joblib_launcher._core");
  const parameters = Object.entries({ ...settings, backend: "loky" })
    .filter(([key]) => !COMMON.includes(key))
    .map(([key, value]) => `${key}=${asPython(key, value)}`);
  log.info(`Joblib.Parallel(${parameters}) is launching ${batch.length} jobs`);
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
