/** The regions of two reports in one order. */
import { getOrCreate } from "../../system/get-or-create.ts";
import { regionKey } from "../directory-name.ts";
import type { NCUProfileRegion } from "../document.ts";
import { isInside } from "../region-path.ts";

/** Process and device are ignored: they identify the run, not the place in the program. */
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
  /** The regions around the place, outermost first, each with what follows it. */
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
