/** Patterns of ranges: which regions a report shows. */
import { type GlobToken, globToken, matchesGlob } from "../../foundation/text/glob.ts";

/**
 * Which regions a report shows. Patterns are shell-like globs for the region's label:
 *
 * - `*` matches any text, `?` any character; all other characters match themselves, including brackets.
 * - `domain@name` also restricts the NVTX domain; both sides are globs, and an empty domain is NVTX's default domain. A
 * pattern without `@` matches in every domain.
 * - `\` escapes the next character: `user\@host`, `100\*`.
 *
 * A region is selected if it or an enclosing range matches an include pattern (without include patterns, all match) and
 * neither it nor an enclosing range matches an exclude pattern. So `decode*` includes everything inside the decode
 * ranges. A region that is selected without its parent keeps its whole path, and the parent is not shown. Selection
 * never changes the numbers of a region: a parent's inclusive time contains a child that is left out, its exclusive
 * time does not.
 */
export interface SelectionPatterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** The patterns of a config value: null, one pattern, or a list. */
export function patternList(setting: string | readonly string[] | null | undefined): string[] {
  if (setting === null || setting === undefined) return [];
  return typeof setting === "string" ? [setting] : [...setting];
}

/** A parsed pattern: `label`, `domain@label`, with `*` and `?`. */
export interface RangePattern {
  /** Null matches any domain. */
  readonly domain: readonly GlobToken[] | null;
  readonly name: readonly GlobToken[];
}

/** Splits `domain@name` at the first `@` that is not escaped. Every text is a pattern. */
export function parseRangePattern(text: string): RangePattern {
  let domain: GlobToken[] | null = null;
  let tokens: GlobToken[] = [];
  let escaped = false;
  for (const character of text) {
    if (escaped) {
      tokens.push({ type: "literal", character });
      escaped = false;
    } else if (character === "\\") {
      escaped = true;
    } else if (character === "@" && domain === null) {
      domain = tokens;
      tokens = [];
    } else if (character !== "*" || tokens.at(-1)?.type !== "many") {
      tokens.push(globToken(character));
    }
  }
  if (escaped) tokens.push({ type: "literal", character: "\\" });
  return { domain, name: tokens };
}

/** Whether a pattern fits a range of this domain (empty for the default one) and name. */
export function matchesRange(pattern: RangePattern, domain: string, name: string): boolean {
  if (pattern.domain !== null && !matchesGlob(pattern.domain, domain)) return false;
  return matchesGlob(pattern.name, name);
}

export interface RegionSelector {
  /** Whether a range at some level matches an include pattern. */
  includes(domain: string, name: string): boolean;
  excludes(domain: string, name: string): boolean;
}

export function createSelector(patterns: SelectionPatterns): RegionSelector {
  const include = patterns.include.map(parseRangePattern);
  const exclude = patterns.exclude.map(parseRangePattern);
  return {
    includes: (domain, name) =>
      include.length === 0 || include.some((pattern) => matchesRange(pattern, domain, name)),
    excludes: (domain, name) => exclude.some((pattern) => matchesRange(pattern, domain, name)),
  };
}
