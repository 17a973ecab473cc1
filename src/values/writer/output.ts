/** The text written so far, and the column that the next character gets. */
export interface Output {
  text: string;
  column: number;
}

/** A simple key stays on one line whatever its length; a value may be folded, or take a block. */
export type ScalarRole = "simple key" | "value";

/** PyYAML folds behind this column. */
export const BEST_WIDTH = 80;
export const INDENT = 2;

export function append(out: Output, text: string, width = text.length): void {
  out.text += text;
  out.column += width;
}

/** Moves to a column of a fresh line; stays on the current one where nothing was written on it. */
export function startLine(out: Output, column: number): void {
  if (out.column > 0) out.text += "\n";
  out.text += spaces(column);
  out.column = column;
}

/** Moves to a column further right on the same line. */
export const moveTo = (out: Output, column: number): void =>
  append(out, spaces(column - out.column));

export function breakLine(out: Output, lineBreak = "\n"): void {
  out.text += lineBreak;
  out.column = 0;
}

const spaces = (count: number): string => SPACES[count] ?? " ".repeat(count);

const SPACES: readonly string[] = Array.from({ length: 64 }, (_, count) => " ".repeat(count));
