import { createSuspension } from "../../system/process-signals.ts";
import { isConfigError } from "../../values/errors.ts";
import { EXIT_ERROR, type Session } from "../commands/command.ts";
import { showFailure } from "../errors/report-error.ts";
import { warnOf } from "../errors/warn.ts";
import { notDetachable } from "../flags/not-detachable.ts";
import { logInfo } from "../info/log-info.ts";
import { checkJobs } from "../job/check-jobs.ts";
import { type PlannedJob, planJob } from "../job/plan-job.ts";
import { runJob, takeDirectory } from "../job/run-job.ts";
import { createLogging, type Logging } from "../logging/logging.ts";
import { openBoard } from "../sweep/board/board.ts";
import { placeOf } from "./job-place.ts";
import { composedEvent, hydraLogging, surround } from "./job-surroundings.ts";
import { leaveSweep } from "./leave-sweep.ts";
import { runMany } from "./run-many.ts";
import { chooseMode } from "./run-mode.ts";

/**
 * Runs the task of a program: one job, or a sweep.
 *
 * @returns the exit code
 */
export async function runTask(session: Session): Promise<number> {
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
    if (detach) return await leaveSweep(session, all, logging);
    const beside = { ...session, invocation: { ...invocation, console: board.console } };
    return await runMany(beside, all, logging, board, suspension);
  } finally {
    logging.close();
  }
}

/** For a resumed sweep the flag of this command line counts, not how the sweep began. */
const isDetached = ({ invocation, parsed }: Session): boolean =>
  invocation.resumed === undefined
    ? parsed.flags.has("detach")
    : invocation.resumed.detach === true;

async function runOne(
  session: Session,
  overrides: readonly string[],
  logging: Logging,
): Promise<number> {
  const { composer } = session;
  const composition = composer.compose(overrides);
  hydraLogging(composition, session, logging)();
  await logInfo(composer, overrides, {}, logging);
  const place = placeOf(session);
  // Callbacks come first: if one cannot be created, no directory is left behind.
  const surroundings = await surround(session, composition, logging);
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
  session: Session,
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
