/** Numbers in two reports: how much each changed, and whether the change is significant. */

import type { Change, Changes, Presence, Verdict } from "./comparison-types.ts";
import { confidenceSequence } from "./evidence.ts";

/** An interval that need not lie evenly around the change, as shares of A. */
export interface RelativeInterval {
  readonly low: number;
  readonly high: number;
}

/** The interval of the pairs of runs; null without pairs. */
export const pairedInterval = ({ relative_low, relative_high }: Change): RelativeInterval | null =>
  relative_low === undefined || relative_high === undefined
    ? null
    : { low: relative_low, high: relative_high };

/**
 * The half width to show: that of repeated runs. Pairs have an interval that is not even, which `±` would contradict,
 * and the spread of the calls of one run is not that of runs.
 */
export const shownHalf = ({ uncertainty, log_ratios, freedom }: Change): number | null =>
  log_ratios === undefined && freedom !== undefined ? uncertainty : null;

/** A measured value and half of the width of its 95 % interval, if its spread is known. */
export interface Measured {
  readonly value: number;
  readonly uncertainty: number | null;
  /** Degrees of freedom of the uncertainty; only for repeated runs. */
  readonly freedom?: number;
}

/** Smaller differences are irrelevant, however precisely they were measured. */
const LEAST_RELATIVE = 0.01;

/** If the spread is unknown, differences below this may be noise. */
const ASSUMED_NOISE = 0.05;

/** A change of a number that hardly varies between runs, such as a counter; times take `timeChange`. */
export function changeOf(a: Measured | null, b: Measured | null): Change {
  if (a === null || b === null) return oneSided(a?.value ?? null, b?.value ?? null);
  const delta = b.value - a.value;
  const relative = ratio(delta, a.value);
  const uncertainty =
    a.uncertainty === null || b.uncertainty === null
      ? null
      : Math.hypot(a.uncertainty, b.uncertainty);
  return {
    a: a.value,
    b: b.value,
    delta,
    relative,
    uncertainty,
    verdict: judge(delta, relative, uncertainty, Math.max(Math.abs(a.value), Math.abs(b.value))),
    ...freedomOf(a, b),
  };
}

/**
 * The change of a time, or of a share of times. Runs of one program differ by more than the calls in one run, so only
 * repeated runs of both programs make a difference certain.
 */
export function timeChange(a: Measured | null, b: Measured | null): Change {
  const change = changeOf(a, b);
  if (change.delta === null || change.delta === 0 || change.freedom !== undefined) return change;
  const verdict = change.verdict === "same" ? "same" : "unclear";
  return { ...change, verdict, too_few_runs: true };
}

/** The change with another uncertainty, of so many degrees of freedom. */
export function withNoise(change: Change, uncertainty: number, freedom: number): Change {
  const { a, b, delta, relative } = change;
  if (a === null || b === null || delta === null) return change;
  const size = Math.max(Math.abs(a), Math.abs(b));
  return { ...change, uncertainty, freedom, verdict: judge(delta, relative, uncertainty, size) };
}

/** What makes a difference of times certain. */
export const TOO_FEW_RUNS =
  "too few runs to be certain: use repeats=5 for both, or deep-profile ab";

/** Whether a number differs by more than what such numbers may differ by if nothing is known about their spread. */
export const isNotable = ({ verdict, relative, delta, too_few_runs }: Change): boolean =>
  verdict === "more" ||
  verdict === "less" ||
  (too_few_runs === true &&
    verdict === "unclear" &&
    delta !== null &&
    Math.abs(relative ?? Number.POSITIVE_INFINITY) >= ASSUMED_NOISE);

/**
 * The degrees of freedom of a difference, by Welch and Satterthwaite; the half widths of the intervals stand for the
 * standard errors.
 */
function freedomOf(a: Measured, b: Measured): Pick<Change, "freedom"> {
  if (a.freedom === undefined || b.freedom === undefined) return {};
  const [ofA, ofB] = [(a.uncertainty ?? 0) ** 2, (b.uncertainty ?? 0) ** 2];
  const freedom = (ofA + ofB) ** 2 / (ofA ** 2 / a.freedom + ofB ** 2 / b.freedom);
  return { freedom: Number.isFinite(freedom) ? freedom : Math.min(a.freedom, b.freedom) };
}

