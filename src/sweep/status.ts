import type { SweepJobStatus } from "../job/job.ts";
import type { SweepRow } from "../job/options.ts";
import { endOfState, sweepExitCode } from "../launch/failure-policy.ts";
import type { LauncherDefinition, QuestionOptions, ScheduledJob } from "../launch/launcher.ts";
import type { SweepBackend } from "../launch/scheduler.ts";
import { tidyRecord } from "../record/cleanup.ts";
import { type JobState, readJobState } from "../record/job-state.ts";
import { launcherOf } from "../record/launcher-claim.ts";
import { sweepFolder } from "../record/layout.ts";
import { currentJobs, readManifest, type SweepManifest } from "../record/manifest.ts";
import type { Holder } from "../system/process-claim.ts";
import { isConfigError } from "../values/errors.ts";
import { type SweepActivity, sweepRows } from "./job-status.ts";
import { backendOf } from "./registry.ts";

/** How a sweep stands: what `hydraconf sweep status --json` prints. */
export interface SweepView {
  readonly version: 1;
  readonly directory: string;
  readonly program: string;
  /** What starts it, as its user typed it, for a shell in `cwd`; its name where that is not known. */
  readonly program_command: string;
  readonly cwd: string;
  /** The process that runs the sweep; null where none does. */
  readonly driver: { readonly host: string; readonly pid: number } | null;
  /** As the sweep's own would be; null while anything of it runs or waits. */
  readonly exit_code: number | null;
  /** Whether there may be jobs beside these: the sweep was cut off before it came to them. */
  readonly more_to_come: boolean;
  /** Why a scheduler that was given jobs does not say how they stand; null where it does, and where there is none. */
  readonly scheduler_problem: string | null;
  /** Jobs by status; one that no job has is not there. */
  readonly counts: Readonly<Partial<Record<SweepJobStatus, number>>>;
  readonly jobs: readonly JobView[];
}

export interface JobView extends Omit<SweepRow, "result"> {
  /** How the scheduler that has it sees it; null for others. */
  readonly scheduler: Pick<ScheduledJob, "id" | "state" | "pendingReason"> | null;
}

/** Which sweep to look at. */
export interface StatusRequest {
  /** The absolute path of its directory. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Those that may have handed jobs to a scheduler. */
  readonly launchers: readonly LauncherDefinition[];
  /** Gives up the question to a scheduler. */
  readonly signal?: AbortSignal;
}

/** A sweep as it stands by now. */
export interface SweepStatus {
  readonly view: SweepView;
  /** The table of its jobs. */
  readonly rows: readonly SweepRow[];
}

/**
 * Looks at a recorded sweep of any program: the jobs' own records first, then the scheduler that has the
 * others, until the signal comes. Without a driver, jobs that could not record their end themselves are recorded.
 *
 * @throws ConfigError `app.sweep_record` where there is no sweep
 */
export async function readSweepStatus(request: StatusRequest): Promise<SweepStatus> {
  const { directory, signal } = request;
  const folder = sweepFolder(directory);
  tidyRecord(folder);
  // Who drives it is asked before its record is read: one that ends has written all of it by then.
  for (let driver = launcherOf(folder); ; ) {
    const look = await lookBeside(driver, request);
    const now = launcherOf(folder);
    // What is missing without a driver waits with one that came while a scheduler was asked.
    if (signal?.aborted === true || isSame(driver, now)) return look;
    driver = now;
  }
}

const isSame = (one: Holder | undefined, other: Holder | undefined): boolean =>
  one?.host === other?.host && one?.pid === other?.pid && one?.birth === other?.birth;

/** @param driver who drives the sweep */
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
  // One that ended between the scheduler's two answers is recorded before it is shown.
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

/** The exit code of a sweep, by its record. */
export function recordedExitCode(folder: string, manifest: SweepManifest): number {
  const states = currentJobs(manifest).map(({ number }) => readJobState(folder, number));
  const isTolerated = (state: JobState | undefined) =>
    manifest.tolerates_failures === true &&
    (state?.status === "failed" || state?.status === "timed_out");
  const ends = states
    .filter((state) => !isTolerated(state))
    .map((state) => state && endOfState(state));
  return sweepExitCode(manifest.more_to_come === true ? [...ends, undefined] : ends);
}

/** What a scheduler says of the jobs that it was given. */
interface Answer extends Pick<SweepActivity, "scheduled" | "unanswered"> {
  /** Why it does not say it. */
  readonly problem: string | null;
}

/** Of jobs without a driver, what has ended is recorded before. */
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
    // Without its commands, and while it does not answer, the records alone must do.
    if (!isConfigError(error)) throw error;
    const unanswered = backend.handedOver();
    return { ...NO_SCHEDULER, unanswered, problem: unanswered.size === 0 ? null : error.message };
  }
}

const NO_SCHEDULER: Answer = { scheduled: new Map(), unanswered: new Set(), problem: null };
