/** The words of a line that someone types. */
import { shellQuote } from "../../foundation/text/shell-words.ts";

/** A word of a line, without its quotes. */
export interface LineWord {
  readonly text: string;
  /** Offsets in the line, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** The offset in the line of each character of the text, and behind the last one that of the end. */
  readonly offsets: readonly number[];
}

/**
 * The words of a line that someone types: quotes and backslashes have the meaning of a POSIX shell, everything else is literal, so that
 * `x=${y}` and `lr=choice(1,2)` need no quotes. Quotes that are still open end with the line.
 */
export function lineWords(line: string): readonly LineWord[] {
  const words: LineWord[] = [];
  for (let position = 0; position < line.length; ) {
    if (/\s/.test(line.charAt(position))) position += 1;
    else {
      const word = wordFrom(line, position);
      words.push(word);
      position = word.end;
    }
  }
  return words;
}

/** Quotes a text as one word of such a line, where it needs that. */
export function lineWord(text: string): string {
  const [first, ...others] = lineWords(text);
  return first?.text === text && others.length === 0 ? text : shellQuote(text);
}

function wordFrom(line: string, start: number): LineWord {
  const offsets: number[] = [];
  let text = "";
  let quote = "";
  let position = start;
  const take = (offset: number) => {
    text += line.charAt(offset);
    offsets.push(offset);
  };
  for (; position < line.length; position++) {
    const char = line.charAt(position);
    if (quote === "" && /\s/.test(char)) break;
    if (char === quote) quote = "";
    else if (quote === "" && /["']/.test(char)) quote = char;
    else if (char === "\\" && isEscape(line.charAt(position + 1), quote)) {
      position += 1;
      take(position);
    } else take(position);
  }
  return { text, start, end: position, offsets: [...offsets, position] };
}

const isEscape = (next: string, quote: string): boolean =>
  next !== "" && (quote === "" || (quote === '"' && /["\\$`]/.test(next)));
