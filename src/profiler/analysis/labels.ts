/**
 * Rules that unify numbered labels: all calls `aten::mm, op_id = 317230` are one region once the number is removed.
 * They apply to the label of each range, before regions are made.
 */

import { ConfigError } from "../../engine/values/errors.ts";
import {
  compileReplacing,
  describeProblem,
  type ReplacingPattern,
} from "../../engine/values/user-pattern.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { withoutNumbers } from "../../report/model/families.ts";
import {
  matchesRange,
  parseRangePattern,
  type SelectionPatterns,
} from "../../report/selection/range-pattern.ts";
import type { RangeKind } from "../model/timeline.ts";

/** Replaces all matches of a pattern in a label. */
export interface LabelRule {
  /**
   * A JavaScript regular expression, with the flags `g`, `s` and `u`; without look-around and back references
   * (`src/engine/values/user-pattern.ts`).
   */
  readonly pattern: string;
  /** The replacement, in which `$1` is the first group. Default: empty. */
  readonly replace?: string;
}

/** Rules that are applied in order, beginning with those of `preset`. Afterwards labels are folded. */
export interface LabelRules {
  /**
   * Labels of one domain that differ only in numbers become one label if there are more than this; null: never.
   * Default: `MOST_NUMBERED`.
   */
  readonly fold?: number | null;
  /** Predefined rules for all labels of a framework; they need not match. */
  readonly preset?: readonly LabelRule[];
  /** The user's rules; each is expected to match some label. */
  readonly rules?: readonly LabelRule[];
}

/**
 * More than the layers of today's largest models, which users want to see one by one, and fewer than the steps or calls
 * of most programs.
 */
export const MOST_NUMBERED = 128;

/**
 * A program with this many times as many numbered labels in total numbers its calls. Rare calls then have few labels,
 * which are folded if there are more than a quarter of `most`.
 */
export const MANY_TIMES = 8;
export const LESS_TIMES = 4;

/** The conditions under which labels that differ only in numbers become one. */
export interface FoldRules {
  /** Up to this many are kept; fewer if a run has very many numbered labels in total (`MANY_TIMES`). */
  readonly most: number;
  /** Whether a label is kept because it was requested; `plain` is the label without numbers. */
  readonly isKept?: (domain: string, name: string, plain: string) => boolean;
}

/**
 * Null if labels are never folded.
 *
 * @param selection labels that match one of its patterns, while the folded label does not, are kept
 */
export function foldRules(
  rules: LabelRules | undefined,
  { include, exclude }: SelectionPatterns = { include: [], exclude: [] },
): FoldRules | null {
  const most = rules?.fold === undefined ? MOST_NUMBERED : rules.fold;
  if (most === null) return null;
  const patterns = [...include, ...exclude].map(parseRangePattern);
  if (patterns.length === 0) return { most };
  return {
    most,
    isKept: (domain, name, plain) =>
      patterns.some(
        (pattern) => matchesRange(pattern, domain, name) && !matchesRange(pattern, domain, plain),
      ),
  };
}

/** The label under which these labels appear in reports: itself, or the folded one. */
export const foldedAs =
  (shown: ReadonlySet<string>): LabelOf =>
  (label) => {
    if (shown.has(label)) return label;
    const plain = withoutNumbers(label);
    return shown.has(plain) ? plain : label;
  };

/** A label that the rules make empty must still be visible. */
const EMPTY_LABEL = "(empty)";

/** Returns the same text for the same label; results are cached. */
export type LabelOf = (label: string) => string;

/** Applies label rules. */
export interface LabelUnifier {
  readonly rules: LabelRules;
  readonly labelOf: LabelOf;
  /** Describes all labels that were unified so far. */
  readonly seen: () => UnifiedLabels;
}

export interface UnifiedLabels {
  readonly labels: number;
  readonly unified: number;
  /** For each rule, those of `preset` first: whether it matched a label. */
  readonly fitted: readonly boolean[];
}

/**
 * Null without rules: labels are those of the program.
 *
 * @throws ConfigError as `compileLabelRules`
 */
export function createLabelUnifier(rules: LabelRules | undefined): LabelUnifier | null {
  if (rules === undefined || allRules(rules).length === 0) return null;
  const compiled = compileLabelRules(rules);
  const labels = new Map<string, string>();
  const fitted = compiled.map(() => false);
  const unify = (label: string): string => {
    let text = label;
    for (const [index, { pattern, replace }] of compiled.entries()) {
      const replaced = pattern.replaceAll(text, replace);
      if (replaced === null) continue;
      fitted[index] = true;
      text = replaced;
    }
    return text === "" && label !== "" ? EMPTY_LABEL : text;
  };
  return {
    rules,
    labelOf: (label) => getOrCreate(labels, label, () => unify(label)),
    seen: () => ({ labels: labels.size, unified: new Set(labels.values()).size, fitted }),
  };
}

/**
 * For callers that need only the labels.
 * @throws ConfigError as `compileLabelRules`
 */
export const labelFunction = (rules: LabelRules | undefined): LabelOf =>
  createLabelUnifier(rules)?.labelOf ?? ((label) => label);

export const allRules = ({ preset = [], rules = [] }: LabelRules): readonly LabelRule[] => [
  ...preset,
  ...rules,
];

interface CompiledRule {
  readonly pattern: ReplacingPattern;
  readonly replace: string;
}

/** @throws ConfigError `profile.label_rule` for a pattern that cannot be used, with its key */
export function compileLabelRules({
  preset = [],
  rules = [],
}: LabelRules): readonly CompiledRule[] {
  const compile =
    (key: string) =>
    ({ pattern, replace = "" }: LabelRule, index: number): CompiledRule => ({
      pattern: patternOf(pattern, `labels.${key}[${index}].pattern`),
      replace,
    });
  return [...preset.map(compile("preset")), ...rules.map(compile("rules"))];
}

function patternOf(text: string, key: string): ReplacingPattern {
  const { pattern, problem } = compileReplacing(text);
  if (problem === undefined) return pattern;
  const { hint, message } = describeProblem(text, problem);
  throw new ConfigError({
    code: "profile.label_rule",
    key,
    message: `${key}: ${message}`,
    hint,
  });
}

/** The problem of a regular expression that cannot be used, and the remedy; null for one that can. */
export function checkPattern(
  text: string,
): { readonly message: string; readonly hint: string | undefined } | null {
  const { problem } = compileReplacing(text);
  return problem === undefined ? null : describeProblem(text, problem);
}

/** A label that a program uses, in whatever ranges it is nested. */
export interface NvtxLabel {
  /** Empty for NVTX's default domain. */
  readonly domain: string;
  /** The name in reports. */
  readonly name: string;
  readonly kind: RangeKind;
  /** If label rules changed the name: regular expressions that match the program's own names. */
  readonly written?: readonly string[];
}
