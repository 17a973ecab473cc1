/** The errors of the override language, with their place in the text. */
import type { Dialect } from "../values/dialect.ts";
import type { ErrorDetails } from "../values/error-details.ts";
import { ConfigError } from "../values/errors.ts";
import type { OverrideOrigin } from "../values/origin.ts";
import type { Span } from "./ast.ts";
import type { Advice } from "./hints.ts";

/** The text being parsed and its place in the list of overrides. */
export interface OverrideSource {
  readonly text: string;
  readonly index: number;
  /** The version of Hydra whose grammar is used. Default: 1.3. */
  readonly dialect?: Dialect;
}

/** The origin of an error: the wrong span of the text. */
export function spanOrigin(source: OverrideSource, span: Span): OverrideOrigin {
  const { text, index } = source;
  return { kind: "override", text, index, start: span.start, end: span.end };
}

/** `problem` names what was expected; the column (from 1, in characters) is added here. */
export function syntaxError(
  source: OverrideSource,
  span: Span,
  problem: string,
  advice?: Advice,
): ConfigError {
  const column = [...source.text.slice(0, span.start)].length + 1;
  return new ConfigError({
    code: "override.syntax",
    message: `Error parsing override '${source.text}': ${problem} at column ${column}`,
    origin: spanOrigin(source, span),
    ...advice,
  });
}

export type FunctionErrorDetails = Partial<Advice> & Pick<ErrorDetails, "available" | "nearest">;

/** The error of a call that parses but is invalid; `span` is the whole call. */
export function functionError(
  source: OverrideSource,
  span: Span,
  problem: string,
  details: FunctionErrorDetails = {},
): ConfigError {
  const call = source.text.slice(span.start, span.end);
  return new ConfigError({
    code: "override.function",
    message: `Error parsing override '${source.text}': in ${call}: ${problem}`,
    origin: spanOrigin(source, span),
    ...details,
  });
}
