/**
 * Integer columns as SQLite prints them, `[1,2,null][3,4,5]`: thousands of rows in one value. To ask for each
 * cell of each row takes several times as long, and leaves as much garbage.
 */

/**
 * Some rows, column by column; NaN where a cell holds no integer. Valid until the next ones are asked for.
 *
 * @typeParam Rare columns that few rows need
 */
export interface IntegerColumns<C extends string, Rare extends string = never> {
  readonly rows: number;
  readonly of: Readonly<Record<C, Float64Array>>;
  /** A cell of a column that was asked for as wide, where `of` holds a number, which it may have rounded. */
  readonly exact: (column: C, row: number) => bigint;
  /** The rare columns of the same rows: takes a query of its own. */
  readonly rare: () => Readonly<Record<Rare, Float64Array>>;
}

/** Where the cells of one column go. */
export interface ParsedColumn {
  readonly numbers: Float64Array;
  readonly exact?: BigInt64Array;
}

const NINE = 0x39;
const ZERO = 0x30;
const MINUS = 0x2d;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const END_BRACKET = 0x5d;
const QUOTE = 0x22;
/** The first letter. */
const NULL = 0x6e;
const BACKSLASH = 0x5c;
/** Behind the last one. */
const NO_BYTE = 0;
const LATIN1 = new TextDecoder("latin1");

/**
 * Reads rows that SQLite's `json_array` printed, with one cell for each column. Integers beyond 2^53 are rounded.
 *
 * @returns how many rows there are
 */
export function parseIntegerRows(text: Uint8Array, columns: readonly ParsedColumn[]): number {
  let row = -1;
  let cell = 0;
  let at = 0;
  while (at < text.length) {
    let byte = text[at] ?? NO_BYTE;
    if (byte === BRACKET) {
      row++;
      cell = 0;
    }
    if (byte === BRACKET || byte === COMMA || byte === END_BRACKET) {
      at++;
      continue;
    }
    const isNegative = byte === MINUS;
    if (isNegative) byte = text[++at] ?? NO_BYTE;
    let value = 0;
    const first = at;
    while (byte >= ZERO && byte <= NINE) {
      value = value * 10 + (byte - ZERO);
      byte = text[++at] ?? NO_BYTE;
    }
    const isInteger = byte === COMMA || byte === END_BRACKET;
    if (!isInteger) at = endOfOther(text, at);
    const column = columns[cell++];
    if (column === undefined) continue;
    if (!isInteger) {
      column.numbers[row] = Number.NaN;
      continue;
    }
    // Summing up digits rounds at each of them.
    if (value > Number.MAX_SAFE_INTEGER) value = Number(LATIN1.decode(text.subarray(first, at)));
    column.numbers[row] = isNegative ? -value : value;
    if (column.exact === undefined) continue;
    const exact = BigInt(LATIN1.decode(text.subarray(first, at)));
    column.exact[row] = isNegative ? -exact : exact;
  }
  return row + 1;
}

/** Where `null`, a text or a fraction ends. */
function endOfOther(text: Uint8Array, from: number): number {
  let at = from;
  if (text[at] === NULL) return at + 4;
  if (text[at] === QUOTE) {
    for (at++; at < text.length && text[at] !== QUOTE; at++) if (text[at] === BACKSLASH) at++;
    return at + 1;
  }
  while (at < text.length && text[at] !== COMMA && text[at] !== END_BRACKET) at++;
  return at;
}

/** Null where there is none. */
export function integerAt(column: Float64Array, row: number): number | null {
  const value = numberAt(column, row);
  return Number.isNaN(value) ? null : value;
}

/** NaN where there is none. */
export const numberAt = (column: Float64Array, row: number): number => column[row] ?? Number.NaN;
