/** Tables of millions of integers, some thousands of rows with each query. */
import type { Database, Statement } from "node-sqlite3-wasm";
import { type IntegerColumns, type ParsedColumn, parseIntegerRows } from "./integer-columns.ts";
import { invalid } from "./invalid.ts";
import { cell, quote } from "./sql.ts";

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

/** @throws ConfigError `nsys.invalid` where rows come again and again */
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
