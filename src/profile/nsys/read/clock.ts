/**
 * Times of an export are nanoseconds since the session began. `nsys export --ts-normalize` makes
 * them UTC, which no JavaScript number holds exactly: those are shifted to begin near zero.
 */
import type { ExportDatabase } from "./database.ts";
import { integer, wideInteger } from "./ids.ts";
import type { ColumnExpression } from "./integer-rows.ts";
import { COPY_TABLE, KERNEL_TABLE, NVTX_TABLE, RUNTIME_TABLE, SET_TABLE } from "./tables.ts";

export interface ExportClock {
  /** The absolute time (UTC, nanoseconds) of time 0; 0 where the file does not say. */
  readonly originNs: bigint;
  /** Reads a column of times. */
  readonly time: (column: string) => ColumnExpression;
  /** When nsys stopped recording, in the times of the timeline; null where the file does not say. */
  readonly stopNs: number | null;
}

/** Larger times are UTC: 2^52 ns are 52 days of recording. */
const LONGEST_SESSION_NS = 2n ** 52n;

const TIMED_TABLES = [NVTX_TABLE, RUNTIME_TABLE, KERNEL_TABLE, COPY_TABLE, SET_TABLE];

export function readClock(database: ExportDatabase): ExportClock {
  const shift = earliest(database);
  const time = (column: string): ColumnExpression => ({
    column,
    sql: shift === 0n ? column : `${column} - ${shift}`,
  });
  return { originNs: shift === 0n ? sessionStart(database) : shift, time, stopNs: stop(database) };

  function stop({ rows }: ExportDatabase): number | null {
    for (const { duration } of rows("ANALYSIS_DETAILS", { duration: "duration" }))
      return shift === 0n ? integer(duration) : null;
    return null;
  }
}

function sessionStart({ rows }: ExportDatabase): bigint {
  for (const { utc } of rows("TARGET_INFO_SESSION_START_TIME", { utc: "utcEpochNs" }))
    return wideInteger(utc) ?? 0n;
  return 0n;
}

/** The earliest time, where times are UTC; else 0. */
function earliest({ rows }: ExportDatabase): bigint {
  // All times are of one kind: a single small one tells without a look at millions of rows.
  for (const table of TIMED_TABLES)
    for (const { start } of rows(table, { start: "start" })) {
      if (typeof start !== "number" && typeof start !== "bigint") continue;
      if (start <= LONGEST_SESSION_NS) return 0n;
      break;
    }
  const starts = TIMED_TABLES.flatMap((table) =>
    [...rows(table, { first: { column: "start", sql: "MIN(start)" } })].map(({ first }) =>
      wideInteger(first),
    ),
  ).filter((first) => first !== null);
  const [first = 0n] = starts.sort((a, b) => Number(a - b));
  return first > LONGEST_SESSION_NS ? first : 0n;
}
