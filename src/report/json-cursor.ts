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
      for (;;) {
        const end = endOf(text.charAt(cursor.at) === '"' ? STRING : WORD, text, cursor.at);
        const isCut = text.charAt(cursor.at) === '"' ? end === null : end === text.length;
        if (!isCut || !cursor.more()) return end;
      }
    },
  };
  return cursor;
}

const BLANK = /[ \t\n\r]+/y;
const STRING = /"(?:[^"\\]+|\\.)*"/sy;
const WORD = /[^ \t\n\r,:[\]{}"]+/y;

/** The offset behind what a sticky pattern finds at a place. */
export function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
