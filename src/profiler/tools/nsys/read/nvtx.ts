/** The NVTX events of programs: table `NVTX_EVENTS` of an export. */
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import {
  createRangeTable,
  MOST_KEPT,
  type RangeTable,
  type RecordedRanges,
} from "../../../model/range-table.ts";
import type {
  CategoryName,
  EventAttributes,
  MarkInstance,
  RangeInstance,
  RangeKind,
} from "../../../model/timeline.ts";
import type { ExportDatabase, Row } from "./database.ts";
import { integer, isReadable, NVTX_TABLE, processKey, threadId } from "./export-schema.ts";
import { createPayloadNumbers } from "./payloads.ts";
import type { SqlValue } from "./queries.ts";
import type { ExportClock } from "./recorded-session.ts";

/** Values of `eventType`; the higher two are ranges imported from NVTXT files. */
const EVENT = { category: 33, mark: 34, threadName: 39, domain: 75 } as const;
const RANGE_KINDS: ReadonlyMap<number, RangeKind> = new Map([
  [59, "push_pop"],
  [60, "start_end"],
  [70, "push_pop"],
  [71, "start_end"],
]);

export interface NvtxEvents {
  readonly events: RecordedRanges;
  readonly marks: readonly MarkInstance[];
  /** First and last thing that these show; infinite where there are none. */
  readonly startNs: number;
  readonly endNs: number;
}

const NOTHING = { startNs: Number.POSITIVE_INFINITY, endNs: Number.NEGATIVE_INFINITY };
export const NO_EVENTS: NvtxEvents = {
  ...NOTHING,
  events: { ...NOTHING, ranges: [], kept: 0 },
  marks: [],
};

/** What a process did, as it is read. */
interface EventsDraft {
  readonly ranges: RangeTable;
  readonly marks: MarkInstance[];
}

const emptyDraft = (): EventsDraft => ({ ranges: createRangeTable(), marks: [] });

const PAYLOADS = {
  uint64: "uint64Value",
  int64: "int64Value",
  double: "doubleValue",
  uint32: "uint32Value",
  int32: "int32Value",
  float: "floatValue",
};

/**
 * Ranges and marks of each process, by process key, in order of their start.
 *
 * @param most ranges of which objects are kept, some 250 bytes each; all of them take 20 to 60 bytes in columns
 */
export function readNvtx(
  database: ExportDatabase,
  clock: ExportClock,
  most = MOST_KEPT,
): ReadonlyMap<number, NvtxEvents> {
  if (!isReadable(database, NVTX_TABLE)) return new Map();
  const domainOf = readDomains(database);
  const numbersOf = createPayloadNumbers(database);
  const processes = new Map<number, EventsDraft>();
  for (const row of eventRows(database, clock, numbersOf !== null)) {
    const startNs = integer(row.start);
    const key = integer(row.process);
    if (startNs === null || key === null) {
      database.leaveOut(NVTX_TABLE);
      continue;
    }
    const events = getOrCreate(processes, key, emptyDraft);
    const kind = RANGE_KINDS.get(Number(row.type));
    const common = {
      domain: domainOf(key, integer(row.domain) ?? 0),
      name: textOf(row, database) ?? "",
      threadId: integer(row.thread) ?? 0,
      category: integer(row.category),
      color: integer(row.color),
      payload: payloadOf(row),
      ...withNumbers(numbersOf?.(row.binary)),
    } satisfies EventAttributes & Partial<MarkInstance>;
    if (kind === undefined) {
      events.marks.push({ ...common, timeNs: startNs });
      continue;
    }
    const endNs = endOf(integer(row.end), startNs, clock);
    const endThreadId = endNs === null ? null : (integer(row.endThread) ?? common.threadId);
    events.ranges.add({ kind, ...common, startNs, endNs, endThreadId });
  }
  let left = most;
  return new Map(
    [...processes].map(([key, { ranges, marks }]) => {
      const events = ranges.finish(left);
      left -= events.kept;
      marks.sort((a, b) => a.timeNs - b.timeNs);
      const startNs = Math.min(events.startNs, marks[0]?.timeNs ?? events.startNs);
      const endNs = Math.max(events.endNs, marks.at(-1)?.timeNs ?? events.endNs);
      return [key, { events, marks, startNs, endNs }];
    }),
  );
}

const withNumbers = (values: RangeInstance["values"]) => (values === undefined ? {} : { values });

