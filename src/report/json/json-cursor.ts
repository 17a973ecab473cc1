import type { JsonText } from "./json-text.ts";

/** A position in a JSON text of which only the part around it is in memory. */
export interface JsonCursor {
  /** The part in memory. */
  readonly text: string;
  /** The position: an offset into `text`. */
  at: number;
  /** Drops the text before the position, which becomes offset 0, and reads more; false at the end of the text. */
  more(): boolean;
  /** Skips blanks and returns the next character without taking it; empty at the end. */
  peek(): string;
  /**
   * The offset after the string, number or word that begins here, all of which is then in memory. The text
   * is not validated: that is up to the caller. Null if no such token begins here, or it does not end.
   */
  endOfToken(): number | null;
}

/** @param onMove called before `more` drops the text before `at` */
export function openCursor(
  whole: JsonText,
  onMove: (text: string, at: number) => void = () => {},
): JsonCursor {
  const pieces = whole()[Symbol.iterator]();
  let text = "";
  const cursor: JsonCursor = {
    at: 0,
    get text() {
      return text;
    },
    more() {
      const { value, done } = pieces.next();
      if (done === true) return false;
      onMove(text, cursor.at);
      text = text.slice(cursor.at) + value;
      cursor.at = 0;
      return true;
    },
    peek() {
      do cursor.at = endOf(BLANK, text, cursor.at) ?? cursor.at;
      while (cursor.at === text.length && cursor.more());
      return text.charAt(cursor.at);
    },
    endOfToken() {
      return text.charAt(cursor.at) === '"' ? endOfString() : endOfWord();
    },
  };

  const endOfString = (): number | null => {
    let from = cursor.at + 1;
    for (;;) {
      const quote = text.indexOf('"', from);
      if (quote >= 0 && !isEscaped(text, quote)) return quote + 1;
      from = quote >= 0 ? quote + 1 : text.length - cursor.at;
      if (quote < 0 && !cursor.more()) return null;
    }
  };
  const endOfWord = (): number | null => {
    for (;;) {
      const end = endOf(WORD, text, cursor.at);
      if (end !== text.length || !cursor.more()) return end;
    }
  };
  return cursor;
}

const BLANK = /[ \t\n\r]+/y;
const WORD = /[-+.\w]+/y;

/** Counts backslashes backwards from the quote: a regular expression would need a stack as long as their run. */
function isEscaped(text: string, quote: number): boolean {
  let at = quote;
  while (text.charAt(at - 1) === "\\") at--;
  return (quote - at) % 2 === 1;
}

/** The offset after the match of a sticky pattern; null without a match. */
function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
