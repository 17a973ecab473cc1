/**
 * Columns that rows cannot be read without. nsys writes them all; other programs that make or change exports leave some
 * out. What can be read then is read, and what cannot is named: a report without it would pass for complete.
 */
import type { ExportDatabase } from "./database.ts";
import { integer, pidOf, processKey } from "./ids.ts";
import { ACTIVITY_TABLES, CALL_TABLES, KERNEL_TABLE, NVTX_TABLE } from "./tables.ts";

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
