import {
  END,
  isBreak,
  isBreakOrEnd,
  isDigit,
  isSpaceBreakOrEnd,
  SPACE,
  TAB,
} from "./characters.ts";
import { type Cursor, charAt, column, scanLineBreak, skipSpaces, skipToBreak } from "./cursor.ts";
import { refusal, showCharacter } from "./refusal.ts";
import type { ScalarToken } from "./tokens.ts";

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
      ? detectIndentation(cursor, minimum)
      : readBreaks(cursor, minimum + indentation - 1);
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
    const trailing = readBreaks(cursor, indent);
    breaks = trailing.breaks;
    if (column(cursor) !== indent || charAt(cursor) === END) break;
    // Folding joins two lines of text; a line that is indented more keeps the breaks around it.
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
      throw refusal(cursor.source, {
        context: CONTEXT,
        problem: "expected indentation indicator in the range 1-9, but found 0",
        start: cursor.pos,
      });
    cursor.pos++;
    chomping ??= scanChomping(cursor);
  }
  if (!isSpaceBreakOrEnd(charAt(cursor)))
    throw refusal(cursor.source, {
      context: CONTEXT,
      contextStart: start,
      problem: `expected chomping or indentation indicators, but found ${showCharacter(cursor.text, cursor.pos)}`,
      start: cursor.pos,
    });
  skipSpaces(cursor);
  if (charAt(cursor) === 0x23) skipToBreak(cursor);
  if (!isBreakOrEnd(charAt(cursor)))
    throw refusal(cursor.source, {
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
  /** Where the scalar ends if no text follows. */
  readonly end: number;
}

/** Without an indicator the deepest of the leading blank lines and the first text line decides. */
function detectIndentation(cursor: Cursor, minimum: number): Breaks {
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
      return { breaks, indent, end };
    }
  }
}

function readBreaks(cursor: Cursor, indent: number): Breaks {
  let breaks = "";
  let end = cursor.pos;
  for (;;) {
    while (column(cursor) < indent && charAt(cursor) === SPACE) cursor.pos++;
    if (!isBreak(charAt(cursor))) return { breaks, indent, end };
    breaks += scanLineBreak(cursor);
    end = cursor.pos;
  }
}

const isSpaceOrTab = (c: number): boolean => c === SPACE || c === TAB;
