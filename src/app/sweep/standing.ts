import { isRunning } from "../../system/process-identity.ts";
import type { ScheduledJob } from "../launchers/sweep-backend.ts";
import type { JobState, JobStatus } from "./record/job-state.ts";

/**
 * As in a job's own record; and `missing`: it has not started, or its process is gone, and nobody is about
 * to run it.
 */
export type JobStanding = JobStatus | "missing";

/** What may still become of jobs, beside what their records say. */
export interface Prospect {
  /** Whether a process drives the sweep, and is to start what has not ended. */
  readonly isDriven: boolean;
  /** What a scheduler has of it, by number. */
  readonly scheduled: ReadonlyMap<number, ScheduledJob>;
  /** Jobs that were handed to a scheduler which does not answer: for all that is known it still has them. */
  readonly unanswered: ReadonlySet<number>;
}

/** Of a sweep that nobody drives, and no scheduler has jobs of. */
export const NOBODY: Prospect = {
  isDriven: false,
  scheduled: new Map(),
  unanswered: new Set(),
};

/** How a job stands: the same word wherever it is told. */
export function standing(
  number: number,
  state: JobState | undefined,
  { isDriven, scheduled, unanswered }: Prospect,
): { readonly status: JobStanding; readonly error?: string } {
  const job = scheduled.get(number);
  const waits = isDriven || unanswered.has(number) || (job !== undefined && job.phase !== "over");
  if (state === undefined || state.status === "queued")
    return { status: waits ? "queued" : "missing" };
  // It may be about to start again; what is being cancelled has not ended yet.
  if (state.status === "stopped" && job !== undefined && job.phase !== "over")
    return { status: job.phase === "waiting" ? "queued" : "running" };
  if (state.status !== "running") return { status: state.status };
  const last = state.attempts.at(-1);
  // What a node took with it when it was lost could not record that, and waits for another one.
  if (job?.phase === "waiting")
    return { status: last !== undefined && isRunning(last) === true ? "running" : "queued" };
  if (waits || (last !== undefined && isRunning(last) !== false)) return { status: "running" };
  return { status: "missing", error: `process ${last?.pid ?? "?"} is gone` };
}
