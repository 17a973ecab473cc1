import type { JsonText } from "./json-text.ts";

/** A place in a JSON text, of which only the part around it is held. */
export interface JsonCursor {
  /** The part that is held. */
  readonly text: string;
  /** The place: an offset into `text`. */
  at: number;
  /** Lets go of what is before the place, which becomes offset 0, and takes more in; false at the end of all. */
  more(): boolean;
  /** Goes to the next character that is no blank, and says which; empty at the end. */
  peek(): string;
  /**
   * The offset behind the string, number or word that begins here, all of which is held then. It may be
   * none of them: whoever reads it has to look. Null where nothing of the kind begins or it does not end.
   */
  endOfToken(): number | null;
}

/** @param onMove called before `more` lets go of what is before `at` */
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

/** Looked for from the end: a regular expression keeps a stack of what it could match otherwise. */
function isEscaped(text: string, quote: number): boolean {
  let at = quote;
  while (text.charAt(at - 1) === "\\") at--;
  return (quote - at) % 2 === 1;
}

/** The offset behind what a sticky pattern finds at a place. */
function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
