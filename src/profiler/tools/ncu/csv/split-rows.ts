/** Splits ncu's own output into the rows of its tables. */
import { type CellPlaces, createCellPlaces, findCells, isComplete } from "./cells.ts";
import {
  HEADER_START,
  lackingColumns,
  layoutOf,
  SUMMARY_HEADERS,
  type TableLayout,
} from "./ncu-columns.ts";

/** Callbacks of the splitter; bytes and places are valid only during the call. */
export interface RowHandlers {
  readonly table: (layout: TableLayout) => void;
  readonly row: (bytes: Buffer, places: CellPlaces) => void;
}

export interface RowSplitter {
  /** Takes the next chunk of the stream. */
  push(chunk: Uint8Array): void;
  /** Processes the remaining bytes as the last row. */
  end(): SplitSummary;
}

export interface SplitSummary {
  readonly tables: number;
  /** Rows that were cut short or have more cells than columns. */
  readonly damagedRows: number;
  /** Whether there was a table of averages per kernel or NVTX range. */
  readonly sawSummaryPage: boolean;
  /** The required columns that the first unusable header lacks. */
  readonly lacking: readonly string[];
}

/** The line ends at which a row was found incomplete: how many, and the position of the last. */
interface FailedEnds {
  readonly lines: number;
  readonly length: number;
}

const NOT_TRIED: FailedEnds = { lines: 0, length: 0 };

/** What follows the available bytes: at the end of the text, a line needs no line break. */
type Follows = "more" | "nothing";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;

/** The longest possible row; a longer one has an unclosed quote, or is a line that a program never ends. */
const LONGEST_ROW = 64 << 20;

/** Line breaks occur only in names, near the front of a row: later ones are not tried as its end. */
const LONGEST_NAMES = 1 << 20;

/** The most line breaks in its names: after a truncated row, a program may have printed any number of lines. */
const MOST_LINES = 1000;

/**
 * Splits a stream into the rows of ncu's tables. Any text may come between and before tables, because a program shares
 * its output with ncu. A line break ends a row only if the row is complete, since names may contain line breaks; a row
 * that never completes ends where the next one begins.
 */
export function createRowSplitter({ table, row }: RowHandlers): RowSplitter {
  /** Chunks of an incomplete row, which are joined once a line ends. */
  let kept: Buffer[] = [];
  let keptBytes = 0;
  /** Inside an overlong line, until it ends. */
  let isSkipping = false;
  let failed = NOT_TRIED;
  let atStart = true;
  let layout: TableLayout | null = null;
  let places = createCellPlaces(64);
  let lacking: readonly string[] = [];
  const count = { tables: 0, damaged: 0, summary: false };

  /** Consumes complete rows; returns their bytes. */
  const consume = (bytes: Buffer, follows: Follows): number => {
    let start = 0;
    while (start < bytes.length) {
      const end = lineEnd(bytes, start, follows);
      if (end < 0 && bytes.length - start <= LONGEST_ROW) return start;
      if (end < 0) {
        if (layout !== null && beginsRow(bytes, start, bytes.length)) count.damaged++;
        isSkipping = true;
        return bytes.length;
      }
      if (startsWith(bytes, start, HEADER_BYTES)) {
        const headers = headerCells(bytes, start, trimmed(bytes, start, end));
        layout = layoutOf(headers);
        if (layout === null) {
          if (lacking.length === 0) lacking = lackingColumns(headers);
        } else {
          places = createCellPlaces(headers.length);
          count.tables++;
          table(layout);
        }
        start = end + 1;
      } else if (layout === null || !beginsRow(bytes, start, end)) {
        if (SUMMARY_BYTES.some((summary) => startsWith(bytes, start, summary))) {
          count.summary = true;
          layout = null;
        }
        start = end + 1;
      } else {
        const next = takeRow(bytes, start, end, layout, follows);
        if (next < 0) return start;
        start = next;
      }
    }
    return start;
  };

  /** Tries line ends until the row is complete; returns where the next line starts, -1 for "more". */
  const takeRow = (
    bytes: Buffer,
    start: number,
    firstEnd: number,
    shape: TableLayout,
    follows: Follows,
  ): number => {
    let { lines } = failed;
    let end = start + failed.length;
    failed = NOT_TRIED;
    for (;;) {
      const next = lines === 0 ? firstEnd : lineEnd(bytes, end + 1, follows);
      if (next < 0 && bytes.length - start <= LONGEST_ROW) {
        failed = { lines, length: end - start };
        return -1;
      }
      // At the end of the text or the start of the next row, this row was truncated.
      if (lines > 0 && (next < 0 || end + 1 >= bytes.length || beginsNext(bytes, end + 1, next))) {
        count.damaged++;
        return end + 1;
      }
      end = next;
      lines++;
      const to = trimmed(bytes, start, end);
      if (
        mayEndRow(bytes, to) &&
        findCells(bytes, start, to, shape.kinds, places) &&
        isComplete(places, shape)
      ) {
        row(bytes, places);
        return end + 1;
      }
      // The lines after it are not part of a row either.
      if (lines === MOST_LINES || end - start > LONGEST_NAMES) {
        count.damaged++;
        return firstEnd + 1;
      }
    }
  };

  return {
    push(chunk) {
      const line = isSkipping ? behindLine(chunk) : asBuffer(chunk);
      if (line === null) return;
      isSkipping = false;
      keptBytes += line.length;
      if (keptBytes <= LONGEST_ROW && !line.includes(NEWLINE)) {
        // Copied, because the stream may reuse its memory.
        kept.push(Buffer.from(line));
        return;
      }
      const joined = Buffer.concat([...kept, line]);
      const bytes = atStart ? withoutMark(joined) : joined;
      atStart = false;
      const rest = bytes.subarray(consume(bytes, "more"));
      kept = rest.length === 0 ? [] : [Buffer.from(rest)];
      keptBytes = rest.length;
    },
    end() {
      const bytes = Buffer.concat(kept);
      consume(atStart ? withoutMark(bytes) : bytes, "nothing");
      return {
        tables: count.tables,
        damagedRows: count.damaged,
        sawSummaryPage: count.summary,
        lacking,
      };
    },
  };
}

