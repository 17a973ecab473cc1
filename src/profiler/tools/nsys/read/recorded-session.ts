/** The recorded session: its clock, and the machine. */
import type { RecordedMachine } from "../../../model/timeline.ts";
import type { ExportDatabase } from "./database.ts";
import {
  COPY_TABLE,
  integer,
  KERNEL_TABLE,
  NVTX_TABLE,
  RUNTIME_TABLE,
  SET_TABLE,
  wideInteger,
} from "./export-schema.ts";
import type { ColumnExpression } from "./queries.ts";

// Times of an export are nanoseconds since the session began. `nsys export --ts-normalize` makes them UTC, which
// exceeds the exact range of numbers: those are shifted to begin near zero.

export interface ExportClock {
  /** The absolute time (UTC, nanoseconds) of time 0; 0 if unknown. */
  readonly originNs: bigint;
  /** Reads a column of times. */
  readonly time: (column: string) => ColumnExpression;
  /** When nsys stopped recording, in times of the timeline; null if unknown. */
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

/** The earliest time if times are UTC; else 0. */
function earliest({ rows }: ExportDatabase): bigint {
  // All times are of one kind: a single small one decides without scanning millions of rows.
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

// The recorded machine.

/** nsys's names of these facts; the same table holds the process environment, which is private. */
const FACTS = { hostname: "Hostname", os: "OsDescription", cpu: "CpuDescription" } as const;

export function readMachine(database: ExportDatabase): RecordedMachine {
  const facts = new Map<string, string>();
  const wanted = Object.values(FACTS)
    .map((name) => `'${name}'`)
    .join(", ");
  const columns = { name: "name", value: "value" };
  for (const { name, value } of database.rows(
    "TARGET_INFO_SYSTEM_ENV",
    columns,
    `name IN (${wanted})`,
  ))
    if (typeof value === "string" && value.trim() !== "") facts.set(String(name), value.trim());
  return {
    hostname: facts.get(FACTS.hostname) ?? null,
    os: facts.get(FACTS.os) ?? null,
    cpu: facts.get(FACTS.cpu) ?? null,
    gpus: readGpuNames(database),
  };
}

/** `TARGET_INFO_CUDA_GPU` is the table's name until 2020; it lists the GPUs once for each process. */
function readGpuNames({ tables, rows }: ExportDatabase): readonly string[] {
  const table = tables.has("TARGET_INFO_GPU") ? "TARGET_INFO_GPU" : "TARGET_INFO_CUDA_GPU";
  const columns = {
    name: "name",
    cudaDevice: "cuDevice",
    id: "id",
    oldId: "deviceId",
    bus: "busLocation",
    oldBus: "pciBusId",
  };
  const gpus = new Map<string, { readonly name: string; readonly place: number }>();
  for (const { name, cudaDevice, id, oldId, bus, oldBus } of rows(table, columns)) {
    if (typeof name !== "string") continue;
    const place = integer(cudaDevice) ?? integer(id) ?? integer(oldId) ?? gpus.size;
    gpus.set(String(bus ?? oldBus ?? gpus.size), { name, place });
  }
  return [...gpus.values()].sort((a, b) => a.place - b.place).map(({ name }) => name);
}
