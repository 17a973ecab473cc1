import { scanJson } from "../json/json-positions.ts";
import { type JsonText, textOf } from "../json/json-text.ts";
import { readJson } from "../json/read-json.ts";
import type { ReportIssue } from "./issue.ts";
import type { ReportValidator } from "./validate.ts";

export interface CheckedDocument {
  /** Undefined if the text is not JSON. */
  readonly document: unknown;
  /** What is wrong with the JSON, or else with the document; each with its line. */
  readonly issues: readonly ReportIssue[];
}

/** Checks the text of a report: first that it is JSON, then that it fits the contract. Issues have lines. */
export const checkReportText = (text: string, validator: ReportValidator): readonly ReportIssue[] =>
  readDocument(textOf(text), validator).issues;

/**
 * Reads and checks a report of any size.
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
