/** Which regions of a long comparison are worth a line: those that changed. */
import type { Verdict } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import { countNotes, mainTime } from "./comparison.ts";
import type { RegionChange } from "./region-change.ts";

export interface ShownRegions {
  /** In the order of the comparison. */
  readonly shown: readonly RegionChange[];
  /** All others, by their verdicts. */
  readonly folded: readonly FoldedRegions[];
}

export interface FoldedRegions {
  /** Null if neither report has a time for them. */
  readonly verdict: Verdict | null;
  readonly count: number;
}

/** How informative a verdict is; regions of 0 get no line. */
const WEIGHTS: Readonly<Record<Verdict, number>> = {
  more: 2,
  less: 2,
  added: 2,
  removed: 2,
  unclear: 1,
  same: 0,
  left_out: 0,
};

/** In the order in which they are shown. */
const ORDER: readonly (Verdict | null)[] = [
  "more",
  "less",
  "added",
  "removed",
  "unclear",
  "same",
  "left_out",
  null,
];

/**
 * All regions, if there are no more than `most`. Else those whose time or counts changed: sure changes before
 * unclear ones, large before small, at most `most` of them.
 */
export function foldedRegions(reports: ReportComparison, most: number): ShownRegions {
  const { regions } = reports;
  if (regions.length <= most) return { shown: regions, folded: [] };
  const time = mainTime(reports);
  const verdictOf = ({ changes }: RegionChange): Verdict | null => changes[time]?.verdict ?? null;
  const changed = regions.flatMap((region, place) => {
    const verdict = verdictOf(region);
    const ofTime = verdict === null ? 0 : WEIGHTS[verdict];
    const weight = ofTime > 0 || countNotes(region.changes, reports) === "" ? ofTime : 1;
    const { a = null, b = null } = region.changes[time] ?? {};
    return weight === 0 ? [] : [{ place, weight, ms: Math.abs((b ?? 0) - (a ?? 0)) }];
  });
  const first = changed.sort((x, y) => y.weight - x.weight || y.ms - x.ms).slice(0, most);
  const kept = new Set(first.map(({ place }) => place));
  const left = regions.filter((_, place) => !kept.has(place)).map(verdictOf);
  const folded = ORDER.map((verdict) => ({
    verdict,
    count: left.filter((each) => each === verdict).length,
  }));
  return {
    shown: regions.filter((_, place) => kept.has(place)),
    folded: folded.filter(({ count }) => count > 0),
  };
}
