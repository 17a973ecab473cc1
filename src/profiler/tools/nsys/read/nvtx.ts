/** The NVTX events of programs: table `NVTX_EVENTS` of an export. */
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import { bytes, createColumn, doubles, words } from "../../../model/columns.ts";
import {
  type CategoryName,
  createRangeReplay,
  type EventAttributes,
  type MarkInstance,
  type RangeHandlers,
  type RangeInstance,
  type RangeKind,
  type RangeStream,
} from "../../../model/timeline.ts";
import type { ExportDatabase, Row } from "./database.ts";
import { createPayloadNumbers } from "./payloads.ts";
import type { SqlValue } from "./queries.ts";
import { integer, isReadable, NVTX_TABLE, processKey, threadId } from "./schema.ts";
import type { ExportClock } from "./session.ts";

/** Values of `eventType`; the higher two are ranges imported from NVTXT files. */
const EVENT = { category: 33, mark: 34, threadName: 39, domain: 75 } as const;
const RANGE_KINDS: ReadonlyMap<number, RangeKind> = new Map([
  [59, "push_pop"],
  [60, "start_end"],
  [70, "push_pop"],
  [71, "start_end"],
]);

export interface NvtxEvents {
  readonly events: NvtxRanges;
  readonly marks: readonly MarkInstance[];
  /** First and last thing that these show; infinite where there are none. */
  readonly startNs: number;
  readonly endNs: number;
}

export interface NvtxRanges {
  /** In order of their start: all, or the first ones where `allRanges` is present. */
  readonly ranges: readonly RangeInstance[];
  /** How many those are. */
  readonly kept: number;
  /** Made again for each reader, where there are too many to keep an object for each. */
  readonly allRanges?: RangeStream;
  readonly startNs: number;
  readonly endNs: number;
}

const NOTHING = { startNs: Number.POSITIVE_INFINITY, endNs: Number.NEGATIVE_INFINITY };
export const NO_EVENTS: NvtxEvents = {
  ...NOTHING,
  events: { ...NOTHING, ranges: [], kept: 0 },
  marks: [],
};

/** Of an export, as of a run. */
const MOST_KEPT = 500_000;

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
    if (startNs === null || key === null) continue;
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

// Ranges in columns: there can be millions, and an object for each would take ten times as much memory.

interface RangeTable {
  readonly add: (range: Omit<RangeInstance, "id">) => void;
  /**
   * Once, after all.
   *
   * @param most ranges of which objects are kept
   */
  readonly finish: (most: number) => NvtxRanges;
}

/** No thread, in a column of threads. */
const NONE = 0xffffffff;
const KINDS: readonly RangeKind[] = ["push_pop", "start_end"];

function createRangeTable(): RangeTable {
  let length = 0;
  const texts = createTexts();
  const kinds = createColumn(bytes);
  const domains = createColumn(words);
  const names = createColumn(words);
  const threads = createColumn(doubles);
  const endThreads = createColumn(doubles, NONE);
  const starts = createColumn(doubles);
  const ends = createColumn(doubles, Number.NaN);
  const categories = createColumn(doubles, Number.NaN);
  const colors = createColumn(doubles, Number.NaN);
  const payloads = createColumn(doubles, Number.NaN);
  /** What few have: integers that no number holds, and numbers of structures. */
  const large = new Map<number, number | bigint>();
  const values = new Map<number, RangeInstance["values"]>();

  const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
  const endOf = (row: number): number => {
    const ns = ends.get(row);
    return Number.isNaN(ns) ? Number.POSITIVE_INFINITY : ns;
  };

  const add: RangeTable["add"] = (range) => {
    const row = length++;
    const { payload, endThreadId, endNs } = range;
    kinds.set(row, KINDS.indexOf(range.kind));
    domains.set(row, texts.numberOf(range.domain));
    names.set(row, texts.numberOf(range.name));
    threads.set(row, range.threadId);
    endThreads.set(row, endThreadId ?? NONE);
    starts.set(row, range.startNs);
    ends.set(row, endNs ?? Number.NaN);
    categories.set(row, range.category ?? Number.NaN);
    colors.set(row, range.color ?? Number.NaN);
    if (typeof payload === "bigint" || Number.isNaN(payload)) large.set(row, payload ?? Number.NaN);
    else payloads.set(row, payload ?? Number.NaN);
    if (range.values !== undefined) values.set(row, range.values);
  };

  const rangeAt = (row: number, id: number): RangeInstance => {
    const endThread = endThreads.get(row);
    const ofRow = values.get(row);
    return {
      id,
      kind: KINDS[kinds.get(row)] ?? "push_pop",
      domain: texts.at(domains.get(row)),
      name: texts.at(names.get(row)),
      threadId: threads.get(row),
      category: orNull(categories.get(row)),
      color: orNull(colors.get(row)),
      payload: large.get(row) ?? orNull(payloads.get(row)),
      ...(ofRow !== undefined && { values: ofRow }),
      startNs: starts.get(row),
      endNs: orNull(ends.get(row)),
      endThreadId: endThread === NONE ? null : endThread,
    };
  };

  return {
    add,
    finish(most) {
      // Of ranges that start at the same time the longer one was opened first.
      const compare = (a: number, b: number): number => {
        const order = starts.get(a) - starts.get(b);
        if (order !== 0) return order;
        const [endA, endB] = [endOf(a), endOf(b)];
        return endA === endB ? 0 : endB - endA;
      };
      const order = sortedRows(length, compare);
      let startNs = Number.POSITIVE_INFINITY;
      let endNs = Number.NEGATIVE_INFINITY;
      for (let row = 0; row < length; row++) {
        const start = starts.get(row);
        const end = ends.get(row);
        startNs = Math.min(startNs, start);
        endNs = Math.max(endNs, Number.isNaN(end) ? start : end);
      }
      const at = (place: number) => rangeAt(order[place] ?? 0, place);
      const first = (count: number) => Array.from({ length: count }, (_, place) => at(place));
      const kept = Math.min(length, Math.max(0, most));
      texts.finish();
      if (kept === length) return { ranges: first(length), kept, startNs, endNs };
      const replay = (handlers: RangeHandlers) =>
        createRangeReplay(length, at, handlers).until(Number.POSITIVE_INFINITY);
      const allRanges = { count: length, replay };
      return {
        // Made where they are needed, which is after regions are made of all.
        get ranges() {
          return first(kept);
        },
        ...{ kept, allRanges, startNs, endNs },
      };
    },
  };
}

/** Names and domains, each once. */
function createTexts() {
  let numbers = new Map<string, number>();
  const texts: string[] = [];
  return {
    numberOf: (text: string): number => getOrCreate(numbers, text, () => texts.push(text) - 1),
    at: (number: number): string => texts[number] ?? "",
    /** No more come: what finds them again takes more memory than they do. */
    finish(): void {
      numbers = new Map();
    },
  };
}

/** Row numbers in order; stable. */
function sortedRows(length: number, compare: (a: number, b: number) => number): Uint32Array {
  const rows = Array.from({ length }, (_, row) => row);
  let row = 1;
  while (row < length && compare(row - 1, row) <= 0) row++;
  return Uint32Array.from(row < length ? rows.sort(compare) : rows);
}
