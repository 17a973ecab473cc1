/** What SQL gives and takes. */
import type { QueryResult } from "node-sqlite3-wasm";

export type SqlValue = number | bigint | string | Uint8Array | null;

/** A value of a single row; null where there is none. */
export function cell(row: QueryResult | null, column: string): SqlValue {
  const value = row?.[column];
  return isSqlValue(value) ? value : null;
}

/** SQLite's types say that a row can also hold those of several tables, which nobody asks for here. */
export const isSqlValue = (value: QueryResult[string] | undefined): value is SqlValue =>
  value !== undefined &&
  (typeof value !== "object" || value === null || value instanceof Uint8Array);

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
