/**
 * The schema of an export: its tables, global ids, names by their ids, and columns that rows cannot be read without.
 */

import { createIdIndex, createLongList } from "../../../model/columns.ts";
import type { ExportDatabase } from "./database.ts";
import type { ColumnExpression, SqlValue } from "./queries.ts";

// Tables of an export, by what their rows tell.

/** What ran on the GPUs; kernels first. */
export const KERNEL_TABLE = "CUPTI_ACTIVITY_KIND_KERNEL";
export const COPY_TABLE = "CUPTI_ACTIVITY_KIND_MEMCPY";
export const SET_TABLE = "CUPTI_ACTIVITY_KIND_MEMSET";
export const GRAPH_TABLE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
const ACTIVITY_TABLES = [KERNEL_TABLE, COPY_TABLE, SET_TABLE, GRAPH_TABLE];

/** Calls of the runtime, and those of the driver inside them. */
export const RUNTIME_TABLE = "CUPTI_ACTIVITY_KIND_RUNTIME";
export const CALL_TABLES = [RUNTIME_TABLE, "CUPTI_ACTIVITY_KIND_DRIVER"];

export const NVTX_TABLE = "NVTX_EVENTS";

// nsys's global ids: hardware id, virtual machine id, process and thread in one number, from the
// highest bits to the lowest (8, 8, 24 and 24 bits). Nsight Systems User Guide, "Common SQLite
// Examples": `pid = (globalTid >> 24) & 0xFFFFFF`, `tid = globalTid & 0xFFFFFF`.

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

// Names by their ids in `StringIds`, each read once and kept once. An export has a name of its own for
// each of a million kernels at worst, and two more that are not requested.

export interface NameReader {
  /** Reads what is not known yet of these ids, all at once; false: some of them have no name. */
  readonly load: (ids: ArrayLike<number>) => boolean;
  /** Null where there is none; NaN is no id. */
  readonly of: (id: number) => string | null;
}

export function createNameReader(database: ExportDatabase): NameReader {
  const known = createIdIndex();
  const texts = createLongList<string | null>();
  return {
    load(ids) {
      const wanted: number[] = [];
      let complete = true;
      for (let at = 0; at < ids.length; at++) {
        const id = ids[at] ?? Number.NaN;
        const number = isIndexed(id) ? known.find(id) : null;
        if (number !== null) complete &&= texts.at(number) !== null;
        else if (!isIndexed(id)) complete = false;
        else {
          known.add(id);
          wanted.push(id);
        }
      }
      for (const text of database.strings(wanted)) {
        complete &&= text !== null;
        texts.push(text);
      }
      return complete;
    },
    of(id) {
      if (Number.isNaN(id)) return null;
      const number = isIndexed(id) ? known.find(id) : null;
      return number === null ? database.string(id) : (texts.at(number) ?? null);
    },
  };
}

/** nsys counts ids up from 1; no other is known to occur. */
const isIndexed = (id: number): boolean => id >= 0 && id < 2 ** 32;

// Columns that rows cannot be read without. nsys writes them all; other programs that make or change exports leave some
// out. What can be read then is read, and what cannot is named: a report without it would pass for complete.

interface Needed {
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  /** What comes of it where one is missing. */
  readonly without: string;
}

const NEEDED: readonly Needed[] = [
  {
    tables: [NVTX_TABLE],
    columns: ["start", "eventType", "globalTid"],
    without: "its ranges and marks are left out",
  },
  { tables: ACTIVITY_TABLES, columns: ["start", "end"], without: "its rows are left out" },
  {
    tables: CALL_TABLES,
    columns: ["start", "globalTid", "correlationId"],
    without: "no kernel can be assigned to its calls",
  },
];

const NAMES = ["demangledName", "shortName", "mangledName"];

/** Whether a table has every column that its rows cannot be read without. */
export const isReadable = ({ has }: ExportDatabase, table: string): boolean =>
  NEEDED.every(
    ({ tables, columns }) =>
      !tables.includes(table) || columns.every((column) => has(table, column)),
  );

/** What is missing, and what comes of it, a line for each table. */
export function lackingNotes(database: ExportDatabase): readonly string[] {
  const { tables, has } = database;
  return [
    ...NEEDED.flatMap(({ tables: these, columns, without }) =>
      these
        .filter((table) => tables.has(table))
        .flatMap((table) => {
          const lacking = columns.filter((column) => !has(table, column));
          return lacking.length === 0
            ? []
            : [`${table} has no column ${lacking.join(" and none ")}: ${without}`];
        }),
    ),
    ...(tables.has(KERNEL_TABLE) && !NAMES.some((column) => has(KERNEL_TABLE, column))
      ? [`${KERNEL_TABLE} has no column ${NAMES.join(", ")}: kernels have no names`]
      : []),
    ...withoutProcess(database).map(
      (table) =>
        `${table} has no column globalPid, so the process of its rows is unknown: they are ${fate(soleProcess(database))}`,
    ),
  ];
}

const withoutProcess = ({ tables, has }: ExportDatabase): readonly string[] =>
  ACTIVITY_TABLES.filter((table) => tables.has(table) && !has(table, "globalPid"));

const fate = (key: number | null): string =>
  key === null
    ? "left out, since the file has several processes"
    : key === 0
      ? "assigned to a single process without a number"
      : `assigned to process ${pidOf(key)}, the only one in the file`;

/**
 * The process of an activity table that does not say: the only one that other tables know; 0 where they know none, and
 * null where they know several.
 */
export function soleProcess(database: ExportDatabase): number | null {
  const keys = new Set<number>();
  const look = (table: string, column: string) => {
    const { sql } = processKey(column);
    for (const { key } of database.rows(table, { key: { column, sql: `DISTINCT ${sql}` } })) {
      const found = integer(key);
      if (found !== null) keys.add(found);
    }
  };
  for (const table of [NVTX_TABLE, ...CALL_TABLES]) look(table, "globalTid");
  for (const table of ACTIVITY_TABLES) look(table, "globalPid");
  const [only = 0] = keys;
  return keys.size > 1 ? null : only;
}
