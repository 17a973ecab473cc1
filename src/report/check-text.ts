import type { ReportIssue } from "./issue.ts";
import { scanJson } from "./json-positions.ts";
import { type JsonText, textOf } from "./json-text.ts";
import { readJson } from "./read-json.ts";
import type { ReportValidator } from "./validate.ts";

export interface CheckedDocument {
  /** Undefined where the text is no JSON. */
  readonly document: unknown;
  /** Those of the contract where it is JSON; each with its line. */
  readonly issues: readonly ReportIssue[];
}

/** Checks the text of a report file: its JSON, then the contract; issues carry their line. */
export const checkReportText = (text: string, validator: ReportValidator): readonly ReportIssue[] =>
  readDocument(textOf(text), validator).issues;

/**
 * A report of any size, and what is wrong with it.
 *
 * @throws the errors of reading its file
 */
export function readDocument(whole: JsonText, validator: ReportValidator): CheckedDocument {
  let document: unknown;
  try {
    document = readJson(whole);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { document: undefined, issues: [syntaxIssue(whole, error)] };
  }
  const issues = validator.validate(document);
  if (issues.length === 0) return { document, issues };
  const { positions } = scanJson(whole, new Set(issues.map(({ pointer }) => pointer)));
  return {
    document,
    issues: issues.map((issue) => ({ ...issue, ...positions.get(issue.pointer) })),
  };
}

function syntaxIssue(whole: JsonText, error: SyntaxError): ReportIssue {
  const { syntaxError } = scanJson(whole);
  const { message = error.message, ...position } = syntaxError ?? {};
  return {
    pointer: "",
    message: `not JSON: ${message}`,
    expected: "a JSON document",
    ...position,
  };
}
