/** Which regions of two reports are compared with each other, and their order. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { familyGroups, familyKey, withFamilies, withoutNumbers } from "../model/families.ts";
import { domainAt, isInside, type Placed } from "../model/region-path.ts";
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

/** For each report. */
export interface OfBoth<T> {
  readonly a: T;
  readonly b: T;
}

/** The regions of two reports that are compared. */
export interface Matched {
  /**
   * Families, and regions of none. Families that only one report folds, or of which each has other members, are one
   * region in both; their paths are the same in both.
   */
  readonly rows: OfBoth<readonly NCUProfileRegion[]>;
  /** The same with the members in the place of families that have the same ones in both. */
  readonly shown: OfBoth<readonly NCUProfileRegion[]>;
  /** Members of the other families. */
  readonly others: OfBoth<readonly NCUProfileRegion[]>;
  /** Whether a region of `rows` has its members in `shown`. */
  readonly hasMembers: (region: NCUProfileRegion) => boolean;
}

export function matchRegions(a: NCUProfileRegionReport, b: NCUProfileRegionReport): Matched {
  const [ofA, ofB] = [withFamilies(a).regions, withFamilies(b).regions];
  // Reports of contract 1.5, and of single regions, may have members without their family.
  const haveFamilies = [ofA, ofB].every(
    (rows) => new Set(rows.map(familyKey)).size === rows.length,
  );
  if (!haveFamilies) {
    const all = { a: a.regions, b: b.regions };
    return { rows: all, shown: all, others: { a: [], b: [] }, hasMembers: () => false };
  }
  const named = commonNames([...ofA, ...ofB]);
  const rows = { a: ofA.map(named), b: ofB.map(named) };
  const membersOfA = groupsWithMembers(a);
  const membersOfB = groupsWithMembers(b);
  const same = new Set<string>();
  for (const [key, { top, members }] of membersOfA) {
    const other = membersOfB.get(key);
    if (other?.top === top && isSame(members.map(regionKey), other.members.map(regionKey)))
      same.add(key);
  }
  const hasMembers = (region: NCUProfileRegion) => same.has(familyKey(region));
  const shownOf = (
    all: readonly NCUProfileRegion[],
    groups: ReadonlyMap<string, Group>,
  ): readonly NCUProfileRegion[] => {
    const seen = new Set<string>();
    return all.flatMap((row) => {
      const group = groups.get(familyKey(row));
      if (group === undefined || !hasMembers(row)) return [row];
      return seen.size === seen.add(group.top).size ? [] : group.members;
    });
  };
  const othersOf = ({ regions }: NCUProfileRegionReport, all: readonly NCUProfileRegion[]) => {
    const keys = new Set(all.map(regionKey));
    return regions.filter((region) => !hasMembers(region) && !keys.has(regionKey(region)));
  };
  return {
    rows,
    shown: { a: shownOf(rows.a, membersOfA), b: shownOf(rows.b, membersOfB) },
    others: { a: othersOf(a, rows.a), b: othersOf(b, rows.b) },
    hasMembers,
  };
}

/** A family that none contains, with all members of it and of those inside it. */
interface Group {
  /** The key of the outermost family. */
  readonly top: string;
  readonly members: NCUProfileRegion[];
}

/** By the keys of all families of the group. */
function groupsWithMembers({
  regions,
  families = [],
}: NCUProfileRegionReport): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  const byTop = new Map<string, Group>();
  for (const [key, [first]] of familyGroups(families)) {
    if (first === undefined) continue;
    const top = familyKey(first);
    groups.set(
      key,
      getOrCreate(byTop, top, () => ({ top, members: [] })),
    );
  }
  if (groups.size > 0)
    for (const region of regions) groups.get(familyKey(region))?.members.push(region);
  return groups;
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  const keys = new Set(some);
  return keys.size === others.length && others.every((key) => keys.has(key));
}

/**
 * Gives a family one path in both reports: the labels that all have at a level of the path, else the label without
 * numbers.
 */
function commonNames(
  rows: readonly NCUProfileRegion[],
): (region: NCUProfileRegion) => NCUProfileRegion {
  const hasNumbers = ({ path }: Placed) => path.some((name) => withoutNumbers(name) !== name);
  const names = new Map<string, string | null>();
  const levelsOf = (region: NCUProfileRegion) => {
    let key = "";
    return region.path.map((name, level) => {
      key += `${JSON.stringify([domainAt(region, level), withoutNumbers(name)])}`;
      return { name, key };
    });
  };
  const numbered = rows.filter(hasNumbers);
  for (const region of numbered)
    for (const { name, key } of levelsOf(region))
      names.set(key, (names.get(key) ?? name) === name && names.get(key) !== null ? name : null);
  return (region) => {
    if (!hasNumbers(region)) return region;
    const path = levelsOf(region).map(({ name, key }) => names.get(key) ?? withoutNumbers(name));
    return { ...region, name: path.at(-1) ?? "", path, parent: path.at(-2) ?? null };
  };
}
