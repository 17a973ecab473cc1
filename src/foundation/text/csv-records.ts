/** Writes records of CSV. */
import { escapedControls } from "./printable.ts";

/** CSV (RFC 4180) with texts escaped so that a spreadsheet cannot run them as formulas, nor a terminal as commands. */

/** Null becomes an empty cell, for values that were not measured. */
export type CsvCell = string | number | null;

/** One record, without a line break. */
export const csvRecord = (cells: readonly CsvCell[]): string => cells.map(cellText).join(",");

function cellText(cell: CsvCell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const shown = escapedControls(cell);
  const text = couldBeFormula(shown) ? `'${shown}` : shown;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A signed number starts like a formula but is harmless: `-0.1` in a sweep. */
const couldBeFormula = (text: string): boolean =>
  /^[=+\-@]/.test(text) && !SIGNED_NUMBER.test(text);

const SIGNED_NUMBER = /^[+-](?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan)$/i;

/** A value as the text of a cell: a string as it is, others as JSON; nothing for null. */
export const valueText = (value: unknown): string =>
  value === undefined || value === null
    ? ""
    : typeof value === "string"
      ? value
      : JSON.stringify(value);
