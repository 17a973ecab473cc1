/**
 * Computations of charts that do not need the document: labelled ticks, extents, colours, marks of curves, fitting
 * labels.
 */

/**
 * The ticks whose labels do not overlap, in order. If not all fit, powers of ten are kept, because
 * readers of a logarithmic axis look for them.
 *
 * @param place of a tick, in the units of the chart
 * @param gap least distance of two labels, in the same units
 */
export function labelledTicks(
  ticks: readonly number[],
  place: (tick: number) => number,
  gap: number,
): readonly number[] {
  const kept: number[] = [];
  const first = [...ticks.filter(isPowerOfTen), ...ticks.filter((tick) => !isPowerOfTen(tick))];
  for (const tick of first)
    if (kept.every((other) => Math.abs(place(other) - place(tick)) >= gap)) kept.push(tick);
  return ticks.filter((tick) => kept.includes(tick));
}

const isPowerOfTen = (tick: number): boolean =>
  tick > 0 && Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9;

/**
 * The least and the greatest of some numbers, even of more than a call can have arguments. Without
 * numbers: plus and minus infinity, like `Math.min` and `Math.max`.
 */
export function extentOf(numbers: Iterable<number>): readonly [least: number, greatest: number] {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (const number of numbers) {
    least = Math.min(least, number);
    greatest = Math.max(greatest, number);
  }
  return [least, greatest];
}

/** The hue of a name, the same in all charts and on all pages. */
export function hueOf(name: string): number {
  let hash = 2166136261;
  for (let index = 0; index < name.length; index++)
    hash = Math.imul(hash ^ name.charCodeAt(index), 16777619) >>> 0;
  return hash % 360;
}

/** Hues that are as distinguishable as possible for this many curves; the first is the colour of links. */
export const hueOfCurve = (index: number, count: number): number =>
  Math.round(210 + (index * 360) / Math.max(1, count)) % 360;

// Distinguishes curves without colour, for colour-blind readers and on paper.

/** Paths around 0,0 of about the same area: circle, square, triangle, diamond, cross. */
const SHAPES = [
  "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",
  "M-4.5,-4.5h9v9h-9z",
  "M0,-6.5L6,4.5H-6z",
  "M0,-6.5L5.5,0L0,6.5L-5.5,0z",
  "M-5.5,-2h3.5v-3.5h4v3.5h3.5v4h-3.5v3.5h-4v-3.5h-3.5z",
];
/** Their number shares no factor with the number of shapes, so twenty curves differ. */
const DASHES = ["none", "8 4", "2 4", "10 4 2 4"];

export interface CurveMark {
  /** The shape of a point, as the `d` of a path. */
  readonly shape: string;
  /** The line style, as `stroke-dasharray`. */
  readonly dashes: string;
}

export const markOfCurve = (index: number): CurveMark => ({
  shape: SHAPES[index % SHAPES.length] ?? "",
  dashes: DASHES[index % DASHES.length] ?? "none",
});
