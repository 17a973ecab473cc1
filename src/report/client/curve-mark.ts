/** Distinguishes curves without colour, for colour-blind readers and on paper. */

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
