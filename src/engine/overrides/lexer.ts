/** The tokens of the override language. */
import type { Span } from "./ast.ts";
import { type Advice, keyHint, keyProblem, nameCharacter, quoteHint } from "./hints.ts";
import { type OverrideSource, syntaxError } from "./override-errors.ts";

/**
 * The lexer of Hydra's override grammar (https://hydra.cc/docs/1.3/advanced/override_grammar/basic). Two modes: a key
 * up to the first `=`, a value after it. The longest match wins. Tokens are read on demand, because Hydra reports the
 * first error in reading order, whether in a token or in the grammar.
 */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

export type LexerMode = "key" | "value";

export type TokenKind =
  // punctuation; in values it includes adjacent blanks
  | "tilde"
  | "plus"
  | "at"
  | "slash"
  | "colon"
  | "equal"
  | "comma"
  | "parenthesis_open"
  | "parenthesis_close"
  | "bracket_open"
  | "bracket_close"
  | "brace_open"
  | "brace_close"
  // names: `id` may name a function or a group, `special` (with a $) and `path` only a key
  | "id"
  | "special"
  | "path"
  // a path with brackets or escapes: only the key of a value
  | "access"
  // parts of a value
  | "quoted"
  | "interpolation"
  | "float"
  | "int"
  | "bool"
  | "null"
  | "char"
  | "escape"
  | "blank"
  | "end";

/** The token at an offset. Throws `override.syntax` where no token can begin. */
export function readToken(source: OverrideSource, start: number, mode: LexerMode): Token {
  if (start >= source.text.length) return { kind: "end", start, end: start };
  return mode === "key" ? readKeyToken(source, start) : readValueToken(source, start);
}

const KEY_PUNCTUATION: Readonly<Record<string, TokenKind>> = {
  "~": "tilde",
  "+": "plus",
  "@": "at",
  ":": "colon",
  "/": "slash",
};

/** A name, or a path of names and ints. An int alone is not a key. */
const KEY_PATH =
  /(?:[A-Za-z_$][\w$-]*|(?:0|[1-9](?:_?[0-9])*)(?=\.(?:[A-Za-z_$0-9])))(?:\.(?:[A-Za-z_$][\w$-]*|0|[1-9](?:_?[0-9])*))*/y;

const ESCAPED = "\\\\[.[\\]=]";
const ACCESS_NAME = `(?:[A-Za-z_$]|${ESCAPED})(?:[\\w$-]|${ESCAPED})*`;
const BRACKETED = `\\[(?:[\\w$-]|${ESCAPED})+\\]`;
const INT = "(?:0|[1-9](?:_?[0-9])*)";

/** As `KEY_PATH`, with items in brackets (`l[0]`, `m[a]`) and escapes (`a\.b`). */
const ACCESS_PATH = new RegExp(
  `(?:${ACCESS_NAME}|${INT}(?=\\.(?:[A-Za-z_$0-9\\\\])))(?:${BRACKETED})*(?:\\.(?:${ACCESS_NAME}|${INT})(?:${BRACKETED})*)*`,
  "y",
);

