import { isConfigError } from "../../values/errors.ts";
import { isSignalCode } from "../job/job.ts";
import { backendOf } from "../launchers/index.ts";
import type { QuestionOptions, ScheduledJob, SweepBackend } from "../launchers/sweep-backend.ts";
import { isScheduled } from "../worker/left-behind.ts";
import { type SweepRow, sweepRows } from "./collect.ts";
import { endOfState, type JobEnd, sweepExitCode } from "./failure-policy.ts";
import { type JobState, readJobState } from "./record/job-state.ts";
import { launcherOf } from "./record/launcher-claim.ts";
import { sweepFolder } from "./record/layout.ts";
import { currentJobs, readManifest, type SweepManifest } from "./record/manifest.ts";
import type { JobStanding } from "./standing.ts";

/** How a sweep stands: what `hydraconf sweep status --json` prints. */
export interface SweepView {
  readonly version: 1;
  readonly directory: string;
  readonly program: string;
  /** The process that runs the sweep; null where none does. */
  readonly driver: { readonly host: string; readonly pid: number } | null;
  /** As the sweep's own would be; null while anything of it runs or waits. */
  readonly exit_code: number | null;
  /** Whether there may be jobs beside these: the sweep was cut off before it came to them. */
  readonly more_to_come: boolean;
  /** Jobs by status; one that no job has is not there. */
  readonly counts: Readonly<Partial<Record<JobStanding, number>>>;
  readonly jobs: readonly JobView[];
}

export interface JobView extends Omit<SweepRow, "result"> {
  /** How the scheduler that has it sees it; null for others. */
  readonly scheduler: Pick<ScheduledJob, "id" | "state" | "obstacle"> | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A sweep as it stands by now. */
export interface SweepLook {
  readonly view: SweepView;
  /** The table of its jobs. */
  readonly rows: readonly SweepRow[];
}

/**
 * Looks at a recorded sweep of any program: the jobs' own records first, then the scheduler that has the
 * others, until the signal comes. Where nobody drives the sweep, jobs that could not record their end themselves are recorded.
 *
 * @throws ConfigError `app.sweep_record` where there is no sweep
 */
export async function lookAtSweep(
  directory: string,
  env: Environment,
  signal?: AbortSignal,
): Promise<SweepLook> {
  const folder = sweepFolder(directory);
  const manifest = readManifest(folder);
  const driver = launcherOf(folder);
  const backend = await backendOf(folder, env);
  const isDriven = driver !== undefined;
  const question = signal === undefined ? {} : { signal };
  if (!isDriven) await settled(backend, question);
  let scheduled = await scheduledJobs(backend, question);
  let rows = sweepRows(directory, { isDriven, scheduled });
  // One that ended between the scheduler's two answers is recorded before it is shown.
  if (!isDriven && backend !== undefined && rows.some(isMissing)) {
    await settled(backend, question);
    scheduled = await scheduledJobs(backend, question);
    rows = sweepRows(directory, { isDriven, scheduled });
  }
  const counts: Partial<Record<JobStanding, number>> = {};
  for (const { status } of rows) counts[status] = (counts[status] ?? 0) + 1;
  const isOver = !isDriven && !rows.some(isOpen);
  const view = {
    version: 1,
    directory,
    program: manifest.program.name,
    driver: driver === undefined ? null : { host: driver.host, pid: driver.pid },
    exit_code: isOver ? recordedExitCode(folder, manifest) : null,
    more_to_come: manifest.more_to_come === true,
    counts,
    jobs: rows.map((row) => jobView(row, scheduled.get(row.number))),
  } as const;
  return { view, rows };
}

const jobView = (
  { result: _result, ...row }: SweepRow,
  job: ScheduledJob | undefined,
): JobView => ({
  ...row,
  scheduler: job === undefined ? null : { id: job.id, state: job.state, obstacle: job.obstacle },
});

const isMissing = ({ status }: SweepRow): boolean => status === "missing";

const isOpen = ({ status }: SweepRow): boolean => status === "queued" || status === "running";

/** The exit code that the record of a sweep amounts to, whoever ran it. */
export function recordedExitCode(folder: string, manifest: SweepManifest): number {
  const states = currentJobs(manifest).map(({ number }) => readJobState(folder, number));
  const isTolerated = (state: JobState | undefined) =>
    manifest.tolerates_failures === true &&
    (state?.status === "failed" || state?.status === "timed_out");
  const ends = states.filter((state) => !isTolerated(state)).map((state) => state && endOf(state));
  return sweepExitCode(manifest.more_to_come === true ? [...ends, undefined] : ends);
}

/** A signal that ended a scheduler's job was not for the sweep: it counts as any failure. */
function endOf(state: JobState): JobEnd {
  const end = endOfState(state);
  const last = state.attempts.at(-1);
  const isForeign = last !== undefined && isScheduled(last) && isSignalCode(end.exitCode ?? 0);
  return isForeign ? { ...end, exitCode: 1 } : end;
}

/** Without the scheduler's commands, and while it does not answer, the records alone must do. */
async function settled(
  backend: SweepBackend | undefined,
  question: QuestionOptions,
): Promise<void> {
  try {
    await backend?.settle(question);
  } catch (error) {
    if (!isConfigError(error)) throw error;
  }
}

async function scheduledJobs(
  backend: SweepBackend | undefined,
  question: QuestionOptions,
): Promise<ReadonlyMap<number, ScheduledJob>> {
  try {
    return new Map((await backend?.status(question))?.map((job) => [job.number, job]));
  } catch (error) {
    if (isConfigError(error)) return new Map();
    throw error;
  }
}
