import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sqlite from "node-sqlite3-wasm";

type Value = number | bigint | string | Uint8Array | null;

/** A table by its rows: the columns are those of the first row. */
export type Tables = Readonly<Record<string, readonly Readonly<Record<string, Value>>[]>>;

export const temporary = (): string => mkdtempSync(join(tmpdir(), "nsys-test-"));

interface WriteOptions {
  /** False: the table that every export since 2023.3 has is left out. */
  readonly metadata?: boolean;
}

/** Writes an export with these tables and no others, as nsys makes them lazily; returns its path. */
export function writeExport(tables: Tables, { metadata = true }: WriteOptions = {}): string {
  const path = join(temporary(), "run.sqlite");
  const database = new sqlite.Database(path);
  database.exec("BEGIN");
  const all: Tables = {
    ...(metadata && { META_DATA_EXPORT: [{ name: "EXPORT_PRODUCT_VERSION", value: "1.2" }] }),
    ...tables,
  };
  for (const [table, rows] of Object.entries(all)) {
    const columns = Object.keys(rows[0] ?? {});
    database.exec(`CREATE TABLE "${table}" (${columns.map((name) => `"${name}"`).join(", ")})`);
    if (rows.length === 0) continue;
    const insert = database.prepare(
      `INSERT INTO "${table}" VALUES (${columns.map(() => "?").join(", ")})`,
    );
    for (const row of rows) insert.run(columns.map((name) => row[name] ?? null));
    insert.finalize();
  }
  database.exec("COMMIT");
  database.close();
  return path;
}

/** nsys's global id of a thread, or of a process with thread 0. */
export const globalId = (pid: number, tid = 0, machine = 1n): bigint =>
  (machine << 48n) | (BigInt(pid) << 24n) | BigInt(tid);

/** The rows of a CSV as `nsys stats` prints it, by column. */
export function parseStats(text: string): readonly Readonly<Record<string, string>>[] {
  const [header = [], ...rows] = text
    .split("\n")
    .filter((line) => line !== "")
    .map(cellsOf);
  return rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at] ?? ""])));
}

function cellsOf(line: string): string[] {
  const cells: string[] = [];
  for (let rest: string | null = line; rest !== null; ) {
    const [cell = ""]: readonly string[] = /^"(?:[^"]|"")*"(?=,|$)|^[^,]*/.exec(rest) ?? [];
    cells.push(cell.replace(/^"(.*)"$/, "$1"));
    rest = cell.length < rest.length ? rest.slice(cell.length + 1) : null;
  }
  return cells;
}

/** A range, as nsys writes it. */
export const range = {
  start: 10,
  end: 90,
  eventType: 59,
  text: "A",
  globalTid: globalId(7, 8),
} as const;

/** Launched by `call`. */
export const kernel = {
  start: 30,
  end: 50,
  deviceId: 0,
  streamId: 7,
  correlationId: 1,
  globalPid: globalId(7),
  demangledName: 1,
};

export const call = { start: 20, end: 25, globalTid: globalId(7, 8), correlationId: 1 };