/** @param hasPayloads if false, the large payload column is not read */
const eventRows = (database: ExportDatabase, clock: ExportClock, hasPayloads: boolean) =>
  database.rows(
    NVTX_TABLE,
    {
      start: clock.time("start"),
      end: clock.time("end"),
      type: "eventType",
      process: processKey("globalTid"),
      thread: threadId("globalTid"),
      endThread: threadId("endGlobalTid"),
      domain: "domainId",
      text: "text",
      textId: "textId",
      category: "category",
      color: "color",
      binary: hasPayloads ? "binaryData" : { column: "binaryData", sql: "NULL" },
      ...PAYLOADS,
    },
    `eventType IN (${[EVENT.mark, ...RANGE_KINDS.keys()].join(", ")})`,
  );

/** A registered string is stored as an id. */
const textOf = ({ text, textId }: Row<"text" | "textId">, { string }: ExportDatabase) =>
  typeof text === "string" ? text : string(textId);

/** nsys closes what was never closed at the moment when it stopped recording. */
function endOf(endNs: number | null, startNs: number, { stopNs }: ExportClock): number | null {
  if (endNs === null || (stopNs !== null && endNs >= stopNs)) return null;
  return Math.max(endNs, startNs);
}

/** Domain ids are per process; 0 is the default domain. */
function readDomains(database: ExportDatabase): (process: number, id: number) => string {
  const domains = new Map<string, string>();
  const rows = database.rows(
    NVTX_TABLE,
    { process: processKey("globalTid"), id: "domainId", text: "text", textId: "textId" },
    `eventType = ${EVENT.domain}`,
  );
  for (const row of rows) {
    const name = textOf(row, database);
    if (name !== null) domains.set(`${row.process} ${row.id}`, name);
  }
  // A domain that was created before the recording began has only an id.
  return (process, id) => (id === 0 ? "" : (domains.get(`${process} ${id}`) ?? `domain ${id}`));
}

/**
 * The names that programs give their threads, by process key and thread; the last name counts. (The table `ThreadNames`
 * has the system's names for threads of every process of the machine.)
 */
export function readThreadNames(
  database: ExportDatabase,
): ReadonlyMap<number, ReadonlyMap<number, string>> {
  const processes = new Map<number, Map<number, string>>();
  if (!isReadable(database, NVTX_TABLE)) return processes;
  const rows = database.rows(
    NVTX_TABLE,
    {
      process: processKey("globalTid"),
      thread: threadId("globalTid"),
      text: "text",
      textId: "textId",
    },
    `eventType = ${EVENT.threadName}`,
  );
  for (const row of rows) {
    const [key, id] = [integer(row.process), integer(row.thread)];
    const name = textOf(row, database);
    if (key === null || id === null || name === null) continue;
    getOrCreate(processes, key, () => new Map<number, string>()).set(id, name);
  }
  return processes;
}

/** The names that programs give their categories, by process key; the last name counts. */
export function readCategoryNames(
  database: ExportDatabase,
): ReadonlyMap<number, readonly CategoryName[]> {
  const processes = new Map<number, Map<string, CategoryName>>();
  if (!isReadable(database, NVTX_TABLE)) return new Map();
  const domainOf = readDomains(database);
  const rows = database.rows(
    NVTX_TABLE,
    {
      process: processKey("globalTid"),
      domain: "domainId",
      category: "category",
      text: "text",
      textId: "textId",
    },
    `eventType = ${EVENT.category}`,
  );
  for (const row of rows) {
    const [key, category] = [integer(row.process), integer(row.category)];
    const name = textOf(row, database);
    if (key === null || category === null || name === null) continue;
    const domain = domainOf(key, integer(row.domain) ?? 0);
    getOrCreate(processes, key, () => new Map<string, CategoryName>()).set(
      `${category} ${domain}`,
      { domain, category, name },
    );
  }
  return new Map([...processes].map(([key, names]) => [key, [...names.values()]]));
}

function payloadOf(row: Row<keyof typeof PAYLOADS>): number | bigint | null {
  if (row.uint64 !== null) return exact(row.uint64, true);
  const { int64, double, uint32, int32, float } = row;
  return exact(int64 ?? double ?? uint32 ?? int32 ?? float, false);
}

/** SQLite's integers are signed: the upper half of unsigned values arrives as negative numbers. */
function exact(value: SqlValue, unsigned: boolean): number | bigint | null {
  if (typeof value !== "number" && typeof value !== "bigint") return null;
  return unsigned && value < 0 ? BigInt.asUintN(64, BigInt(value)) : value;
}
