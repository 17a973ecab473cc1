import type { Key } from "../values/node.ts";
import { parsePythonFloat, parsePythonInt } from "../values/python-number.ts";
import type { ElementScalar, Quote, ScalarElement } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { peek, refuse, take, textOf } from "./cursor.ts";
import { syntaxError } from "./errors.ts";
import type { Token, TokenKind } from "./lexer.ts";
import { unescapeUnquoted, unquote } from "./quoting.ts";

/** What an unquoted value may consist of. Dict keys are made of the same without the last two. */
const PARTS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  "id",
  "null",
  "int",
  "float",
  "bool",
  "char",
  "escape",
  "blank",
  "colon",
  "interpolation",
]);

export const isPrimitivePart = (kind: TokenKind): boolean => PARTS.has(kind);

/** A quoted string, or an unquoted value: one typed token, or several that make a string. */
export function parsePrimitive(cursor: Cursor): ScalarElement {
  const { kind } = peek(cursor);
  if (isPrimitivePart(kind)) return unquotedElement(cursor, takeWhile(cursor, isPrimitivePart));
  if (kind !== "quoted") refuse(cursor, "a value");
  const span = take(cursor);
  const text = textOf(cursor, span);
  const quote: Quote = text.startsWith("'") ? "'" : '"';
  return { kind: "scalar", value: unquote(text), quote, span };
}

export function primitiveKey(cursor: Cursor): Key {
  const isKeyPart = (kind: TokenKind) =>
    isPrimitivePart(kind) && kind !== "colon" && kind !== "interpolation";
  return unquotedElement(cursor, takeWhile(cursor, isKeyPart)).value;
}

function takeWhile(cursor: Cursor, accepts: (kind: TokenKind) => boolean): readonly Token[] {
  const tokens = [take(cursor)];
  while (accepts(peek(cursor).kind)) tokens.push(take(cursor));
  return tokens;
}

/** Blanks around the value do not belong to it; `blank` tokens inside do. */
function unquotedElement(cursor: Cursor, tokens: readonly Token[]): ScalarElement {
  const from = tokens[0]?.kind === "blank" ? 1 : 0;
  const to = tokens.length - (tokens.length > from && tokens.at(-1)?.kind === "blank" ? 1 : 0);
  const parts = tokens.length === to && from === 0 ? tokens : tokens.slice(from, to);
  const [first] = parts;
  if (first === undefined) throw onlyBlanks(cursor, tokens);
  const end = parts.at(-1)?.end ?? first.end;
  const value =
    parts.length === 1
      ? tokenValue(cursor, first)
      : parts.map((token) => tokenText(cursor, token)).join("");
  return { kind: "scalar", value, span: { start: first.start, end } };
}

function tokenText(cursor: Cursor, token: Token): string {
  const text = textOf(cursor, token);
  return token.kind === "escape" ? unescapeUnquoted(text) : text;
}

function tokenValue(cursor: Cursor, token: Token): ElementScalar {
  const text = tokenText(cursor, token);
  switch (token.kind) {
    case "null":
      return null;
    case "bool":
      return text.toLowerCase() === "true";
    case "int":
      return parsePythonInt(text) ?? refuseInt(cursor, token);
    case "float":
      return parsePythonFloat(text) ?? text;
    default:
      return text;
  }
}

/** Python limits the number of digits that it converts. */
function refuseInt(cursor: Cursor, token: Token): never {
  throw syntaxError(cursor.source, token, "an int of more than 4300 digits");
}

function onlyBlanks(cursor: Cursor, tokens: readonly Token[]) {
  const span = { start: tokens[0]?.start ?? 0, end: cursor.position };
  return syntaxError(cursor.source, span, "a value of only spaces");
}
