import { isConfigError } from "../../values/errors.ts";
import { isSignalCode } from "../job/job.ts";
import { backendOf } from "../launchers/index.ts";
import type { ScheduledJob, SweepBackend } from "../launchers/sweep-backend.ts";
import { isScheduled } from "../worker/left-behind.ts";
import { isRunning } from "../worker/process-identity.ts";
import { type SweepRow, sweepRows } from "./collect.ts";
import { endOfState, type JobEnd, sweepExitCode } from "./failure-policy.ts";
import { type JobState, readJobState } from "./record/job-state.ts";
import { launcherOf } from "./record/launcher-claim.ts";
import { sweepFolder } from "./record/layout.ts";
import { currentJobs, readManifest, type SweepManifest } from "./record/manifest.ts";

/** How a sweep stands: what `hydraconf sweep status --json` prints. */
export interface SweepView {
  readonly version: 1;
  readonly directory: string;
  readonly program: string;
  /** The process that runs the sweep; null where none does. */
  readonly driver: { readonly host: string; readonly pid: number } | null;
  /** As the sweep's own would be; null while anything of it runs or waits. */
  readonly exit_code: number | null;
  /** Jobs by status; one that no job has is not there. */
  readonly counts: Readonly<Partial<Record<JobStanding, number>>>;
  readonly jobs: readonly JobView[];
}

/**
 * As in a job's own record; and `missing`: it has not started, or its process is gone, and nobody is about
 * to run it.
 */
export type JobStanding = JobState["status"] | "missing";

export interface JobView extends Omit<SweepRow, "status" | "result"> {
  readonly status: JobStanding;
  /** How the scheduler that has it sees it; null for others. */
  readonly scheduler: { readonly id: string; readonly state: string } | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Looks at a recorded sweep of any program: the jobs' own records first, then the scheduler that has the
 * others. Where nobody drives the sweep, jobs that could not record their end themselves are recorded.
 *
 * @throws ConfigError `app.sweep_record` where there is no sweep
 */
export async function lookAtSweep(directory: string, env: Environment): Promise<SweepView> {
  const folder = sweepFolder(directory);
  const manifest = readManifest(folder);
  const driver = launcherOf(folder);
  const backend = await backendOf(folder, env);
  if (driver === undefined) await settled(backend);
  let jobs = await jobsOf(directory, backend, driver !== undefined);
  // One that ended between the scheduler's two answers is recorded before it is shown.
  if (driver === undefined && backend !== undefined && jobs.some(isMissing)) {
    await settled(backend);
    jobs = await jobsOf(directory, backend, false);
  }
  const counts: Partial<Record<JobStanding, number>> = {};
  for (const { status } of jobs) counts[status] = (counts[status] ?? 0) + 1;
  const isOver = driver === undefined && !jobs.some(({ status }) => isOpen(status));
  return {
    version: 1,
    directory,
    program: manifest.program.name,
    driver: driver === undefined ? null : { host: driver.host, pid: driver.pid },
    exit_code: isOver ? recordedExitCode(folder, manifest) : null,
    counts,
    jobs,
  };
}

async function jobsOf(
  directory: string,
  backend: SweepBackend | undefined,
  isDriven: boolean,
): Promise<readonly JobView[]> {
  const scheduled = new Map((await statusOf(backend)).map((job) => [job.number, job]));
  return sweepRows(directory).map(({ result: _result, ...row }) => {
    const job = scheduled.get(row.number);
    const state = readJobState(sweepFolder(directory), row.number);
    const { error, status } = standing(state, job, isDriven);
    return {
      ...row,
      status,
      error: error ?? row.error,
      scheduler: job === undefined ? null : { id: job.id, state: job.state },
    };
  });
}

const isMissing = ({ status }: JobView): boolean => status === "missing";

const isOpen = (status: JobStanding): boolean => status === "queued" || status === "running";

/** The exit code that the record of a sweep amounts to, whoever ran it. */
export function recordedExitCode(folder: string, manifest: SweepManifest): number {
  const states = currentJobs(manifest).map(({ number }) => readJobState(folder, number));
  const isTolerated = (state: JobState | undefined) =>
    manifest.tolerates_failures === true &&
    (state?.status === "failed" || state?.status === "timed_out");
  return sweepExitCode(
    states.filter((state) => !isTolerated(state)).map((state) => state && endOf(state)),
  );
}

/** A signal that ended a scheduler's job was not for the sweep: it counts as any failure. */
function endOf(state: JobState): JobEnd {
  const end = endOfState(state);
  const last = state.attempts.at(-1);
  const isForeign = last !== undefined && isScheduled(last) && isSignalCode(end.exitCode ?? 0);
  return isForeign ? { ...end, exitCode: 1 } : end;
}

/** Without the scheduler's commands, and while it does not answer, the records alone must do. */
async function settled(backend: SweepBackend | undefined): Promise<void> {
  try {
    await backend?.settle();
  } catch (error) {
    if (!isConfigError(error)) throw error;
  }
}

async function statusOf(backend: SweepBackend | undefined): Promise<readonly ScheduledJob[]> {
  try {
    return (await backend?.status()) ?? [];
  } catch (error) {
    if (isConfigError(error)) return [];
    throw error;
  }
}

function standing(
  state: JobState | undefined,
  job: ScheduledJob | undefined,
  isDriven: boolean,
): { readonly status: JobStanding; readonly error?: string } {
  const waits = isDriven || (job !== undefined && job.phase !== "over");
  if (state === undefined || state.status === "queued")
    return { status: waits ? "queued" : "missing" };
  if (state.status === "stopped" && job?.phase === "waiting") return { status: "queued" };
  if (state.status !== "running") return { status: state.status };
  const last = state.attempts.at(-1);
  if (last !== undefined && isRunning(last) !== false) return { status: "running" };
  if (waits) return { status: "running" };
  return { status: "missing", error: `process ${last?.pid ?? "?"} is gone` };
}
