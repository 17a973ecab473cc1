/** How a tree does not fit its schema: the issues, and their text. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { plural } from "../../foundation/text/plural.ts";
import type { ConfigNode } from "../values/node.ts";
import { describeOrigin, type Origin } from "../values/origin.ts";
import { type JsonValue, pointerTokens } from "./json-document.ts";
import { showValue } from "./show-value.ts";

/** One way in which a tree does not fit its schema. */
export interface SchemaIssue {
  readonly problem: "invalid_value" | "missing_value" | "missing_key" | "unknown_key";
  /** Full dotted key, e.g. `infer.batch_size` or `workload.command[0]`. */
  readonly key: string;
  /** The same place as a JSON pointer. */
  readonly pointer: string;
  /** The value found there; absent for a missing key. */
  readonly value?: ConfigNode;
  /** What the schema wants, as one phrase: `an integer, at least 1`. */
  readonly expected: string;
  /** The message of a validator, in its own words; it is shown instead of `expected`. */
  readonly message?: string;
  /** The schema's description of the key. */
  readonly description?: string;
  /** Origin of the value; for a missing key, that of the mapping around it. */
  readonly origin: Origin;
  /** The environment variables that the value is made of. */
  readonly variables?: readonly string[];
  /** What would set a value that is not given, besides config files and overrides. */
  readonly setters?: readonly string[];
  /** For an unknown key: the keys that may stand there. */
  readonly available?: readonly string[];
  /** For an unknown key: the accepted key it resembles most, when one is near; for a value, the accepted one. */
  readonly nearest?: string;
}

/** Sorts issues by the positions of their keys in the document, so that a list of them follows the file. */
export function inDocumentOrder(
  issues: readonly SchemaIssue[],
  document: JsonValue,
): readonly SchemaIssue[] {
  const childrenOf = memoizedChildren();
  const rankOf = ({ pointer }: SchemaIssue): readonly number[] => {
    let value: JsonValue | undefined = document;
    return pointerTokens(pointer).map((token) => {
      if (typeof value !== "object" || value === null) return LAST;
      const child = childrenOf(value).get(token);
      value = child?.value;
      return child?.place ?? LAST;
    });
  };
  return issues
    .map((issue) => ({ issue, rank: rankOf(issue) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ issue }) => issue);
}

/** Sorts keys that are absent after all that are present. */
const LAST = Number.MAX_SAFE_INTEGER;

interface Child {
  readonly place: number;
  readonly value: JsonValue;
}

/** Indexed by key, because a large object may have an issue with each of its keys. */
function memoizedChildren(): (value: object) => ReadonlyMap<string, Child> {
  const memo = new Map<object, ReadonlyMap<string, Child>>();
  return (parent) =>
    getOrCreate(
      memo,
      parent,
      () => new Map(Object.entries(parent).map(([key, value], place) => [key, { place, value }])),
    );
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? -1) - (right[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * All problems as one block of text: for each the key and its value, what was expected, and the origin of the value.
 * Ends without a line break.
 */
export function renderIssues(issues: readonly SchemaIssue[], title = "The configuration"): string {
  const count = plural(issues.length, "problem");
  return [`${title} is not valid: ${count}`, ...issues.map(renderIssue)].join("\n\n");
}

function renderIssue(issue: SchemaIssue): string {
  const rows: readonly (readonly [string, string | undefined])[] = [
    issue.message === undefined ? ["expected", issue.expected] : ["problem", issue.message],
    ["did you mean", issue.nearest],
    ["meaning", issue.description],
    ["from", describeOrigin(issue.origin)],
    ["environment", issue.variables?.join(", ")],
    ["set by", issue.setters?.join(" or ")],
  ];
  return [
    `  ${headline(issue)}`,
    ...rows.flatMap(([label, text]) =>
      text === undefined ? [] : [`    ${`${label}:`.padEnd(14)}${text}`],
    ),
  ].join("\n");
}

function headline(issue: SchemaIssue): string {
  const key = issue.key === "" ? "(the whole configuration)" : issue.key;
  switch (issue.problem) {
    case "missing_key":
      return `${key}: missing`;
    case "missing_value":
      return `${key}: not given (???)`;
    case "unknown_key":
      return `${key}: unknown key`;
    case "invalid_value":
      return `${key} = ${issue.value === undefined ? "" : showValue(issue.value)}`;
  }
}
