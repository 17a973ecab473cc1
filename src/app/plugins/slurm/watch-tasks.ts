/** Watches tasks until they end: by the records of jobs, then by Slurm. */
import { setTimeout as sleep } from "node:timers/promises";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { endStatus } from "../../job/ender.ts";
import type { ScheduledEvent } from "../../launch/launcher.ts";
import { undamagedState } from "../../record/damage.ts";
import { createRecordLook, hasEnded, type JobState } from "../../record/job-state.ts";
import { type Queue, queueOf, type Reports, reportsOf, type SlurmClient } from "./client.ts";
import { pendingReasons } from "./pending-reasons.ts";
import { createReconcile, type Reconcile } from "./reconcile.ts";
import { type SubmittedTask, taskName } from "./submissions.ts";
import { phaseOf, type TaskReport } from "./task-state.ts";

export interface WatchRequest {
  readonly folder: string;
  readonly client: SlurmClient;
  readonly tasks: readonly SubmittedTask[];
  readonly signal?: AbortSignal;
}

/** The polling interval for the folder of the jobs' own records. */
const RECORDS_MS = 500;
/** The interval between queries to Slurm, which many users share: short while things happen, then longer. */
const QUEUE_MS = { first: 2_000, most: 15_000, growth: 1.5 };
/**
 * How much later than Slurm's report of a task's end the job's record may appear: file systems of clusters show the
 * files of other machines late.
 */
const RECORD_DELAY_MS = { ended: 10_000, lost: 2_000 };

/** The state of a task that has not ended. */
interface Watched {
  readonly task: SubmittedTask;
  /** How many attempts of this array were seen. */
  seen: number;
  /** Whether Slurm last reported that it has begun, or is over; undefined without a report. */
  hasBegun?: boolean | undefined;
  /** Since when Slurm reports it as over, on a monotonic clock. */
  overSince?: number;
  /** The last reported reason that keeps it from starting. */
  heldFor?: string | undefined;
}

/**
 * Watches tasks: first through the records that the jobs write themselves, then through Slurm for jobs that can no
 * longer write. Ends when all have ended. Does not need Slurm's accounting.
 *
 * Tens of thousands of tasks may wait, so only the folder of records is polled; the files of jobs that have begun are
 * read after it has changed, or Slurm has answered.
 */
