/** The regions of two reports in one order. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { NCUProfileRegion } from "../model/document.ts";
import { isInside } from "../model/region-path.ts";
import { regionKey } from "../model/report-files.ts";

/** Process and device are ignored: they identify the run, not the region. */
export function regionsByKey(regions: readonly NCUProfileRegion[]): Map<string, NCUProfileRegion> {
  return new Map(regions.map((region) => [regionKey(region), region]));
}

/**
 * The keys of B in order; those only in A follow the key that precedes them in A: inside it,
 * or after everything inside it.
 */
export function keysOfBoth(
  a: readonly NCUProfileRegion[],
  b: readonly NCUProfileRegion[],
): readonly string[] {
  const inB = new Set(b.map(regionKey));
  const behind = new Map<string | null, NCUProfileRegion[]>();
  let anchor: string | null = null;
  for (const region of a) {
    const key = regionKey(region);
    if (inB.has(key)) {
      anchor = key;
      continue;
    }
    getOrCreate(behind, anchor, () => []).push(region);
  }
  const keys = (behind.get(null) ?? []).map(regionKey);
  /** The enclosing regions, outermost first, each with the position after it. */
  const open: { readonly region: NCUProfileRegion; readonly after: string[] }[] = [];
  const closeDownTo = (depth: number) => {
    for (const { after } of open.splice(depth).reverse()) for (const key of after) keys.push(key);
  };
  const around = (region: NCUProfileRegion): number => {
    const outermost = open.findIndex((other) => !isInside(region, other.region));
    return outermost < 0 ? open.length : outermost;
  };
  for (const region of b) {
    closeDownTo(around(region));
    const key = regionKey(region);
    keys.push(key);
    open.push({ region, after: [] });
    for (const removed of behind.get(key) ?? [])
      (open[around(removed)]?.after ?? keys).push(regionKey(removed));
  }
  closeDownTo(0);
  return keys;
}
