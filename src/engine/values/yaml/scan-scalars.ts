/** Scans the scalars of YAML 1.1: plain, quoted and block ones. */
import {
  atDocumentMarker,
  type Cursor,
  charAt,
  column,
  END,
  isBlank,
  isBreak,
  isBreakOrEnd,
  isDigit,
  isFlowIndicator,
  isHexDigit,
  isSpaceBreakOrEnd,
  refuseTab,
  SPACE,
  scanLineBreak,
  showCharacter,
  skipBlanks,
  skipToBreak,
  TAB,
  yamlError,
} from "./cursor.ts";
import type { ScalarToken } from "./tokens.ts";

export interface PlainScan {
  readonly token: ScalarToken;
  /** A line break ends the scalar, after which a key may start. */
  readonly endsLine: boolean;
}

/**
 * A plain scalar, which extends over all sufficiently indented lines. It ends before `: `, ` #`, a tab, a document
 * marker, and inside brackets also before `,?[]{}`.
 */
export function scanPlain(cursor: Cursor, indent: number, inFlow: boolean): PlainScan {
  const start = cursor.pos;
  let end = plainRunEnd(cursor, inFlow, start);
  let value = cursor.text.slice(start, end);
  let endsLine = false;
  cursor.pos = end;
  for (;;) {
    const gap = cursor.libyaml ? scanBlankGap(cursor, indent, start) : scanGap(cursor);
    endsLine = gap.brokeLine;
    if (gap.text === "" || charAt(cursor) === 0x23) break;
    if (!inFlow && column(cursor) < indent) break;
    const runStart = cursor.pos;
    const runEnd = plainRunEnd(cursor, inFlow, start);
    if (runEnd === runStart) break;
    value += gap.text + cursor.text.slice(runStart, runEnd);
    end = runEnd;
    cursor.pos = runEnd;
  }
  return { token: { type: "<scalar>", value, plain: true, start, end }, endsLine };
}

/** Offset where the run of non-blank characters that starts here ends. */
function plainRunEnd(cursor: Cursor, inFlow: boolean, start: number): number {
  const { text } = cursor;
  let { pos } = cursor;
  for (;;) {
    const c = text.charCodeAt(pos);
    if (c <= SPACE || c > 0x7e) {
      if (isBlank(c)) return pos;
    } else if (c === 0x3a) {
      const next = text.charCodeAt(pos + 1);
      if (cursor.libyaml && inFlow && (next === 0x3f || isFlowIndicator(next)))
        throw yamlError(cursor.source, {
          context: "while scanning a plain scalar",
          contextStart: start,
          problem: "found unexpected ':'",
          start: pos,
          hint: "put a blank behind the colon, or quotes around the text",
        });
      if (isBlank(next) || (inFlow && isFlowIndicator(next))) return pos;
    } else if (inFlow && ((c === 0x3f && !cursor.libyaml) || isFlowIndicator(c))) {
      return pos;
    }
    pos++;
  }
}

interface Gap {
  /** What the gap adds to the value; "" ends the scalar. */
  readonly text: string;
  readonly brokeLine: boolean;
}

const NO_GAP: Gap = { text: "", brokeLine: false };
const MARKER_GAP: Gap = { text: "", brokeLine: true };

/** White space after a run: spaces are kept inside a line, line breaks are folded. */
function scanGap(cursor: Cursor): Gap {
  const { text } = cursor;
  const start = cursor.pos;
  let { pos } = cursor;
  while (text.charCodeAt(pos) === SPACE) pos++;
  cursor.pos = pos;
  if (!isBreak(text.charCodeAt(pos)))
    return pos === start ? NO_GAP : { text: text.slice(start, pos), brokeLine: false };
  const first = scanLineBreak(cursor);
  if (atDocumentMarker(cursor, isBlank)) return MARKER_GAP;
  let breaks = "";
  for (;;) {
    if (charAt(cursor) === SPACE) {
      cursor.pos++;
    } else if (isBreak(charAt(cursor))) {
      breaks += scanLineBreak(cursor);
      if (atDocumentMarker(cursor, isBlank)) return MARKER_GAP;
    } else {
      break;
    }
  }
  return { text: foldBreaks(first, breaks), brokeLine: true };
}

