/** One number in two reports: how much it changed, and whether that means anything. */

/**
 * `unclear`: the difference is no larger than what measurements of this kind differ by anyway.
 * `left_out`: one of the two did not look for it, since its selection leaves it out.
 */
export type Verdict = "more" | "less" | "same" | "unclear" | "added" | "removed" | "left_out";

export interface Change {
  readonly a: number | null;
  readonly b: number | null;
  /** `b - a`; null where either was not measured. */
  readonly delta: number | null;
  /** `delta / a`; null where there is no delta or `a` is 0, or too near to it. */
  readonly relative: number | null;
  /** Half width of the 95 % interval of the delta; null where no spread is known. */
  readonly uncertainty: number | null;
  readonly verdict: Verdict;
}

/** A measured value and the half width of its 95 % interval, where its spread is known. */
export interface Measured {
  readonly value: number;
  readonly uncertainty: number | null;
}

/** Smaller differences are nobody's business, however exactly they were measured. */
const LEAST_RELATIVE = 0.01;

/** Where nothing tells the spread, differences below this may well be noise. */
const ASSUMED_NOISE = 0.05;

/** A change of a time or a metric: noise is taken into account. */
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
  };
}

/**
 * A change of a part of something larger, such as a share of a peak: less than a hundredth of the whole is
 * nobody's business, however many times as much as before it is.
 */
export function partChange(a: Measured | null, b: Measured | null, whole: number): Change {
  const change = changeOf(a, b);
  const isSmall = change.delta !== null && Math.abs(change.delta) < whole * LEAST_RELATIVE;
  return isSmall ? { ...change, verdict: "same" } : change;
}

/** A change of something that is counted, not measured: any difference is one. */
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

/** Numbers of what not both looked for: they stand side by side, and nothing follows from them. */
export const asLeftOut = ({ a, b }: Change): Change => ({
  ...oneSided(a, b),
  verdict: "left_out",
});

/** Null beside zero, and beside what is as good as zero. */
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
