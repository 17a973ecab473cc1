import { isOfThisBoot } from "../../../system/process-identity.ts";
import type { Attempt } from "./job-state.ts";

/**
 * Milliseconds since this machine began, on a clock that nobody sets and that all its processes share. While the machine is suspended it
 * stands still: a job does nothing then, and its time is to be compared with that of others.
 */
export const uptimeMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/**
 * Milliseconds that an attempt took, or has taken so far. Whoever sets the machine's time meanwhile does not change it; only what another
 * machine began, or an early version recorded, is told by the times of day.
 */
export function tookMs(attempt: Attempt): number {
  const { ended, started, took_ms, uptime_ms } = attempt;
  if (took_ms !== undefined) return took_ms;
  if (ended === null && uptime_ms !== undefined && isOfThisBoot(attempt))
    return Math.max(0, uptimeMs() - uptime_ms);
  const end = ended === null ? Date.now() : Date.parse(ended);
  // The clock that said when it started may be another machine's, and ahead of ours.
  return Math.max(0, end - Date.parse(started));
}
