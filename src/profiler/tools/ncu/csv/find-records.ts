/** Records of CSV as other programs write it. */
import type { CellPlaces } from "./cells.ts";

/** The positions of a record's cells. */
export interface RecordPlaces extends CellPlaces {
  /** Whether a cell has quotes that do not enclose it, so that its bytes differ from its value. */
  isIrregular: boolean;
}

/** The record spans more lines than its names can contain: a quote was never closed. */
export const ENDLESS = -2;
/** The same limit as for ncu's own rows. */
const MOST_LINES = 1000;

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Finds the cells of the record that begins at `from`, by the rules of CSV (RFC 4180): a cell that begins with a quote
 * ends at the next quote that is not doubled, any other cell at the separator or the end of the line.
 *
 * @param slots the destination index of each cell; further cells are only counted
 * @returns where the next record begins; -1 if the end of this one is not available yet, or `ENDLESS`
 */
export function findRecord(
  bytes: Buffer,
  from: number,
  separator: number,
  slots: Int32Array,
  places: RecordPlaces,
): number {
  const { length } = bytes;
  places.count = 0;
  places.isIrregular = false;
  let offset = from;
  let lines = 0;
  for (;;) {
    let start = offset;
    let end = -1;
    if (bytes[offset] === QUOTE) {
      start = ++offset;
      for (;;) {
        for (; offset < length; offset++) {
          const quoted = bytes[offset];
          if (quoted === QUOTE) break;
          if (quoted === LINE_FEED && ++lines > MOST_LINES) return ENDLESS;
        }
        if (offset + 1 >= length) return -1;
        if (bytes[offset + 1] !== QUOTE) break;
        offset += 2;
      }
      end = offset++;
    }
    const behind = offset;
    let byte = 0;
    for (; offset < length; offset++) {
      byte = bytes[offset] ?? 0;
      if (byte === separator || byte === LINE_FEED) break;
      if (byte === QUOTE) places.isIrregular = true;
    }
    if (offset === length) return -1;
    const to = byte === LINE_FEED ? withoutReturn(bytes, behind, offset) : offset;
    if (end < 0) end = to;
    else if (to > behind) places.isIrregular = true;
    if (places.count < slots.length) {
      const slot = slots[places.count] ?? 0;
      places.starts[slot] = start;
      places.ends[slot] = end;
    }
    places.count++;
    offset++;
    if (byte === LINE_FEED) return offset;
  }
}

const withoutReturn = (bytes: Buffer, from: number, to: number): number =>
  to > from && bytes[to - 1] === CARRIAGE_RETURN ? to - 1 : to;

/** Makes a record regular: quotes around every cell, and quotes inside doubled. */
export function regularRecord(record: Buffer, separator: number): Buffer {
  const to = lineEnd(record);
  // One byte becomes at most three.
  const out = Buffer.allocUnsafe(3 * to + 3);
  let length = 0;
  out[length++] = QUOTE;
  let state: "start" | "plain" | "quoted" = "start";
  for (let offset = 0; offset < to; offset++) {
    const byte = record[offset] ?? 0;
    if (byte === QUOTE) {
      if (state === "start") state = "quoted";
      else if (state === "quoted" && (offset + 1 === to || record[offset + 1] !== QUOTE))
        state = "plain";
      else {
        if (state === "quoted") offset++;
        out[length++] = QUOTE;
        out[length++] = QUOTE;
      }
    } else if (byte === separator && state !== "quoted") {
      out[length++] = QUOTE;
      out[length++] = byte;
      out[length++] = QUOTE;
      state = "start";
    } else {
      out[length++] = byte;
      if (state === "start") state = "plain";
    }
  }
  out[length++] = QUOTE;
  out[length++] = LINE_FEED;
  return out.subarray(0, length);
}

/** The end of a record, without its line break. */
const lineEnd = (record: Buffer): number =>
  record.at(-1) === LINE_FEED ? withoutReturn(record, 0, record.length - 1) : record.length;
