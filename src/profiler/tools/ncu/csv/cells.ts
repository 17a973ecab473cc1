/** Finds the cells in a row of ncu's tables. */
import type { TextBytes } from "../../../../foundation/system/platform-types.ts";
import type { CellKind, TableLayout } from "./ncu-columns.ts";

/** The positions of a row's cells in its bytes, without their quotes. Reused for each row. */
export interface CellPlaces {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  count: number;
  /** Whether the row ends with a comma after its last cell. */
  bareComma: boolean;
}

export const createCellPlaces = (columns: number): CellPlaces => ({
  starts: new Int32Array(columns + SPARE),
  ends: new Int32Array(columns + SPARE),
  count: 0,
  bareComma: false,
});

/** How many cells beyond the header's are counted: then the row is certainly damaged. */
const SPARE = 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;

/**
 * Finds the cells between `from` and `to`. ncu quotes every cell but does not double quotes inside, so a quote ends a
 * cell only if `,"` or the end of the row follows, and if the following text fits the kind of the column.
 *
 * @returns false if the text ends inside a cell, or is not a row
 */
export function findCells(
  bytes: Uint8Array,
  from: number,
  to: number,
  kinds: readonly CellKind[],
  places: CellPlaces,
): boolean {
  places.count = 0;
  places.bareComma = false;
  let offset = from;
  while (offset < to) {
    if (bytes[offset] !== QUOTE || places.count >= places.starts.length) return false;
    const end = cellEnd(bytes, offset + 1, to, kinds[places.count] ?? "plain");
    if (end < 0) return false;
    places.starts[places.count] = offset + 1;
    places.ends[places.count] = end;
    places.count++;
    offset = end + 1;
    if (offset === to) return true;
    offset++;
    if (offset === to) places.bareComma = true;
  }
  return true;
}

/** Whether a row with these cells is complete under this layout. */
export const isComplete = (
  { count, bareComma }: CellPlaces,
  { widths, headers }: TableLayout,
): boolean => (bareComma ? widths.includes(count) : count === headers.length);

function cellEnd(bytes: Uint8Array, from: number, to: number, kind: CellKind): number {
  for (let offset = from; offset < to; offset++) {
    if (bytes[offset] !== QUOTE || !mayEnd(bytes, offset, to)) continue;
    if (kind === "plain" || offset === from) return offset;
    if (kind === "nvtx" ? endsNvtx(bytes, offset) : endsKernelName(bytes, offset, to))
      return offset;
  }
  return -1;
}

/** Whether the end of the row, a comma at its end, or a comma and the next cell follow. */
function mayEnd(bytes: Uint8Array, quote: number, to: number): boolean {
  if (quote + 1 === to) return true;
  if (bytes[quote + 1] !== COMMA) return false;
  return quote + 2 === to || bytes[quote + 2] === QUOTE;
}

/** The last entry of an NVTX cell ends with two quotes and a space; JSON inside it does not. */
const endsNvtx = (bytes: Uint8Array, quote: number): boolean =>
  bytes[quote - 1] === SPACE && bytes[quote - 2] === QUOTE && bytes[quote - 3] === QUOTE;

/** After a kernel's name comes a context, a time or nothing: a digit, `n/a`, an empty cell. */
function endsKernelName(bytes: Uint8Array, quote: number, to: number): boolean {
  if (quote + 3 >= to) return true;
  const next = bytes[quote + 3] ?? 0;
  return (next >= 0x30 && next <= 0x39) || next === QUOTE || next === 0x6e;
}

/** The text of a cell; undoes the doubling of quotes by another program. */
export function cellText(bytes: TextBytes, places: CellPlaces, column: number): string {
  if (column < 0 || column >= places.count) return "";
  const text = bytes.toString("utf8", places.starts[column], places.ends[column]);
  return text.includes('""') ? text.replaceAll('""', '"') : text;
}

/** The unmodified text, for cells whose quotes have a meaning. */
export const rawCellText = (bytes: TextBytes, places: CellPlaces, column: number): string =>
  column < 0 || column >= places.count
    ? ""
    : bytes.toString("utf8", places.starts[column], places.ends[column]);
