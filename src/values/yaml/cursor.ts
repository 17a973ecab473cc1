import type { SourceText } from "../origin.ts";
import { isBreak, SPACE } from "./characters.ts";

/** A place in a text that the scan functions move forward. The only mutable state they share. */
export interface Cursor {
  readonly source: SourceText;
  /** The text of the source with a NUL behind its end. */
  readonly text: string;
  pos: number;
  /** Number of line breaks passed so far. */
  line: number;
  /** Offset that column 0 of the current line has. */
  lineStart: number;
}

export function createCursor(source: SourceText): Cursor {
  // A byte order mark is skipped and takes no column.
  const start = source.text.charCodeAt(0) === 0xfeff ? 1 : 0;
  return { source, text: `${source.text}\0`, pos: start, line: 0, lineStart: start };
}

/** Indentation is measured in columns; before it stand only ASCII characters, one unit each. */
export const column = (cursor: Cursor): number => cursor.pos - cursor.lineStart;

export const charAt = (cursor: Cursor, distance = 0): number =>
  cursor.text.charCodeAt(cursor.pos + distance);

export function skipSpaces(cursor: Cursor): void {
  const { text } = cursor;
  let { pos } = cursor;
  while (text.charCodeAt(pos) === SPACE) pos++;
  cursor.pos = pos;
}

/** Moves to the next line break or the end. A pattern does that at once: files have long comments. */
export function skipToBreak(cursor: Cursor): void {
  BREAK_OR_END.lastIndex = cursor.pos;
  cursor.pos = BREAK_OR_END.exec(cursor.text)?.index ?? cursor.text.length - 1;
}

const BREAK_OR_END = /[\0\n\r\x85\u2028\u2029]/g;

/**
 * Passes one line break and returns what it counts for: `\n`, or itself for U+2028 and U+2029, which
 * folding keeps. Returns "" where there is no break.
 */
export function scanLineBreak(cursor: Cursor): string {
  const c = charAt(cursor);
  if (!isBreak(c)) return "";
  cursor.pos += c === 0x0d && charAt(cursor, 1) === 0x0a ? 2 : 1;
  cursor.line++;
  cursor.lineStart = cursor.pos;
  return c < 0x2000 ? "\n" : String.fromCharCode(c);
}

/** Whether `---` or `...` stands here, at the start of a line, as a word of its own. */
export function atDocumentMarker(cursor: Cursor, isEndOfWord: (c: number) => boolean): boolean {
  const c = charAt(cursor);
  return (
    (c === 0x2d || c === 0x2e) &&
    charAt(cursor, 1) === c &&
    charAt(cursor, 2) === c &&
    isEndOfWord(charAt(cursor, 3))
  );
}
