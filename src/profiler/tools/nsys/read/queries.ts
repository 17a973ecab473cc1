/** Reads tables with millions of integers, thousands of rows per query. */

import type { Database, QueryResult, Statement } from "node-sqlite3-wasm";
import { isBytes } from "../../../../foundation/system/builtin-types.ts";
import { invalid } from "./sqlite-file.ts";

/** E.g. `column >> 24`; null if the table lacks the column. */
export interface ColumnExpression {
  readonly column: string;
  readonly sql: string;
}

/** Maps the name of a value in a row to its column or expression. */
export type Columns<C extends string> = Readonly<Record<C, string | ColumnExpression>>;

export interface IntegerRequest<C extends string, Rare extends string> {
  readonly columns: Columns<C>;
  /** The columns whose integers may need more than 53 bits. */
  readonly wide?: readonly NoInfer<C>[];
  /** Columns that few rows need: reading a column for a million rows takes a tenth of a second. */
  readonly rare: Columns<Rare>;
}

export interface IntegerTable {
  readonly database: Database;
  /** The path of the file, for errors. */
  readonly path: string;
  readonly table: string;
  /** Null if the table lacks it. */
  readonly sqlOf: (wanted: string | ColumnExpression) => string | null;
}

const ROWS_AT_ONCE = 4096;
const BEFORE_ALL_ROWS = -(2n ** 63n);

/** @throws ToolError `nsys.invalid` if rows are repeated */
export function* readIntegerRows<C extends string, Rare extends string>(
  source: IntegerTable,
  { columns, wide = [], rare }: IntegerRequest<C, Rare>,
): Generator<IntegerColumns<C, Rare>> {
  const usual = createReader(source, columns, wide);
  const others = createReader(source, rare, []);
  try {
    let after: number | bigint = BEFORE_ALL_ROWS;
    for (;;) {
      const first = after;
      const read = usual.read(first);
      if (read === null) return;
      // A damaged file may return other rows than requested, repeatedly.
      if (read.last <= first)
        throw invalid(source.path, `rows of ${source.table} are repeated: the table is damaged`);
      let areOthersRead = false;
      yield {
        rows: read.rows,
        numbers: usual.numbers,
        exact: (column, row) => usual.exact.get(column)?.[row] ?? 0n,
        rare() {
          if (!areOthersRead) others.read(first);
          areOthersRead = true;
          return others.numbers;
        },
      };
      after = read.last;
    }
  } finally {
    usual.close();
    others.close();
  }
}

interface ColumnsReader<C extends string> {
  /** The values of the last read. */
  readonly numbers: Readonly<Record<C, Float64Array>>;
  readonly exact: ReadonlyMap<C, BigInt64Array>;
  /** Reads the rows after a row id; returns their number and the last id, or null if there are none. */
  readonly read: (after: number | bigint) => { rows: number; last: number | bigint } | null;
  readonly close: () => void;
}

function createReader<C extends string>(
  { database, table, sqlOf }: IntegerTable,
  columns: Columns<C>,
  wide: readonly C[],
): ColumnsReader<C> {
  const exact = new Map(wide.map((name) => [name, new BigInt64Array(ROWS_AT_ONCE)] as const));
  const present: string[] = [];
  const parsed: ParsedColumn[] = [];
  const numbers = mapEntries(columns, (name, wanted) => {
    const column = new Float64Array(ROWS_AT_ONCE).fill(Number.NaN);
    const sql = sqlOf(wanted);
    const exactly = exact.get(name);
    if (sql !== null) {
      present.push(sql);
      parsed.push({ numbers: column, ...(exactly !== undefined && { exact: exactly }) });
    }
    return column;
  });
  let statement: Statement | null = null;
  return {
    numbers,
    exact,
    read(after) {
      statement ??= database.prepare(rowsAtOnce(table, present));
      const found = statement.get([after]);
      const [last, text] = [cell(found, "last"), cell(found, "text")];
      if ((typeof last !== "number" && typeof last !== "bigint") || !isBytes(text)) return null;
      return { rows: parseIntegerRows(text, parsed), last };
    },
    close: () => statement?.finalize(),
  };
}

/** Rows of a table as concatenated JSON arrays of these columns. */
const rowsAtOnce = (table: string, columns: readonly string[]): string =>
  `SELECT max(id) AS last, CAST(group_concat(cells, '') AS BLOB) AS text
    FROM (SELECT rowid AS id, json_array(${columns.join(", ")}) AS cells FROM ${quote(table)}
      WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_AT_ONCE})`;

