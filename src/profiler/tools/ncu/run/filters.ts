/**
 * Translates the labels and globs of users to expressions of `--nvtx-include`, which has its own grammar: `A` means
 * only start/end ranges, `A/` only push/pop ranges, `*` inside a name is not a wildcard, several labels need several
 * options, and the default domain is meant unless another is named. (Nsight Compute CLI, "NVTX Filtering"; every rule
 * here is tested against ncu's own matcher.)
 */

import type { GlobToken } from "../../../../foundation/text/glob.ts";
import { matchesRange, parseRangePattern } from "../../../../report/selection/range-pattern.ts";
import type { NvtxLabel } from "../../../analysis/labels.ts";
import type { RangeKind } from "../../../model/timeline.ts";

/** The expression that matches the ranges of one label, whatever ranges enclose them. */
export function labelExpression(label: NvtxLabel): string {
  const { domain, name, kind } = label;
  if (isPlain(label))
    return `${domain === "" ? "" : `${escapeLiteral(domain)}@`}${escapeLiteral(name)}${END[kind]}`;
  return `regex:${inDomain(domain)}^${escapeRegex(name)}$${END[kind]}`;
}

/** Suffixes that distinguish push/pop ranges from start/end ranges in an expression. */
const END: Readonly<Record<RangeKind, string>> = { push_pop: "/", start_end: "" };

/** Expressions that together match the ranges of some labels. */
export const labelExpressions = (wanted: readonly NvtxLabel[]): readonly string[] =>
  expressionsOf(wanted.flatMap(termsOf));

/**
 * Other labels that the expressions of some labels match, too: this happens if names need regular expressions and are
 * in several domains, as explained at `expressionsOf`.
 *
 * @param all labels of the program
 */
export function matchedBeside(
  wanted: readonly NvtxLabel[],
  all: readonly NvtxLabel[],
): readonly NvtxLabel[] {
  if (wanted.every(isPlain)) return [];
  return all.filter((label) => {
    const alike = wanted.filter(({ kind }) => kind === label.kind);
    return (
      !alike.some(({ domain, name }) => domain === label.domain && name === label.name) &&
      alike.some(({ domain }) => domain === label.domain) &&
      alike.some(({ name }) => name === label.name)
    );
  });
}

/**
 * Expressions for patterns, given the known labels of a program. A pattern without wildcards becomes its label; a glob
 * stays a pattern, so that it also matches ranges that the program opens only occasionally. Without patterns, every
 * label is meant.
 */
export function includeExpressions(
  patterns: readonly string[],
  labels: readonly NvtxLabel[],
): readonly string[] {
  const terms = (patterns.length === 0 ? ["*"] : patterns)
    .map(parseRangePattern)
    .flatMap(({ name, ...pattern }) =>
      labels
        .filter((label) => matchesRange({ name, ...pattern }, label.domain, label.name))
        .flatMap((label): readonly Term[] =>
          // A glob of unified labels does not match the labels as the program writes them.
          isGlob(name) && label.written === undefined
            ? [{ label, nameRegex: globRegex(name), isRegex: true }]
            : termsOf(label),
        ),
    );
  return expressionsOf(terms);
}

interface Term {
  readonly label: NvtxLabel;
  /** Matches its name, and possibly others. */
  readonly nameRegex: string;
  /** Whether ncu's escapes cannot express the name. */
  readonly isRegex: boolean;
}

const termsOf = (label: NvtxLabel): readonly Term[] =>
  (label.written ?? [escapeRegex(label.name)]).map((nameRegex) => ({
    label,
    nameRegex,
    isRegex: !isPlain(label),
  }));

/**
 * Literal names get an expression each. A regular expression, however, makes ncu miss some of the ranges that other
 * expressions match, in ways without a clear rule (tested with ncu 2024.1). So as soon as one is needed, all push/pop
 * ranges are combined into a single one, and all start/end ranges into another: ncu handles these two correctly. With
 * several domains they match each name in each domain; the reports apply the patterns themselves. Thousands of names
 * take ncu minutes as separate expressions, and seconds as one, so they are combined if that matches the same ranges.
 */
