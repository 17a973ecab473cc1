/** CSV (RFC 4180) in which no spreadsheet takes a text for a formula, and runs it. */

/** Null was not measured: an empty cell. */
export type CsvCell = string | number | null;

/** One record, without the end of its line. */
export const csvRecord = (cells: readonly CsvCell[]): string => cells.map(cellText).join(",");

function cellText(cell: CsvCell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = couldBeFormula(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A number with a sign begins as a formula does, and is a number still: `-0.1` of a sweep. */
const couldBeFormula = (text: string): boolean =>
  /^[=+\-@\t\r]/.test(text) && !SIGNED_NUMBER.test(text);

const SIGNED_NUMBER = /^[+-](?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan)$/i;