const mapEntries = <C extends string, T, U>(
  record: Readonly<Record<C, T>>,
  change: (name: C, value: T) => U,
): Record<C, U> =>
  Object.fromEntries(
    Object.entries<T>(record).map(([name, value]) => [name, change(name as C, value)]),
  ) as Record<C, U>;

// Integer columns as SQLite prints them, `[1,2,null][3,4,5]`: thousands of rows in one value. Reading each cell of each
// row takes several times as long, and leaves as much garbage.

/**
 * Some rows, column by column; NaN for a cell without an integer. Valid until the next rows are read.
 *
 * @typeParam Rare columns that few rows need
 */
export interface IntegerColumns<C extends string, Rare extends string = never> {
  readonly rows: number;
  readonly numbers: Readonly<Record<C, Float64Array>>;
  /** The exact value of a wide column, which may be rounded in `of`. */
  readonly exact: (column: C, row: number) => bigint;
  /** The rare columns of the same rows; takes a separate query. */
  readonly rare: () => Readonly<Record<Rare, Float64Array>>;
}

/** The destination of the cells of one column. */
interface ParsedColumn {
  readonly numbers: Float64Array;
  readonly exact?: BigInt64Array;
}

const NINE = 0x39;
const ZERO = 0x30;
const MINUS = 0x2d;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const END_BRACKET = 0x5d;
const QUOTE = 0x22;
/** The first letter of `null`. */
const NULL = 0x6e;
const BACKSLASH = 0x5c;
/** The value after the last byte. */
const NO_BYTE = 0;
const LATIN1 = new TextDecoder("latin1");

/**
 * Reads rows that SQLite's `json_array` printed, with one cell for each column. Integers beyond 2^53 are rounded.
 *
 * @returns the number of rows
 */
export function parseIntegerRows(text: Uint8Array, columns: readonly ParsedColumn[]): number {
  let row = -1;
  let cell = 0;
  let offset = 0;
  while (offset < text.length) {
    let byte = text[offset] ?? NO_BYTE;
    if (byte === BRACKET) {
      row++;
      cell = 0;
    }
    if (byte === BRACKET || byte === COMMA || byte === END_BRACKET) {
      offset++;
      continue;
    }
    const isNegative = byte === MINUS;
    if (isNegative) byte = text[++offset] ?? NO_BYTE;
    let value = 0;
    const first = offset;
    while (byte >= ZERO && byte <= NINE) {
      value = value * 10 + (byte - ZERO);
      byte = text[++offset] ?? NO_BYTE;
    }
    const isInteger = byte === COMMA || byte === END_BRACKET;
    if (!isInteger) offset = endOfOther(text, offset);
    const column = columns[cell++];
    if (column === undefined) continue;
    if (!isInteger) {
      column.numbers[row] = Number.NaN;
      continue;
    }
    // Accumulating digits would round at each of them.
    if (value > Number.MAX_SAFE_INTEGER)
      value = Number(LATIN1.decode(text.subarray(first, offset)));
    column.numbers[row] = isNegative ? -value : value;
    if (column.exact === undefined) continue;
    const exact = BigInt(LATIN1.decode(text.subarray(first, offset)));
    column.exact[row] = isNegative ? -exact : exact;
  }
  return row + 1;
}

/** The end of `null`, a text or a fraction. */
function endOfOther(text: Uint8Array, from: number): number {
  let offset = from;
  if (text[offset] === NULL) return offset + 4;
  if (text[offset] === QUOTE) {
    for (offset++; offset < text.length && text[offset] !== QUOTE; offset++)
      if (text[offset] === BACKSLASH) offset++;
    return offset + 1;
  }
  while (offset < text.length && text[offset] !== COMMA && text[offset] !== END_BRACKET) offset++;
  return offset;
}

/** Null for a cell without an integer. */
export function integerAt(column: Float64Array, row: number): number | null {
  const value = numberAt(column, row);
  return Number.isNaN(value) ? null : value;
}

/** NaN for a cell without an integer. */
export const numberAt = (column: Float64Array, row: number): number => column[row] ?? Number.NaN;

// Types of SQL values.

export type SqlValue = number | bigint | string | Uint8Array | null;

/** A value of a single row; null if absent. */
export function cell(row: QueryResult | null, column: string): SqlValue {
  const value = row?.[column];
  return isSqlValue(value) ? value : null;
}

/** SQLite's types also allow objects with the values of several tables, which no query here selects. */
export const isSqlValue = (value: QueryResult[string] | undefined): value is SqlValue =>
  value !== undefined && (typeof value !== "object" || value === null || isBytes(value));

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
