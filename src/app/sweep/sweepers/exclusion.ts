/** Rules of a sweep about combinations: those that it leaves out (`exclude`), and those in which a key varies (`when`). */
import {
  type Element,
  elementToString,
  globMatches,
  isSweepValue,
  type Override,
  overrideKeyElement,
  parseOverride,
} from "../../../engine/overrides/index.ts";
import { ConfigError, nearest } from "../../../engine/values/errors.ts";
import type { ConfigNode, MapNode, ScalarNode } from "../../../engine/values/node.ts";
import { keyText, pyStr } from "../../../engine/values/python-text.ts";
import type { ResolveContext } from "../../../engine/values/resolution/context.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { bareKey, keysOf } from "./dimensions.ts";
import type { JobOverrides } from "./sweeper.ts";

const EXCLUDE = "hydra.sweeper.exclude";
const WHEN = "hydra.sweeper.when";

/**
 * Whether `hydra.sweeper.exclude` excludes a job: a list of partial assignments, as in the matrices of CI systems. A
 * job that matches all keys of one of them is excluded. A value is a scalar, a text with the wildcards of `glob`, or a
 * list of these.
 *
 * @param overrides overrides of the sweep: a rule may name the keys that these set
 * @returns undefined if nothing is excluded
 * @throws ConfigError `value.wrong_type` for a malformed list, `key.not_found` for a key that the sweep does not set: a
 * misspelt rule would let expensive jobs run
 */
export function readExclusion(
  root: MapNode,
  context: ResolveContext,
  overrides: readonly Override[],
): ((job: JobOverrides) => boolean) | undefined {
  const node = selectNode(root, EXCLUDE, context, { deep: true });
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  if (node.kind !== "list") return refuse(EXCLUDE, node, "must be a list of maps");
  if (node.items.length === 0) return undefined;
  return ruleOfJobs(EXCLUDE, node.items, context, overrides);
}

/**
 * The conditions of `hydra.sweeper.when`, by key: a job has the key only if the others agree with its rule, or one of its rules. They are
 * written as those of `exclude`.
 *
 * @returns undefined if there are none
 * @throws ConfigError as `readExclusion`
 */
export function readConditions(
  root: MapNode,
  context: ResolveContext,
  overrides: readonly Override[],
): ReadonlyMap<string, (job: JobOverrides) => boolean> | undefined {
  const node = selectNode(root, WHEN, context, { deep: true });
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  if (node.kind !== "map") return refuse(WHEN, node, "must be a map from keys to rules");
  const keys = overrides.flatMap(keysOf);
  const conditions = [...node.entries.values()].map(({ key, value }) => {
    const name = keyText(key);
    refuseUnknown(WHEN, name, value, keys);
    const rules = value.kind === "list" ? value.items : [value];
    return [name, ruleOfJobs(WHEN, rules, context, overrides)] as const;
  });
  return conditions.length === 0 ? undefined : new Map(conditions);
}

/** Whether a job agrees with one of the rules. */
function ruleOfJobs(
  setting: string,
  rules: readonly ConfigNode[],
  context: ResolveContext,
  overrides: readonly Override[],
): (job: JobOverrides) => boolean {
  const keys = overrides.flatMap(keysOf);
  const agreesWithOne = ruleIndex(rules.map((item) => readRule(setting, item, keys)));
  const settingOf = cached((text: string) => {
    const override = parseOverride(text, { dialect: context.dialect });
    const { value } = override;
    return {
      key: bareKey(overrideKeyElement(override)),
      value: value === undefined || isSweepValue(value) ? undefined : ruleValue(value),
    };
  });
  return (job) => {
    const values = new Map<string, RuleValue>();
    for (const { key, value } of job.map(settingOf))
      if (value !== undefined) values.set(key, value);
    return agreesWithOne(values);
  };
}

function readRule(setting: string, item: ConfigNode, keys: readonly string[]): Rule {
  if (item.kind !== "map" || item.entries.size === 0)
    return refuse(
      setting,
      item,
      `must be ${setting === EXCLUDE ? "a list of maps, each" : "a map from keys to rules: maps"} from keys of the sweep to values`,
    );
  const rule = new Map<string, Wanted>();
  for (const { key, value } of item.entries.values()) {
    const name = keyText(key);
    refuseUnknown(setting, name, value, keys);
    rule.set(name, wantedOf(scalarsOf(setting, value)));
  }
  return rule;
}

function refuseUnknown(
  setting: string,
  name: string,
  { origin }: ConfigNode,
  keys: readonly string[],
): void {
  if (keys.includes(name)) return;
  throw new ConfigError({
    code: "key.not_found",
    message: `${setting} names '${name}', which this sweep does not set`,
    key: setting,
    origin,
    available: keys,
    nearest: nearest(name, keys),
  });
}

function scalarsOf(setting: string, value: ConfigNode): readonly ScalarNode[] {
  if (value.kind === "scalar") return [value];
  if (value.kind === "list") return value.items.flatMap((item) => scalarsOf(setting, item));
  return refuse(
    setting,
    value,
    "has a map as a value: write its keys with dots, as in {db.port: 1}",
  );
}

function refuse(setting: string, node: ConfigNode, problem: string): never {
  throw new ConfigError({
    code: "value.wrong_type",
    message: `${setting} ${problem}`,
    key: setting,
    origin: node.origin,
  });
}

function cached<T>(compute: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>();
  return (text) => getOrCreate(cache, text, () => compute(text));
}

/** The values that a rule accepts for a key: those with one of these forms, and texts that match a glob. */
interface Wanted {
  readonly forms: ReadonlySet<string>;
  readonly globs: readonly string[];
}

/** A partial assignment: all its keys must match. */
type Rule = ReadonlyMap<string, Wanted>;

/** A value in canonical form: equal numbers have the same form, however they were written. */
interface RuleValue {
  readonly form: string;
  /** The text that globs match; null if none can match. */
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

/** @param patterns the accepted values: a text may have the wildcards of `glob`, or be a number */
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
 * Whether a job matches one of the rules. Each rule is indexed by its most selective key: a program may write a rule
 * for every job that it has already run.
 */
export function ruleIndex(
  rules: readonly Rule[],
): (values: ReadonlyMap<string, RuleValue>) => boolean {
  const formsOf = new Map<string, Set<string>>();
  for (const [key, { forms }] of rules.flatMap((rule) => [...rule])) {
    const all = getOrCreate(formsOf, key, () => new Set());
    for (const form of forms) all.add(form);
  }
  const variants = (key: string): number => formsOf.get(key)?.size ?? 0;
  const indexed = new Map<string, Map<string, Rule[]>>();
  const others: Rule[] = [];
  for (const rule of rules) {
    const [best] = [...rule]
      .filter(([, { globs }]) => globs.length === 0)
      .sort(([a], [b]) => variants(b) - variants(a));
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
