import { isBlank, isBreak, isFlowIndicator, SPACE } from "./characters.ts";
import { atDocumentMarker, type Cursor, charAt, column, scanLineBreak } from "./cursor.ts";
import type { ScalarToken } from "./tokens.ts";

export interface PlainScan {
  readonly token: ScalarToken;
  /** A line break ends the scalar, behind which a key may start. */
  readonly endsLine: boolean;
}

/**
 * An unquoted scalar, over as many lines as are indented enough. It ends before `: `, ` #`, a tab,
 * a document marker, and inside brackets also before `,?[]{}`.
 */
export function scanPlain(cursor: Cursor, indent: number, inFlow: boolean): PlainScan {
  const start = cursor.pos;
  let end = plainRunEnd(cursor, inFlow);
  let value = cursor.text.slice(start, end);
  let endsLine = false;
  cursor.pos = end;
  for (;;) {
    const gap = scanGap(cursor);
    endsLine = gap.brokeLine;
    if (gap.text === "" || charAt(cursor) === 0x23) break;
    if (!inFlow && column(cursor) < indent) break;
    const runStart = cursor.pos;
    const runEnd = plainRunEnd(cursor, inFlow);
    if (runEnd === runStart) break;
    value += gap.text + cursor.text.slice(runStart, runEnd);
    end = runEnd;
    cursor.pos = runEnd;
  }
  return { token: { type: "<scalar>", value, plain: true, start, end }, endsLine };
}

/** Where the characters without white space end that start here. */
function plainRunEnd(cursor: Cursor, inFlow: boolean): number {
  const { text } = cursor;
  let { pos } = cursor;
  for (;;) {
    const c = text.charCodeAt(pos);
    if (c <= SPACE || c > 0x7e) {
      if (isBlank(c)) return pos;
    } else if (c === 0x3a) {
      const next = text.charCodeAt(pos + 1);
      if (isBlank(next) || (inFlow && isFlowIndicator(next))) return pos;
    } else if (inFlow && (c === 0x3f || isFlowIndicator(c))) {
      return pos;
    }
    pos++;
  }
}

interface Gap {
  /** What the gap counts for in the value; "" ends the scalar. */
  readonly text: string;
  readonly brokeLine: boolean;
}

const NO_GAP: Gap = { text: "", brokeLine: false };
const MARKER_GAP: Gap = { text: "", brokeLine: true };

/** White space behind a run: spaces are kept inside a line, line breaks are folded. */
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

/** A single `\n` becomes a space; more of them lose the first; U+2028 and U+2029 stay. */
export function foldBreaks(first: string, others: string): string {
  if (first !== "\n") return first + others;
  return others === "" ? " " : others;
}
