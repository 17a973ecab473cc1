import type { ReportIssue } from "./issue.ts";
import { positionAt, scanJson } from "./json-positions.ts";
import type { ReportValidator } from "./validate.ts";

/** Checks the text of a report file: its JSON, then the contract; issues carry their line. */
export function checkReportText(text: string, validator: ReportValidator): readonly ReportIssue[] {
  // A byte order mark is no part of the document, but its text: positions count on without it.
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  let document: unknown;
  try {
    document = JSON.parse(json);
  } catch (error) {
    return [syntaxIssue(json, error)];
  }
  const issues = validator.validate(document);
  if (issues.length === 0) return [];
  const { offsets } = scanJson(json, new Set(issues.map(({ pointer }) => pointer)));
  return issues.map((issue) => {
    const offset = offsets.get(issue.pointer);
    return offset === undefined ? issue : { ...issue, ...positionAt(json, offset) };
  });
}

function syntaxIssue(json: string, error: unknown): ReportIssue {
  const { syntaxError } = scanJson(json);
  const fallback = error instanceof Error ? error.message : String(error);
  return {
    pointer: "",
    message: `not JSON: ${syntaxError?.message ?? fallback}`,
    expected: "a JSON document",
    ...(syntaxError === null ? {} : positionAt(json, syntaxError.offset)),
  };
}
