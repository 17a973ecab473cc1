/** Tables as CSV (RFC 4180): numbers with all digits, and empty cells for what was not measured. */
import { type CsvCell, csvRecord } from "../foundation/text/csv-records.ts";
import { type Cell, cellText, type Table } from "./blocks.ts";

/** A line for the titles, and one per row. */
export function* renderCsv({ columns, rows }: Table): Generator<string> {
  yield csvLine(columns.map(({ title }) => title));
  for (const { cells } of rows) yield csvLine(cells.map(csvCell));
}

const csvCell = (cell: Cell): CsvCell =>
  cell === null || typeof cell === "number" || typeof cell === "string" ? cell : cellText(cell, {});

const csvLine = (cells: readonly CsvCell[]): string => `${csvRecord(cells)}\r\n`;
