import { ConfigError } from "../../values/errors.ts";
import { EXIT_ERROR, EXIT_OK, type Session } from "../commands/command.ts";
import { coded, reportError } from "../errors/report-error.ts";
import { checkJobs } from "../job/check-jobs.ts";
import { failedJob, type JobResult } from "../job/job.ts";
import { type PlannedJob, planJob } from "../job/plan-job.ts";
import { dropClaim, setAside } from "../job/run-directory.ts";
import { runJob, takeDirectory } from "../job/run-job.ts";
import { createLogging } from "../logging/logging.ts";
import { placeOf } from "../run/job-place.ts";
import { hydraLogging, surround } from "../run/job-surroundings.ts";
import { jobFingerprint } from "../sweep/record/fingerprint.ts";
import { readJobState } from "../sweep/record/job-state.ts";
import { type ManifestJob, readManifestJob } from "../sweep/record/manifest.ts";
import { endWithProcess } from "./end-with-process.ts";
import { notedState } from "./noted-start.ts";
import { beginJob, endOf, firstLine, type RecordedJob, recordJob } from "./recorded-job.ts";
import { isScheduled, type ScheduledTask, scheduledTask } from "./scheduled-task.ts";
import type { WorkerRequest } from "./worker-request.ts";

/**
 * Runs one job of a recorded sweep in this process, as the launcher would: composed again from the
 * manifest's overrides, with the sweep's own time, in its directory. Writes what becomes of it. It
 * needs the launcher for nothing: should that die, the job still ends and is recorded.
 *
 * @returns the exit code of the task; 1 for a job that failed
 * @throws ConfigError `app.sweep_record` for a job that is in no manifest
 */
export async function runWorker(session: Session, request: WorkerRequest): Promise<number> {
  const { folder, number } = request;
  const job = readManifestJob(folder, number);
  if (job === undefined)
    throw new ConfigError({
      code: "app.sweep_record",
      message: `The sweep in '${folder}' has no job #${number}`,
    });
  // Two launchers may have had the same thought: what is done is done.
  if (readJobState(folder, number)?.status === "completed") return EXIT_OK;
  const { redact, stderr } = session.invocation.console;
  const { details, isFirst, signals } = scheduledTask(session.invocation.env);
  const recorded = isFirst ? await recordStart(request, details) : UNRECORDED;
  if (recorded === undefined) {
    stderr(`The launcher of job #${number} ended before recording the job: nothing was run\n`);
    return EXIT_ERROR;
  }
  const release = endWithProcess(recorded, (error) => firstLine(error, redact), signals);
  const result = await runAlone(session, job, recorded.earlierAttempts, isFirst);
  recorded.end(endOf(result, redact));
  release();
  if (result.status === "failed") reportError(result.error, session);
  return result.exitCode;
}

/** Undefined where this process is not to run the job. */
async function recordStart(
  { folder, number, start }: WorkerRequest,
  details: ScheduledTask["details"],
): Promise<RecordedJob | undefined> {
  if (start === undefined)
    return beginJob(folder, number, { durable: true, ...(details && { details }) });
  const noted = await notedState({ folder, number }, start);
  return noted && recordJob(folder, noted, { durable: true });
}

/** A process of a job that another one records. */
const UNRECORDED: RecordedJob = { earlierAttempts: 0, end: () => {} };

/** What goes wrong before the task is a failure of the job, too. */
async function runAlone(
  session: Session,
  job: ManifestJob,
  earlierAttempts: number,
  isFirst: boolean,
): Promise<JobResult> {
  const { composer, invocation, options } = session;
  const logging = createLogging({ console: invocation.console });
  const place = placeOf(session);
  try {
    const composition = composer.compose(job.overrides);
    const planned = planJob(composition, place, job.number, job.output_dir);
    refuseChanged(planned, job);
    if (!(await checkJobs([planned], options, invocation.console)))
      throw new ConfigError({
        code: "schema.mismatch",
        message: "The config does not fit the program's schema",
      });
    hydraLogging(composition, session, logging)();
    const surroundings = await surround(session, composition, logging);
    // Processes that run a job together share the directory that the first one takes.
    const resultFiles = isFirst ? place.resultFiles : [];
    if (earlierAttempts > 0) {
      if (isScheduled(invocation.env)) dropClaim(planned.outputDir);
      setAside(planned.outputDir, resultFiles, earlierAttempts);
    }
    const giveUp = takeDirectory(planned, resultFiles);
    return await runJob(planned, surroundings).finally(giveUp);
  } catch (error) {
    return failedJob(
      { number: job.number, outputDir: job.output_dir, overrides: job.task_overrides },
      coded(error),
    );
  } finally {
    logging.close();
  }
}

/** @throws ConfigError `app.sweep_changed` */
function refuseChanged(planned: PlannedJob, job: ManifestJob): void {
  if (jobFingerprint(planned) === job.fingerprint) return;
  throw new ConfigError({
    code: "app.sweep_changed",
    message: `The config of job #${job.number} differs from the one that the sweep started with: its files have changed`,
    hint: "restore them, or resume the sweep with --accept-changes",
  });
}
