import type { CellKind, TableLayout } from "./layout.ts";

/** Where the cells of one row stand in its bytes, without their quotes. Reused from row to row. */
export interface CellPlaces {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  count: number;
  /** The row ends with a comma behind its last cell. */
  bareComma: boolean;
}

export const createCellPlaces = (columns: number): CellPlaces => ({
  starts: new Int32Array(columns + SPARE),
  ends: new Int32Array(columns + SPARE),
  count: 0,
  bareComma: false,
});

/** Cells beyond the header's are counted this far: then the row is damaged for certain. */
const SPARE = 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;

/**
 * Finds the cells between `from` and `to`. ncu quotes every cell and doubles no quote inside, so that
 * a quote ends a cell only where `,"` or the end of the row follows, and where what follows fits the
 * kind of the column.
 *
 * @returns false when the text ends inside a cell, or is no row at all
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
  let at = from;
  while (at < to) {
    if (bytes[at] !== QUOTE || places.count >= places.starts.length) return false;
    const end = cellEnd(bytes, at + 1, to, kinds[places.count] ?? "plain");
    if (end < 0) return false;
    places.starts[places.count] = at + 1;
    places.ends[places.count] = end;
    places.count++;
    at = end + 1;
    if (at === to) return true;
    at++;
    if (at === to) places.bareComma = true;
  }
  return true;
}

/** Whether a row with these cells is complete under this layout. */
export const isComplete = (
  { count, bareComma }: CellPlaces,
  { widths, headers }: TableLayout,
): boolean => (bareComma ? widths.includes(count) : count === headers.length);

function cellEnd(bytes: Uint8Array, from: number, to: number, kind: CellKind): number {
  for (let at = from; at < to; at++) {
    if (bytes[at] !== QUOTE || !mayEnd(bytes, at, to)) continue;
    if (kind === "plain" || at === from) return at;
    if (kind === "nvtx" ? endsNvtx(bytes, at) : endsKernelName(bytes, at, to)) return at;
  }
  return -1;
}

/** The end of the row, a comma at the end of the row, or a comma and the next cell follow. */
function mayEnd(bytes: Uint8Array, quote: number, to: number): boolean {
  if (quote + 1 === to) return true;
  if (bytes[quote + 1] !== COMMA) return false;
  return quote + 2 === to || bytes[quote + 2] === QUOTE;
}

/** The last entry of an NVTX cell ends with two quotes and a space; JSON inside it does not. */
const endsNvtx = (bytes: Uint8Array, quote: number): boolean =>
  bytes[quote - 1] === SPACE && bytes[quote - 2] === QUOTE && bytes[quote - 3] === QUOTE;

/** Behind a kernel's name comes a context, a time or nothing: a digit, `n/a`, an empty cell. */
function endsKernelName(bytes: Uint8Array, quote: number, to: number): boolean {
  if (quote + 3 >= to) return true;
  const next = bytes[quote + 3] ?? 0;
  return (next >= 0x30 && next <= 0x39) || next === QUOTE || next === 0x6e;
}

/** The text of a cell; quotes that another program doubled are single again. */
export function cellText(bytes: Buffer, places: CellPlaces, column: number): string {
  if (column < 0 || column >= places.count) return "";
  const text = bytes.toString("utf8", places.starts[column], places.ends[column]);
  return text.includes('""') ? text.replaceAll('""', '"') : text;
}

/** The same as it stands, for cells whose quotes mean something. */
export const rawCellText = (bytes: Buffer, places: CellPlaces, column: number): string =>
  column < 0 || column >= places.count
    ? ""
    : bytes.toString("utf8", places.starts[column], places.ends[column]);
