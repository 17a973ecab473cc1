/**
 * Rules that unify labels which programs number: `aten::mm, op_id = 317230` of every call is one
 * region once the number is gone. They hold for the label of each range, before regions are made.
 */
import {
  matchesRange,
  parseRangePattern,
  type SelectionPatterns,
} from "../../report/selection/range-pattern.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import { ConfigError } from "../../values/errors.ts";
import type { RangeKind } from "../model/timeline.ts";

/** Replaces what a pattern finds in a label, wherever it finds it. */
export interface LabelRule {
  /** JavaScript's regular expression, with the flags `g`, `s` and `u`. */
  readonly pattern: string;
  /** What takes the place; `$1` is the first group. Empty where absent. */
  readonly replace?: string;
}

/** Applied one after the other, those of `preset` first; then labels fold. */
export interface LabelRules {
  /**
   * Labels of one domain that differ only in numbers are one label where there are more than so many; null: never.
   * Default: `MOST_NUMBERED`.
   */
  readonly fold?: number | null;
  /** Ready-made ones, for all labels that some framework writes: none of them has to fit. */
  readonly preset?: readonly LabelRule[];
  /** Those of the user, each of which is meant to fit some label. */
  readonly rules?: readonly LabelRule[];
}

/**
 * More layers than today's largest models have, which people want to see one by one, and fewer than most programs have
 * steps or calls.
 */
export const MOST_NUMBERED = 128;

/**
 * A program with so many times as many numbered labels, of whatever kinds, numbers its calls: of what it does rarely there are few,
 * and they fold, too, where there are more than a quarter of `most`.
 */
export const MANY_TIMES = 8;
export const LESS_TIMES = 4;

/** When labels that differ only in numbers become one. */
export interface FoldRules {
  /** So many stay as they are; fewer where a run has very many of all kinds (`MANY_TIMES`). */
  readonly most: number;
  /** Whether a label stays as it is, whatever it is called without numbers (`plain`): somebody asked for it. */
  readonly isKept?: (domain: string, name: string, plain: string) => boolean;
}

/**
 * Null where nothing folds.
 *
 * @param selection labels that one of its patterns means, and not the folded one, stay
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

/**
 * Decimal numbers with their fraction and exponent, addresses and other hexadecimal numbers of at least eight digits,
 * and UUIDs.
 */
const NUMBERS =
  /(?<![0-9A-Za-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9A-Za-z])|0x[0-9a-f]+|(?<![0-9A-Za-z])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9A-Za-z])|[0-9]+(?:\.[0-9]+)*(?:e[+-]?[0-9]+)?/gi;

const DIGIT = /[0-9]/;

/** A label with `#` for each number in it: `step_#`. The same text where there is none. */
export const withoutNumbers = (label: string): string =>
  DIGIT.test(label) ? label.replaceAll(NUMBERS, "#") : label;

/** What labels are called in reports that have these: the label itself, or folded. */
export const foldedAs =
  (shown: ReadonlySet<string>): LabelOf =>
  (label) => {
    if (shown.has(label)) return label;
    const plain = withoutNumbers(label);
    return shown.has(plain) ? plain : label;
  };

/** A label of which the rules leave nothing must still be seen. */
const EMPTY_LABEL = "(empty)";

/** The same text for the same label, found once. */
export type LabelOf = (label: string) => string;

/** The rules at work. */
export interface LabelUnifier {
  readonly rules: LabelRules;
  readonly labelOf: LabelOf;
  /** Of all labels that were asked for until now. */
  readonly seen: () => UnifiedLabels;
}

export interface UnifiedLabels {
  readonly labels: number;
  readonly unified: number;
  /** For each rule, those of `preset` first: whether it fitted a label. */
  readonly fitted: readonly boolean[];
}

/**
 * Null where there are no rules: labels are the program's own.
 *
 * @throws ConfigError as `compileLabelRules`
 */
export function createLabelUnifier(rules: LabelRules | undefined): LabelUnifier | null {
  if (rules === undefined || allRules(rules).length === 0) return null;
  const compiled = compileLabelRules(rules);
  const known = new Map<string, string>();
  const fitted = compiled.map(() => false);
  const unify = (label: string): string => {
    let text = label;
    for (const [index, { expression, replace }] of compiled.entries()) {
      if (text.search(expression) < 0) continue;
      fitted[index] = true;
      text = text.replace(expression, replace);
    }
    return text === "" && label !== "" ? EMPTY_LABEL : text;
  };
  return {
    rules,
    labelOf: (label) => getOrCreate(known, label, () => unify(label)),
    seen: () => ({ labels: known.size, unified: new Set(known.values()).size, fitted }),
  };
}

/** Where only the labels are needed. @throws ConfigError as `compileLabelRules` */
export const labelFunction = (rules: LabelRules | undefined): LabelOf =>
  createLabelUnifier(rules)?.labelOf ?? ((label) => label);

export const allRules = ({ preset = [], rules = [] }: LabelRules): readonly LabelRule[] => [
  ...preset,
  ...rules,
];

interface CompiledRule {
  readonly expression: RegExp;
  readonly replace: string;
}

/** @throws ConfigError `profile.label_rule` for a pattern that is no regular expression, with its key */
export function compileLabelRules({
  preset = [],
  rules = [],
}: LabelRules): readonly CompiledRule[] {
  const compile =
    (key: string) =>
    ({ pattern, replace = "" }: LabelRule, index: number): CompiledRule => ({
      expression: expressionOf(pattern, `labels.${key}[${index}].pattern`),
      replace,
    });
  return [...preset.map(compile("preset")), ...rules.map(compile("rules"))];
}

function expressionOf(pattern: string, key: string): RegExp {
  const problem = checkPattern(pattern);
  if (problem === null) return regex(pattern);
  throw new ConfigError({
    code: "profile.label_rule",
    key,
    message: `${key}: ${problem.message}`,
    hint: problem.hint,
  });
}

const regex = (pattern: string): RegExp => new RegExp(pattern, "gsu");

/** Why a text is no regular expression, and what to do; null where it is one. */
export function checkPattern(
  pattern: string,
): { readonly message: string; readonly hint: string } | null {
  try {
    regex(pattern);
    return null;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const why = said.slice(said.lastIndexOf(": ") + 2);
    return {
      message: `'${pattern}' is not a JavaScript regular expression: ${why.toLowerCase()}`,
      hint: "put a backslash before special characters that are meant literally: \\( \\[ \\+ \\?",
    };
  }
}

/** A kind of range that a program opens, whatever it is nested in. */
export interface NvtxLabel {
  /** Empty for NVTX's default domain. */
  readonly domain: string;
  /** As reports show it. */
  readonly name: string;
  readonly kind: RangeKind;
  /** Where label rules gave it that name: regular expressions of what the program calls it. */
  readonly written?: readonly string[];
}
