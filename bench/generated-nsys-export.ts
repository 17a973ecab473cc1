/** An export of Nsight Systems as large as wanted, of the same program as `recordingOfRegions` writes down. */
import sqlite from "node-sqlite3-wasm";
import type { RegionsOptions } from "../tests/profiler/tools/recorder/generated.ts";

/** Columns of schema 3.11 (nsys 2023.4), those that nobody reads as well: they make the rows as long as real ones. */
const TABLES = {
  META_DATA_EXPORT: "name TEXT, value TEXT",
  StringIds: "id INTEGER PRIMARY KEY, value TEXT",
  CUPTI_ACTIVITY_KIND_KERNEL: `start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
    streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
    shortName INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
    registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,
    blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,
    localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER,
    sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER`,
  CUPTI_ACTIVITY_KIND_RUNTIME: `start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER`,
  NVTX_EVENTS: `start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
    color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
    domainId INTEGER`,
} as const;

const GLOBAL_PID = (1n << 48n) | (7n << 24n);
const GLOBAL_TID = GLOBAL_PID | 8n;
/** NvtxPushPopRange of the table of event types. */
const PUSH_POP = 59;

/** Numbers from 0, as the rows of `n`. */
const upTo = (count: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})`;

/** Demangled, short and mangled names are texts of their own, as nsys writes them. */
export function writeNsysExport(file: string, { kernels, regions, names }: RegionsOptions): void {
  const perRegion = kernels / regions;
  const regionNs = (perRegion + 2) * 1_000;
  const launch = `(i / ${perRegion}) * ${regionNs} + (i % ${perRegion} + 1) * 1000`;
  const name = `(i % ${names}) * 3`;
  const database = new sqlite.Database(file);
  try {
    database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    for (const [table, columns] of Object.entries(TABLES))
      database.exec(`CREATE TABLE ${table} (${columns})`);
    const texts = [
      "'void kernel_'||i||'<float>(float*)'",
      "'kernel_'||i",
      "'_Z6kernel_'||i||'IfEvPT_'",
    ];
    for (const [at, text] of texts.entries())
      database.exec(
        `${upTo(names)} INSERT INTO StringIds SELECT i * 3 + ${at + 1}, ${text} FROM n`,
      );
    database.exec(`${upTo(kernels)} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
      SELECT ${launch} + 500, ${launch} + 800, 0, 1, 7, i + 1, ${GLOBAL_PID}, ${name} + 1, ${name} + 2,
        ${name} + 3, NULL, NULL, 32, 64, 1, 1, 256, 1, 1, 0, 0, 0, 0, i + 1, NULL, NULL, NULL FROM n`);
    database.exec(`${upTo(kernels)} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
      SELECT ${launch}, ${launch} + 200, 0, ${GLOBAL_TID}, i + 1, 2, 0, NULL FROM n`);
    database.exec(`${upTo(regions)} INSERT INTO NVTX_EVENTS
      SELECT i * ${regionNs},
        CASE i % 10 WHEN 0 THEN (i + 10) * ${regionNs} - 900 ELSE (i + 1) * ${regionNs} - 1000 END,
        ${PUSH_POP}, NULL, NULL, NULL, 'region '||i, ${GLOBAL_TID}, NULL, NULL, 0 FROM n`);
    database.exec("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2023.4.4.54')");
    database.exec("COMMIT");
  } finally {
    database.close();
  }
}
