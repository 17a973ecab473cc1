import type { Span } from "./ast.ts";
import type { OverrideSource } from "./errors.ts";
import { syntaxError } from "./errors.ts";
import type { LexerMode, Token, TokenKind } from "./lexer.ts";
import { readToken } from "./lexer.ts";

/** The parser's place in the text. The tokens from there on are read when first asked for. */
export interface Cursor {
  readonly source: OverrideSource;
  mode: LexerMode;
  /** Whether Hydra would still be looking ahead here to tell a sweep from a single value. */
  predicting: boolean;
  position: number;
  current: Token | null;
  second: Token | null;
}

export const createCursor = (source: OverrideSource, mode: LexerMode): Cursor => ({
  source,
  mode,
  predicting: false,
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

/** Reads on by the rules of another part of the language. */
export function readAgain(cursor: Cursor, mode: LexerMode): void {
  cursor.mode = mode;
  cursor.current = null;
  cursor.second = null;
}

/** Takes the next token if it is of this kind. */
export function takeIf(cursor: Cursor, kind: TokenKind): Token | null {
  return peek(cursor).kind === kind ? take(cursor) : null;
}

/** Takes a token of this kind, or throws that `what` (in words) was expected here. */
export const expect = (cursor: Cursor, kind: TokenKind, what: string, hint?: string): Token =>
  takeIf(cursor, kind) ?? refuse(cursor, what, hint);

/**
 * Takes the token that closes a sequence of items. Behind the second item Hydra complains at once
 * about any other token, without reading on.
 */
export function expectClosing(
  cursor: Cursor,
  kind: TokenKind,
  what: string,
  items: readonly unknown[],
): Token {
  const atOnce = items.length > 1 && !cursor.predicting;
  return takeIf(cursor, kind) ?? (atOnce ? complain(cursor, what) : refuse(cursor, what));
}

/**
 * Throws that `what` was expected where the next token stands. Hydra reads on before it complains,
 * one token further or, where it looks ahead, to the end of the text; when it meets something there
 * that is no token at all, it complains about that instead.
 */
export function refuse(cursor: Cursor, what: string, hint?: string): never {
  if (cursor.predicting) readToEnd(cursor);
  else peekSecond(cursor);
  return complain(cursor, what, hint);
}

function complain(cursor: Cursor, what: string, hint?: string): never {
  const token = peek(cursor);
  throw syntaxError(cursor.source, token, `expected ${what} but found ${found(cursor)}`, hint);
}

function readToEnd({ source, position, mode }: Cursor): void {
  let token = readToken(source, position, mode);
  for (let current = mode; token.kind !== "end"; token = readToken(source, token.end, current))
    if (token.kind === "equal") current = "value";
}

export const textOf = ({ source }: Cursor, { start, end }: Span): string =>
  source.text.slice(start, end);

function found(cursor: Cursor): string {
  const token = peek(cursor);
  if (token.kind === "end") return "the end";
  const text = textOf(cursor, token).trim();
  if (text === "") return "a blank";
  return token.kind === "quoted" ? text : `'${text}'`;
}
