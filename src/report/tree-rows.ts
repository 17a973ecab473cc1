import { printableLabel } from "../printable.ts";
import type { NCUProfileRegion } from "./document.ts";
import { isInside, pathWords } from "./region-path.ts";

/** A region as a line of a tree. */
export interface TreeRow {
  readonly region: NCUProfileRegion;
  /** How many shown regions stand around it. */
  readonly level: number;
  /** Its name; before it, the names on its path that no line above shows. Safe to print. */
  readonly label: string;
}

/** Regions in document order as lines of a tree, also where regions on their paths are not shown. */
export function treeRows(regions: readonly NCUProfileRegion[], labelLimit?: number): TreeRow[] {
  const around: NCUProfileRegion[] = [];
  const show = (text: string) => printableLabel(text, labelLimit);
  return regions.map((region) => {
    let last = around.at(-1);
    for (; last !== undefined && !isInside(region, last); last = around.at(-1)) around.pop();
    const label = pathWords(region, show, last?.path.length ?? 0);
    const row = { region, level: around.length, label };
    around.push(region);
    return row;
  });
}
