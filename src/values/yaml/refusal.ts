import { ConfigError, type ErrorCode } from "../errors.ts";
import type { FileOrigin, SourceText } from "../origin.ts";
import { lineColumn } from "../position.ts";

export interface Refusal {
  readonly code?: ErrorCode;
  /** What is wrong, in PyYAML's wording. */
  readonly problem: string;
  /** What was being read, and where it began, if that is a different place. */
  readonly context?: string;
  readonly contextStart?: number;
  readonly start: number;
  readonly end?: number;
  readonly hint?: string;
}

/** The error for a text that PyYAML refuses. The caller throws it. */
export function refusal(source: SourceText, details: Refusal): ConfigError {
  const { problem, context, contextStart, start, hint } = details;
  const origin: FileOrigin = { kind: "file", source, start, end: details.end ?? start + 1 };
  const began =
    contextStart === undefined ? "" : ` (${beganAt({ ...origin, start: contextStart })})`;
  const message = context === undefined ? problem : `${context}${began}: ${problem}`;
  return new ConfigError({
    code: details.code ?? "yaml.syntax",
    message,
    origin,
    hint,
  });
}

function beganAt(origin: FileOrigin): string {
  const { line, column } = lineColumn(origin);
  return `from line ${line}, column ${column}`;
}

/** How messages show a character: quoted, and the end of the text by its name. */
export function showCharacter(text: string, at: number): string {
  const code = text.codePointAt(at) ?? 0;
  if (code === 0 && at >= text.length - 1) return "the end of the text";
  if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0x2028 || code === 0x2029)
    return JSON.stringify(String.fromCodePoint(code)).replace(/^"(.*)"$/, "'$1'");
  return `'${String.fromCodePoint(code)}'`;
}
