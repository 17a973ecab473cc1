/**
 * Access to an SQLite export of Nsight Systems, read-only and without loading it into memory: files of several
 * gigabytes are usual. nsys creates tables lazily and added columns over versions, so both may be missing: they read as
 * null, or as no rows.
 */

import { rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import sqlite, { type Database, type QueryResult } from "node-sqlite3-wasm";
import { isError } from "../../../../foundation/system/builtin-types.ts";
import { grouped } from "../../../../foundation/text/plural.ts";
import { printable } from "../../../../foundation/text/printable.ts";
import { makeTemporaryDirectory } from "../../../machine/run-files.ts";
import {
  type ColumnExpression,
  type Columns,
  cell,
  type IntegerColumns,
  type IntegerRequest,
  isSqlValue,
  quote,
  readIntegerRows,
  type SqlValue,
} from "./queries.ts";
import { invalid, requireSqlite } from "./sqlite-file.ts";

export type Row<C extends string> = Readonly<Record<C, SqlValue>>;

export interface ExportDatabase {
  /** Names of the tables that exist. */
  readonly tables: ReadonlySet<string>;
  has(table: string, column: string): boolean;
  /**
   * The rows of a table, one at a time, in no particular order. `columns` maps the name of a value in a row to a
   * column, or to an expression over one.
   */
  rows<C extends string>(table: string, columns: Columns<C>, where?: string): Iterable<Row<C>>;
  /** The same for integer columns, thousands of rows at a time: for tables with millions of rows. */
  integers<C extends string, Rare extends string = never>(
    table: string,
    columns: IntegerRequest<C, Rare>,
  ): Iterable<IntegerColumns<C, Rare>>;
  /** The string of an id in `StringIds`; null if there is none. */
  string(id: SqlValue): string | null;
  /**
   * The strings of many ids, in their order, with one query: an export can have millions of strings, most of which are
   * not requested.
   */
  strings(ids: readonly number[]): readonly (string | null)[];
  /** For each column of which values were too large to be read: how many so far. */
  readonly unread: ReadonlyMap<string, number>;
  /** Counts a row without a time or process, of which nothing can be told. */
  leaveOut(table: string): void;
  /** How many rows of each table were left out so far. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/**
 * The bytes of a text or blob that are read; the file may claim anything. The length is asked first, which SQLite knows
 * without reading the value.
 */
export const MOST_BYTES = 2 ** 20;

/**
 * What SQLite may use while it reads, for values that are not asked for their lengths: thousands of integers at once.
 * It keeps its texts shorter than JavaScript's longest.
 */
const HEAP_BYTES = 300_000_000;

/**
 * Opens an export for as long as `read` runs.
 *
 * @throws ToolError `nsys.invalid` for a damaged file or one that is not SQLite; `profile.input` if temporary files
 * cannot be created
 */
export function withExport<T>(path: string, read: (database: ExportDatabase) => T): T {
  requireSqlite(path);
  let database: Database | null = null;
  try {
    database = openLocked(path);
    return read(describe(database, path));
  } catch (cause) {
    if (!isError(cause) || !isSqliteError(cause)) throw cause;
    if (isTooMuch(cause))
      throw invalid(path, `a value needs more than ${grouped(String(HEAP_BYTES))} bytes`, {
        cause,
      });
    // The message quotes the contents of the file.
    throw invalid(path, `SQLite says: ${printable(cause.message)}`, { cause });
  } finally {
    database?.close();
  }
}

/**
 * SQLite's WebAssembly build locks a database by a directory next to it. So the file is opened through a link in our
 * own folder, and nothing is written next to the file, which may be in a read-only place. The open transaction keeps
 * the lock without the folder, which is therefore removed before the read: reading takes long, and any signal may end
 * it.
 */
function openLocked(path: string): Database {
  const folder = makeTemporaryDirectory("hydraconf-nsys-");
  try {
    const link = join(folder, "export.sqlite");
    symlinkSync(resolve(path), link);
    const database = new sqlite.Database(link, { readOnly: true });
    try {
      database.exec(`PRAGMA hard_heap_limit = ${HEAP_BYTES}; BEGIN; SELECT 1 FROM sqlite_master`);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isSqliteError = (error: Error): boolean => error.name === "SQLite3Error";

/** SQLite's words for a value beyond `HEAP_BYTES`, or beyond its own limit. */
const isTooMuch = (error: Error): boolean =>
  isSqliteError(error) && /out of memory|too big/.test(error.message);

function describe(database: Database, path: string): ExportDatabase {
  const names = database.all("SELECT name FROM sqlite_master WHERE type = 'table'");
  const tables = new Set(names.map((row) => String(cell(row, "name"))));
  const columns = new Map<string, ReadonlyMap<string, string>>();
  /** The names of a table's columns, and their types as declared. */
  const columnsOf = (table: string): ReadonlyMap<string, string> => {
    const cached = columns.get(table);
    if (cached !== undefined) return cached;
    const info = tables.has(table) ? database.all(`PRAGMA table_info(${quote(table)})`) : [];
    const found = new Map(
      info.map((row) => [String(cell(row, "name")), String(cell(row, "type"))] as const),
    );
    columns.set(table, found);
    return found;
  };
  const has = (table: string, column: string) => columnsOf(table).has(column);
  const unread = new Map<string, number>();
  const bounded = createBound(unread);
  const leftOut = new Map<string, number>();
  /** Whether values of the column may be texts or blobs; nsys declares all others as numbers. */
  const isBounded = (table: string, wanted: string | ColumnExpression): boolean =>
    typeof wanted === "string" && !/INT|REAL/i.test(columnsOf(table).get(wanted) ?? "");
  /** The SQL of a column; null if the table lacks it. */
  const sqlOf = (table: string, wanted: string | ColumnExpression): string | null => {
    const { column, sql } = typeof wanted === "string" ? { column: wanted, sql: wanted } : wanted;
    return has(table, column) ? sql : null;
  };

  return {
    tables,
    has,
    *rows(table, wanted, where) {
      if (!tables.has(table)) return;
      const entries = Object.entries<string | ColumnExpression>(wanted);
      const large = entries.filter(([, value]) => isBounded(table, value));
      const list = entries.map(([name, value]) => {
        const sql = sqlOf(table, value) ?? "NULL";
        return `${isBounded(table, value) ? boundedSql(sql) : sql} AS ${quote(name)}`;
      });
      const condition = where === undefined ? "" : ` WHERE ${where}`;
      const statement = database.prepare(
        `SELECT ${list.join(", ")} FROM ${quote(table)}${condition}`,
      );
      try {
        const isRow = createRowCheck(wanted);
        for (const row of statement.iterate()) {
          for (const [name, value] of large) {
            const read = row[name];
            if (typeof read === "string" && read.startsWith(TOO_LARGE))
              row[name] = bounded(read, `${table}.${String(value)}`);
          }
          if (isRow(row)) yield row;
        }
      } finally {
        statement.finalize();
      }
    },
    *integers(table, columns) {
      if (!tables.has(table)) return;
      const source = { database, path, table, sqlOf: sqlOf.bind(null, table) };
      yield* readIntegerRows(source, columns);
    },
    string: createStrings(database, tables.has("StringIds"), bounded),
    strings: (ids) =>
      tables.has("StringIds") && ids.length > 0
        ? readStrings(database, ids, bounded)
        : new Array<null>(ids.length).fill(null),
    unread,
    leaveOut: (table) => {
      leftOut.set(table, (leftOut.get(table) ?? 0) + 1);
    },
    leftOut,
  };
}

/** Begins what is read in the place of a value that is too large: a character that is in no text. */
const TOO_LARGE = "\uffff";

/** A value, or if it is too large, its type and the number of its bytes. */
const boundedSql = (sql: string): string =>
  `iif(octet_length(${sql}) > ${MOST_BYTES}, char(${TOO_LARGE.charCodeAt(0)}) || typeof(${sql}) || ' of ' || octet_length(${sql}), ${sql})`;

type Bound = (read: string, column: string) => string | null;

/** Counts values that are too large. A text is called by its length, so that what it names is still told apart. */
const createBound =
  (unread: Map<string, number>): Bound =>
  (read, column) => {
    if (!read.startsWith(TOO_LARGE)) return read;
    unread.set(column, (unread.get(column) ?? 0) + 1);
    const what = read.slice(TOO_LARGE.length);
    return what.startsWith("text") ? `(${what} bytes)` : null;
  };

const STRINGS_COLUMN = "StringIds.value";

/** Checks only the first row: all rows of a statement have the same columns. */
function createRowCheck<C extends string>(
  columns: Readonly<Record<C, unknown>>,
): (row: QueryResult) => row is Row<C> {
  let isKnown = false;
  return (row): row is Row<C> => {
    isKnown ||= Object.keys(columns).every((name) => isSqlValue(row[name]));
    return isKnown;
  };
}

const STRINGS_AT_ONCE = 4096;

function readStrings(
  database: Database,
  ids: readonly number[],
  bounded: Bound,
): readonly (string | null)[] {
  const statement = database.prepare(
    `SELECT json_group_array(CAST(${boundedSql("s.value")} AS TEXT)) AS texts
      FROM json_each(?) AS wanted LEFT JOIN StringIds AS s ON s.id = wanted.value`,
  );
  const all: (string | null)[] = [];
  const read = (some: readonly number[]): void => {
    let found: QueryResult | null;
    try {
      found = statement.get([JSON.stringify(some)]);
    } catch (error) {
      // Many texts that are just small enough.
      if (some.length === 1 || !isError(error) || !isTooMuch(error)) throw error;
      const half = some.length >> 1;
      read(some.slice(0, half));
      read(some.slice(half));
      return;
    }
    const texts: unknown = JSON.parse(String(cell(found, "texts")));
    if (!Array.isArray(texts)) return;
    for (const text of texts as readonly unknown[])
      all.push(typeof text === "string" ? bounded(text, STRINGS_COLUMN) : null);
  };
  try {
    for (let from = 0; from < ids.length; from += STRINGS_AT_ONCE)
      read(ids.slice(from, from + STRINGS_AT_ONCE));
    return all;
  } finally {
    statement.finalize();
  }
}

/** Neighbouring ids: nsys counts ids up, so that strings that are needed together are close together. */
const STRINGS_PER_BLOCK = 256;

/** Looks strings up by id, a block at a time: most ids occur many times, and close together. */
function createStrings(
  database: Database,
  exists: boolean,
  bounded: Bound,
): ExportDatabase["string"] {
  const wanted = `${boundedSql("value")} AS value`;
  const blocks = new Map<number, (string | null)[]>();
  const readBlock = (first: number): (string | null)[] => {
    const block = new Array<string | null>(STRINGS_PER_BLOCK).fill(null);
    const rows = database.all(`SELECT id, ${wanted} FROM StringIds WHERE id BETWEEN ? AND ?`, [
      first,
      first + STRINGS_PER_BLOCK - 1,
    ]);
    for (const row of rows) {
      const value = cell(row, "value");
      if (value !== null)
        block[Number(cell(row, "id")) - first] = bounded(String(value), STRINGS_COLUMN);
    }
    return block;
  };
  /** For an id beyond exact numbers; none is known to occur. */
  const readOne = (id: bigint): string | null => {
    const row = database.get(`SELECT ${wanted} FROM StringIds WHERE id = ?`, id);
    const value = cell(row, "value");
    return value === null ? null : bounded(String(value), STRINGS_COLUMN);
  };
  return (id) => {
    if (!exists || (typeof id !== "number" && typeof id !== "bigint")) return null;
    if (typeof id === "bigint") return readOne(id);
    const place = ((id % STRINGS_PER_BLOCK) + STRINGS_PER_BLOCK) % STRINGS_PER_BLOCK;
    const first = id - place;
    let block = blocks.get(first);
    if (block === undefined) {
      block = readBlock(first);
      blocks.set(first, block);
    }
    return block[place] ?? null;
  };
}
