/** Regions as lines of a tree, and the largest of many. */
import { printableLabel } from "../../foundation/text/printable.ts";
import type { NCUProfileRegion } from "../model/document.ts";
import { isInside, kindMarks, pathWords } from "../model/region-path.ts";

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

/**
 * The indices of the largest values, largest first, equal values in order. Usually only a few of millions are
 * wanted, so only those indices are sorted.
 */
export function indicesOfLargest(values: readonly number[], count: number): readonly number[] {
  const places: number[] = [];
  if (count < values.length) {
    const sorted = Float64Array.from(values).sort();
    const least = sorted[values.length - count] ?? Number.POSITIVE_INFINITY;
    for (const [place, value] of values.entries()) if (value >= least) places.push(place);
  } else for (const place of values.keys()) places.push(place);
  places.sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  return places.slice(0, count);
}

/** The largest regions, in document order. A region that contains one of them is at least as large, so it stays, too. */
export function largestRegions(
  regions: readonly NCUProfileRegion[],
  count: number,
  sizeOf: (region: NCUProfileRegion) => number,
): readonly NCUProfileRegion[] {
  if (regions.length <= count) return regions;
  const kept = new Set(indicesOfLargest(regions.map(sizeOf), count));
  return regions.filter((_, place) => kept.has(place));
}