export async function* watchTasks(request: WatchRequest): AsyncGenerator<ScheduledEvent, void> {
  const { client, folder, signal } = request;
  const watched = new Map<string, Watched>();
  for (const task of request.tasks) watched.set(taskName(task), { task, seen: 0 });
  const lookAtFolder = createRecordLook(folder);
  let pause: number = QUEUE_MS.first;
  let nextQuestion = 0;
  let isAnswered = false;
  while (watched.size > 0 && signal?.aborted !== true) {
    const recorded = lookAtFolder();
    let happened = false;
    for (const [name, task] of watched) {
      if (!isDue(task, recorded, isAnswered)) continue;
      const state = newer(undamagedState(folder, task.task.number), task.task);
      for (const event of newEvents(task, state)) {
        happened = true;
        if (event.kind === "ended") watched.delete(name);
        yield event;
      }
    }
    isAnswered = false;
    if (happened) pause = QUEUE_MS.first;
    // Only Slurm can tell which of the jobs with records of earlier runs have begun.
    else if (recorded !== undefined)
      nextQuestion = Math.min(nextQuestion, performance.now() + QUEUE_MS.first);
    if (watched.size > 0 && performance.now() >= nextQuestion) {
      const tasks = [...watched.values()].map(({ task }) => task);
      const queue = await queueOf(tasks, client, signal);
      isAnswered = true;
      for (const [name, task] of watched) task.hasBegun = queue && hasBegun(queue.get(name));
      if (queue !== undefined) {
        yield* newlyHeld(watched, queue);
        const reports = await reportsOf(tasks, queue, client, signal);
        for (const event of newlyLost(watched, reports, folder)) {
          pause = QUEUE_MS.first;
          yield event;
        }
      }
      const soon = [...watched.values()].some(({ overSince }) => overSince !== undefined);
      nextQuestion = performance.now() + (soon ? QUEUE_MS.first : pause);
      pause = Math.min(pause * QUEUE_MS.growth, QUEUE_MS.most);
    }
    if (watched.size > 0)
      await sleep(RECORDS_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}

/** @param report undefined for a task that has left the queue */
const hasBegun = (report: TaskReport | undefined): boolean =>
  report === undefined || phaseOf(report) !== "waiting";

/**
 * Whether to read the record of a task's job again.
 *
 * @param recorded the jobs that have records; undefined while none has changed
 * @param isAnswered whether Slurm was asked since the last read
 */
function isDue(
  { hasBegun, seen, task }: Watched,
  recorded: ReadonlySet<number> | undefined,
  isAnswered: boolean,
): boolean {
  if (hasBegun === true) return isAnswered || recorded !== undefined;
  if (recorded?.has(task.number) !== true) return false;
  // While Slurm reports the task as waiting, only a job that had no record can have a new one.
  return hasBegun === undefined || (task.attempts === 0 && seen === 0);
}

/** The record if it has attempts of this array. */
const newer = (state: JobState | undefined, { attempts }: SubmittedTask): JobState | undefined =>
  state !== undefined && state.attempts.length > attempts ? state : undefined;

function* newEvents(task: Watched, state: JobState | undefined): Generator<ScheduledEvent> {
  if (state === undefined) return;
  const { attempts, number } = task.task;
  const made = state.attempts.length - attempts;
  if (task.seen === 0) {
    task.seen = 1;
    yield { kind: "started", number };
  }
  for (; task.seen < made; task.seen++) {
    const attempt = state.attempts[attempts + task.seen - 1];
    const reason = attempt?.error ?? "its process was ended";
    const ender = attempt?.ended_by;
    const status = ender === undefined ? "stopped" : endStatus(ender, false);
    yield { kind: "retried", number, status, reason };
  }
  if (hasEnded(state)) yield { kind: "ended", number };
}

/** Jobs that have begun to wait for an action of the user, by that action, and jobs that no longer do. */
function* newlyHeld(
  watched: ReadonlyMap<string, Watched>,
  queue: Queue,
): Generator<ScheduledEvent> {
  const held = pendingReasons([...queue.values()]);
  const changed = new Map<string | null, number[]>();
  for (const [name, task] of watched) {
    const pendingReason = held.get(name);
    if (pendingReason?.what === task.heldFor) continue;
    task.heldFor = pendingReason?.what;
    const text = pendingReason?.text ?? null;
    getOrCreate(changed, text, () => []).push(task.task.number);
  }
  for (const [pendingReason, numbers] of changed) yield { kind: "held", numbers, pendingReason };
}

/** Records the end of tasks that are over and whose record does not come any more, and stops watching them. */
function* newlyLost(
  watched: Map<string, Watched>,
  reports: Reports,
  folder: string,
): Generator<ScheduledEvent> {
  let reconcile: Reconcile | undefined;
  for (const [name, task] of watched) {
    const report = reports.get(name);
    if (report === undefined) continue;
    // Slurm forgets tasks some minutes after their end.
    const lastReport = report === "gone" ? undefined : report;
    if (!isLost(task, lastReport)) continue;
    // The record may have come while Slurm was asked: then the next read finds it.
    reconcile ??= createReconcile(folder);
    const outcome = reconcile(task.task, lastReport);
    if (outcome === "recorded already") continue;
    watched.delete(name);
    const { number } = task.task;
    if (outcome.kind === "ended" && task.seen === 0) yield { kind: "started", number };
    yield { ...outcome, number };
  }
}

/** @param report undefined if Slurm no longer knows the task */
function isLost(task: Watched, report: TaskReport | undefined): boolean {
  if (report !== undefined && phaseOf(report) !== "over") {
    delete task.overSince;
    return false;
  }
  task.overSince ??= performance.now();
  const delay = report?.state === "COMPLETED" ? RECORD_DELAY_MS.ended : RECORD_DELAY_MS.lost;
  return performance.now() - task.overSince >= delay;
}
