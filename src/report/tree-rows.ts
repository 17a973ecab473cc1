import { printableLabel } from "../printable.ts";
import type { NCUProfileRegion } from "./document.ts";

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
  return regions.map((region) => {
    while (around.length > 0 && !isInside(region, around.at(-1))) around.pop();
    const shown = around.at(-1)?.path.length ?? 0;
    const names = region.path.slice(shown).map((name) => printableLabel(name, labelLimit));
    const domain = region.domain === "" ? "" : ` @${printableLabel(region.domain, labelLimit)}`;
    const row = { region, level: around.length, label: `${names.join(" / ")}${domain}` };
    around.push(region);
    return row;
  });
}

const isInside = (region: NCUProfileRegion, around: NCUProfileRegion | undefined): boolean =>
  around !== undefined &&
  region.path.length > around.path.length &&
  around.path.every((name, index) => region.path[index] === name);
