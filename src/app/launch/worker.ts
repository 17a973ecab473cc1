/** A job in a separate process: how to start the process, and its work. */

import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../../engine/values/errors.ts";
import { isRunning } from "../../foundation/system/process-identity.ts";
import { checkJobs } from "../job/check-jobs.ts";
import { MOST_OWN_CODE, processCode } from "../job/ender.ts";
import { enderOf, failedJob, isCompleted, type JobResult } from "../job/job.ts";
import { hydraLogging, openJobContext } from "../job/job-context.ts";
import { createLogging } from "../job/logging/logging.ts";
import { jobPlace, type PlannedJob, planJob } from "../job/plan-job.ts";
import {
  type JobBegun,
  type JobDone,
  type NextJob,
  type NotedStart,
  type WorkerRequest,
  workerEnvironment,
} from "../job/process/invocation.ts";
import { coded, reportError } from "../job/report-error.ts";
import { dropClaim, setAside, sweepMode } from "../job/run-directory.ts";
import { runJob, takeDirectory } from "../job/run-job.ts";
import { EXIT_ERROR, EXIT_OK, type Session } from "../job/session.ts";
import { endWithWorker } from "../record/end-with-process.ts";
import { type JobState, readJobState, scheduledBy } from "../record/job-state.ts";
import {
  type ManifestJob,
  readFacts,
  readManifestJob,
  type SweepFacts,
  type SweepProgram,
} from "../record/manifest.ts";
import {
  beginJob,
  endOf,
  firstLine,
  type RecordedJob,
  recordJob,
  signalledBy,
} from "../record/recorded-job.ts";
import { jobFingerprint } from "../record/sweep-record.ts";
import type { LauncherDefinition, ScheduledTask, WorkerCommand } from "./launcher.ts";

/**
 * The command line of a job's worker.
 *
 * @throws ConfigError `app.unsupported` for a program that cannot be started again
 */
export function workerCommand({ cwd, program }: SweepFacts, request: WorkerRequest): WorkerCommand {
  const [file, ...first] = program.command ?? [];
  if (file === undefined) throw unstartable(program);
  return { file, args: [...first, ...program.argv], cwd, env: workerEnvironment(request) };
}

/** @throws ConfigError `app.unsupported` for sweeps whose jobs no other process can run */
export function refuseUnstartable({ holds_secrets, program }: SweepFacts): void {
  if (holds_secrets)
    throw new ConfigError({
      code: "app.unsupported",
      message: "A secret on the command line cannot be passed to jobs in other processes",
      key: "hydra.launcher",
      hint: "put it into an environment variable and write KEY='${oc.env:NAME}'",
    });
  if (program.command === null) throw unstartable(program);
}

const unstartable = ({ name }: SweepProgram): ConfigError =>
  new ConfigError({
    code: "app.unsupported",
    message: `'${name}' was not started from a file, so other processes cannot run its jobs`,
    key: "hydra.launcher",
    hint: "use hydra/launcher=basic",
  });

/**
 * Runs one job of a recorded sweep in this process, as the launcher would: composed again from the manifest's
 * overrides, with the sweep's own time, in its directory. Records the end. It does not depend on the launcher: if that
 * dies, the job still ends and is recorded.
 *
 * @returns the exit code of the task; 1 for a failed job
 * @throws ConfigError `app.sweep_record` for a job without a manifest
 */
export async function runWorker(
  session: Session,
  request: WorkerRequest,
  launchers: () => Promise<readonly LauncherDefinition[]>,
): Promise<number> {
  const { folder, number } = request;
  const job = readManifestJob(folder, number);
  if (job === undefined)
    throw new ConfigError({
      code: "app.sweep_record",
      message: `The sweep in '${folder}' has no job #${number}`,
    });
  // Two launchers may both have started the job: do not repeat a completed one.
  if (readJobState(folder, number)?.status === "completed") return EXIT_OK;
  const { redact, stderr } = session.invocation.console;
  const task = await scheduledTask(request, session.invocation.env, launchers);
  const isFirst = task?.isFirst !== false;
  const recorded = isFirst ? await recordStart(request, task) : UNRECORDED;
  if (recorded === undefined) {
    stderr(`The launcher of job #${number} ended before recording the job: nothing was run\n`);
    return EXIT_ERROR;
  }
  const watched = endWithWorker({
    recorded,
    firstLine: (error) => firstLine(error, redact),
    enderOf: (signal) => signalledBy(folder, number, { by: "signal", signal }),
    isScheduled: task !== undefined,
    more: task?.signals ?? [],
  });
  const alone = await runAlone(session, job, folder, recorded.earlierAttempts, task);
  const time = new Date();
  const result = await watched.settled(alone);
  // The wait for a late signal is no part of the job.
  const waited = task !== undefined && !isCompleted(result);
  recorded.end({ ...endOf(result, redact), ...(waited && { time }) });
  watched.release();
  if (result.status === "failed") reportError(result.error, session);
  return processCode(enderOf(result), result.exitCode);
}

/**
 * Runs jobs of a recorded sweep one after the other, as long as the launcher of this process sends another and each completes:
 * state that a job leaves in the process is visible to the next. A job in a process of its own leaves none, and may also have failed
 * by itself.
 *
 * @returns the exit code of the last job
 */
