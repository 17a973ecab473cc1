/**
 * Families of regions: those whose paths differ only in numbers, such as `step 1 / load` and `step 2 / load`. What is
 * ranked, explained and compared is families, so that it depends neither on how many labels a program numbers nor on
 * which of them a table shows.
 */
import type { NCUProfileRegionReport } from "./document.ts";
import { type Ranged, startsAt } from "./region-path.ts";
import { type NamedRegion, regionKey } from "./report-files.ts";

/**
 * Decimal numbers with fraction and exponent, addresses and other hexadecimal numbers of at least eight digits, and
 * UUIDs.
 */
const NUMBERS =
  /(?<![0-9A-Za-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9A-Za-z])|0x[0-9a-f]+|(?<![0-9A-Za-z])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9A-Za-z])|[0-9]+(?:\.[0-9]+)*(?:e[+-]?[0-9]+)?/gi;

const DIGIT = /[0-9]/;

/** The label with `#` instead of each number: `step_#`. Unchanged if it has none. */
export const withoutNumbers = (label: string): string =>
  DIGIT.test(label) ? label.replaceAll(NUMBERS, "#") : label;

/** The path with `#` instead of each number, as reports store it: absent if it has none. */
export function storedFamily(path: readonly string[]): { readonly family?: readonly string[] } {
  const family = path.map(withoutNumbers);
  return family.every((name, level) => name === path[level]) ? {} : { family };
}

/** Equal for all regions of a family, however many there are. */
export const familyKey = (region: NamedRegion): string =>
  regionKey({ ...region, path: region.path.map(withoutNumbers) });

/** Each family that none contains, with those inside it, by the keys of all of them. */
export function familyGroups<Family extends Ranged>(
  families: readonly Family[],
): ReadonlyMap<string, readonly Family[]> {
  const groupOf = new Map<string, readonly Family[]>();
  let group: Family[] = [];
  for (const family of families) {
    const [top] = group;
    if (top === undefined || !startsAt(family, top)) group = [];
    group.push(family);
    groupOf.set(familyKey(family), group);
  }
  return groupOf;
}

/**
 * Families and the regions that are in none of several members, depth first: each time counts once.
 *
 * @param regions of a report, in its order
 * @param families those of the report; empty if none has several members
 */
export function familyRows<Region extends Ranged>(
  regions: readonly Region[],
  families: readonly Region[],
): readonly Region[] {
  if (families.length === 0) return regions;
  const groupOf = familyGroups(families);
  const seen = new Set<readonly Region[]>();
  const rows = regions.flatMap((region) => {
    const group = groupOf.get(familyKey(region));
    if (group === undefined) return [region];
    if (seen.has(group)) return [];
    seen.add(group);
    return group;
  });
  // A report has only its longest regions; all members of a family may be among the others.
  const others = [...new Set(groupOf.values())].filter((group) => !seen.has(group)).flat();
  const outside = rows.findIndex(({ kind }) => kind === "outside");
  return outside < 0 ? [...rows, ...others] : rows.toSpliced(outside, 0, ...others);
}

/** The report with families in the place of their members. */
export const withFamilies = (report: NCUProfileRegionReport): NCUProfileRegionReport =>
  report.families === undefined
    ? report
    : { ...report, regions: familyRows(report.regions, report.families) };
