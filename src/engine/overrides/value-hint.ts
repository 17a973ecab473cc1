/** The hint for a value with a syntax error: how to quote it, for us and for a shell. */
import { ConfigError, isConfigError } from "../values/errors.ts";
import { FUNCTIONS } from "./functions/index.ts";
import { shown, splitHint, textHint } from "./hints.ts";
import { readToken, type TokenKind } from "./lexer.ts";

/**
 * Adds a hint to the syntax error of a value; an existing hint is kept.
 * @param isOverride whether a text is a valid override: only such a text is suggested
 */
export function withValueHint(
  error: unknown,
  override: string,
  isOverride: (text: string) => boolean,
): unknown {
  if (!isConfigError(error)) return error;
  const { code, hint, origin } = error.details;
  const equal = override.indexOf("=");
  const isInValue = origin?.kind === "override" && equal >= 0 && (origin.start ?? 0) > equal;
  if (code !== "override.syntax" || hint !== undefined || !isInValue) return error;
  const found = valueHint(override, equal + 1, isOverride);
  return found === undefined ? error : new ConfigError({ ...error.details, hint: found });
}

/** The likeliest intention behind the value that fits the grammar. */
function valueHint(
  override: string,
  start: number,
  isOverride: (text: string) => boolean,
): string | undefined {
  const value = override.slice(start);
  const single = `${override.slice(0, start)}${value.replace(/^[=\s]+/, "")}`;
  if (/^\s*=/.test(value) && isOverride(single)) return `write one '=': ${shown(single)}`;
  const { closing, last } = endOf(override, start);
  if (closing !== "") {
    const closed = override + closing;
    if (isOverride(closed)) return `close what is open: ${shown(closed)}`;
    if (last === "comma" || last === "colon") return splitHint(override, closing);
  }
  const isCall = FUNCTIONS.has(/^\s*(\w+)\(/.exec(value)?.[1] ?? "");
  return isCall ? undefined : textHint(override, { start, end: override.length });
}

const CLOSING: Partial<Readonly<Record<TokenKind, string>>> = {
  bracket_open: "]",
  brace_open: "}",
  parenthesis_open: ")",
};

const CLOSES: ReadonlySet<TokenKind> = new Set([
  "bracket_close",
  "brace_close",
  "parenthesis_close",
] as const);

interface ValueEnd {
  /** The text that closes all open brackets. */
  readonly closing: string;
  readonly last: TokenKind | undefined;
}

function endOf(text: string, start: number): ValueEnd {
  const open: string[] = [];
  let last: TokenKind | undefined;
  for (const kind of kindsFrom(text, start)) {
    last = kind;
    const closing = CLOSING[kind];
    if (closing !== undefined) open.push(closing);
    else if (CLOSES.has(kind)) open.pop();
  }
  return { closing: open.reverse().join(""), last };
}

/** The token kinds of a value, up to the first invalid token. */
function* kindsFrom(text: string, start: number): Generator<TokenKind> {
  try {
    for (let at = start; at < text.length; ) {
      const { end, kind } = readToken({ text, index: 0 }, at, "value");
      yield kind;
      at = end;
    }
  } catch (error) {
    if (!isConfigError(error)) throw error;
  }
}