const HEADER_BYTES = Buffer.from(HEADER_START);
const SUMMARY_BYTES = SUMMARY_HEADERS.map((header) => Buffer.from(header));

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Windows shells write a byte order mark at the beginning of a file. */
export const withoutMark = (bytes: Buffer): Buffer =>
  startsWith(bytes, 0, BYTE_ORDER_MARK) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;

/** Null if the line continues. */
function behindLine(chunk: Uint8Array): Buffer | null {
  const end = chunk.indexOf(NEWLINE);
  return end < 0 ? null : asBuffer(chunk).subarray(end + 1);
}

const asBuffer = (chunk: Uint8Array): Buffer =>
  Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);

/** The end of a line; -1 if it is not available yet. */
function lineEnd(bytes: Buffer, start: number, follows: Follows): number {
  const found = bytes.indexOf(NEWLINE, start);
  return found < 0 && follows === "nothing" ? bytes.length : found;
}

/** The end without a carriage return. */
const trimmed = (bytes: Buffer, start: number, end: number): number =>
  end > start && bytes[end - 1] === RETURN ? end - 1 : end;

const startsWith = (bytes: Buffer, start: number, wanted: Buffer): boolean =>
  bytes.length - start >= wanted.length &&
  bytes.compare(wanted, 0, wanted.length, start, start + wanted.length) === 0;

const mayEndRow = (bytes: Buffer, to: number): boolean =>
  bytes[to - 1] === QUOTE || (bytes[to - 1] === COMMA && bytes[to - 2] === QUOTE);

/** Whether a result (`"12","4242",`) or the row of units (`"","",`) begins here. */
const beginsRow = (bytes: Buffer, start: number, end: number): boolean =>
  beginsResult(bytes, start, end) || /^"","",/.test(bytes.toString("latin1", start, start + 6));

const beginsNext = (bytes: Buffer, start: number, end: number): boolean =>
  beginsResult(bytes, start, end) || startsWith(bytes, start, HEADER_BYTES);

const beginsResult = (bytes: Buffer, start: number, end: number): boolean =>
  bytes[start] === QUOTE &&
  /^"\d+","\d+",/.test(bytes.toString("latin1", start, Math.min(end, start + 32)));

/** Names of columns contain no quotes and no line breaks. */
const headerCells = (bytes: Buffer, start: number, to: number): readonly string[] =>
  bytes
    .toString("utf8", start + 1, to - 1)
    .split('","')
    .map((name) => name.trim());
