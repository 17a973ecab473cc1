/** Splits a table that another program saved into rows. */
import { type CellPlaces, createCellPlaces } from "./cells.ts";
import { ENDLESS, findRecord, type RecordPlaces, regularRecord } from "./find-records.ts";
import {
  asNcuOrders,
  lackingColumns,
  lackingError,
  layoutOf,
  type TableLayout,
} from "./ncu-columns.ts";
import type { Rewriting } from "./rewritten.ts";
import type { RowHandlers, RowSplitter } from "./split-rows.ts";

/** Much longer than any row of ncu: a longer record has an unclosed quote. */
const LONGEST_RECORD = 1 << 24;

const LINE_FEED = 0x0a;
const ZERO = 0x30;
const DOT = 0x2e;

/** pandas converts integers to floats in a column with a missing value, as in the row of units. */
const WHOLE_NUMBERS = new Set(["ID", "Process ID", "Context", "Stream", "Device"]);

/** A table whose columns are mapped to ncu's order. */
interface Table {
  /** Null for a page of averages. */
  readonly layout: TableLayout | null;
  /** The index in ncu's order for each cell of the text. */
  readonly slots: Int32Array;
  /** Columns of whole numbers. */
  readonly whole: readonly number[];
  /** The indices of `ID` and `Process ID`. */
  readonly id: number;
  readonly processId: number;
}

/**
 * Splits a table that another program saved into its rows, as `createRowSplitter` does for ncu's own: passes on the
 * bytes of the text itself, with the cells in ncu's order.
 *
 * @param name the name of the table in messages
 * @throws ConfigError `profile.input` (from `push`) if it lacks required columns
 */
export function createRecordSplitter(
  { separator, added, offset }: Rewriting,
  name: string,
  { table: onTable, row: onRow }: RowHandlers,
): RowSplitter {
  const between = separator.charCodeAt(0);
  let unread = offset;
  let kept: Buffer = Buffer.alloc(0);
  /** After an overlong row, until its line ends. */
  let isSkipping = false;
  let table: Table | null = null;
  let places = createRecordPlaces(0);
  const count = { tables: 0, damaged: 0, summary: false };

  const takeHeader = (cells: readonly string[]) => {
    table = readTable(cells.slice(added), added, name);
    places = createRecordPlaces(table.slots.length);
    if (table.layout === null) count.summary = true;
    else {
      count.tables++;
      onTable(table.layout);
    }
  };

  /** @returns false if it is not a row */
  const takeRow = (text: Buffer, from: number, to: number, table: Table): boolean => {
    const { layout, whole, id, processId, slots } = table;
    if (layout === null) return false;
    let bytes = text;
    if (places.isIrregular) {
      bytes = regularRecord(text.subarray(from, to), between);
      findRecord(bytes, 0, between, slots, places);
    }
    const cells = places.count - added;
    // Clears cells that a truncated row lacks, which still have positions of the row before.
    for (let cell = places.count; cell < slots.length; cell++) {
      const slot = slots[cell] ?? 0;
      places.ends[slot] = places.starts[slot] ?? 0;
    }
    for (const column of whole) trimDecimals(bytes, places, column);
    const isUnits = cells > 1 && isEmpty(places, id) && isEmpty(places, processId);
    if (!isUnits && !(isDigits(bytes, places, id) && isDigits(bytes, places, processId)))
      return false;
    if (cells !== layout.headers.length) count.damaged++;
    else {
      places.count = cells;
      onRow(bytes, places);
    }
    return true;
  };

  /** Handles the header, and the headers of tables that were appended. */
  const takeOther = (cells: readonly string[]) => {
    const isFirst = table === null && cells.some((cell) => cell !== "");
    if (isFirst || (cells.includes("ID") && lackingColumns(cells).length === 0)) takeHeader(cells);
  };

  /** Consumes complete records, and the first line of text that cannot be one; returns their bytes. */
  const consume = (bytes: Buffer): number => {
    let start = 0;
    while (start < bytes.length) {
      const next = findRecord(bytes, start, between, table?.slots ?? NO_SLOTS, places);
      if (next === ENDLESS) {
        count.damaged++;
        start = bytes.indexOf(LINE_FEED, start) + 1;
        continue;
      }
      if (next < 0) return start;
      const isRow = table !== null && takeRow(bytes, start, next, table);
      if (!isRow) takeOther(cellsOf(bytes.subarray(start, next), between));
      start = next;
    }
    return start;
  };

  /** Drops the first line of a record without an end; the rest may be complete. */
  const dropLine = (bytes: Buffer): Buffer => {
    const end = bytes.indexOf(LINE_FEED);
    isSkipping = end < 0;
    return end < 0 ? bytes.subarray(bytes.length) : bytes.subarray(end + 1);
  };

  /** @returns the remaining bytes */
  const take = (bytes: Buffer, longest: number): Buffer => {
    let rest = isSkipping ? dropLine(bytes) : bytes;
    for (;;) {
      rest = rest.subarray(consume(rest));
      if (rest.length <= longest) return rest;
      count.damaged++;
      rest = dropLine(rest);
    }
  };

  return {
    push(chunk) {
      const fresh = chunk.subarray(unread);
      unread -= chunk.length - fresh.length;
      const bytes = kept.length === 0 ? asBuffer(fresh) : Buffer.concat([kept, fresh]);
      // Copied, because the stream may reuse its memory.
      kept = Buffer.from(take(bytes, LONGEST_RECORD));
    },
    end() {
      if (kept.length > 0) take(Buffer.concat([kept, Buffer.of(LINE_FEED)]), 0);
      return {
        tables: count.tables,
        damagedRows: count.damaged,
        sawSummaryPage: count.summary,
        lacking: [],
      };
    },
  };
}

