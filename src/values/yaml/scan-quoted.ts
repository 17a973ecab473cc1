import { END, isBlank, isBreak, isHexDigit, SPACE, TAB } from "./characters.ts";
import { atDocumentMarker, type Cursor, charAt, scanLineBreak } from "./cursor.ts";
import { refusal, showCharacter } from "./refusal.ts";
import { foldBreaks } from "./scan-plain.ts";
import type { ScalarToken } from "./tokens.ts";

const SINGLE = 0x27;
const BACKSLASH = 0x5c;

/** Escapes of double-quoted scalars that stand for one character. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["a", "\x07"],
  ["b", "\x08"],
  ["t", "\t"],
  ["\t", "\t"],
  ["n", "\n"],
  ["v", "\v"],
  ["f", "\f"],
  ["r", "\r"],
  ["e", "\x1b"],
  [" ", " "],
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["N", "\x85"],
  ["_", "\xa0"],
  ["L", "\u2028"],
  ["P", "\u2029"],
]);

/** Escapes that are followed by so many hexadecimal digits. */
const NUMERIC_ESCAPES: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

/** A scalar in single or double quotes; the cursor stands on the opening quote. */
export function scanQuoted(cursor: Cursor): ScalarToken {
  const start = cursor.pos;
  const quote = charAt(cursor);
  cursor.pos++;
  let value = scanText(cursor, quote, start);
  while (charAt(cursor) !== quote) {
    value += scanSpace(cursor, start);
    value += scanText(cursor, quote, start);
  }
  cursor.pos++;
  return { type: "<scalar>", value, plain: false, start, end: cursor.pos };
}

/** Everything up to white space or the closing quote. */
function scanText(cursor: Cursor, quote: number, start: number): string {
  const { text } = cursor;
  let value = "";
  for (;;) {
    const from = cursor.pos;
    let pos = from;
    let c = text.charCodeAt(pos);
    while (c !== quote && c !== BACKSLASH && !isBlank(c)) c = text.charCodeAt(++pos);
    if (pos > from) value += text.slice(from, pos);
    cursor.pos = pos;
    if (c === SINGLE && quote === SINGLE && text.charCodeAt(pos + 1) === SINGLE) {
      value += "'";
      cursor.pos += 2;
    } else if (c === BACKSLASH && quote === SINGLE) {
      value += "\\";
      cursor.pos++;
    } else if (c === BACKSLASH) {
      value += scanEscape(cursor, start);
    } else {
      return value;
    }
  }
}

function scanEscape(cursor: Cursor, start: number): string {
  const at = cursor.pos;
  cursor.pos++;
  const letter = String.fromCodePoint(cursor.text.codePointAt(cursor.pos) ?? 0);
  const single = ESCAPES.get(letter);
  if (single !== undefined) {
    cursor.pos++;
    return single;
  }
  const digits = NUMERIC_ESCAPES.get(letter);
  if (digits !== undefined) {
    cursor.pos++;
    return scanCodePoint(cursor, digits, start, at);
  }
  if (isBreak(charAt(cursor))) {
    // An escaped line break joins the lines.
    scanLineBreak(cursor);
    return scanBreaks(cursor, start);
  }
  const problem = `found unknown escape character ${showCharacter(cursor.text, cursor.pos)}`;
  throw refusal(cursor.source, {
    context: "while scanning a double-quoted scalar",
    contextStart: start,
    problem,
    start: cursor.pos,
    hint: "write a backslash as \\\\ in double quotes, or use single quotes",
  });
}

function scanCodePoint(cursor: Cursor, digits: number, start: number, at: number): string {
  for (let i = 0; i < digits; i++) {
    if (isHexDigit(charAt(cursor, i))) continue;
    throw refusal(cursor.source, {
      context: "while scanning a double-quoted scalar",
      contextStart: start,
      problem: `expected escape sequence of ${digits} hexadecimal numbers, but found ${showCharacter(cursor.text, cursor.pos + i)}`,
      start: cursor.pos,
    });
  }
  const code = Number.parseInt(cursor.text.slice(cursor.pos, cursor.pos + digits), 16);
  cursor.pos += digits;
  if (code <= 0x10ffff) return String.fromCodePoint(code);
  throw refusal(cursor.source, {
    code: "yaml.invalid_value",
    problem: "the escape sequence is beyond the last character of Unicode",
    start: at,
    end: cursor.pos,
  });
}

/** White space inside quotes: kept inside a line, folded around a line break. */
function scanSpace(cursor: Cursor, start: number): string {
  const from = cursor.pos;
  let c = charAt(cursor);
  while (c === SPACE || c === TAB) {
    cursor.pos++;
    c = charAt(cursor);
  }
  if (c === END)
    throw refusal(cursor.source, {
      context: "while scanning a quoted scalar",
      problem: "found unexpected end of stream",
      start,
      end: start + 1,
      hint: "the quote that opens here is never closed",
    });
  if (!isBreak(c)) return cursor.text.slice(from, cursor.pos);
  const first = scanLineBreak(cursor);
  return foldBreaks(first, scanBreaks(cursor, start));
}

/** The breaks of empty lines, and the indentation of the line behind them. */
function scanBreaks(cursor: Cursor, start: number): string {
  let breaks = "";
  for (;;) {
    if (atDocumentMarker(cursor, isBlank))
      throw refusal(cursor.source, {
        context: "while scanning a quoted scalar",
        contextStart: start,
        problem: "found unexpected document separator",
        start: cursor.pos,
        end: cursor.pos + 3,
      });
    while (charAt(cursor) === SPACE || charAt(cursor) === TAB) cursor.pos++;
    if (!isBreak(charAt(cursor))) return breaks;
    breaks += scanLineBreak(cursor);
  }
}