export async function runWorkers(
  session: Session,
  first: WorkerRequest,
  launchers: () => Promise<readonly LauncherDefinition[]>,
): Promise<number> {
  for (let request = first; ; ) {
    const code = await runWorker(session, request, launchers);
    const mostKept = session.options.reusesWorkers === true ? MOST_OWN_CODE : EXIT_OK;
    if (first.isReused !== true || code > mostKept) return code;
    // Reset to the initial state of a process, whatever the task has set.
    process.exitCode = undefined;
    const next = await nextJob({ done: request.number });
    if (next === undefined) return code;
    request = { ...first, ...next };
  }
}

/** Undefined if there is none, or the launcher is gone. */
function nextJob(done: JobDone): Promise<NextJob | undefined> {
  if (!process.connected) return Promise.resolve(undefined);
  return new Promise((settle) => {
    const onMessage = (next: unknown) => {
      process.off("disconnect", onDisconnect);
      const { number } = next as NextJob;
      // From here on this process owns the job. It needs the launcher for nothing more.
      process.send?.({ begun: number } satisfies JobBegun, () => {});
      settle(next as NextJob);
    };
    const onDisconnect = () => {
      process.off("message", onMessage);
      // Work that a task left running must not keep the process alive: nobody waits for it.
      process.exit(EXIT_OK);
    };
    process.once("message", onMessage);
    process.once("disconnect", onDisconnect);
    process.send?.(done);
  });
}

/** Undefined if this process must not run the job. */
async function recordStart(
  { folder, number, start }: WorkerRequest,
  task: ScheduledTask | undefined,
): Promise<RecordedJob | undefined> {
  if (start === undefined)
    return beginJob(folder, number, { durable: true, ...(task && { details: scheduledBy(task) }) });
  const noted = await awaitNotedStart({ folder, number }, start);
  return noted && recordJob(folder, noted, { durable: true });
}

/** For a process whose job another process records. */
const UNRECORDED: RecordedJob = { earlierAttempts: 0, end: () => {} };

/** An error before the task is a failure of the job, too. */
async function runAlone(
  session: Session,
  job: ManifestJob,
  folder: string,
  earlierAttempts: number,
  task: ScheduledTask | undefined,
): Promise<JobResult> {
  const { composer, invocation, options } = session;
  const logging = createLogging({ console: invocation.console });
  const place = jobPlace(session);
  try {
    const composition = composer.compose(job.overrides);
    const named = { ...place, idOf: (number: number) => job.id ?? String(number) };
    const isRun = readFacts(folder).mode === "run";
    const number = isRun ? undefined : job.number;
    const planned = {
      ...planJob(composition, named, number, job.output_dir),
      ...(job.continues !== undefined && { continuation: job.continues }),
    };
    refuseChanged(planned, job);
    if (!(await checkJobs([planned], options, invocation.console, place)))
      throw new ConfigError({
        code: "schema.mismatch",
        message: "The config does not fit the program's schema",
      });
    hydraLogging(composition, session, logging)();
    const surroundings = await openJobContext(session, composition, logging);
    // Processes that run a job together share the directory that the first one claims.
    const isFirst = task?.isFirst !== false;
    const resultFiles = isFirst ? place.resultFiles : [];
    // Only of the first one: no other process records attempts.
    if (earlierAttempts > 0) {
      // A scheduler ensures that no other process runs the same job.
      if (task !== undefined) dropClaim(planned.outputDir);
      setAside(planned.outputDir, resultFiles, earlierAttempts);
    }
    const giveUp = takeDirectory(planned, resultFiles, sweepMode(planned.root, composer.context));
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

const LOOK_MS = 10;

/**
 * Waits until the launcher has recorded that this process runs the job. Nothing is done before: so the record of a job
 * goes from its start to its end whatever delays the launcher, and the successor of a killed launcher finds every
 * working process.
 *
 * @returns the job's state with its start; undefined if the launcher has ended without recording it, or another process
 * has ended the job meanwhile: then this process must not run it
 */
async function awaitNotedStart(
  { folder, number }: Pick<WorkerRequest, "folder" | "number">,
  { id, launcher }: NotedStart,
): Promise<JobState | undefined> {
  for (;;) {
    // Checked before the read, which then sees a record that the launcher wrote just before its end.
    const mayStillCome = isRunning(launcher) !== false;
    const state = readJobState(folder, number);
    if (state?.attempts.at(-1)?.id === id) return state.status === "running" ? state : undefined;
    if (!mayStillCome) return undefined;
    await sleep(LOOK_MS);
  }
}

/** A process that a launcher follows itself is not a scheduler's task, even if the launcher runs in one. */
async function scheduledTask(
  { start }: WorkerRequest,
  env: Readonly<Record<string, string | undefined>>,
  launchers: () => Promise<readonly LauncherDefinition[]>,
): Promise<ScheduledTask | undefined> {
  if (start !== undefined) return undefined;
  for (const launcher of await launchers()) {
    const task = launcher.scheduledTask?.(env);
    if (task !== undefined) return task;
  }
  return undefined;
}
