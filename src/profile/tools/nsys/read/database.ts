/**
 * Access to an SQLite export of Nsight Systems, read-only and without loading it into memory: files of several
 * gigabytes are usual. nsys creates tables lazily and added columns over versions, so both may be missing: they read as
 * null, or as no rows.
 */

import { rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import sqlite, { type Database, type QueryResult } from "node-sqlite3-wasm";
import { isError } from "../../../../system/builtin-types.ts";
import { printable } from "../../../../text/printable.ts";
import { makeTemporaryDirectory } from "../../../machine/files.ts";
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
}

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
      database.exec("BEGIN; SELECT 1 FROM sqlite_master");
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

function describe(database: Database, path: string): ExportDatabase {
  const names = database.all("SELECT name FROM sqlite_master WHERE type = 'table'");
  const tables = new Set(names.map((row) => String(cell(row, "name"))));
  const columns = new Map<string, ReadonlySet<string>>();
  const columnsOf = (table: string): ReadonlySet<string> => {
    const known = columns.get(table);
    if (known !== undefined) return known;
    const info = tables.has(table) ? database.all(`PRAGMA table_info(${quote(table)})`) : [];
    const found = new Set(info.map((row) => String(cell(row, "name"))));
    columns.set(table, found);
    return found;
  };
  const has = (table: string, column: string) => columnsOf(table).has(column);
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
      const list = Object.entries<string | ColumnExpression>(wanted).map(
        ([name, value]) => `${sqlOf(table, value) ?? "NULL"} AS ${quote(name)}`,
      );
      const condition = where === undefined ? "" : ` WHERE ${where}`;
      const statement = database.prepare(
        `SELECT ${list.join(", ")} FROM ${quote(table)}${condition}`,
      );
      try {
        const isRow = createRowCheck(wanted);
        for (const row of statement.iterate()) if (isRow(row)) yield row;
      } finally {
        statement.finalize();
      }
    },
    *integers(table, columns) {
      if (!tables.has(table)) return;
      const source = { database, path, table, sqlOf: sqlOf.bind(null, table) };
      yield* readIntegerRows(source, columns);
    },
    string: createStrings(database, tables.has("StringIds")),
    strings: (ids) =>
      tables.has("StringIds") && ids.length > 0
        ? readStrings(database, ids)
        : new Array<null>(ids.length).fill(null),
  };
}

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

function readStrings(database: Database, ids: readonly number[]): readonly (string | null)[] {
  const found = database.get(
    `SELECT json_group_array(CAST(s.value AS TEXT)) AS texts
      FROM json_each(?) AS wanted LEFT JOIN StringIds AS s ON s.id = wanted.value`,
    [JSON.stringify(ids)],
  );
  const texts: unknown = JSON.parse(String(cell(found, "texts")));
  return Array.isArray(texts)
    ? texts.map((text: unknown) => (typeof text === "string" ? text : null))
    : [];
}

/** Neighbouring ids: nsys counts ids up, so that strings that are needed together are close together. */
const STRINGS_PER_BLOCK = 256;

/** Looks strings up by id, a block at a time: most ids occur many times, and close together. */
function createStrings(database: Database, exists: boolean): ExportDatabase["string"] {
  const blocks = new Map<number, (string | null)[]>();
  const readBlock = (first: number): (string | null)[] => {
    const block = new Array<string | null>(STRINGS_PER_BLOCK).fill(null);
    const rows = database.all("SELECT id, value FROM StringIds WHERE id BETWEEN ? AND ?", [
      first,
      first + STRINGS_PER_BLOCK - 1,
    ]);
    for (const row of rows) {
      const value = cell(row, "value");
      if (value !== null) block[Number(cell(row, "id")) - first] = String(value);
    }
    return block;
  };
  /** For an id beyond exact numbers; none is known to occur. */
  const readOne = (id: bigint): string | null => {
    const value = cell(database.get("SELECT value FROM StringIds WHERE id = ?", id), "value");
    return value === null ? null : String(value);
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
