/** The status of a recorded sweep, for people and programs. */
import { isConfigError } from "../../engine/values/errors.ts";
import type { Holder } from "../../foundation/system/process-claim.ts";
import { isFailure } from "../job/ender.ts";
import type { SweepJobStatus } from "../job/job.ts";
import type { SweepRow } from "../job/options.ts";
import { endOfState, sweepExitCode } from "../launch/failure-policy.ts";
import type { LauncherDefinition, QuestionOptions, ScheduledJob } from "../launch/launcher.ts";
import type { SweepBackend } from "../launch/scheduler.ts";
import { tidyRecord } from "../record/cleanup.ts";
import { undamagedState } from "../record/damage.ts";
import type { JobState } from "../record/job-state.ts";
import { launcherOf } from "../record/launcher-claim.ts";
import { sweepFolder } from "../record/layout.ts";
import { currentJobs, readManifest, type SweepManifest } from "../record/manifest.ts";
import { type SweepActivity, sweepRows } from "./job-status.ts";
import { backendOf } from "./registry.ts";

/** The status of a sweep: the output of `hydraconf sweep status --json`. */
export interface SweepView {
  readonly version: 1;
  readonly directory: string;
  readonly program: string;
  /** How the user started it, for a shell in `cwd`; its name if that is unknown. */
  readonly program_command: string;
  readonly cwd: string;
  /** The process that drives the sweep; null if there is none. */
  readonly driver: { readonly host: string; readonly pid: number } | null;
  /** The exit code that the sweep itself would have; null while any job runs or waits. */
  readonly exit_code: number | null;
  /** Whether the sweep may have further jobs: it was interrupted before it recorded them. */
  readonly more_to_come: boolean;
  /** Why a scheduler with jobs of this sweep does not report their status; null if it does, and without a scheduler. */
  readonly scheduler_problem: string | null;
  /** Jobs by status; a status without jobs is absent. */
  readonly counts: Readonly<Partial<Record<SweepJobStatus, number>>>;
  readonly jobs: readonly JobView[];
}

export interface JobView extends Omit<SweepRow, "result"> {
  /** The scheduler's view of a job that it has; null for others. */
  readonly scheduler: Pick<ScheduledJob, "id" | "state" | "pendingReason"> | null;
}

/** Which sweep to look at. */
export interface StatusRequest {
  /** The absolute path of its directory. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The launchers that may have submitted jobs to a scheduler. */
  readonly launchers: readonly LauncherDefinition[];
  /** Aborts the query to a scheduler. */
  readonly signal?: AbortSignal;
}

/** The current status of a sweep. */
export interface SweepStatus {
  readonly view: SweepView;
  /** The table of its jobs. */
  readonly rows: readonly SweepRow[];
}

/**
 * Reads the status of a recorded sweep of any program: first from the jobs' own records, then from the scheduler of the
 * remaining jobs, until the signal aborts. If the sweep has no driver, it records the end of jobs that could not do so
 * themselves.
 *
 * @throws ConfigError `app.sweep_record` if there is no sweep
 */
export async function readSweepStatus(request: StatusRequest): Promise<SweepStatus> {
  const { directory, signal } = request;
  const folder = sweepFolder(directory);
  tidyRecord(folder);
  // Read the driver before the record: a driver that ends has written all of the record by then.
  for (let driver = launcherOf(folder); ; ) {
    const look = await lookBeside(driver, request);
    const now = launcherOf(folder);
    // If a driver came while the scheduler was asked, jobs that are missing without a driver wait for it.
    if (signal?.aborted === true || isSame(driver, now)) return look;
    driver = now;
  }
}

const isSame = (holder: Holder | undefined, other: Holder | undefined): boolean =>
  holder?.host === other?.host && holder?.pid === other?.pid && holder?.birth === other?.birth;

/** @param driver the process that drives the sweep */
async function lookBeside(
  driver: Holder | undefined,
  { directory, env, launchers, signal }: StatusRequest,
): Promise<SweepStatus> {
  const folder = sweepFolder(directory);
  const manifest = readManifest(folder);
  const backend = await backendOf(launchers, directory, env);
  const isDriven = driver !== undefined;
  const question = { isDriven, ...(signal !== undefined && { signal }) };
  let answer = await ask(backend, question);
  let rows = sweepRows(directory, { isDriven, ...answer });
  // A job that ended between the scheduler's two answers is recorded before it is shown.
  if (!isDriven && backend !== undefined && answer.problem === null && rows.some(isMissing)) {
    answer = await ask(backend, question);
    rows = sweepRows(directory, { isDriven, ...answer });
  }
  const counts: Partial<Record<SweepJobStatus, number>> = {};
  for (const { status } of rows) counts[status] = (counts[status] ?? 0) + 1;
  const isOver = !isDriven && !rows.some(isOpen);
  const view = {
    version: 1,
    directory,
    program: manifest.program.name,
    program_command: manifest.program.typed ?? manifest.program.name,
    cwd: manifest.cwd,
    driver: driver === undefined ? null : { host: driver.host, pid: driver.pid },
    exit_code: isOver ? recordedExitCode(folder, manifest) : null,
    more_to_come: manifest.more_to_come === true,
    scheduler_problem: answer.problem,
    counts,
    jobs: rows.map((row) => jobView(row, answer.scheduled.get(row.number))),
  } as const;
  return { view, rows };
}

const jobView = (
  { result: _result, ...row }: SweepRow,
  job: ScheduledJob | undefined,
): JobView => ({
  ...row,
  scheduler:
    job === undefined ? null : { id: job.id, state: job.state, pendingReason: job.pendingReason },
});

const isMissing = ({ status }: SweepRow): boolean => status === "missing";

const isOpen = ({ status }: SweepRow): boolean => status === "queued" || status === "running";

/** The exit code of a sweep according to its record. */
export function recordedExitCode(folder: string, manifest: SweepManifest): number {
  const states = currentJobs(manifest).map(({ number }) => undamagedState(folder, number));
  const isTolerated = (state: JobState | undefined) =>
    manifest.tolerates_failures === true && isFailure(state?.status);
  const ends = states
    .filter((state) => !isTolerated(state))
    .map((state) => state && endOfState(state));
  return sweepExitCode(manifest.more_to_come === true ? [...ends, undefined] : ends);
}

/** A scheduler's answer about the jobs submitted to it. */
interface Answer extends Pick<SweepActivity, "scheduled" | "unanswered"> {
  /** Why it did not answer. */
  readonly problem: string | null;
}

/** Without a driver, records the jobs that have ended first. */
async function ask(
  backend: SweepBackend | undefined,
  { isDriven, ...question }: QuestionOptions & { readonly isDriven: boolean },
): Promise<Answer> {
  if (backend === undefined) return NO_SCHEDULER;
  try {
    const silence = isDriven ? undefined : await backend.reconcile(question);
    const jobs = await backend.status(question);
    return {
      scheduled: new Map(jobs.map((job) => [job.number, job])),
      unanswered: silence?.jobs ?? NO_SCHEDULER.unanswered,
      problem: silence?.problem ?? null,
    };
  } catch (error) {
    // If the scheduler's commands are absent or do not answer, only the records count.
    if (!isConfigError(error)) throw error;
    const unanswered = backend.handedOver();
    return { ...NO_SCHEDULER, unanswered, problem: unanswered.size === 0 ? null : error.message };
  }
}

const NO_SCHEDULER: Answer = { scheduled: new Map(), unanswered: new Set(), problem: null };
