/**
 * From the labels and globs that people write to the expressions of `--nvtx-include`, which has a
 * grammar of its own: `A` means only start/end ranges, `A/` only push/pop ranges, `*` inside a name is
 * no wildcard, several labels need several options, and one domain is meant unless another is named.
 * (Nsight Compute CLI, "NVTX Filtering"; every rule here is tested against ncu's own matcher.)
 */

import { matchesRange, parseRangePattern } from "../../../../report/selection/range-pattern.ts";
import type { GlobToken } from "../../../../text/glob.ts";
import type { NvtxLabel } from "../../../analysis/labels.ts";
import type { RangeKind } from "../../../model/timeline.ts";

/** The expression that matches the ranges of one label, in whatever ranges they are. */
export function labelExpression(label: NvtxLabel): string {
  const { domain, name, kind } = label;
  if (isPlain(label))
    return `${domain === "" ? "" : `${escapeLiteral(domain)}@`}${escapeLiteral(name)}${END[kind]}`;
  return `regex:${inDomain(domain)}^${escapeRegex(name)}$${END[kind]}`;
}

/** What tells push/pop ranges from start/end ranges in an expression. */
const END: Readonly<Record<RangeKind, string>> = { push_pop: "/", start_end: "" };

/** Expressions that together match the ranges of some labels. */
export const labelExpressions = (wanted: readonly NvtxLabel[]): readonly string[] =>
  expressionsOf(wanted.flatMap(termsOf));

/**
 * Labels that the expressions of some labels match beside those: where names need regular expressions
 * and stand in several domains, as `expressionsOf` says.
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
 * Expressions that match what the patterns match among labels that a program is known to have. A
 * pattern without wildcards gives its label; a glob stays a pattern, so that a range which the
 * program opens only now and then is matched too. With no patterns, every label is meant.
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
          // A glob of unified labels says nothing of what the program writes.
          isGlob(name) && label.written === undefined
            ? [{ label, nameRegex: globRegex(name), isRegex: true }]
            : termsOf(label),
        ),
    );
  return expressionsOf(terms);
}

interface Term {
  readonly label: NvtxLabel;
  /** Matches its name, and perhaps others. */
  readonly nameRegex: string;
  /** Whether ncu's escapes cannot express it. */
  readonly isRegex: boolean;
}

const termsOf = (label: NvtxLabel): readonly Term[] =>
  (label.written ?? [escapeRegex(label.name)]).map((nameRegex) => ({
    label,
    nameRegex,
    isRegex: !isPlain(label),
  }));

/**
 * Names as they stand are one expression each. A regular expression, though, keeps ncu from seeing
 * what some of the expressions beside it let through, in ways that no rule tells (found out from ncu
 * 2024.1). So as soon as one is needed, all push/pop ranges are put into a single one, and all
 * start/end ranges into another: these two are seen both. In several domains they match each of the
 * names in each of the domains; the reports show what the patterns themselves match. Of thousands of names ncu
 * takes minutes where each is an expression, and seconds where one has them all: they are put into one where
 * that matches the same.
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

/** Of each kind. */
const inOneDomain = (terms: readonly Term[]): boolean =>
  unique(terms.map(({ label: { domain, kind } }) => `${kind} ${domain}`)).length ===
  unique(terms.map(({ label: { kind } }) => kind)).length;

const KINDS: readonly RangeKind[] = ["push_pop", "start_end"];

const oneOf = (regexes: readonly string[]): string =>
  regexes.length === 1 ? (regexes[0] ?? "") : `(${regexes.join("|")})`;

/** ncu itself calls it so. */
const domainRegex = (domain: string): string =>
  domain === "" ? "<default domain>" : escapeRegex(domain);

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** The labels that at least one pattern matches; all where there are no patterns. */
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
 * ncu matches bytes, so that `?` must let one to four of them pass. It may match more than it should
 * then; what the reports show is decided by the pattern itself.
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
 * Names that ncu's escapes cannot express become regular expressions, as does what would look like an
 * option on its command line (`--x=1`).
 */
const isPlain = ({ domain, name, written }: NvtxLabel): boolean =>
  written === undefined &&
  isLiteral(name) &&
  (domain === "" || isLiteral(domain)) &&
  !`${domain}${name}`.startsWith("-");

const isLiteral = (name: string): boolean =>
  name !== "" && !name.includes("\\") && !name.startsWith("regex:") && !/^@|@$|@.*@/s.test(name);

/** What has a meaning in ncu's own grammar. */
const escapeLiteral = (name: string): string => name.replaceAll(/[@,[\]/*+]/g, "\\$&");

/**
 * That, and what has one in regular expressions (Perl's, as Boost has them). ncu looks for the `@` behind
 * a domain before it reads the regular expression, and takes the second of `\@\@` for it (2024.1), so
 * that this character goes by its code.
 */
export const escapeRegex = (name: string): string =>
  name.replaceAll(/[\\^$.|?*+()[\]{}/,]/g, "\\$&").replaceAll("@", "\\x40");
