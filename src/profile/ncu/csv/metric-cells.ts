import { type CellPlaces, rawCellText } from "./cells.ts";
import { AMBIGUOUS, type NumberFormat, parseNumber } from "./number-format.ts";

/** Turns cells into numbers, and counts those whose meaning depends on an unknown locale. */
export interface NumberReader {
  /** NaN where there is no number, and no such cell. */
  read(bytes: Buffer, places: CellPlaces, column: number): number;
  readonly ambiguous: () => number;
}

const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;

/** Digits that a double holds exactly. */
const EXACT_DIGITS = 15;

const POWERS_OF_TEN = Array.from({ length: EXACT_DIGITS + 1 }, (_, power) => 10 ** power);

/**
 * Most of a large export is plain digits, read here straight from the bytes; everything else goes
 * through `parseNumber`.
 */
export function createNumberReader(format: NumberFormat): NumberReader {
  let ambiguous = 0;
  const dotIsPlain = format.group !== "." && format.group !== null;

  const slow = (bytes: Buffer, places: CellPlaces, column: number): number => {
    const value = parseNumber(rawCellText(bytes, places, column), format);
    if (value !== AMBIGUOUS) return value;
    ambiguous++;
    return Number.NaN;
  };

  return {
    read(bytes, places, column) {
      if (column >= places.count) return Number.NaN;
      const from = places.starts[column] ?? 0;
      const to = places.ends[column] ?? 0;
      if (to === from) return Number.NaN;
      if (to - from > EXACT_DIGITS) return slow(bytes, places, column);
      const negative = bytes[from] === MINUS;
      let at = negative ? from + 1 : from;
      if (at === to) return Number.NaN;
      let value = 0;
      let decimals = -1;
      for (; at < to; at++) {
        const byte = bytes[at] ?? 0;
        const digit = byte - ZERO;
        if (digit >= 0 && digit <= 9) {
          value = value * 10 + digit;
          if (decimals >= 0) decimals++;
        } else if (byte === DOT && decimals < 0 && dotIsPlain) decimals = 0;
        else return slow(bytes, places, column);
      }
      if (decimals === 0) return Number.NaN;
      // Both are exact, so that the quotient is the nearest double, as Number() finds it.
      if (decimals > 0) value /= POWERS_OF_TEN[decimals] ?? 1;
      return negative ? -value : value;
    },
    ambiguous: () => ambiguous,
  };
}
