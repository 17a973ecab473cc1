/** The schema of an export: its tables, global ids, names by id, and required columns. */

import { createIdIndex, createLongList } from "../../../model/columns.ts";
import type { ExportDatabase } from "./database.ts";
import type { ColumnExpression, SqlValue } from "./queries.ts";

// Tables of an export, by content.

/** GPU activities; kernels first. */
export const KERNEL_TABLE = "CUPTI_ACTIVITY_KIND_KERNEL";
export const COPY_TABLE = "CUPTI_ACTIVITY_KIND_MEMCPY";
export const SET_TABLE = "CUPTI_ACTIVITY_KIND_MEMSET";
export const GRAPH_TABLE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
const ACTIVITY_TABLES = [KERNEL_TABLE, COPY_TABLE, SET_TABLE, GRAPH_TABLE];

/** Calls of the runtime, and the driver calls inside them. */
export const RUNTIME_TABLE = "CUPTI_ACTIVITY_KIND_RUNTIME";
export const CALL_TABLES = [RUNTIME_TABLE, "CUPTI_ACTIVITY_KIND_DRIVER"];

/** The streams of contexts, with their types. */
export const STREAM_TABLE = "TARGET_INFO_CUDA_STREAM";

export const NVTX_TABLE = "NVTX_EVENTS";

/** Tables of ranges and of GPU activities begin with these. */
const EVENT_TABLES = /^(?:NVTX|CUPTI_ACTIVITY_KIND)_/;
/** Those that nsys is known to write, read here or not. */
const KNOWN_TABLES: ReadonlySet<string> = new Set([
  NVTX_TABLE,
  ...["SCHEMAS", "SCHEMA_ENTRIES", "ENUMS", "ENUM_ENTRIES"].map((name) => `NVTX_PAYLOAD_${name}`),
  ...ACTIVITY_TABLES,
  ...CALL_TABLES,
  ...["SYNCHRONIZATION", "CUDA_EVENT", "OVERHEAD", "EXTERNAL_CORRELATION", "OPENMP"].map(
    (name) => `CUPTI_ACTIVITY_KIND_${name}`,
  ),
  ...["DATA", "LAUNCH", "OTHER"].map((name) => `CUPTI_ACTIVITY_KIND_OPENACC_${name}`),
]);

/** Tables of ranges or GPU activities that are not known here. */
export const unknownTables = ({ tables }: ExportDatabase): readonly string[] =>
  [...tables].filter((table) => EVENT_TABLES.test(table) && !KNOWN_TABLES.has(table)).sort();

// nsys's global ids: hardware id, virtual machine id, process and thread in one number, from the
// highest bits to the lowest (8, 8, 24 and 24 bits). Nsight Systems User Guide, "Common SQLite
// Examples": `pid = (globalTid >> 24) & 0xFFFFFF`, `tid = globalTid & 0xFFFFFF`.

/** All parts except the thread: distinguishes processes, also those of several machines with the same pid. */
export const processKey = (column: string): ColumnExpression => ({
  column,
  sql: `${column} >> 24`,
});

export const threadId = (column: string): ColumnExpression => ({
  column,
  sql: `${column} & 16777215`,
});

/** Also for a damaged key, which may be negative. */
export const pidOf = (key: number): number => ((key % PIDS) + PIDS) % PIDS;
const PIDS = 2 ** 24;

/** An integer column; null if absent. Other programs write fractions, which are kept. */
export const integer = (value: SqlValue): number | null => {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
};

/** For integers beyond 2^53; truncates a fraction. */
export const wideInteger = (value: SqlValue): bigint | null => {
  if (typeof value === "bigint") return value;
  const number = integer(value);
  return number === null ? null : BigInt(Math.trunc(number));
};

// Names by their ids in `StringIds`, each read and stored once. In the worst case an export has a separate name for
// each of a million kernels, and two more that are not requested.

export interface NameReader {
  /** Reads the unknown names of these ids with one query; false: some ids have no name. */
  readonly load: (ids: ArrayLike<number>) => boolean;
  /** Null if there is none; NaN is not an id. */
  readonly nameOf: (id: number) => string | null;
}

export function createNameReader(database: ExportDatabase): NameReader {
  const idIndex = createIdIndex();
  const texts = createLongList<string | null>();
  return {
    load(ids) {
      const wanted: number[] = [];
      let complete = true;
      for (let index = 0; index < ids.length; index++) {
        const id = ids[index] ?? Number.NaN;
        const number = isIndexed(id) ? idIndex.find(id) : null;
        if (number !== null) complete &&= texts.at(number) !== null;
        else if (!isIndexed(id)) complete = false;
        else {
          idIndex.add(id);
          wanted.push(id);
        }
      }
      for (const text of database.strings(wanted)) {
        complete &&= text !== null;
        texts.push(text);
      }
      return complete;
    },
    nameOf(id) {
      if (Number.isNaN(id)) return null;
      const number = isIndexed(id) ? idIndex.find(id) : null;
      return number === null ? database.string(id) : (texts.at(number) ?? null);
    },
  };
}

/** nsys counts ids up from 1; no others are known to occur. */
const isIndexed = (id: number): boolean => id >= 0 && id < 2 ** 32;

// Columns without which rows cannot be read. nsys writes them all; other programs that make or change exports omit
// some. The readable rest is read, and notes name what is missing: otherwise the report would pass for complete.

interface Needed {
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  /** The consequence if one is missing. */
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

/** Whether a table has every required column. */
export const isReadable = ({ has }: ExportDatabase, table: string): boolean =>
  NEEDED.every(
    ({ tables, columns }) =>
      !tables.includes(table) || columns.every((column) => has(table, column)),
  );

/** The missing columns and the consequences, a line for each table. */
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
 * The process of an activity table without a process column: the only one in other tables; 0 if these have none, and
 * null if they have several.
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
