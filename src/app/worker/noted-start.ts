import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "../../system/process-identity.ts";
import { type JobState, readJobState } from "../sweep/record/job-state.ts";
import type { NotedStart, WorkerRequest } from "./worker-request.ts";

const LOOK_MS = 10;

/**
 * Waits until the launcher has noted that this process runs the job. Nothing is done before: so the record of a job
 * goes from its start to its end whatever holds the launcher up, and who comes after a launcher that was killed
 * finds every process that does something.
 *
 * @returns the job's state with its start; undefined where the launcher has ended without noting it, or somebody has
 * ended the job meanwhile: then it is not this process's to run
 */
export async function notedState(
  { folder, number }: Pick<WorkerRequest, "folder" | "number">,
  { id, launcher }: NotedStart,
): Promise<JobState | undefined> {
  for (;;) {
    // Asked first: what it noted just before its end is seen.
    const mayStillCome = isRunning(launcher) !== false;
    const state = readJobState(folder, number);
    if (state?.attempts.at(-1)?.id === id) return state.status === "running" ? state : undefined;
    if (!mayStillCome) return undefined;
    await sleep(LOOK_MS);
  }
}