/** The same for libyaml, which treats tabs as spaces, except at the end of indentation. */
function scanBlankGap(cursor: Cursor, indent: number, scalarStart: number): Gap {
  const { text } = cursor;
  const start = cursor.pos;
  skipBlanks(cursor);
  if (!isBreak(charAt(cursor)))
    return cursor.pos === start
      ? NO_GAP
      : { text: text.slice(start, cursor.pos), brokeLine: false };
  const first = scanLineBreak(cursor);
  let breaks = "";
  for (;;) {
    const c = charAt(cursor);
    if (c === TAB && column(cursor) < indent)
      throw yamlError(cursor.source, {
        context: "while scanning a plain scalar",
        contextStart: scalarStart,
        problem: "found a tab character that violates indentation",
        start: cursor.pos,
        hint: "YAML allows no tabs here: use spaces",
      });
    if (c === SPACE || c === TAB) cursor.pos++;
    else if (isBreak(c)) breaks += scanLineBreak(cursor);
    else break;
  }
  if (column(cursor) === 0 && atDocumentMarker(cursor, isBlank)) return MARKER_GAP;
  return { text: foldBreaks(first, breaks), brokeLine: true };
}

/** A single `\n` becomes a space; of several, the first is dropped; U+2028 and U+2029 are kept. */
function foldBreaks(first: string, others: string): string {
  if (first !== "\n") return first + others;
  return others === "" ? " " : others;
}

const SINGLE = 0x27;
const BACKSLASH = 0x5c;

/** Escapes of double-quoted scalars for single characters. */
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

/** Escapes that are followed by this many hexadecimal digits. */
const NUMERIC_ESCAPES: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

/** A scalar in single or double quotes; the cursor is at the opening quote. */
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

/** The text up to white space or the closing quote. */
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
  const escapeStart = cursor.pos;
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
    return scanCodePoint(cursor, digits, start, escapeStart);
  }
  if (isBreak(charAt(cursor))) {
    // An escaped line break joins the lines.
    scanLineBreak(cursor);
    return scanBreaks(cursor, start);
  }
  const problem = `found unknown escape character ${showCharacter(cursor.text, cursor.pos)}`;
  throw yamlError(cursor.source, {
    context: "while scanning a double-quoted scalar",
    contextStart: start,
    problem,
    start: cursor.pos,
    hint: "write a backslash as \\\\ in double quotes, or use single quotes",
  });
}

function scanCodePoint(cursor: Cursor, digits: number, start: number, escapeStart: number): string {
  for (let i = 0; i < digits; i++) {
    if (isHexDigit(charAt(cursor, i))) continue;
    throw yamlError(cursor.source, {
      context: "while scanning a double-quoted scalar",
      contextStart: start,
      problem: `expected escape sequence of ${digits} hexadecimal numbers, but found ${showCharacter(cursor.text, cursor.pos + i)}`,
      start: cursor.pos,
    });
  }
  const code = Number.parseInt(cursor.text.slice(cursor.pos, cursor.pos + digits), 16);
  cursor.pos += digits;
  if (cursor.libyaml && ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff))
    throw yamlError(cursor.source, {
      context: "while parsing a quoted scalar",
      contextStart: start,
      problem: "found invalid Unicode character escape code",
      start: escapeStart,
      end: cursor.pos,
    });
  if (code <= 0x10ffff) return String.fromCodePoint(code);
  throw yamlError(cursor.source, {
    code: "yaml.invalid_value",
    problem: "the escape sequence is beyond the last character of Unicode",
    start: escapeStart,
    end: cursor.pos,
  });
}