const NO_SLOTS = new Int32Array(0);

const createRecordPlaces = (cells: number): RecordPlaces => ({
  ...createCellPlaces(cells),
  isIrregular: false,
});

const asBuffer = (chunk: Uint8Array): Buffer =>
  Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);

/** The texts of a record's cells, in their original order. */
function cellsOf(record: Buffer, separator: number): readonly string[] {
  const bytes = regularRecord(record, separator);
  const text = bytes.toString("utf8", 1, bytes.length - 2);
  return text
    .split(`"${String.fromCharCode(separator)}"`)
    .map((cell) => cell.replaceAll('""', '"').trim());
}

function readTable(names: readonly string[], added: number, name: string): Table {
  const lacking = isSummary(names) ? [] : lackingColumns(names);
  if (lacking.length > 0) throw lackingError(name, lacking);
  const order = asNcuOrders(names);
  const headers = order.map((place) => names[place] ?? "");
  const slots = new Int32Array(added + names.length);
  // The added columns go after all others.
  for (let cell = 0; cell < added; cell++) slots[cell] = names.length + cell;
  for (const [column, place] of order.entries()) slots[added + place] = column;
  return {
    layout: layoutOf(headers),
    slots,
    whole: headers.flatMap((header, column) => (WHOLE_NUMBERS.has(header) ? [column] : [])),
    id: headers.indexOf("ID"),
    processId: headers.indexOf("Process ID"),
  };
}

/** A page of averages has other columns: it is not a table of results. */
const isSummary = (names: readonly string[]): boolean =>
  names.includes("Invocations") || names.includes("Minimum");

const isEmpty = ({ starts, ends }: CellPlaces, column: number): boolean =>
  starts[column] === ends[column];

function isDigits(bytes: Buffer, { starts, ends }: CellPlaces, column: number): boolean {
  const from = starts[column] ?? 0;
  const to = ends[column] ?? 0;
  for (let offset = from; offset < to; offset++) {
    const digit = (bytes[offset] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return false;
  }
  return to > from;
}

/** `12.0` in a column of integers becomes 12. */
function trimDecimals(bytes: Buffer, places: CellPlaces, column: number): void {
  const end = places.ends[column] ?? 0;
  if (end - (places.starts[column] ?? 0) < 3 || bytes[end - 1] !== ZERO || bytes[end - 2] !== DOT)
    return;
  places.ends[column] = end - 2;
  if (!isDigits(bytes, places, column)) places.ends[column] = end;
}
