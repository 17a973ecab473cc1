/** What a schema demands, in words. */
import type { ErrorObject } from "ajv";
import { plural } from "../../foundation/text/plural.ts";

/** Describes what one JSON Schema keyword demands, as a phrase after "expected". */
interface Expectation {
  readonly keyword: string;
  readonly say: (params: Readonly<Record<string, unknown>>) => string;
}

/** One entry per keyword that configuration schemas use; for others, ajv's message is used. */
const EXPECTATIONS: readonly Expectation[] = [
  { keyword: "type", say: ({ type }) => alternatives(listOf(type).map(typeName)) },
  {
    keyword: "enum",
    say: ({ allowedValues }) => `one of ${listOf(allowedValues).map(show).join(", ")}`,
  },
  { keyword: "const", say: ({ allowedValue }) => show(allowedValue) },
  { keyword: "minimum", say: ({ limit }) => `at least ${limit}` },
  { keyword: "maximum", say: ({ limit }) => `at most ${limit}` },
  { keyword: "exclusiveMinimum", say: ({ limit }) => `more than ${limit}` },
  { keyword: "exclusiveMaximum", say: ({ limit }) => `less than ${limit}` },
  { keyword: "multipleOf", say: ({ multipleOf }) => `a multiple of ${multipleOf}` },
  {
    keyword: "minLength",
    say: ({ limit }) =>
      limit === 1 ? "a string that is not empty" : `at least ${plural(Number(limit), "character")}`,
  },
  { keyword: "maxLength", say: ({ limit }) => `at most ${plural(Number(limit), "character")}` },
  { keyword: "pattern", say: ({ pattern }) => `a string like /${pattern}/` },
  { keyword: "format", say: ({ format }) => `a string in the format ${format}` },
  { keyword: "minItems", say: ({ limit }) => `a list of at least ${limit}` },
  { keyword: "maxItems", say: ({ limit }) => `a list of at most ${limit}` },
  { keyword: "uniqueItems", say: () => "a list without repetitions" },
  { keyword: "minProperties", say: ({ limit }) => `at least ${plural(Number(limit), "key")}` },
  { keyword: "maxProperties", say: ({ limit }) => `at most ${plural(Number(limit), "key")}` },
];

const BY_KEYWORD = new Map(EXPECTATIONS.map((entry) => [entry.keyword, entry]));

export function expectation(error: ErrorObject): string {
  const expected = BY_KEYWORD.get(error.keyword);
  return expected?.say(error.params) ?? error.message ?? error.keyword;
}

/** The demand of a schema keyword, in the same words; undefined for a keyword that demands nothing. */
export function demandOf(keyword: string, value: unknown): string | undefined {
  return BY_KEYWORD.get(keyword)?.say({
    [keyword]: value,
    limit: value,
    allowedValues: value,
    allowedValue: value,
  });
}

/** `a`, `a or b`, `a, b or c`. */
export function alternatives(items: readonly string[]): string {
  const last = items.at(-1) ?? "";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} or ${last}`;
}

function typeName(type: unknown): string {
  switch (type) {
    case "integer":
      return "an integer";
    case "array":
      return "a list";
    case "object":
      return "a mapping";
    case "string":
      return "a string";
    case "boolean":
      return "true or false";
    case "number":
      return "a number";
    default:
      return String(type);
  }
}

const show = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
