/**
 * nsys's global ids: hardware id, virtual machine id, process and thread in one number, from the
 * highest bits to the lowest (8, 8, 24 and 24 bits). Nsight Systems User Guide, "Common SQLite
 * Examples": `pid = (globalTid >> 24) & 0xFFFFFF`, `tid = globalTid & 0xFFFFFF`.
 */
import type { ColumnExpression } from "./integer-rows.ts";
import type { SqlValue } from "./sql.ts";

/** All but the thread: tells processes apart, also those of several machines with the same pid. */
export const processKey = (column: string): ColumnExpression => ({
  column,
  sql: `${column} >> 24`,
});

export const threadId = (column: string): ColumnExpression => ({
  column,
  sql: `${column} & 16777215`,
});

/** Also of a damaged key, which may be negative. */
export const pidOf = (key: number): number => ((key % PIDS) + PIDS) % PIDS;
const PIDS = 2 ** 24;

/** An integer column; null where there is none. Other programs write fractions, which count as they are. */
export const integer = (value: SqlValue): number | null => {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
};

/** The same of numbers beyond 2^53; a fraction without what stands behind its point. */
export const wideInteger = (value: SqlValue): bigint | null => {
  if (typeof value === "bigint") return value;
  const number = integer(value);
  return number === null ? null : BigInt(Math.trunc(number));
};
