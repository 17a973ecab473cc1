import type { KeySyntax } from "../../../src/engine/overrides/ast.ts";
import {
  elementToString,
  isSweep,
  type Override,
  type OverrideValue,
  overrideKeyElement,
  parseOverrides,
  sweepStrings,
} from "../../../src/engine/overrides/index.ts";
import type { Dialect } from "../../../src/engine/values/dialect.ts";
import type { CorpusCase } from "../corpus.ts";
import { attempt, judge } from "../judge.ts";
import { type ParserRule, parseRule } from "../parse-rule.ts";
import type { Outcome, Suite, SuiteEnvironment } from "../suite.ts";
import { scalarToTagged } from "../tagged.ts";

/** `overrides/parse.jsonl`: one override, or a part of one, and all that Hydra makes of it. */
export const overridesParse: Suite = {
  name: "override language",
  dependsOnVersionBase: false,
  matches: (path) => /(^|\/)overrides\/parse\.jsonl$/.test(path),
  run: runOverrideCase,
};

export function runOverrideCase(testCase: CorpusCase, { dialect }: SuiteEnvironment): Outcome {
  const { input, rule } = testCase;
  if (typeof input !== "string") throw new Error("the case has no `input`");
  if (rule !== undefined)
    return judge(testCase, { value: testCase["value"] }, () => ({
      value: sortIfUnordered(ruleValue(input, rule, dialect), testCase),
    }));
  const expected = Object.fromEntries(
    Object.entries(testCase).filter(([field]) => !NOT_COMPARED.has(field)),
  );
  return judge(testCase, expected, () => overrideFields(parseOne(input, dialect), testCase));
}

/** As Hydra parses it: in a list. */
function parseOne(input: string, dialect: Dialect): Override {
  const [override] = parseOverrides([input], { dialect });
  if (override === undefined) throw new Error("no override");
  return override;
}

const NOT_COMPARED: ReadonlySet<string> = new Set([
  "id",
  "input",
  "ok",
  "unordered",
  "differs",
  "kind",
  "libyaml",
]);

/** The fields that the case has, computed by us. */
function overrideFields(override: Override, testCase: CorpusCase): object {
  const { value } = override;
  const fields: Record<string, () => unknown> = {
    // The recorded texts have no override of ours.
    type: () => (override.type === "replace" ? null : TYPES[override.type]),
    key: () => override.keyOrGroup,
    package: () => override.package ?? null,
    key_element: () => overrideKeyElement(override),
    value_type: () => (value === undefined ? null : valueType(value)),
    value: () => (value === undefined ? { t: "null" } : sortIfUnordered(tag(value), testCase)),
    element_string: () => elementToString(value),
    element_string_spaced: () => elementToString(value, { spaceAfterSeparator: true }),
    element_string_error: () => refusal(() => elementToString(value), testCase, "element"),
    sweep_strings: () => [...sweepStrings(override)],
    sweep_strings_first: () => firstOf(sweepStrings(override), 20),
    sweep_strings_error: () => refusal(() => [...sweepStrings(override)], testCase, "sweep"),
  };
  const wanted = Object.entries(fields).filter(([name]) => name in testCase);
  return {
    ...Object.fromEntries(wanted.map(([name, compute]) => [name, compute()])),
    // Both of our answers to the same question must agree.
    ...("value_type" in testCase &&
    isSweep(override) !== /SWEEP/.test(String(testCase["value_type"]))
      ? { is_sweep: isSweep(override) }
      : {}),
  };
}

/** The expected class if we refuse as well: which class is an accident of Python's libraries. */
function refusal(produce: () => unknown, testCase: CorpusCase, what: "element" | "sweep"): unknown {
  const field = what === "element" ? "element_string_error" : "sweep_strings_error";
  const result = attempt(produce);
  return result.ok ? `no error: ${JSON.stringify(result.value)}` : testCase[field];
}

const TYPES = {
  change: "CHANGE",
  add: "ADD",
  force_add: "FORCE_ADD",
  delete: "DEL",
  extend_list: "EXTEND_LIST",
} as const;

function valueType(value: OverrideValue): string {
  switch (value.kind) {
    case "choice":
      return value.simple ? "SIMPLE_CHOICE_SWEEP" : "CHOICE_SWEEP";
    case "range":
      return "RANGE_SWEEP";
    case "interval":
      return "INTERVAL_SWEEP";
    case "glob":
      return "GLOB_CHOICE_SWEEP";
    default:
      return "ELEMENT";
  }
}

function ruleValue(input: string, rule: unknown, dialect: Dialect): unknown {
  if (!isRule(rule)) throw new Error(`the rule ${String(rule)} is not known here`);
  const result = parseRule(input, rule, { dialect });
  if (typeof result === "string") return { t: "str", v: result, q: null };
  return isKey(result)
    ? { t: "key", key: result.keyOrGroup, package: result.package ?? null }
    : tag(result);
}

const isKey = (result: OverrideValue | KeySyntax): result is KeySyntax => "keyOrGroup" in result;

const RULES: readonly string[] = [
  "key",
  "package",
  "packageOrGroup",
  "value",
  "element",
  "primitive",
  "simpleChoiceSweep",
  "listContainer",
  "dictContainer",
  "function",
] satisfies readonly ParserRule[];

const isRule = (rule: unknown): rule is ParserRule =>
  typeof rule === "string" && RULES.includes(rule);

/** Values of this language are tagged with their quotes, and include sweeps. */
function tag(value: OverrideValue): unknown {
  switch (value.kind) {
    case "scalar":
      return typeof value.value === "string"
        ? { t: "str", v: value.value, q: value.quote ?? null }
        : scalarToTagged(value.value);
    case "list":
      return { t: "list", v: value.items.map(tag) };
    case "dict":
      return {
        t: "dict",
        v: [...value.entries.values()].map(({ key, value: item }) => [
          typeof key === "string" ? { t: "str", v: key, q: null } : scalarToTagged(key),
          tag(item),
        ]),
      };
    case "extension":
      return { t: "extend_list", v: value.values.map(tag) };
    case "choice": {
      const { items, tags, shuffle, simple } = value;
      return { t: "choice", v: items.map(tag), tags, shuffle, simple };
    }
    case "range": {
      const [start, stop, step] = [value.start, value.stop, value.step].map(scalarToTagged);
      return { t: "range", start, stop, step, tags: value.tags, shuffle: value.shuffle };
    }
    case "interval": {
      const [start, end] = [value.start, value.end].map(scalarToTagged);
      return { t: "interval", start, end, tags: value.tags };
    }
    case "glob":
      return { t: "glob", include: value.include.map(plain), exclude: value.exclude.map(plain) };
  }
}

/** Patterns stand in the corpus as plain JSON. */
function plain(pattern: OverrideValue): unknown {
  if (pattern.kind !== "scalar") return tag(pattern);
  return typeof pattern.value === "bigint" ? Number(pattern.value) : pattern.value;
}

/** A list that was shuffled while it was parsed is stored sorted, as Python sorts the texts. */
function sortIfUnordered(tagged: unknown, testCase: CorpusCase): unknown {
  if (testCase["unordered"] !== true || typeof tagged !== "object" || tagged === null)
    return tagged;
  if (!("v" in tagged) || !Array.isArray(tagged.v)) return tagged;
  const texts = tagged.v.map((item) => [JSON.stringify(item), item] as const);
  texts.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return { ...tagged, v: texts.map(([, item]) => item) };
}

function firstOf<T>(items: Iterable<T>, count: number): readonly T[] {
  const out: T[] = [];
  for (const item of items) {
    if (out.length === count) break;
    out.push(item);
  }
  return out;
}
