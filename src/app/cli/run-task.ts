/** Runs the task of a program: one job or a sweep. */
import type { Composition } from "../../engine/compose/index.ts";
import { isConfigError } from "../../engine/values/errors.ts";
import { createSuspension } from "../../foundation/system/process-signals.ts";
import { checkJobs } from "../job/check-jobs.ts";
import type { JobResult } from "../job/job.ts";
import { composedEvent, hydraLogging, openJobContext } from "../job/job-context.ts";
import { createLogging, type Logging } from "../job/logging/logging.ts";
import { type JobPlace, jobPlace, type PlannedJob } from "../job/plan-job.ts";
import { showFailure, warnOf } from "../job/report-error.ts";
import { endInterrupted, isInterrupted, runJob, takeDirectory } from "../job/run-job.ts";
import { EXIT_ERROR } from "../job/session.ts";
import { reportJob } from "../record/job-report.ts";
import { openBoard } from "../sweep/board.ts";
import { detachSweep } from "../sweep/detach.ts";
import { runMany } from "../sweep/foreground.ts";
import { planRun } from "../sweep/plan-sweep.ts";
import { launcherOfRun, type SweepSession } from "../sweep/registry.ts";
import { notDetachable } from "./arguments/check-flags.ts";

/**
 * Runs the task of a program: one job, or a sweep.
 *
 * @returns the exit code
 */
export async function runTask(session: SweepSession): Promise<number> {
  const { composer, invocation, parsed } = session;
  const { composition, mode, overrides, warning } = composer.composeTask(
    session.overrides,
    parsed.flags.has("multirun"),
  );
  if (warning !== undefined) warnOf(warning, invocation);
  const suspension = createSuspension();
  const board = openBoard(invocation.console, suspension, session.options.progress);
  const logging = createLogging({ console: board.console });
  const detach = isDetached(session);
  try {
    const composed = composition();
    const sweeper = overrides.find((override) => /^hydra\/sweeper=/.test(override));
    if (mode === "run" && sweeper !== undefined)
      composer.note(`${sweeper} has no effect on a single job: --multirun (-m) starts a sweep`);
    const isHere = mode === "run" && (await launcherOfRun(session, composed)) === undefined;
    if (detach && isHere) throw notDetachable("the --detach flag is only for sweeps");
    if (isHere) return await runOne(session, composed, overrides, logging);
    const task = { composition: composed, mode, overrides };
    if (detach) return await detachSweep(session, task, logging);
    const beside = { ...session, invocation: { ...invocation, console: board.console } };
    return await runMany(beside, task, logging, board, suspension);
  } finally {
    logging.close();
  }
}

/** A resumed sweep follows this command line's flag, not that of its first run. */
const isDetached = ({ invocation, parsed }: SweepSession): boolean =>
  invocation.resumed === undefined
    ? parsed.flags.has("detach")
    : invocation.resumed.detach === true;

async function runOne(
  session: SweepSession,
  composition: Composition,
  overrides: readonly string[],
  logging: Logging,
): Promise<number> {
  // A program with a `delegate` logs this itself.
  if (session.options.delegate === undefined) {
    hydraLogging(composition, session, logging)();
    await session.logInfo(composition, overrides, logging);
  }
  const place = jobPlace(session);
  // Callbacks are created first, so that an error leaves no directory behind.
  const surroundings = await openJobContext(session, composition, logging);
  const { callbacks } = surroundings;
  const taken = await takePlace(session, place, () => planRun(composition, place));
  if (taken === null) return EXIT_ERROR;
  const { planned, release } = taken;
  let result: JobResult | undefined;
  try {
    const event = composedEvent(composition, overrides, session);
    await callbacks.notify("onComposeConfig", event);
    await callbacks.notify("onRunStart", event);
    result = await runJob(planned, surroundings);
    reportJob(result, session.invocation.env);
    await callbacks.notify("onRunEnd", { ...event, result });
    if (result.status === "failed" && !isInterrupted(result)) showFailure(result, session);
    return result.exitCode;
  } finally {
    release();
    if (result !== undefined) endInterrupted([result]);
  }
}

/** Plans a job and claims its directory; plans again if another run has claimed it first. */
async function takePlace(
  session: SweepSession,
  place: JobPlace,
  plan: () => PlannedJob,
): Promise<{ readonly planned: PlannedJob; readonly release: () => void } | null> {
  const { invocation, options } = session;
  for (let planned = plan(); ; ) {
    if (!(await checkJobs([planned], options, invocation.console, place))) return null;
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