function readKeyToken(source: OverrideSource, start: number): Token {
  const { dialect, text } = source;
  const char = text.charAt(start);
  if (char === "=") return { kind: "equal", start, end: skipBlanks(text, start + 1) };
  const punctuation = KEY_PUNCTUATION[char];
  if (punctuation !== undefined) return { kind: punctuation, start, end: start + 1 };
  const end = matchEnd(dialect?.escapesInKeys === true ? ACCESS_PATH : KEY_PATH, text, start);
  if (end === start) throw unexpectedInKey(source, start);
  const key = text.slice(start, end);
  if (/[[\\]/.test(key)) return { kind: "access", start, end };
  if (key.includes(".")) return { kind: "path", start, end };
  return { kind: key.includes("$") ? "special" : "id", start, end };
}

const VALUE_PUNCTUATION: Readonly<Record<string, TokenKind>> = {
  ":": "colon",
  "=": "equal",
  ",": "comma",
  "(": "parenthesis_open",
  ")": "parenthesis_close",
  "[": "bracket_open",
  "]": "bracket_close",
  "{": "brace_open",
  "}": "brace_close",
};

/** Blanks before these belong to the token. `[` and `{` are missing: a blank before them is a token of its own. */
const TAKES_BLANKS_BEFORE = ":=,()]}";
const TAKES_BLANKS_AFTER = ":=,([{";

function readValueToken(source: OverrideSource, start: number): Token {
  const { text } = source;
  const char = text.charAt(start);
  if (isBlank(char)) {
    const behind = skipBlanks(text, start);
    const next = text.charAt(behind);
    if (next === "" || !TAKES_BLANKS_BEFORE.includes(next))
      return { kind: "blank", start, end: behind };
    return readPunctuation(text, start, behind) ?? { kind: "blank", start, end: behind };
  }
  return (
    readPunctuation(text, start, start) ??
    readName(text, start) ??
    readNumber(text, start) ??
    readEscape(text, start) ??
    readInterpolation(text, start) ??
    readChar(text, start) ??
    readQuoted(source, start)
  );
}

function readPunctuation(text: string, start: number, offset: number): Token | null {
  const char = text.charAt(offset);
  const kind = VALUE_PUNCTUATION[char];
  if (kind === undefined) return null;
  const end = TAKES_BLANKS_AFTER.includes(char) ? skipBlanks(text, offset + 1) : offset + 1;
  return { kind, start, end };
}

/** Keywords for values, in any case. */
const WORDS: ReadonlyMap<string, TokenKind> = new Map([
  ["true", "bool"],
  ["false", "bool"],
  ["null", "null"],
  ["inf", "float"],
  ["nan", "float"],
]);

function readName(text: string, start: number): Token | null {
  if (!isNameStart(text.charCodeAt(start))) return null;
  let end = start + 1;
  while (isNamePart(text.charCodeAt(end))) end++;
  // Longer names cannot be keywords, and need no lower-casing.
  const word = end - start <= 5 ? WORDS.get(text.slice(start, end).toLowerCase()) : undefined;
  return { kind: word ?? "id", start, end };
}

const NUMBER =
  /[+-]?(?:(?:(?:0|[1-9](?:_?[0-9])*)(\.(?:[0-9](?:_?[0-9])*)?)?|(\.[0-9](?:_?[0-9])*))([eE][+-]?[0-9](?:_?[0-9])*)?|(inf|nan))/iy;

function readNumber(text: string, start: number): Token | null {
  NUMBER.lastIndex = start;
  const match = NUMBER.exec(text);
  if (match === null) return null;
  const float = match[1] ?? match[2] ?? match[3] ?? match[4];
  return { kind: float === undefined ? "int" : "float", start, end: start + match[0].length };
}

const ESCAPES = /(?:\\[\\()[\]{}:=, \t])+/y;

function readEscape(text: string, start: number): Token | null {
  const end = matchEnd(ESCAPES, text, start);
  return end === start ? null : { kind: "escape", start, end };
}

/** Ends at the first `}`, whatever is between: a nested interpolation must be quoted. */
function readInterpolation(text: string, start: number): Token | null {
  if (!text.startsWith("${", start)) return null;
  const end = text.indexOf("}", start + 2);
  return end > start + 2 ? { kind: "interpolation", start, end: end + 1 } : null;
}

const CHARS = "/-\\+.$%*@?|";

const readChar = (text: string, start: number): Token | null =>
  CHARS.includes(text.charAt(start)) ? { kind: "char", start, end: start + 1 } : null;

/** Ends at the first quote with an even number of backslashes before it. */
function readQuoted(source: OverrideSource, start: number): Token {
  const { text } = source;
  const quote = text.charAt(start);
  if (quote !== "'" && quote !== '"') throw unexpectedInValue(source, start);
  for (let offset = start + 1, backslashes = 0; offset < text.length; offset++) {
    const char = text.charAt(offset);
    if (char === quote && backslashes % 2 === 0) return { kind: "quoted", start, end: offset + 1 };
    backslashes = char === "\\" ? backslashes + 1 : 0;
  }
  throw syntaxError(
    source,
    { start, end: text.length },
    `the quote ${quote} is never closed`,
    quoteHint(text),
  );
}

function unexpectedInKey(source: OverrideSource, start: number) {
  const char = characterAt(source.text, start);
  return syntaxError(
    source,
    { start, end: start + char.length },
    keyProblem(char),
    keyHint(source.text),
  );
}

function unexpectedInValue(source: OverrideSource, start: number) {
  const { text } = source;
  const char = characterAt(text, start);
  return syntaxError(
    source,
    { start, end: start + char.length },
    `${nameCharacter(char)} is not allowed in an unquoted value`,
    quoteHint(text),
  );
}

const characterAt = (text: string, start: number): string =>
  String.fromCodePoint(text.codePointAt(start) ?? 0);

const isNameStart = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;

const isNamePart = (code: number): boolean =>
  isNameStart(code) || (code >= 0x30 && code <= 0x39) || code === 0x2d;

const isBlank = (char: string): boolean => char === " " || char === "\t";

function skipBlanks(text: string, start: number): number {
  let offset = start;
  while (isBlank(text.charAt(offset))) offset++;
  return offset;
}

function matchEnd(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

/** The parser's position in the text. Tokens after it are read on demand. */
export interface Cursor {
  readonly source: OverrideSource;
  mode: LexerMode;
  /** Whether Hydra's parser would still be looking ahead here, to distinguish a sweep from a single value. */
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

/** The token after the next one. */
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

/** Drops the tokens read ahead, and continues in another lexer mode. */
export function readAgain(cursor: Cursor, mode: LexerMode): void {
  cursor.mode = mode;
  cursor.current = null;
  cursor.second = null;
}

/** Consumes the next token if it is of this kind. */
export function takeIf(cursor: Cursor, kind: TokenKind): Token | null {
  return peek(cursor).kind === kind ? take(cursor) : null;
}

/**
 * Consumes a token of this kind, or throws that `what` (in words) was expected here.
 * @param hint what to write instead, given the text of the override
 */
export const expect = (
  cursor: Cursor,
  kind: TokenKind,
  what: string,
  hint?: (text: string) => Advice | undefined,
): Token => takeIf(cursor, kind) ?? refuse(cursor, what, hint?.(cursor.source.text));

/**
 * Consumes the token that closes a sequence of items. After the second item Hydra reports any other token at once,
 * without reading ahead.
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
 * Throws that `what` was expected at the next token. Hydra reads ahead before it reports the error, one token or, while
 * it looks ahead, to the end of the text; an invalid token found there is reported instead.
 */
export function refuse(cursor: Cursor, what: string, advice?: Advice): never {
  if (cursor.predicting) readToEnd(cursor);
  else peekSecond(cursor);
  return complain(cursor, what, advice);
}

function complain(cursor: Cursor, what: string, advice?: Advice): never {
  const token = peek(cursor);
  throw syntaxError(cursor.source, token, `expected ${what} but found ${found(cursor)}`, advice);
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