function expressionsOf(terms: readonly Term[]): readonly string[] {
  if (
    !terms.some(({ isRegex }) => isRegex) &&
    !(terms.length > MOST_LITERALS && inOneDomain(terms))
  )
    return unique(terms.map(({ label }) => labelExpression(label)));
  const inDefault = terms.every(({ label }) => label.domain === "");
  return KINDS.flatMap((kind) => {
    const alike = terms.filter(({ label }) => label.kind === kind);
    if (alike.length === 0) return [];
    const domains = unique(alike.map(({ label }) => domainRegex(label.domain)));
    const where = inDefault ? "" : `^${oneOf(domains)}$@`;
    return [
      `regex:${where}^${oneOf(unique(alike.map(({ nameRegex }) => nameRegex)))}$${END[kind]}`,
    ];
  });
}

const MOST_LITERALS = 1000;

/** For each kind of range. */
const inOneDomain = (terms: readonly Term[]): boolean =>
  unique(terms.map(({ label: { domain, kind } }) => `${kind} ${domain}`)).length ===
  unique(terms.map(({ label: { kind } }) => kind)).length;

const KINDS: readonly RangeKind[] = ["push_pop", "start_end"];

const oneOf = (regexes: readonly string[]): string =>
  regexes.length === 1 ? (regexes[0] ?? "") : `(${regexes.join("|")})`;

/** ncu's own name of the default domain. */
const domainRegex = (domain: string): string =>
  domain === "" ? "<default domain>" : escapeRegex(domain);

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** The labels that at least one pattern matches; all without patterns. */
export function matchingLabels(
  patterns: readonly string[],
  labels: readonly NvtxLabel[],
): readonly NvtxLabel[] {
  if (patterns.length === 0) return labels;
  const parsed = patterns.map(parseRangePattern);
  return labels.filter(({ domain, name }) =>
    parsed.some((pattern) => matchesRange(pattern, domain, name)),
  );
}

const inDomain = (domain: string): string => (domain === "" ? "" : `^${escapeRegex(domain)}$@`);

const isGlob = (tokens: readonly GlobToken[]): boolean =>
  tokens.some(({ type }) => type !== "literal");

/**
 * ncu matches bytes, so that `?` must match one to four of them. It may then match too much; the pattern itself decides
 * what reports show.
 */
function globRegex(tokens: readonly GlobToken[]): string {
  return tokens.map(tokenRegex).join("");
}

function tokenRegex(token: GlobToken): string {
  switch (token.type) {
    case "many":
      return ".*";
    case "one":
      return "..?.?.?";
    case "literal":
      return escapeRegex(token.character);
  }
}

/**
 * Whether a label can be written literally. Names that ncu's escapes cannot express become regular expressions, as do
 * names that would look like an option on its command line (`--x=1`).
 */
const isPlain = ({ domain, name, written }: NvtxLabel): boolean =>
  written === undefined &&
  isLiteral(name) &&
  (domain === "" || isLiteral(domain)) &&
  !`${domain}${name}`.startsWith("-");

const isLiteral = (name: string): boolean =>
  name !== "" && !name.includes("\\") && !name.startsWith("regex:") && !/^@|@$|@.*@/s.test(name);

/** Escapes the characters that have a meaning in ncu's own grammar. */
const escapeLiteral = (name: string): string => name.replaceAll(/[@,[\]/*+]/g, "\\$&");

/**
 * Escapes also the characters that have a meaning in regular expressions (Perl's, as in Boost). ncu searches for the
 * `@` after a domain before it parses the regular expression, and takes the second one of `\@\@` for it (2024.1), so
 * this character is written by its code.
 */
export const escapeRegex = (name: string): string =>
  name.replaceAll(/[\\^$.|?*+()[\]{}/,]/g, "\\$&").replaceAll("@", "\\x40");
