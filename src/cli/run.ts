import type { RunMode } from "../compose/index.ts";
import { checkJobs } from "../job/check-jobs.ts";
import type { Composer } from "../job/composer.ts";
import { composedEvent, hydraLogging, openJobContext } from "../job/job-context.ts";
import { createLogging, type Logging } from "../job/logging/logging.ts";
import { type PlannedJob, placeOf, planJob } from "../job/plan-job.ts";
import { showFailure, warnOf } from "../job/report-error.ts";
import { runJob, takeDirectory } from "../job/run-job.ts";
import { EXIT_ERROR } from "../job/session.ts";
import { openBoard } from "../sweep/board.ts";
import { detachSweep } from "../sweep/detach.ts";
import { runMany } from "../sweep/foreground.ts";
import type { SweepSession } from "../sweep/registry.ts";
import { createSuspension } from "../system/process-signals.ts";
import { isConfigError } from "../values/errors.ts";
import { pyStr } from "../values/python-text.ts";
import { selectNode } from "../values/resolution/select.ts";
import { notDetachable } from "./arguments/check-flags.ts";

/**
 * Runs the task of a program: one job, or a sweep.
 *
 * @returns the exit code
 */
export async function runTask(session: SweepSession): Promise<number> {
  const { composer, invocation, parsed } = session;
  const { mode, overrides, warning } = chooseMode(
    session.overrides,
    parsed.flags.has("multirun"),
    composer,
  );
  if (warning !== undefined) warnOf(warning, invocation);
  const suspension = createSuspension();
  const board = openBoard(invocation.console, suspension);
  const logging = createLogging({ console: board.console });
  const all = [...session.overrides, ...overrides];
  const detach = isDetached(session);
  if (detach && mode === "run") throw notDetachable("the --detach flag is only for sweeps");
  try {
    if (mode === "run") return await runOne(session, all, logging);
    if (detach) return await detachSweep(session, all, logging);
    const beside = { ...session, invocation: { ...invocation, console: board.console } };
    return await runMany(beside, all, logging, board, suspension);
  } finally {
    logging.close();
  }
}

/** For a resumed sweep the flag of this command line counts, not how the sweep began. */
const isDetached = ({ invocation, parsed }: SweepSession): boolean =>
  invocation.resumed === undefined
    ? parsed.flags.has("detach")
    : invocation.resumed.detach === true;

async function runOne(
  session: SweepSession,
  overrides: readonly string[],
  logging: Logging,
): Promise<number> {
  const { composer } = session;
  const composition = composer.compose(overrides);
  hydraLogging(composition, session, logging)();
  await session.logInfo(overrides, {}, logging);
  const place = placeOf(session);
  // Callbacks come first: if one cannot be created, no directory is left behind.
  const surroundings = await openJobContext(session, composition, logging);
  const { callbacks } = surroundings;
  const taken = await takePlace(session, () => planJob(composition, place));
  if (taken === null) return EXIT_ERROR;
  const { planned, release } = taken;
  try {
    const event = composedEvent(composition, overrides, session);
    await callbacks.notify("onComposeConfig", event);
    await callbacks.notify("onRunStart", event);
    const result = await runJob(planned, surroundings);
    await callbacks.notify("onRunEnd", { ...event, result });
    if (result.status === "failed") showFailure(result, session);
    return result.exitCode;
  } finally {
    release();
  }
}

/** Plans a job and takes its directory; plans again if another run has taken it first. */
async function takePlace(
  session: SweepSession,
  plan: () => PlannedJob,
): Promise<{ readonly planned: PlannedJob; readonly release: () => void } | null> {
  const { invocation, options } = session;
  for (let planned = plan(); ; ) {
    if (!(await checkJobs([planned], options, invocation.console))) return null;
    try {
      return { planned, release: takeDirectory(planned, options.resultFiles ?? []) };
    } catch (error) {
      if (!isConfigError(error) || error.code !== "app.run_directory") throw error;
      const again = plan();
      if (again.outputDir === planned.outputDir) throw error;
      planned = again;
    }
  }
}

export interface ChosenMode {
  readonly mode: RunMode;
  /** Overrides to add, so that the mode is recorded. */
  readonly overrides: readonly string[];
  readonly warning?: string;
}

/**
 * Whether there is one job or a sweep: `--multirun`, else `hydra.mode` of the config or an override,
 * else one job.
 */
export function chooseMode(
  overrides: readonly string[],
  isMultirun: boolean,
  composer: Composer,
): ChosenMode {
  const configured = configuredMode(overrides, composer);
  if (isMultirun)
    return configured === "multirun"
      ? { mode: "multirun", overrides: [] }
      : {
          mode: "multirun",
          overrides: ["hydra.mode=MULTIRUN"],
          ...(configured === "run" && {
            warning:
              "\n\tRunning Hydra app with --multirun, overriding with `hydra.mode=MULTIRUN`.",
          }),
        };
  if (configured !== undefined) return { mode: configured, overrides: [] };
  return { mode: "run", overrides: ["hydra.mode=RUN"] };
}

/**
 * Also undefined if the config cannot be composed: then the run itself reports why. Sweeps are not
 * refused here, because whether they are allowed depends on the mode.
 */
function configuredMode(overrides: readonly string[], composer: Composer): RunMode | undefined {
  try {
    const { root } = composer.compose(overrides, { mode: "multirun", anySweeps: true });
    const mode = selectNode(root, "hydra.mode", composer.context);
    if (mode === undefined || (mode.kind === "scalar" && mode.value === null)) return undefined;
    return pyStr(mode).endsWith("MULTIRUN") ? "multirun" : "run";
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}
