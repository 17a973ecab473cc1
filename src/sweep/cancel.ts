import { setTimeout as sleep } from "node:timers/promises";
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
import { errorCode } from "../system/files.ts";
import { isRunning, type ProcessIdentity } from "../system/process-identity.ts";
import { resumeGroups } from "../system/process-signals.ts";
import { agreeing, plural } from "../text/plural.ts";
import { ConfigError } from "../values/errors.ts";
import { backendOf } from "./registry.ts";

const LOOK_MS = 100;

/** How long a driver may take: it gives its workers their own time to end. */
const DRIVER_GRACE_MS = GRACE_MS + 5_000;

/** A scheduler asks a job to end, waits as its administrator says (often 30 s), and kills it. */
const SCHEDULER_MS = 120_000;

/** How long the process of a job may still be there that has recorded its end. */
const PROCESS_END_MS = 5_000;

export interface CancelRequest {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Those that may have handed jobs to a scheduler. */
  readonly launchers: readonly LauncherDefinition[];
  /** Called with what is being done. */
  readonly say: (line: string) => void;
}

/**
 * Ends all that runs of a sweep, and nothing else: what drives it, its workers, its jobs in a scheduler.
 * First each is asked to end, then killed. Jobs that are done stay so; the others are still to be done, for
 * `--resume`. Again, it finds nothing to do.
 *
 * @returns whether anything ran
 * @throws ConfigError `app.sweep_record` where there is no sweep, or where a process of it runs on another
 * machine; and what a scheduler's launcher throws that gets no answer
 */
export async function cancelSweep(request: CancelRequest): Promise<boolean> {
  const { directory, say } = request;
  const folder = sweepFolder(directory);
  // Read again each time: the driver may come to another batch before it ends.
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
  // What the driver started or submitted before it was asked is only known now.
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

/** How many jobs a scheduler has that are not over. */
async function scheduledJobs({
  directory,
  env,
  launchers,
}: CancelRequest): Promise<{ readonly backend: SweepBackend | undefined; readonly live: number }> {
  const backend = await backendOf(launchers, directory, env);
  return { backend, live: backend === undefined ? 0 : await liveJobs(backend) };
}

/** A process that drives a sweep: it passes the signal on to its workers. */
async function endProcess(identity: ProcessIdentity): Promise<void> {
  signal(identity, "SIGTERM");
  // One that is suspended hears of it once it goes on.
  signal(identity, "SIGCONT");
  if (await isGone(identity, DRIVER_GRACE_MS)) return;
  signal(identity, "SIGKILL");
  await isGone(identity, GRACE_MS);
}

/** A worker leads the group of what it started; a job in the launcher's own process leads none. */
async function endWorker({ process: identity }: RunningWorker): Promise<void> {
  for (const name of ["SIGTERM", "SIGKILL"] as const) {
    signalWorker(identity.pid, name);
    signal(identity, name);
    resumeGroups(identity.pid);
    if (await isGone(identity, GRACE_MS)) return;
  }
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
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

/** Until the scheduler says that they are over, so that their outcome is recorded. */
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

/** A job whose process is gone without a word was stopped; where a process drives the sweep, that process records it. */
function recordLost(folder: string, jobs: readonly { readonly number: number }[]): void {
  const lost = () => jobs.map(({ number }) => recordOrphan(folder, number)).filter(isLost);
  if (lost().length === 0) return;
  const claim = claimToOrder(folder);
  if (claim === undefined) return;
  // Read again: the driver until now may have recorded them.
  for (const state of lost()) {
    const error = `cancelled: process ${state.attempts.at(-1)?.pid} is gone`;
    const stopped = ended(state, { status: "stopped", exitCode: null, error });
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
