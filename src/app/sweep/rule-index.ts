import { type Element, elementToString, globMatches } from "../../overrides/index.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import type { ScalarNode } from "../../values/node.ts";
import { pyStr } from "../../values/python-text.ts";

/** Which values a key must have one of: those with one of these forms, and texts that fit a glob. */
export interface Wanted {
  readonly forms: ReadonlySet<string>;
  readonly globs: readonly string[];
}

/** A partial assignment: all its keys must agree. */
export type Rule = ReadonlyMap<string, Wanted>;

/** A value as rules see it: numbers of the same value have the same form, whatever way they were written. */
export interface RuleValue {
  readonly form: string;
  /** What globs are compared with; null for what none fits. */
  readonly text: string | null;
}

const NULL = "null";
const numberForm = (value: number): string => `number ${value}`;
const textForm = (text: string): string => `text ${text}`;

export function ruleValue(value: Element): RuleValue {
  if (value.kind === "scalar" && value.value === null) return { form: NULL, text: null };
  if (value.kind === "scalar" && isNumber(value.value))
    return { form: numberForm(Number(value.value)), text: null };
  const text =
    value.kind === "scalar" && typeof value.value === "string"
      ? value.value
      : elementToString(value);
  return { form: textForm(text), text };
}

/** @param patterns any of which agrees: a text may have the wildcards of `glob`, or be a number's */
export function wantedOf(patterns: readonly ScalarNode[]): Wanted {
  const forms = new Set<string>();
  const globs: string[] = [];
  for (const pattern of patterns) {
    const text = pyStr(pattern);
    const number = isNumber(pattern.value) ? Number(pattern.value) : numberOf(text);
    if (pattern.value === null) forms.add(NULL);
    else if (/[*?[]/.test(text)) globs.push(text);
    else {
      forms.add(textForm(text));
      if (!Number.isNaN(number)) forms.add(numberForm(number));
    }
  }
  return { forms, globs };
}

/**
 * Whether a job agrees with one of the rules. Each rule is found by the one of its keys that tells the rules apart best:
 * a program may write a rule for every job that it has already.
 */
export function ruleIndex(
  rules: readonly Rule[],
): (values: ReadonlyMap<string, RuleValue>) => boolean {
  const formsOf = new Map<string, Set<string>>();
  for (const [key, { forms }] of rules.flatMap((rule) => [...rule])) {
    const all = getOrCreate(formsOf, key, () => new Set());
    for (const form of forms) all.add(form);
  }
  const tellsApart = (key: string): number => formsOf.get(key)?.size ?? 0;
  const indexed = new Map<string, Map<string, Rule[]>>();
  const others: Rule[] = [];
  for (const rule of rules) {
    const [best] = [...rule]
      .filter(([, { globs }]) => globs.length === 0)
      .sort(([a], [b]) => tellsApart(b) - tellsApart(a));
    if (best === undefined) {
      others.push(rule);
      continue;
    }
    const [key, { forms }] = best;
    const byForm = getOrCreate(indexed, key, () => new Map<string, Rule[]>());
    for (const form of forms) getOrCreate(byForm, form, () => []).push(rule);
  }
  return (values) => {
    const holds = (rule: Rule): boolean =>
      [...rule].every(([key, wanted]) => agrees(values.get(key), wanted));
    return (
      others.some(holds) ||
      [...indexed].some(([key, byForm]) =>
        (byForm.get(values.get(key)?.form ?? "") ?? []).some(holds),
      )
    );
  };
}

function agrees(value: RuleValue | undefined, { forms, globs }: Wanted): boolean {
  if (value === undefined) return false;
  const { form, text } = value;
  return forms.has(form) || (text !== null && globs.some((glob) => globMatches(text, glob)));
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";

const numberOf = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text));
