import { plural } from "../text/plural.ts";
import { describeOrigin } from "../values/position.ts";
import type { SchemaIssue } from "./issue.ts";
import { showValue } from "./show-value.ts";

/**
 * All problems as one block of text: per problem the key and its value, what was expected, and
 * where the value came from. Ends without a line break.
 */
export function renderIssues(issues: readonly SchemaIssue[], title = "The configuration"): string {
  const count = plural(issues.length, "problem");
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