/** White space in quotes: kept inside a line, folded around a line break. */
function scanSpace(cursor: Cursor, start: number): string {
  const from = cursor.pos;
  let c = charAt(cursor);
  while (c === SPACE || c === TAB) {
    cursor.pos++;
    c = charAt(cursor);
  }
  if (c === END)
    throw yamlError(cursor.source, {
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

/** The breaks of empty lines, and the indentation of the line after them. */
function scanBreaks(cursor: Cursor, start: number): string {
  let breaks = "";
  for (;;) {
    if (atDocumentMarker(cursor, isBlank))
      throw yamlError(cursor.source, {
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

const CONTEXT = "while scanning a block scalar";

interface Header {
  readonly chomping: "clip" | "strip" | "keep";
  /** Explicit indentation, from 1 to 9. */
  readonly indentation: number | null;
}

/** A literal (`|`) or folded (`>`) scalar; `parentIndent` is the column of the block around it. */
export function scanBlockScalar(cursor: Cursor, parentIndent: number): ScalarToken {
  const start = cursor.pos;
  const folded = charAt(cursor) === 0x3e;
  cursor.pos++;
  const { chomping, indentation } = scanHeader(cursor, start);
  const minimum = Math.max(parentIndent + 1, 1);
  const leading =
    indentation === null
      ? detectIndentation(cursor, minimum, start)
      : readBreaks(cursor, minimum + indentation - 1, start);
  const { indent } = leading;
  let { breaks, end } = leading;
  let value = "";
  let lineBreak = "";
  while (column(cursor) === indent && charAt(cursor) !== END) {
    const startsWithText = !isSpaceOrTab(charAt(cursor));
    const from = cursor.pos;
    skipToBreak(cursor);
    value += breaks + cursor.text.slice(from, cursor.pos);
    end = cursor.pos;
    lineBreak = scanLineBreak(cursor);
    const trailing = readBreaks(cursor, indent, start);
    breaks = trailing.breaks;
    if (column(cursor) !== indent || charAt(cursor) === END) break;
    // Folding joins two lines of text; a more indented line keeps the breaks around it.
    const fold = folded && lineBreak === "\n" && startsWithText && !isSpaceOrTab(charAt(cursor));
    if (!fold) value += lineBreak;
    else if (breaks === "") value += " ";
  }
  if (chomping !== "strip") value += lineBreak;
  if (chomping === "keep") value += breaks;
  return { type: "<scalar>", value, plain: false, start, end };
}

function scanHeader(cursor: Cursor, start: number): Header {
  let indentation: number | null = null;
  let chomping = scanChomping(cursor);
  if (isDigit(charAt(cursor))) {
    indentation = charAt(cursor) - 0x30;
    if (indentation === 0)
      throw yamlError(cursor.source, {
        context: CONTEXT,
        problem: "expected indentation indicator in the range 1-9, but found 0",
        start: cursor.pos,
      });
    cursor.pos++;
    chomping ??= scanChomping(cursor);
  }
  if (!cursor.libyaml && !isSpaceBreakOrEnd(charAt(cursor)))
    throw yamlError(cursor.source, {
      context: CONTEXT,
      contextStart: start,
      problem: `expected chomping or indentation indicators, but found ${showCharacter(cursor.text, cursor.pos)}`,
      start: cursor.pos,
    });
  skipBlanks(cursor);
  if (charAt(cursor) === 0x23) skipToBreak(cursor);
  if (!isBreakOrEnd(charAt(cursor)))
    throw yamlError(cursor.source, {
      context: CONTEXT,
      contextStart: start,
      problem: `expected a comment or a line break, but found ${showCharacter(cursor.text, cursor.pos)}`,
      start: cursor.pos,
    });
  scanLineBreak(cursor);
  return { chomping: chomping ?? "clip", indentation };
}

function scanChomping(cursor: Cursor): "strip" | "keep" | null {
  const c = charAt(cursor);
  if (c !== 0x2b && c !== 0x2d) return null;
  cursor.pos++;
  return c === 0x2b ? "keep" : "strip";
}

interface Breaks {
  readonly breaks: string;
  readonly indent: number;
  /** Offset where the scalar ends if no text follows. */
  readonly end: number;
}

/** The indentation without an indicator: the deepest of the leading blank lines and the first text line. */
function detectIndentation(cursor: Cursor, minimum: number, start: number): Breaks {
  let breaks = "";
  let indent = minimum;
  let end = cursor.pos;
  for (;;) {
    const c = charAt(cursor);
    if (c === SPACE) {
      cursor.pos++;
      indent = Math.max(indent, column(cursor));
    } else if (isBreak(c)) {
      breaks += scanLineBreak(cursor);
      end = cursor.pos;
    } else {
      if (c === TAB) refuseTab(cursor, CONTEXT, start);
      return { breaks, indent, end };
    }
  }
}

function readBreaks(cursor: Cursor, indent: number, start: number): Breaks {
  let breaks = "";
  let end = cursor.pos;
  for (;;) {
    while (column(cursor) < indent && charAt(cursor) === SPACE) cursor.pos++;
    if (column(cursor) < indent && charAt(cursor) === TAB) refuseTab(cursor, CONTEXT, start);
    if (!isBreak(charAt(cursor))) return { breaks, indent, end };
    breaks += scanLineBreak(cursor);
    end = cursor.pos;
  }
}

const isSpaceOrTab = (c: number): boolean => c === SPACE || c === TAB;
