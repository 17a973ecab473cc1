import { isSignalCode } from "../../job/job.ts";
import { isScheduled } from "../../worker/left-behind.ts";
import type { JobState } from "./job-state.ts";

/**
 * The exit code of a job's last attempt as its sweep counts it; null where it has none. A signal that ended a scheduler's job was not
 * for the sweep: it counts as any failure.
 */
export function countedExitCode({ attempts }: JobState): number | null {
  const last = attempts.at(-1);
  const code = last?.exit_code ?? null;
  const isForeign = last !== undefined && isScheduled(last) && isSignalCode(code ?? 0);
  return isForeign ? 1 : code;
}
