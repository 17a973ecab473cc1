/** Ends everything of a sweep that runs. */
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../../engine/values/errors.ts";
import { errorCode } from "../../foundation/system/files.ts";
import type { Signal } from "../../foundation/system/platform-types.ts";
import { isRunning, type ProcessIdentity } from "../../foundation/system/process-identity.ts";
import { resumeGroups } from "../../foundation/system/process-signals.ts";
import { agreeing, plural } from "../../foundation/text/plural.ts";
import type { LauncherDefinition } from "../launch/launcher.ts";
import type { SweepBackend } from "../launch/scheduler.ts";
import { ended, writeJobState } from "../record/job-state.ts";
import {
  claimToOrder,
  clearCancellation,
  launcherOf,
  noteCancellation,
} from "../record/launcher-claim.ts";
import { sweepFolder } from "../record/layout.ts";
import { readManifest } from "../record/manifest.ts";
import { nextCommand } from "../record/next-commands.ts";
import {
  GRACE_MS,
  isLost,
  liveWorkers,
  type RunningWorker,
  recordOrphan,
  signalWorker,
} from "../record/orphans.ts";
import { backendOf } from "./registry.ts";

const LOOK_MS = 100;

/** The time limit for a driver: it gives its workers their own time to end. */
const DRIVER_GRACE_MS = GRACE_MS + 5_000;

/** A scheduler signals a job, waits as its administrator has configured (often 30 s), and kills it. */
const SCHEDULER_MS = 120_000;

/** How long a job's process may stay after it has recorded its end. */
const PROCESS_END_MS = 5_000;

export interface CancelRequest {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The launchers that may have submitted jobs to a scheduler. */
  readonly launchers: readonly LauncherDefinition[];
  /** Called with a line about each step. */
  readonly say: (line: string) => void;
}

/**
 * Ends everything of a sweep that runs, and nothing else: its driver, its workers, its jobs in a scheduler. Each is
 * asked to end first, then killed. Jobs that are done stay so; the others remain for `--resume`. A second call finds
 * nothing to do.
 *
 * @returns whether anything ran
 * @throws ConfigError `app.sweep_record` if there is no sweep, or a process of it runs on another machine; and the
 * error of a launcher whose scheduler does not answer
 */
export async function cancelSweep(request: CancelRequest): Promise<boolean> {
  const { directory, say } = request;
  const folder = sweepFolder(directory);
  // Read again each time: the driver may record another batch before it ends.
  const jobs = () => readManifest(folder).jobs;
  const driver = launcherOf(folder);
  const workers = liveWorkers(folder, jobs());
  const isIdle =
    driver === undefined && workers.length === 0 && (await scheduledJobs(request)).live === 0;
  if (isIdle) {
    recordLost(folder, jobs());
    return false;
  }
  noteCancellation(folder);
  const isElsewhere = driver !== undefined && isRunning(driver) === "elsewhere";
  if (driver !== undefined && !isElsewhere) {
    say(`Ending process ${driver.pid}, which runs the sweep`);
    await endProcess(driver);
  }
  // Only now is it known what the driver started or submitted before it ended.
  const { backend, live } = await scheduledJobs(request);
  if (backend !== undefined && live > 0) {
    say(`Ending ${plural(live, "job")} in the scheduler`);
    await endScheduled(backend);
  }
  const left = liveWorkers(folder, jobs());
  await Promise.all(left.filter(({ alive }) => alive === true).map(endWorker));
  const away = [
    ...(isElsewhere && driver !== undefined ? [driver] : []),
    ...left.filter(({ alive }) => alive === "elsewhere").map(({ process }) => process),
  ];
  recordLost(folder, jobs());
  if (away.length > 0) throw runsElsewhere(directory, away);
  clearCancellation(folder);
  return true;
}

/** The scheduler's side of the sweep, and how many of its jobs are not over. */
async function scheduledJobs({
  directory,
  env,
  launchers,
}: CancelRequest): Promise<{ readonly backend: SweepBackend | undefined; readonly live: number }> {
  const backend = await backendOf(launchers, directory, env);
  return { backend, live: backend === undefined ? 0 : await liveJobs(backend) };
}

/** Ends a process that drives a sweep: it passes the signal on to its workers. */
async function endProcess(identity: ProcessIdentity): Promise<void> {
  signal(identity, "SIGTERM");
  // A suspended process handles the signal once it is resumed.
  signal(identity, "SIGCONT");
  if (await isGone(identity, DRIVER_GRACE_MS)) return;
  signal(identity, "SIGKILL");
  await isGone(identity, GRACE_MS);
}

/** A worker leads a process group; a job in the launcher's own process does not. */
async function endWorker({ process: identity }: RunningWorker): Promise<void> {
  for (const name of ["SIGTERM", "SIGKILL"] as const) {
    signalWorker(identity.pid, name);
    signal(identity, name);
    resumeGroups(identity.pid);
    if (await isGone(identity, GRACE_MS)) return;
  }
}

function signal(identity: ProcessIdentity, name: Signal): void {
  if (isRunning(identity) !== true) return;
  try {
    process.kill(identity.pid, name);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}

async function isGone(identity: ProcessIdentity, within: number): Promise<boolean> {
  const until = performance.now() + within;
  while (isRunning(identity) === true) {
    if (performance.now() >= until) return false;
    await sleep(LOOK_MS);
  }
  return true;
}

/** Cancels the scheduler's jobs and waits until they are over, so that their outcome is recorded. */
async function endScheduled(backend: SweepBackend): Promise<void> {
  await backend.cancel();
  const signal = AbortSignal.timeout(SCHEDULER_MS);
  for await (const event of backend.watch({ signal })) void event;
  // A job records its end before its process is gone.
  const end = performance.now() + PROCESS_END_MS;
  while (performance.now() < end && (await liveJobs(backend)) > 0) await sleep(LOOK_MS);
}

const liveJobs = async (backend: SweepBackend): Promise<number> =>
  (await backend.status()).filter(({ phase }) => phase !== "over").length;

/**
 * Records jobs whose process is gone without a recorded end as stopped; if a process drives the sweep, that process
 * does so.
 */
function recordLost(folder: string, jobs: readonly { readonly number: number }[]): void {
  const lost = () => jobs.map(({ number }) => recordOrphan(folder, number)).filter(isLost);
  if (lost().length === 0) return;
  const claim = claimToOrder(folder);
  if (claim === undefined) return;
  // Read again: the driver may have recorded them before its end.
  for (const state of lost()) {
    const error = `cancelled: process ${state.attempts.at(-1)?.pid} is gone`;
    const stopped = ended(state, { endedBy: { by: "cancel" }, exitCode: null, error });
    writeJobState(folder, stopped, { durable: true });
  }
  claim.release();
}

const runsElsewhere = (directory: string, away: readonly ProcessIdentity[]): ConfigError => {
  const hosts = [...new Set(away.map(({ host }) => host))].join(", ");
  return new ConfigError({
    code: "app.sweep_record",
    message: `No other job of the sweep in '${directory}' starts, but ${away.length} of its processes ${agreeing(away.length, "runs", "run")} on ${hosts}, which cannot be reached from this machine`,
    hint: `run '${nextCommand("cancel", directory)}' there`,
  });
};
