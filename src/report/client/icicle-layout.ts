/** Layout of the boxes of an icicle chart. */
import type { Region } from "./state.ts";

/** A node of a tree of times. */
export interface Timed<Self> {
  readonly value: number | null;
  readonly parent: Self | null;
  readonly children: readonly Self[];
}

export interface Box<Node = Region> {
  readonly region: Node;
  /** As a share of the whole width. */
  readonly left: number;
  readonly width: number;
  readonly row: number;
}

/** One pixel of the widest page: narrower boxes would be invisible. */
const MIN_WIDTH = 0.0008;

/**
 * The boxes of all regions that are wide enough or, if zoomed, of those around and inside the zoomed
 * one. Children share the width of their parent in proportion to their time. If regions of several
 * threads add up to more than their parent, they are scaled to fit.
 */
export function layOut<Node extends Timed<Node> = Region>(
  roots: readonly Node[],
  wholeMs: number | null,
  zoomed: Node | null,
): readonly Box<Node>[] {
  const boxes: Box<Node>[] = [];
  const place = (
    regions: readonly Node[],
    whole: number,
    left: number,
    width: number,
    row: number,
  ): void => {
    const sum = regions.reduce((total, { value }) => total + (value ?? 0), 0);
    const base = Math.max(sum, whole);
    let x = left;
    for (const region of regions) {
      const boxWidth = base === 0 ? 0 : ((region.value ?? 0) / base) * width;
      if (boxWidth >= MIN_WIDTH) {
        boxes.push({ region, left: x, width: boxWidth, row });
        place(region.children, region.value ?? 0, x, boxWidth, row + 1);
      }
      x += boxWidth;
    }
  };
  // The enclosing regions are shown above the zoomed one, so that users can return to them.
  const above = around(zoomed);
  for (const [row, region] of above.entries()) boxes.push({ region, left: 0, width: 1, row });
  if (zoomed === null) place(roots, wholeMs ?? 0, 0, 1, 0);
  else place(zoomed.children, zoomed.value ?? 0, 0, 1, above.length);
  return boxes;
}

/** A region and its enclosing regions, outermost first. */
export function around<Node extends Pick<Timed<Node>, "parent"> = Region>(
  region: Node | null,
): readonly Node[] {
  const path: Node[] = [];
  for (let ancestor = region; ancestor !== null; ancestor = ancestor.parent) path.unshift(ancestor);
  return path;
}

export const isInside = (region: Region, around: Region | null): boolean => {
  for (let ancestor: Region | null = region; ancestor !== null; ancestor = ancestor.parent)
    if (ancestor === around) return true;
  return around === null;
};
