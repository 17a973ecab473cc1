/**
 * Where regions stand: the names on their paths, each with the NVTX domain of its range. Two libraries
 * may well call their ranges alike, so that names alone are no place.
 */
import type { NCUProfileRegion } from "./document.ts";

/** What a region's place is told by. */
export type Placed = Pick<NCUProfileRegion, "path" | "domain" | "path_domains">;

/** A region with how its ranges were opened, which tells apart two of one place. */
export type Ranged = Placed & Pick<NCUProfileRegion, "kind">;

/** NVTX domain of the range at one level of a path; null where it is not known. */
export function domainAt({ domain, path_domains }: Placed, level: number): string | null {
  const told = path_domains?.[level];
  return told === undefined ? domain : told;
}

/** Domains along a path as a report tells them: not at all where all of them are the region's own. */
export const told = (
  domain: string,
  path_domains: readonly (string | null)[],
): Pick<Placed, "path_domains"> =>
  path_domains.every((other) => other === domain) ? {} : { path_domains };

/** Whether a region stands at the place of another one, or inside it. */
export const startsAt = (region: Placed, top: Placed): boolean =>
  region.path.length >= top.path.length &&
  top.path.every(
    (name, level) =>
      region.path[level] === name && maySame(domainAt(region, level), domainAt(top, level)),
  );

/** Whether a region stands inside another one. */
export const isInside = (region: Placed, around: Placed): boolean =>
  region.path.length > around.path.length && startsAt(region, around);

/** A domain that is not known may be any. */
const maySame = (a: string | null, b: string | null): boolean =>
  a === b || a === null || b === null;

/**
 * The first levels of a path as one text: equal for equal places, whichever region they are told by.
 *
 * @param levels all by default
 */
export function placeKey(region: Placed, levels = region.path.length): string {
  const names = region.path.slice(0, levels);
  const domains = names.map((_, level) => domainAt(region, level));
  const [first = null] = domains;
  return JSON.stringify([domains.every((domain) => domain === first) ? first : domains, names]);
}

/**
 * The ranges of a path in words: a domain stands behind the name of its range. The last name has its own
 * unless that is the default one; those before it have theirs where the path is of several domains.
 *
 * @param show what makes a name, or a domain, fit to show
 * @param from the first level
 */
export const pathWords = (
  region: Placed,
  show: (text: string) => string = (text) => text,
  from = 0,
): string =>
  region.path
    .slice(from)
    .map((name, at) => `${show(name)}${domainMark(region, from + at, show)}`)
    .join(" / ");

function domainMark(region: Placed, level: number, show: (text: string) => string): string {
  const isLast = level === region.path.length - 1;
  if (!isLast && region.path_domains === undefined) return "";
  const domain = domainAt(region, level);
  if (domain === null || (isLast && domain === "")) return "";
  return ` @${domain === "" ? "default" : show(domain)}`;
}

/** Whether names alone do not tell these regions' places: a domain that is not known is no second one. */
export const haveSeveralDomains = (regions: readonly Ranged[]): boolean => {
  const known = new Set<string>();
  for (const { domain, path_domains = [domain], kind } of regions) {
    if (kind === "outside") continue;
    for (const each of path_domains) if (each !== null) known.add(each);
    if (known.size > 1) return true;
  }
  return false;
};

/** A line for each path: its names, and domains and kinds only where these regions have several. */
export function pathLines<Region extends Ranged>(
  regions: readonly Region[],
): (region: Region) => string {
  const mark = kindMarks(regions);
  return haveSeveralDomains(regions)
    ? (region) => `${pathWords(region)}${mark(region)}`
    : (region) => `${region.path.join(" / ")}${mark(region)}`;
}

/** How the ranges of a region were opened, in words. */
export const KIND_WORDS: Readonly<Record<NCUProfileRegion["kind"], string>> = {
  push_pop: "push/pop",
  start_end: "start/end",
  outside: "outside",
};

/**
 * What stands behind a region's name where another one of these has the same place: ranges of one name that were
 * opened by push/pop and by start/end are two regions. Nothing behind all other names.
 */
export function kindMarks(regions: readonly Ranged[]): (region: Ranged) => string {
  // Names come first: they are shorter than paths, and hardly ever have two kinds.
  const names = keysOfSeveralKinds(regions, nameOf);
  if (names.size === 0) return () => "";
  const suspects = regions.filter((region) => names.has(nameOf(region)));
  const places = keysOfSeveralKinds(suspects, (region) => placeKey(region));
  return (region) =>
    names.has(nameOf(region)) && places.has(placeKey(region))
      ? ` (${KIND_WORDS[region.kind]})`
      : "";
}

const nameOf = ({ path }: Placed): string => path.at(-1) ?? "";

function keysOfSeveralKinds(
  regions: readonly Ranged[],
  keyOf: (region: Ranged) => string,
): ReadonlySet<string> {
  const first = new Map<string, Ranged["kind"]>();
  const several = new Set<string>();
  for (const region of regions) {
    const key = keyOf(region);
    const known = first.get(key);
    if (known === undefined) first.set(key, region.kind);
    else if (known !== region.kind) several.add(key);
  }
  return several;
}
