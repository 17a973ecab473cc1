/** The text of a JSON file, which may exceed the longest string (512 MB), and positions in it. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { longValueError, refuseDevice } from "../../foundation/system/files.ts";

/** Iterates over the pieces of a text; can be called several times. */
export type JsonText = () => Iterable<string>;

export const textOf =
  (text: string): JsonText =>
  () =>
    withoutMark([text]);

export const textOfBytes =
  (chunks: Iterable<Uint8Array>): JsonText =>
  () =>
    withoutMark(decoded(chunks));

/** @throws the errors of the system: immediately if the file is missing or unreadable, others while the text is read */
export function textOfFile(path: string): JsonText {
  const file = openSync(path, "r");
  try {
    const status = fstatSync(file);
    refuseDevice(status, path);
    // A pipe can be read only once, so its bytes are kept.
    if (!status.isFile()) return textOfBytes([...chunksOf(file)]);
  } finally {
    closeSync(file);
  }
  return () => withoutMark(decoded(chunksAt(path)));
}

const CHUNK_BYTES = 1 << 22;

/** Removes a byte order mark, which is not part of the document and does not count in positions. */
function* withoutMark(pieces: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const piece of pieces) {
    yield isFirst && piece.startsWith("\ufeff") ? piece.slice(1) : piece;
    isFirst &&= piece === "";
  }
}

/** Uses `StringDecoder`, because strings from `TextDecoder` take two bytes per character. */
function* decoded(chunks: Iterable<Uint8Array>): Generator<string> {
  const decoder = new StringDecoder("utf8");
  for (const chunk of chunks) yield decoder.write(chunk);
  yield decoder.end();
}

function* chunksAt(path: string): Generator<Buffer> {
  const file = openSync(path, "r");
  try {
    yield* chunksOf(file);
  } finally {
    closeSync(file);
  }
}

function* chunksOf(file: number): Generator<Buffer> {
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = readSync(file, chunk);
    if (length === 0) return;
    yield chunk.subarray(0, length);
  }
}

/** A position in a JSON text that is only partly in memory. */
export interface JsonCursor {
  /** The part in memory. */
  readonly text: string;
  /** The position: an offset into `text`. */
  offset: number;
  /** Drops the text before the position, which becomes offset 0, and reads more; false at the end of the text. */
  more(): boolean;
  /** Skips blanks and returns the next character without consuming it; empty at the end. */
  peek(): string;
  /**
   * The offset after the string, number or word that begins here, all of which is then in memory. The token is not
   * validated. Null if no such token begins here, or if it is incomplete.
   *
   * @throws `longValueError` if it is longer than `LONGEST_TOKEN`
   */
  endOfToken(): number | null;
}

/** Characters of a string that are read at most; no report has one of more than some thousands. */
const LONGEST_TOKEN = 1 << 26;

/** @param onMove called before `more` drops the text before `offset` */
export function openCursor(
  whole: JsonText,
  onMove: (text: string, offset: number) => void = () => {},
): JsonCursor {
  const pieces = whole()[Symbol.iterator]();
  let text = "";
  const cursor: JsonCursor = {
    offset: 0,
    get text() {
      return text;
    },
    more() {
      const { value, done } = pieces.next();
      if (done === true) return false;
      onMove(text, cursor.offset);
      text = text.slice(cursor.offset) + value;
      cursor.offset = 0;
      return true;
    },
    peek() {
      do cursor.offset = endOf(BLANK, text, cursor.offset) ?? cursor.offset;
      while (cursor.offset === text.length && cursor.more());
      return text.charAt(cursor.offset);
    },
    endOfToken() {
      return text.charAt(cursor.offset) === '"' ? endOfString() : endOfWord();
    },
  };

  const endOfString = (): number | null => {
    let from = cursor.offset + 1;
    for (;;) {
      const quote = text.indexOf('"', from);
      if (quote >= 0 && !isEscaped(text, quote)) return quote + 1;
      from = quote >= 0 ? quote + 1 : text.length - cursor.offset;
      if (quote < 0 && !moreOfToken()) return null;
    }
  };
  const moreOfToken = (): boolean => {
    if (text.length - cursor.offset > LONGEST_TOKEN) throw longValueError();
    return cursor.more();
  };
  const endOfWord = (): number | null => {
    let from = cursor.offset;
    for (;;) {
      NOT_IN_WORD.lastIndex = from;
      const end = NOT_IN_WORD.test(text) ? NOT_IN_WORD.lastIndex - 1 : text.length;
      const length = end - cursor.offset;
      if (end < text.length || !moreOfToken()) return length === 0 ? null : end;
      from = cursor.offset + length;
    }
  };
  return cursor;
}

const BLANK = /[ \t\n\r]+/y;
/** Searched for from where the last piece ended, so that a long word is looked at once. */
const NOT_IN_WORD = /[^-+.\w]/g;

/** Counts backslashes backwards from the quote: a regular expression would need a stack as deep as the run is long. */
function isEscaped(text: string, quote: number): boolean {
  let offset = quote;
  while (text.charAt(offset - 1) === "\\") offset--;
  return (quote - offset) % 2 === 1;
}

/** The offset after the match of a sticky pattern; null without a match. */
function endOf(pattern: RegExp, text: string, offset: number): number | null {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : null;
}
