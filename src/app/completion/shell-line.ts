/** A shell's command line up to the cursor, as the program would get it. */
export interface ShellLine {
  /** The words before the one under the cursor, without quotes; the program is the first. */
  readonly words: readonly string[];
  /** The word under the cursor as far as it is typed, without quotes; empty behind a space. */
  readonly word: string;
  /** How many characters of `word` the shell keeps and does not take from a completion. */
  readonly kept: number;
  /** The quote that is open at the cursor. */
  readonly quote: "" | "'" | '"';
}

/**
 * Reads a line of bash. Bash completes words in pieces: what stands before a character of
 * `COMP_WORDBREAKS`, and before an open quote, stays as it is.
 */
export function readShellLine(line: string, wordBreaks: string): ShellLine {
  const words: string[] = [];
  let word: string | undefined;
  let kept = 0;
  let quote: ShellLine["quote"] = "";
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (quote === "" && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      [word, kept] = [undefined, 0];
    } else if (char === quote) quote = "";
    else if (quote === "" && (char === "'" || char === '"')) {
      quote = char;
      word ??= "";
      kept = word.length;
    } else if (char === "\\" && isEscape(line.charAt(at + 1), quote)) {
      word = (word ?? "") + line.charAt(++at);
    } else {
      word = (word ?? "") + char;
      if (quote === "" && wordBreaks.includes(char)) kept = word.length;
    }
  }
  return { words, word: word ?? "", kept, quote };
}

const isEscape = (next: string, quote: ShellLine["quote"]): boolean =>
  quote === "" ? next !== "" : quote === '"' && next !== "" && '$`"\\'.includes(next);

/** What is typed for a text, so that bash reads it back; within a quote that is open. */
export function quoteForBash(text: string, quote: ShellLine["quote"]): string {
  switch (quote) {
    case "":
      return text.replace(/[\s'"\\$`;&|<>()*?[\]{}#!]/g, "\\$&");
    case '"':
      return text.replace(/["\\$`]/g, "\\$&");
    case "'":
      return text.replaceAll("'", "'\\''");
  }
}