/** The mean ratio of pairs, less 1: what the interval of the pairs is about. */
export const meanOfPairs = (logRatios: readonly number[]): number =>
  Math.expm1(logRatios.reduce((sum, ratio) => sum + ratio, 0) / logRatios.length);

/**
 * The change as measured in pairs of runs: a disturbance of the machine affects both runs of a pair. The interval holds
 * at any number of pairs.
 */
export function pairedChange(change: Change, logRatios: readonly number[]): Change {
  const { a, delta } = change;
  if (a === null || delta === null || logRatios.length === 0) return change;
  const { low, high } = confidenceSequence(logRatios);
  const [least, most] = [Math.expm1(low), Math.expm1(high)];
  const { freedom: _, too_few_runs: __, ...rest } = change;
  const relative = meanOfPairs(logRatios);
  return {
    ...rest,
    relative,
    uncertainty: Number.isFinite(most) ? (a * (most - least)) / 2 : null,
    verdict: judgePairs(relative, least, most),
    log_ratios: logRatios.map((ratio) => Number(ratio.toFixed(6))),
    ...(Number.isFinite(most) && { relative_low: least, relative_high: most }),
  };
}

function judgePairs(relative: number, least: number, most: number): Verdict {
  if (-LEAST_RELATIVE < least && most < LEAST_RELATIVE) return "same";
  if (least <= 0 && most >= 0) return "unclear";
  return Math.abs(relative) < LEAST_RELATIVE ? "same" : direction(least);
}

/**
 * A change of a part, such as a share of a peak: less than a hundredth of the whole is irrelevant, however large the
 * factor is.
 */
export function partChange(change: Change, whole: number): Change {
  const isSmall = change.delta !== null && Math.abs(change.delta) < whole * LEAST_RELATIVE;
  return isSmall ? { ...change, verdict: "same" } : change;
}

/** A change of a count: any difference is real. */
export function countChange(a: number | null, b: number | null): Change {
  if (a === null || b === null) return oneSided(a, b);
  const delta = b - a;
  return {
    a,
    b,
    delta,
    relative: ratio(delta, a),
    uncertainty: 0,
    verdict: delta === 0 ? "same" : direction(delta),
  };
}

const oneSided = (a: number | null, b: number | null): Change => ({
  a,
  b,
  delta: null,
  relative: null,
  uncertainty: null,
  verdict: a !== null ? "removed" : b !== null ? "added" : "same",
});

/** Numbers of which one report left out its own: shown side by side without a conclusion. */
export const asLeftOut = ({ a, b }: Change): Change => ({
  ...oneSided(a, b),
  verdict: "left_out",
});

/** Null if the reference is zero or almost zero. */
function ratio(delta: number, a: number): number | null {
  const quotient = delta / a;
  return Number.isFinite(quotient) ? quotient : null;
}

function judge(
  delta: number,
  relative: number | null,
  uncertainty: number | null,
  size: number,
): Verdict {
  if (delta === 0) return "same";
  const share = relative === null ? Number.POSITIVE_INFINITY : Math.abs(relative);
  if (uncertainty === null)
    return share >= ASSUMED_NOISE ? direction(delta) : share < LEAST_RELATIVE ? "same" : "unclear";
  if (Math.abs(delta) > uncertainty) return share < LEAST_RELATIVE ? "same" : direction(delta);
  return uncertainty <= size * LEAST_RELATIVE ? "same" : "unclear";
}

const direction = (delta: number): Verdict => (delta > 0 ? "more" : "less");

// The numbers of one subject (the whole report, a region, a kernel) in two reports.

/** @param isLookedFor whether the selection of a report that does not have it includes it */
export function presenceOf(
  a: unknown,
  b: unknown,
  isLookedFor: (side: "a" | "b") => boolean,
): Presence {
  if (a !== null && b !== null) return "both";
  if (!isLookedFor(a === null ? "a" : "b")) return "left_out";
  return a === null ? "added" : "removed";
}

export const changesAs = (presence: Presence, changes: Changes): Changes =>
  changesIf(presence !== "left_out", present(changes));

/** Without a conclusion if the numbers are of different work. */
export const changesIf = (isSame: boolean, changes: Changes): Changes =>
  isSame
    ? changes
    : Object.fromEntries(
        Object.entries(changes).map(([name, change]) => [name, asLeftOut(change)]),
      );

/** Only numbers that at least one report has. */
export const present = (changes: Changes): Changes =>
  Object.fromEntries(Object.entries(changes).filter(([, { a, b }]) => a !== null || b !== null));
