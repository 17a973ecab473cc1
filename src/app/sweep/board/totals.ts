import { plural } from "../../../text/plural.ts";
import { roughDuration } from "./duration.ts";
import type { Counts, Pace, Tally } from "./tally.ts";

/** In the order in which they are told, and their words. */
const TOLD = [
  ["failed", "failed"],
  ["stopped", "stopped"],
  ["running", "running"],
  ["queued", "queued"],
] as const;

/**
 * `3 of 12 jobs completed, 1 failed, 2 running; 34 s, about 40 s left (5.3 jobs/min)`. Once the sweep
 * is over nothing is left, whatever has not started.
 */
export function totalsLine(
  tally: Tally,
  { isOver, now }: { readonly isOver: boolean; readonly now: number },
): string {
  const counts = tally.counts();
  const parts = TOLD.flatMap(([state, word]) => {
    const told = isOver && state === "queued" ? "not started" : word;
    return counts[state] === 0 ? [] : [`${counts[state]} ${told}`];
  });
  const jobs = all(counts);
  const done = `${counts.completed} of ${plural(jobs, "job")} completed`;
  const pace = tally.pace(now);
  const left = isOver ? "" : leftText(pace, counts.running + counts.queued);
  return `${[done, ...parts].join(", ")}; ${roughDuration(pace.elapsed)}${left}`;
}

/** From the jobs that have ended: the estimate and the rate stand still until the next one does. */
function leftText({ elapsed, ended, lastEnd }: Pace, open: number): string {
  if (open === 0 || ended === 0 || lastEnd <= 0) return "";
  const left = (open * lastEnd) / ended - (elapsed - lastEnd);
  const estimate = left < 500 ? "" : `, about ${roughDuration(left)} left`;
  return `${estimate} (${rate(ended, lastEnd)})`;
}

export const all = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** In the unit that gives a number to read. */
function rate(ended: number, elapsed: number): string {
  const units = [
    ["s", 1000],
    ["min", 60_000],
    ["h", 3_600_000],
  ] as const;
  const [unit, length] = units.find(([, one]) => (ended * one) / elapsed >= 1) ?? units[2];
  return `${((ended * length) / elapsed).toFixed(1)} jobs/${unit}`;
}
