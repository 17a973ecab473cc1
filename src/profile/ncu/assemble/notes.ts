import { agreeing, firstFew, firstFewOf, partOf, plural } from "../../../text/plural.ts";
import type { RegionMetrics } from "../metric-tally.ts";
import type { RegionTally } from "./buckets.ts";

/** What stands in the notes of one region. */
export function regionNotes(
  metrics: RegionMetrics,
  { untimed, ranges, kernels }: RegionTally,
): readonly string[] {
  const partial = [...metrics].filter(([, { counted, of }]) => counted > 0 && counted < of);
  const result = ranges > 0 && kernels.size === 0 ? "range result" : "kernel";
  const notes: string[] = [];
  if (untimed > 0)
    notes.push(
      `${plural(untimed, result)} ${agreeing(untimed, "has", "have")} no gpu__time_duration: ${agreeing(untimed, "its", "their")} time counts as 0; collect that metric`,
    );
  if (partial.length > 0)
    notes.push(
      `${plural(partial.length, "metric has", "metrics have")} no value for some ${result}s and ${agreeing(partial.length, "covers", "cover")} only the others: ${firstFewOf(partial, MAX_METRICS, ([name]) => name)}`,
    );
  const plain = [...metrics].filter(([, { weighted }]) => !weighted).map(([name]) => name);
  if (plain.length > 0)
    notes.push(
      `${plural(plain.length, "metric is a plain mean", "metrics are plain means")}, not weighted by time, since some tables lack gpu__time_duration: ${firstFew(plain, MAX_METRICS)}`,
    );
  return notes;
}

/** How times of ncu are to be read: not as those of a run by itself. */
export const REPLAY_NOTE =
  "GPU times are from ncu's replay: kernels ran one at a time, with clocks and caches controlled by ncu; a run without ncu has other times";

export const RANGE_NOTE =
  "each range was measured as a whole: ncu reports neither names nor a count of its kernels";

export interface OutsideCounts {
  readonly inside: number;
  readonly outside: number;
}

const OTHER_THREADS =
  "if a framework launches them from threads of its own, as in backward passes, use start/end ranges, or --nvtx-push-pop-scope process if ncu --help lists it (for an existing report: deep-profile import --nvtx-scope process)";

/** Kernels of threads without ranges are mostly those that a framework launches for others. */
export function outsideNote({ inside, outside }: OutsideCounts): readonly string[] {
  const all = inside + outside;
  if (outside === 0 || outside < all / 10) return [];
  const where = "launched outside every range of their thread";
  if (inside > 0)
    return [
      `${partOf(outside, all, "kernel")} ${agreeing(outside, "was", "were")} ${where}; ${OTHER_THREADS}`,
    ];
  return [
    `${outside === 1 ? "the only kernel was" : `all ${plural(outside, "kernel")} were`} ${where}: the program opened no range around ${agreeing(outside, "it", "them")}, or ncu ran without --nvtx; ${OTHER_THREADS}`,
  ];
}

const MAX_METRICS = 5;
