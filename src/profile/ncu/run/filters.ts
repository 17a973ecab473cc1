/**
 * From the labels and globs that people write to the expressions of `--nvtx-include`, which has a
 * grammar of its own: `A` means only start/end ranges, `A/` only push/pop ranges, `*` inside a name is
 * no wildcard, several labels need several options, and one domain is meant unless another is named.
 * (Nsight Compute CLI, "NVTX Filtering"; every rule here is tested against ncu's own matcher.)
 */

import {
  type GlobToken,
  matchesRange,
  parseRangePattern,
  type RangePattern,
} from "../../regions/select.ts";
import type { RangeKind } from "../../timeline.ts";

/** A kind of range that a program opens, whatever it is nested in. */
export interface NvtxLabel {
  /** Empty for NVTX's default domain. */
  readonly domain: string;
  readonly name: string;
  readonly kind: RangeKind;
}

/** The expression that matches the ranges of one label, in whatever ranges they are. */
export function labelExpression({ domain, name, kind }: NvtxLabel): string {
  const isPlain = isLiteral(name) && isLiteral(domain === "" ? "x" : domain);
  const expression = isPlain
    ? `${domain === "" ? "" : `${escapeLiteral(domain)}@`}${escapeLiteral(name)}`
    : `regex:${domain === "" ? "" : `^${escapeRegex(domain)}$@`}^${escapeRegex(name)}$`;
  return expression + END[kind];
}

/** What tells push/pop ranges from start/end ranges in an expression. */
const END: Readonly<Record<RangeKind, string>> = { push_pop: "/", start_end: "" };

/**
 * Expressions that match what the patterns match among labels that a program is known to have. A
 * pattern without wildcards gives one per label; a glob stays a pattern, so that a range which the
 * program opens only now and then is matched too. With no patterns, every label is meant.
 */
export function includeExpressions(
  patterns: readonly string[],
  labels: readonly NvtxLabel[],
): readonly string[] {
  const expressions = (patterns.length === 0 ? ["*"] : patterns)
    .map(parseRangePattern)
    .flatMap((pattern) => {
      const matched = labels.filter(({ domain, name }) => matchesRange(pattern, domain, name));
      return isGlob(pattern.name)
        ? matched.map((label) => globExpression(pattern, label))
        : matched.map(labelExpression);
    });
  return [...new Set(expressions)];
}

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

/** The domain stands as it is: of a glob for domains, each that matched gets an expression. */
function globExpression({ name }: RangePattern, { domain, kind }: NvtxLabel): string {
  const inDomain = domain === "" ? "" : `^${escapeRegex(domain)}$@`;
  return `regex:${inDomain}^${globRegex(name)}$${END[kind]}`;
}

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
      return ".{1,4}";
    case "literal":
      return escapeRegex(token.character);
  }
}

/** Names that ncu's escapes cannot express become regular expressions. */
const isLiteral = (name: string): boolean =>
  name !== "" && !name.includes("\\") && !name.startsWith("regex:") && !name.startsWith("@");

/** What has a meaning in ncu's own grammar. */
const escapeLiteral = (name: string): string => name.replaceAll(/[@,[\]/*+]/g, "\\$&");

/** That, and what has one in regular expressions (Perl's, as Boost has them). */
const escapeRegex = (name: string): string => name.replaceAll(/[\\^$.|?*+()[\]{}/@,]/g, "\\$&");
