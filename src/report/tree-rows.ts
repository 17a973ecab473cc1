import { printableLabel } from "../text/printable.ts";
import type { NCUProfileRegion } from "./document.ts";
import { isInside, kindMarks, pathWords } from "./region-path.ts";

/** A region as a line of a tree. */
export interface TreeRow {
  readonly region: NCUProfileRegion;
  /** How many of the shown regions contain it. */
  readonly level: number;
  /**
   * Its name, preceded by the names on its path that no line above shows, and followed by its kind if two regions have the same
   * place. Safe to print.
   */
  readonly label: string;
}

/**
 * Regions in document order as lines of a tree, even if regions on their paths are not shown.
 *
 * @param options.among all regions of the report, if only some are shown
 */
export function treeRows(
  regions: readonly NCUProfileRegion[],
  {
    among = regions,
    labelLimit,
  }: { readonly among?: readonly NCUProfileRegion[]; readonly labelLimit?: number } = {},
): TreeRow[] {
  const around: NCUProfileRegion[] = [];
  const show = (text: string) => printableLabel(text, labelLimit);
  const kindOf = kindMarks(among);
  return regions.map((region) => {
    let last = around.at(-1);
    for (; last !== undefined && !isInside(region, last); last = around.at(-1)) around.pop();
    const label = `${pathWords(region, show, last?.path.length ?? 0)}${kindOf(region)}`;
    const row = { region, level: around.length, label };
    around.push(region);
    return row;
  });
}

/** The label of a region on its own, as in a heading: its whole path. @param among all regions of the report */
export function regionLabels(
  among: readonly NCUProfileRegion[],
): (region: NCUProfileRegion) => string {
  const kindOf = kindMarks(among);
  const show = (text: string) => printableLabel(text);
  return (region) => `${pathWords(region, show)}${kindOf(region)}`;
}
