import type { ConfigNode, ScalarValue } from "../values/node.ts";
import { describeOrigin } from "../values/position.ts";
import type { SchemaIssue } from "./issue.ts";
import { keyText } from "./plain.ts";

/**
 * All problems as one block of text: per problem the key and its value, what was expected, and
 * where the value came from. Ends without a line break.
 */
export function renderIssues(issues: readonly SchemaIssue[], title = "The configuration"): string {
  const count = issues.length === 1 ? "1 problem" : `${issues.length} problems`;
  return [`${title} is not valid: ${count}`, ...issues.map(renderIssue)].join("\n\n");
}

function renderIssue(issue: SchemaIssue): string {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["expected", issue.expected],
    ["did you mean", issue.nearest],
    ["meaning", issue.description],
    ["from", describeOrigin(issue.origin)],
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

const LONGEST_VALUE = 120;

/** A value on one line, as one would write it in YAML's flow style; long ones are cut. */
export function showValue(node: ConfigNode): string {
  const text = flow(node);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 3)}...`;
}

function flow(node: ConfigNode): string {
  switch (node.kind) {
    case "scalar":
      return flowScalar(node.value);
    case "list":
      return `[${node.items.map(flow).join(", ")}]`;
    case "map":
      return `{${[...node.entries.values()]
        .map(({ key, value }) => `${keyText(key)}: ${flow(value)}`)
        .join(", ")}}`;
  }
}

function flowScalar(value: ScalarValue): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `!!binary ${Buffer.from(value).toString("base64")}`;
  if (typeof value === "object" && value !== null) return value.path;
  return String(value);
}
