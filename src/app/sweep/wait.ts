/** Waits for the end of a sweep that other processes run. */
import { setTimeout as sleep } from "node:timers/promises";
import type { LauncherDefinition } from "../launch/launcher.ts";
import { undamagedState } from "../record/damage.ts";
import { createRecordLook, type JobState } from "../record/job-state.ts";
import { launcherOf } from "../record/launcher-claim.ts";
import { sweepFolder } from "../record/layout.ts";
import { type ManifestJob, manifestReader } from "../record/manifest.ts";
import { liveWorkers, type RunningWorker, resumeOrphans } from "../record/orphans.ts";
import { backendOf } from "./registry.ts";

const LOOK_MS = 400;

export interface WaitRequest {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The launchers that may have submitted jobs to a scheduler. */
  readonly launchers: readonly LauncherDefinition[];
  /** Ends the wait, never the sweep. */
  readonly signal: AbortSignal;
  /** Called when a job has ended, also when it ends again. */
  readonly onEnd?: (job: ManifestJob, state: JobState, jobs: readonly ManifestJob[]) => void;
  /** Receives the jobs that wait for an action of the user, and the action. */
  readonly onHeld?: (
    held: readonly ManifestJob[],
    pendingReason: string,
    jobs: readonly ManifestJob[],
  ) => void;
}

/**
 * Waits until nothing of a sweep runs any more: no driver, no worker that a driver left, no job of a scheduler.
 *
 * @throws ConfigError `app.sweep_record` if there is no sweep, and the error of a launcher whose scheduler has jobs and
 * does not answer
 */
export async function waitForSweep(request: WaitRequest): Promise<void> {
  const { directory, env, launchers, signal } = request;
  const folder = sweepFolder(directory);
  const manifest = manifestReader(folder);
  const jobs = () => manifest().jobs;
  const look = lookForEnds(folder, request);
  const tellHeld = (numbers: readonly number[], pendingReason: string): void => {
    const held = new Set(numbers);
    request.onHeld?.(
      jobs().filter(({ number }) => held.has(number)),
      pendingReason,
      jobs(),
    );
  };
  const lookForHeld = lookAtScheduler(request, tellHeld);
  // In a large sweep, most jobs have no record, or one that does not change.
  const lookAtFolder = createRecordLook(folder);
  let workers: readonly RunningWorker[] = [];
  let wasWatched = false;
  let wasDriven = true;
  while (!signal.aborted) {
    // The launcher is checked first: when it ends, all its records already exist.
    const isDriven = launcherOf(folder) !== undefined;
    const recorded = lookAtFolder();
    const begun = jobs().filter(({ number }) => recorded?.has(number) === true);
    look(begun, jobs());
    workers = liveWorkers(folder, recorded === undefined ? workers : begun);
    if (wasDriven && !isDriven) resumeOrphans(workers);
    wasDriven = isDriven;
    if (isDriven || workers.length > 0) {
      await lookForHeld();
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
      continue;
    }
    const backend = wasWatched ? undefined : await backendOf(launchers, directory, env);
    if (backend === undefined) break;
    wasWatched = true;
    try {
      for await (const event of backend.watch({ signal })) {
        if (event.kind !== "held")
          look(
            jobs().filter(({ number }) => number === event.number),
            jobs(),
          );
        else if (event.pendingReason !== null) tellHeld(event.numbers, event.pendingReason);
      }
    } catch (error) {
      // The abort interrupted a query for the scheduler's job arrays.
      if (!signal.aborted) throw error;
    }
  }
  look(jobs());
}

/** Reports each end once. Earlier ends are not reported; a job that is done is not read again. */
function lookForEnds(folder: string, { onEnd }: WaitRequest) {
  const done = new Set<number>();
  const ends = new Map<number, number>();
  let isFirst = true;
  return (some: readonly ManifestJob[], jobs: readonly ManifestJob[] = some): void => {
    for (const job of some) {
      const { number } = job;
      if (done.has(number)) continue;
      const state = undamagedState(folder, number);
      if (state === undefined || state.status === "running" || state.status === "queued") continue;
      if (state.status === "completed") done.add(number);
      if (ends.get(number) === state.attempts.length) continue;
      ends.set(number, state.attempts.length);
      if (!isFirst) onEnd?.(job, state, jobs);
    }
    isFirst = false;
  };
}

/** A scheduler is shared by many users, so it is asked rarely. */
const SCHEDULER_MS = 15_000;

/**
 * Reports what holds a scheduler's jobs. A process that follows the jobs does so, too, but its user is not necessarily
 * the one who waits here.
 */
function lookAtScheduler(
  { directory, env, launchers, onHeld, signal }: WaitRequest,
  onHold: (numbers: readonly number[], pendingReason: string) => void,
): () => Promise<void> {
  let next = 0;
  let heldReasons = new Set<string>();
  return async () => {
    if (onHeld === undefined || performance.now() < next) return;
    const backend = await backendOf(launchers, directory, env);
    // A failed query may succeed later; errors are the concern of the process that follows the jobs.
    const scheduled = await backend?.status({ signal }).catch(() => undefined);
    next = performance.now() + SCHEDULER_MS;
    if (scheduled === undefined) return;
    const held = new Map<string, number[]>();
    for (const { number, pendingReason } of scheduled) {
      if (pendingReason === null) continue;
      const same = held.get(pendingReason);
      if (same === undefined) held.set(pendingReason, [number]);
      else same.push(number);
    }
    for (const [pendingReason, numbers] of held)
      if (!heldReasons.has(pendingReason)) onHold(numbers, pendingReason);
    // Reasons may alternate as long as any job is held, so each is reported once.
    heldReasons = new Set(held.size === 0 ? [] : [...heldReasons, ...held.keys()]);
  };
}
