/**
 * nsys's global ids: hardware id, virtual machine id, process and thread in one number, from the
 * highest bits to the lowest (8, 8, 24 and 24 bits). Nsight Systems User Guide, "Common SQLite
 * Examples": `pid = (globalTid >> 24) & 0xFFFFFF`, `tid = globalTid & 0xFFFFFF`.
 */
import type { ColumnExpression, SqlValue } from "./database.ts";

/** All but the thread: tells processes apart, also those of several machines with the same pid. */
export const processKey = (column: string): ColumnExpression => ({
  column,
  sql: `${column} >> 24`,
});

export const threadId = (column: string): ColumnExpression => ({
  column,
  sql: `${column} & 16777215`,
});

export const pidOf = (key: number): number => key % 2 ** 24;

/** An integer column; null where there is none. */
export const integer = (value: SqlValue): number | null =>
  typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
