/**
 * Matches the regions of two reports, even if the domains on paths are unknown in one of them, and puts them into one
 * order.
 */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { NCUProfileRegion } from "../model/document.ts";
import { domainAt, isInside, startsAt, storedDomains } from "../model/region-path.ts";
import { regionKey } from "../model/report-files.ts";

// The regions of two reports in one order.

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

// Matches regions of two reports if domains on paths are unknown in at least one of them.

type Regions = readonly NCUProfileRegion[];

export interface KnownDomains {
  readonly a: Regions;
  readonly b: Regions;
  /** The number of regions of A that match several regions of B, or that share their only match. */
  readonly doubtful: number;
}

/**
 * Completes domains that are unknown because of an older contract with those of the other report, if each report has
 * exactly one unmatched region with these names.
 */
export function withKnownDomains(a: Regions, b: Regions): KnownDomains {
  if (!a.some(isPartlyKnown) && !b.some(isPartlyKnown)) return { a, b, doubtful: 0 };
  const ofB = byNames(without(b, a));
  const filled = new Map<NCUProfileRegion, NCUProfileRegion>();
  let doubtful = 0;
  for (const [names, candidates] of byNames(without(a, b))) {
    const others = ofB.get(names) ?? [];
    const pairs = candidates.flatMap((one) =>
      others.filter((other) => startsAt(one, other)).map((other) => [one, other] as const),
    );
    const [pair, ...more] = pairs;
    if (pair === undefined) continue;
    if (more.length > 0) {
      doubtful += new Set(pairs.map(([one]) => one)).size;
      continue;
    }
    const [one, other] = pair;
    const domains = one.path.map((_, level) => domainAt(one, level) ?? domainAt(other, level));
    for (const region of pair) {
      const { path_domains: _, ...rest } = region;
      filled.set(region, { ...rest, ...storedDomains(region.domain, domains) });
    }
  }
  const fill = (regions: Regions) => regions.map((region) => filled.get(region) ?? region);
  return { a: fill(a), b: fill(b), doubtful };
}

/**
 * The regions of several reports, each completed from a report that knows all its domains.
 *
 * @returns a list for each of `all`, in their order
 */
export function regionsWithDomains(all: readonly Regions[]): readonly Regions[] {
  if (!all.some((regions) => regions.some(isPartlyKnown))) return all;
  const whole = all.flat().filter((region) => !isPartlyKnown(region));
  const distinct = [...new Map(whole.map((region) => [regionKey(region), region])).values()];
  return all.map((regions) => withKnownDomains(regions, distinct).a);
}

const isPartlyKnown = ({ path_domains }: NCUProfileRegion): boolean =>
  path_domains?.includes(null) ?? false;

function without(regions: Regions, others: Regions): Regions {
  const keys = new Set(others.map(regionKey));
  return regions.filter((region) => !keys.has(regionKey(region)));
}

/** Regions with the same kind, domain and names on the path, whatever the domains on the path. */
function byNames(regions: Regions): ReadonlyMap<string, Regions> {
  const groups = new Map<string, NCUProfileRegion[]>();
  for (const region of regions) {
    const { domain, path, kind } = region;
    getOrCreate(groups, regionKey({ domain, path, kind }), () => []).push(region);
  }
  return groups;
}
