/** Tables of millions of integers, some thousands of rows with each query. */
import type { Database, QueryResult, Statement } from "node-sqlite3-wasm";
import { invalid } from "./sqlite-file.ts";

/** E.g. `column >> 24`, null where the table has no such column. */
export interface ColumnExpression {
  readonly column: string;
  readonly sql: string;
}

/** What a row calls a value, and the column or the expression that it is. */
export type Columns<C extends string> = Readonly<Record<C, string | ColumnExpression>>;

export interface IntegerRequest<C extends string, Rare extends string> {
  readonly columns: Columns<C>;
  /** Of `columns`: those whose integers may need more than 53 bits. */
  readonly wide?: readonly NoInfer<C>[];
  /** What few rows need: a cell of each of a million rows takes a tenth of a second. */
  readonly rare: Columns<Rare>;
}

export interface IntegerTable {
  readonly database: Database;
  /** Of the file, for errors. */
  readonly path: string;
  readonly table: string;
  /** Null where the table lacks it. */
  readonly sqlOf: (wanted: string | ColumnExpression) => string | null;
}

const ROWS_AT_ONCE = 4096;
const BEFORE_ALL_ROWS = -(2n ** 63n);

/** @throws ToolError `nsys.invalid` where rows come again and again */
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
      // In a damaged file rows can come that are none of those asked for, again and again.
      if (read.last <= first)
        throw invalid(source.path, `rows of ${source.table} are repeated: the table is damaged`);
      let areOthersRead = false;
      yield {
        rows: read.rows,
        of: usual.numbers,
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
  /** What was read last. */
  readonly numbers: Readonly<Record<C, Float64Array>>;
  readonly exact: ReadonlyMap<C, BigInt64Array>;
  /** The rows behind a row id, and the id of the last of them; null: there are none. */
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
      if ((typeof last !== "number" && typeof last !== "bigint") || !(text instanceof Uint8Array))
        return null;
      return { rows: parseIntegerRows(text, parsed), last };
    },
    close: () => statement?.finalize(),
  };
}

/** Rows of a table, each a JSON array of these columns, one after the other. */
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

// Integer columns as SQLite prints them, `[1,2,null][3,4,5]`: thousands of rows in one value. To ask for each
// cell of each row takes several times as long, and leaves as much garbage.

/**
 * Some rows, column by column; NaN where a cell holds no integer. Valid until the next ones are asked for.
 *
 * @typeParam Rare columns that few rows need
 */
export interface IntegerColumns<C extends string, Rare extends string = never> {
  readonly rows: number;
  readonly of: Readonly<Record<C, Float64Array>>;
  /** A cell of a column that was asked for as wide, where `of` holds a number, which it may have rounded. */
  readonly exact: (column: C, row: number) => bigint;
  /** The rare columns of the same rows: takes a query of its own. */
  readonly rare: () => Readonly<Record<Rare, Float64Array>>;
}

/** Where the cells of one column go. */
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
/** The first letter. */
const NULL = 0x6e;
const BACKSLASH = 0x5c;
/** Behind the last one. */
const NO_BYTE = 0;
const LATIN1 = new TextDecoder("latin1");

/**
 * Reads rows that SQLite's `json_array` printed, with one cell for each column. Integers beyond 2^53 are rounded.
 *
 * @returns how many rows there are
 */
export function parseIntegerRows(text: Uint8Array, columns: readonly ParsedColumn[]): number {
  let row = -1;
  let cell = 0;
  let at = 0;
  while (at < text.length) {
    let byte = text[at] ?? NO_BYTE;
    if (byte === BRACKET) {
      row++;
      cell = 0;
    }
    if (byte === BRACKET || byte === COMMA || byte === END_BRACKET) {
      at++;
      continue;
    }
    const isNegative = byte === MINUS;
    if (isNegative) byte = text[++at] ?? NO_BYTE;
    let value = 0;
    const first = at;
    while (byte >= ZERO && byte <= NINE) {
      value = value * 10 + (byte - ZERO);
      byte = text[++at] ?? NO_BYTE;
    }
    const isInteger = byte === COMMA || byte === END_BRACKET;
    if (!isInteger) at = endOfOther(text, at);
    const column = columns[cell++];
    if (column === undefined) continue;
    if (!isInteger) {
      column.numbers[row] = Number.NaN;
      continue;
    }
    // Summing up digits rounds at each of them.
    if (value > Number.MAX_SAFE_INTEGER) value = Number(LATIN1.decode(text.subarray(first, at)));
    column.numbers[row] = isNegative ? -value : value;
    if (column.exact === undefined) continue;
    const exact = BigInt(LATIN1.decode(text.subarray(first, at)));
    column.exact[row] = isNegative ? -exact : exact;
  }
  return row + 1;
}

/** Where `null`, a text or a fraction ends. */
function endOfOther(text: Uint8Array, from: number): number {
  let at = from;
  if (text[at] === NULL) return at + 4;
  if (text[at] === QUOTE) {
    for (at++; at < text.length && text[at] !== QUOTE; at++) if (text[at] === BACKSLASH) at++;
    return at + 1;
  }
  while (at < text.length && text[at] !== COMMA && text[at] !== END_BRACKET) at++;
  return at;
}

/** Null where there is none. */
export function integerAt(column: Float64Array, row: number): number | null {
  const value = numberAt(column, row);
  return Number.isNaN(value) ? null : value;
}

/** NaN where there is none. */
export const numberAt = (column: Float64Array, row: number): number => column[row] ?? Number.NaN;

// What SQL gives and takes.

export type SqlValue = number | bigint | string | Uint8Array | null;

/** A value of a single row; null where there is none. */
export function cell(row: QueryResult | null, column: string): SqlValue {
  const value = row?.[column];
  return isSqlValue(value) ? value : null;
}

/** SQLite's types say that a row can also hold those of several tables, which no query here selects. */
export const isSqlValue = (value: QueryResult[string] | undefined): value is SqlValue =>
  value !== undefined &&
  (typeof value !== "object" || value === null || value instanceof Uint8Array);

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
