/**
 * The place of a region: the names on its path, each with the NVTX domain of its range. Names alone do
 * not identify a place, because two libraries may use the same names.
 */
import type { NCUProfileRegion } from "./document.ts";

/** What determines a region's place. */
export type Placed = Pick<NCUProfileRegion, "path" | "domain" | "path_domains">;

/** A place and how the ranges were opened, which distinguishes two regions at one place. */
export type Ranged = Placed & Pick<NCUProfileRegion, "kind">;

/** The NVTX domain of the range at one level of a path. */
export const domainAt = ({ domain, path_domains }: Placed, level: number): string =>
  path_domains?.[level] ?? domain;

/** The domains along a path as a report stores them: absent if all equal the region's own. */
export const storedDomains = (
  domain: string,
  path_domains: readonly string[],
): Pick<Placed, "path_domains"> =>
  path_domains.every((other) => other === domain) ? {} : { path_domains };

/** Whether a region is at the place of another one, or inside it. */
export const startsAt = (region: Placed, top: Placed): boolean =>
  region.path.length >= top.path.length &&
  top.path.every(
    (name, level) =>
      region.path[level] === name && domainAt(region, level) === domainAt(top, level),
  );

/** Whether a region is inside another one. */
export const isInside = (region: Placed, around: Placed): boolean =>
  region.path.length > around.path.length && startsAt(region, around);

/** Regions that no other of these is around. @param regions each after those around it, as in reports */
export function outermost<Region extends Placed>(regions: readonly Region[]): readonly Region[] {
  const found: Region[] = [];
  for (const region of regions) {
    const last = found.at(-1);
    if (last === undefined || !isInside(region, last)) found.push(region);
  }
  return found;
}

/**
 * The first levels of a path as one text, equal for equal places whichever region it is made from.
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
 * A path for people, with domains after the names of their ranges. The last name has its domain unless that
 * is the default one; the names before it have theirs if the path has several domains.
 *
 * @param show makes a name or a domain safe to show
 * @param from the first level
 */
export const pathWords = (
  region: Placed,
  show: (text: string) => string = (text) => text,
  from = 0,
): string =>
  region.path
    .slice(from)
    .map((name, index) => `${show(name)}${domainMark(region, from + index, show)}`)
    .join(" / ");

function domainMark(region: Placed, level: number, show: (text: string) => string): string {
  const isLast = level === region.path.length - 1;
  if (!isLast && region.path_domains === undefined) return "";
  const domain = domainAt(region, level);
  if (isLast && domain === "") return "";
  return ` @${domain === "" ? "default" : show(domain)}`;
}

/** Whether the regions are of more than one domain, so that names do not suffice. */
export const haveSeveralDomains = (regions: readonly Ranged[]): boolean => {
  const distinctDomains = new Set<string>();
  for (const { domain, path_domains = [domain], kind } of regions) {
    if (kind === "outside") continue;
    for (const each of path_domains) distinctDomains.add(each);
    if (distinctDomains.size > 1) return true;
  }
  return false;
};

/** Paths for people: domains and kinds are added only if these regions have several. */
export function pathLines<Region extends Ranged>(
  regions: readonly Region[],
): (region: Region) => string {
  const mark = kindMarks(regions);
  return haveSeveralDomains(regions)
    ? (region) => `${pathWords(region)}${mark(region)}`
    : (region) => `${region.path.join(" / ")}${mark(region)}`;
}

/** In words, how the ranges of a region were opened. */
export const KIND_WORDS: Readonly<Record<NCUProfileRegion["kind"], string>> = {
  push_pop: "push/pop",
  start_end: "start/end",
  outside: "outside",
};

/**
 * The suffix of a region's name: its kind if another of these regions has the same place, since ranges of one name
 * are two regions if some were opened by push/pop and some by start/end. Empty for all others.
 */
export function kindMarks(regions: readonly Ranged[]): (region: Ranged) => string {
  // Compare names first: they are shorter than paths, and rarely have two kinds.
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
    const firstKind = first.get(key);
    if (firstKind === undefined) first.set(key, region.kind);
    else if (firstKind !== region.kind) several.add(key);
  }
  return several;
}
