import type { Span } from "./ast.ts";
import type { OverrideSource } from "./errors.ts";
import { syntaxError } from "./errors.ts";
import type { LexerMode, Token, TokenKind } from "./lexer.ts";
import { readToken } from "./lexer.ts";

/** The parser's place in the text. The tokens from there on are read when first asked for. */
export interface Cursor {
  readonly source: OverrideSource;
  mode: LexerMode;
  position: number;
  current: Token | null;
  second: Token | null;
}

export const createCursor = (source: OverrideSource, mode: LexerMode): Cursor => ({
  source,
  mode,
  position: 0,
  current: null,
  second: null,
});

export function peek(cursor: Cursor): Token {
  cursor.current ??= readToken(cursor.source, cursor.position, cursor.mode);
  return cursor.current;
}

/** The token behind the next one. */
export function peekSecond(cursor: Cursor): Token {
  const { kind, end } = peek(cursor);
  cursor.second ??= readToken(cursor.source, end, kind === "equal" ? "value" : cursor.mode);
  return cursor.second;
}

export function take(cursor: Cursor): Token {
  const token = peek(cursor);
  cursor.position = token.end;
  cursor.current = cursor.second;
  cursor.second = null;
  return token;
}

/** Takes the next token if it is of this kind. */
export function takeIf(cursor: Cursor, kind: TokenKind): Token | null {
  return peek(cursor).kind === kind ? take(cursor) : null;
}

/** Takes a token of this kind, or throws that `what` (in words) was expected here. */
export function expect(cursor: Cursor, kind: TokenKind, what: string, hint?: string): Token {
  const token = takeIf(cursor, kind);
  if (token !== null) return token;
  // Hydra looks one token further before it complains, and stumbles there over what is no token.
  peekSecond(cursor);
  return refuse(cursor, what, hint);
}

/** Throws that `what` was expected where the next token stands. */
export function refuse(cursor: Cursor, what: string, hint?: string): never {
  const token = peek(cursor);
  throw syntaxError(cursor.source, token, `expected ${what} but found ${found(cursor)}`, hint);
}

export const textOf = ({ source }: Cursor, { start, end }: Span): string =>
  source.text.slice(start, end);

function found(cursor: Cursor): string {
  const token = peek(cursor);
  if (token.kind === "end") return "the end";
  const text = textOf(cursor, token).trim();
  return text === "" ? "a blank" : `'${text}'`;
}
