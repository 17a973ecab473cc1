/** Matches regions of two reports of which at least one leaves domains on paths open. */
import { getOrCreate } from "../../system/get-or-create.ts";
import { regionKey } from "../directory-name.ts";
import type { NCUProfileRegion } from "../document.ts";
import { domainAt, startsAt, told } from "../region-path.ts";

type Regions = readonly NCUProfileRegion[];

export interface KnownDomains {
  readonly a: Regions;
  readonly b: Regions;
  /** Regions of A that could match several in B, or that share a single match. */
  readonly doubtful: number;
}

/**
 * Takes domains that one report leaves open, because of its older contract, from the other one, if each
 * has only one region with these names that has no counterpart yet.
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
      filled.set(region, { ...rest, ...told(region.domain, domains) });
    }
  }
  const fill = (regions: Regions) => regions.map((region) => filled.get(region) ?? region);
  return { a: fill(a), b: fill(b), doubtful };
}

/**
 * The regions of several reports, each from a report that leaves none of its domains open.
 *
 * @returns a list for each of `all`, in their order
 */
export function toldByAny(all: readonly Regions[]): readonly Regions[] {
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

/** Of one kind and domain, and equal paths but for the domains on them. */
function byNames(regions: Regions): ReadonlyMap<string, Regions> {
  const groups = new Map<string, NCUProfileRegion[]>();
  for (const region of regions) {
    const { domain, path, kind } = region;
    getOrCreate(groups, regionKey({ domain, path, kind }), () => []).push(region);
  }
  return groups;
}
