/** How wide a text is on a terminal, and texts and columns cut to a width. */
import stringWidth from "string-width";

let segmenter: Intl.Segmenter | undefined;

/** Splits text into graphemes. The segmenter is created when the first text is cut. */
function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

const PLAIN = /^[\x20-\x7e]*$/;

/** How many columns a text takes on a terminal. */
export function textWidth(text: string): number {
  // Fast path: nearly all cells of long tables are plain.
  return PLAIN.test(text) ? text.length : stringWidth(text, { countAnsiEscapeCodes: true });
}

/** An upper bound for the code units of one grapheme in real text. */
const MOST_UNITS = 32;

/** The text cut to at most `width` columns; a longer one ends with an ellipsis. */
export function fitText(text: string, width: number): string {
  // Splitting into graphemes takes quadratic time, minutes for a megabyte, so only as much is split as can be shown.
  const head = text.slice(0, MOST_UNITS * (Math.max(0, width) + 1));
  if (head.length === text.length && textWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of segments(head)) {
    used += textWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

export const padText = (text: string, width: number, side: "left" | "right"): string => {
  const padding = " ".repeat(Math.max(0, width - textWidth(text)));
  return side === "left" ? `${text}${padding}` : `${padding}${text}`;
};

/** The width of each column of a table, whose first row has a cell for every column. */
export const columnWidths = (rows: readonly (readonly string[])[]): readonly number[] =>
  (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, textWidth(row[column] ?? "")), 0),
  );

/**
 * Narrows the widest columns so that all of them take at most `room`: down to their headings, and where that leaves too little of the
 * values, the headings like them. A few letters are left, so that many columns may take more.
 */
export function fittedWidths(
  widths: readonly number[],
  headings: readonly string[],
  room: number,
): readonly number[] {
  const least = headings.map(textWidth);
  const fits = (fitted: readonly number[]) => fitted.reduce((sum, width) => sum + width, 0) <= room;
  for (let most = Math.max(0, ...widths); most >= 0; most--) {
    const fitted = widths.map((width, column) =>
      Math.min(width, Math.max(most, least[column] ?? 0)),
    );
    if (widths.some((width, column) => (fitted[column] ?? 0) < Math.min(width, READABLE))) break;
    if (fits(fitted)) return fitted;
  }
  for (let most = Math.max(0, ...widths); ; most--) {
    const fitted = widths.map((width) => Math.min(width, most));
    if (most <= FEWEST_LETTERS || fits(fitted)) return fitted;
  }
}

/** A value that is cut further for the sake of headings says too little: of a number, its first digits. */
const READABLE = 7;

/** With fewer, neither a heading nor a value says anything. */
const FEWEST_LETTERS = 4;

/** Blanks where a line may end: not between a number and its unit, as in `54.2 %` and `5.97 ms`. */
const BREAK = / (?!(?:%|[\u00b5\u03bcmn]?s|[kMG]?B|[kKMG]iB|min|h)(?!\w))|(?<!\d) /;

/** The text in lines of at most `width` columns, broken at blanks. A longer word gets its own line. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  const indent = /^ */.exec(text)?.[0] ?? "";
  let line = indent;
  const words = text
    .slice(indent.length)
    .split(BREAK)
    .flatMap((word) => (textWidth(word) > width - indent.length ? word.split(" ") : [word]));
  for (const word of words) {
    const longer = line.trim() === "" ? `${line}${word}` : `${line} ${word}`;
    if (line.trim() !== "" && textWidth(longer) > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}
