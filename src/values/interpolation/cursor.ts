import type { ConfigError } from "../errors.ts";
import type { StaticReference } from "./ast.ts";
import type { LexerMode, Token, TokenKind } from "./lexer.ts";
import { tokenize } from "./lexer.ts";
import { interpolationSyntaxError } from "./syntax-error.ts";

/** A position in the tokens of a text, which the parser moves on. */
export interface Cursor {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** References that were read before, by their keys: equal ones are one object. */
  readonly references: Map<string, StaticReference>;
  at: number;
  depth: number;
}

export const openCursor = (
  text: string,
  mode: LexerMode,
  references: Cursor["references"] = new Map(),
): Cursor => ({
  text,
  tokens: tokenize(text, mode),
  references,
  at: 0,
  depth: 0,
});

/** Nesting beyond this is refused: it can only be an attack on the stack. */
const MAX_DEPTH = 200;

/** @throws ConfigError where one more level is too deep; the caller takes the level back */
export function descend(cursor: Cursor): void {
  if (++cursor.depth > MAX_DEPTH) throw unexpected(cursor, "too deeply nested");
}

/** The token list ends with `end` or `invalid`, which nothing consumes but the entry points. */
export function peek(cursor: Cursor): Token {
  const token = cursor.tokens[cursor.at] ?? cursor.tokens.at(-1);
  if (token === undefined) throw new Error("a token list is never empty");
  return token;
}

export function next(cursor: Cursor): Token {
  const token = peek(cursor);
  cursor.at++;
  return token;
}

export function accept(cursor: Cursor, kind: TokenKind): boolean {
  if (peek(cursor).kind !== kind) return false;
  cursor.at++;
  return true;
}

export function expect(cursor: Cursor, kind: TokenKind): Token {
  if (peek(cursor).kind !== kind)
    throw unexpected(cursor, `expected ${DESCRIPTIONS[kind] ?? kind}`);
  return next(cursor);
}

const DESCRIPTIONS: Partial<Record<TokenKind, string>> = {
  close: "'}'",
  "dict-close": "'}'",
  "list-close": "']'",
  colon: "':'",
  end: "the end",
  "quote-close": "a closing quote",
};

/** Where the token before the current one ends. */
export function endOf(cursor: Cursor): number {
  const last = cursor.tokens[cursor.at - 1];
  return last === undefined ? 0 : last.start + last.text.length;
}

export function unexpected(cursor: Cursor, why: string): ConfigError {
  const { kind, start } = peek(cursor);
  return interpolationSyntaxError(
    cursor.text,
    start,
    kind === "invalid" ? "unexpected character" : why,
  );
}
