import type { JobResult } from "../../job/job.ts";
import { type LiveWorker, leftBehind } from "../../worker/left-behind.ts";
import type { LauncherRequest, SweepJob } from "../launcher.ts";
import type { LocalSettings } from "./settings.ts";
import { type HeldSlots, type SlotAttempt, type SlotPool, slotVariables } from "./slots.ts";
import { startWorker } from "./worker-process.ts";

/** A job that a worker runs. */
export interface RunningJob {
  readonly job: SweepJob;
  readonly worker: LiveWorker;
  /** Undefined for a worker that another launcher left: it holds its own. */
  readonly slots: HeldSlots | undefined;
}

/** What came of starting a job. */
export type JobStart =
  | { readonly kind: "running"; readonly running: RunningJob }
  /** It had been left running and has come to its end. */
  | { readonly kind: "over"; readonly result: JobResult }
  | { readonly kind: "lacks slots"; readonly attempt: SlotAttempt & { readonly kind: "none" } };

/**
 * Starts a worker for a job, with slots of its own. At its first start here the job may be in the hands of a worker
 * that an earlier launcher left: then that one is followed.
 */
export function startJob(
  job: SweepJob,
  isFirstStart: boolean,
  pool: SlotPool,
  { invocation, record }: LauncherRequest,
  { timeLimit }: LocalSettings,
): JobStart {
  if (isFirstStart) {
    // In this order: a worker that is gone by the first look has recorded its end by the second.
    const worker = leftBehind(record.folder, job.number);
    if (worker !== undefined)
      return { kind: "running", running: { job, worker, slots: undefined } };
    const result = record.endedSince(job);
    if (result !== undefined) return { kind: "over", result };
  }
  const facts = record.facts();
  const attempt = pool.take(`job #${job.number} of the sweep in ${facts.directory}`);
  if (attempt.kind === "none") return { kind: "lacks slots", attempt };
  const slots = attempt.held;
  try {
    const worker = startWorker({
      facts,
      folder: record.folder,
      number: job.number,
      env: { ...invocation.env, ...slotVariables(slots.slots) },
      timeLimit,
    });
    if (worker.pid !== undefined) slots.handTo(worker.pid);
    return { kind: "running", running: { job, worker, slots } };
  } catch (error) {
    slots.giveBack();
    throw error;
  }
}
