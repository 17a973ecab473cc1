/** Numbers as ncu prints them in each locale. */
import { type CellPlaces, rawCellText } from "./cells.ts";

/**
 * Numbers as ncu prints them, which depends on the locale of the printing process: `9612288` in the C locale,
 * `9,612,288` and `27.80` in English ones, `9.612.288` and `27,80` in German ones, and there `52.576000` if units are
 * chosen automatically. So `52.576` may be 52576 or 52.576: it is read only if the rest of the file is conclusive, and
 * is not a number otherwise.
 */
export interface NumberFormat {
  /**
   * Separator of groups of three digits; empty: none; null: unknown. A comma that is also `decimal` comes from a table
   * that a program of another locale has changed: there a number with one comma is ambiguous.
   */
  readonly group: "," | "." | "" | null;
  readonly decimal: "." | "," | null;
}

export type LocaleName = "C" | "en" | "de";

/** Formats by user-visible name: `de` stands for all locales that write 1.234,5. */
export const NUMBER_FORMATS: Readonly<Record<LocaleName, NumberFormat>> = {
  C: { group: "", decimal: "." },
  en: { group: ",", decimal: "." },
  de: { group: ".", decimal: "," },
};

/** `1234`, `1,234`: the separator may be for groups or for decimals. */
const AMBIGUOUS = Symbol("ambiguous");

/**
 * @returns NaN for a text that is not a number: `n/a`, an empty cell, and `nan` and `inf`, which a report cannot
 * contain; AMBIGUOUS if it depends on an unknown format
 */
function parseNumber(text: string, format: NumberFormat): number | typeof AMBIGUOUS {
  const plain = withoutInstances(text);
  if (!/^[-+]?[\d.,]*\d(?:e[-+]?\d+)?$/.test(plain)) return Number.NaN;
  if (!/[.,]/.test(plain)) return Number(plain);
  const shape = shapeOf(plain.replace(/^[-+]/, ""));
  switch (shape.kind) {
    case "none":
      return Number.NaN;
    case "grouped":
      return Number(plain.replaceAll(shape.group, ""));
    case "decimal":
      if (isContradictory(shape.decimal, format)) return AMBIGUOUS;
      return Number(plain.replace(shape.decimal, "."));
    case "both":
      return Number(plain.replaceAll(shape.group, "").replace(shape.decimal, "."));
    case "either": {
      const meaning = meaningOf(shape.separator, format);
      if (meaning === null) return AMBIGUOUS;
      return Number(plain.replace(shape.separator, meaning === "group" ? "" : "."));
    }
  }
}

/** `632520 (31752; 31752; ...)` is a value and its instances. */
function withoutInstances(text: string): string {
  const at = text.indexOf(" (");
  return at < 0 ? text : text.slice(0, at);
}

type Separator = "." | ",";

type Shape =
  | { readonly kind: "none" }
  | { readonly kind: "grouped"; readonly group: Separator }
  | { readonly kind: "decimal"; readonly decimal: Separator }
  | { readonly kind: "both"; readonly group: Separator; readonly decimal: Separator }
  | { readonly kind: "either"; readonly separator: Separator };

/** What the form of an unsigned number with separators implies about the format. */
function shapeOf(text: string): Shape {
  const dots = text.split(".").length - 1;
  const commas = text.split(",").length - 1;
  if (dots > 0 && commas > 0) {
    const [group, decimal]: [Separator, Separator] =
      text.lastIndexOf(".") > text.lastIndexOf(",") ? [",", "."] : [".", ","];
    const [whole = ""] = text.split(decimal);
    const isOne = text.split(decimal).length === 2 && isGrouped(whole, group);
    return isOne ? { kind: "both", group, decimal } : { kind: "none" };
  }
  const separator: Separator = dots > 0 ? "." : ",";
  if (dots + commas > 1)
    return isGrouped(text, separator) ? { kind: "grouped", group: separator } : { kind: "none" };
  return isGrouped(text, separator)
    ? { kind: "either", separator }
    : { kind: "decimal", decimal: separator };
}

const isGrouped = (text: string, group: Separator): boolean =>
  group === "." ? /^[1-9]\d{0,2}(?:\.\d{3})+$/.test(text) : /^[1-9]\d{0,2}(?:,\d{3})+$/.test(text);

const isContradictory = (separator: Separator, { group, decimal }: NumberFormat): boolean =>
  separator === group && separator === decimal;

function meaningOf(separator: Separator, format: NumberFormat): "group" | "decimal" | null {
  if (isContradictory(separator, format)) return null;
  if (format.group === separator) return "group";
  if (format.decimal === separator) return "decimal";
  if (format.group !== null) return "decimal";
  if (format.decimal !== null) return "group";
  return null;
}

/** Collects evidence about the locale from the numbers of a file. */
export interface FormatEvidence {
  add(text: string): void;
  format(): NumberFormat;
}

export function createFormatEvidence(): FormatEvidence {
  let group: NumberFormat["group"] = null;
  let decimal: NumberFormat["decimal"] = null;
  const decimals = new Set<Separator>();
  return {
    add(text) {
      if (!/^-?\d[\d.,]*$/.test(text)) return;
      const digits = text.replace("-", "");
      if (/^\d{4,}$/.test(digits)) {
        group ??= "";
        decimal ??= ".";
        return;
      }
      if (!/[.,]/.test(digits)) return;
      const shape = shapeOf(digits);
      if (shape.kind === "grouped" || shape.kind === "both") group = shape.group;
      if (shape.kind === "both") decimal = shape.decimal;
      // Six decimals have a dot in every locale; one or two use the locale's separator.
      if (shape.kind === "decimal" && (shape.decimal === "," || /\.\d{1,2}$/.test(digits))) {
        decimal ??= shape.decimal;
        decimals.add(shape.decimal);
      }
    },
    format: () =>
      decimals.has(",") && (decimals.has(".") || group === ",")
        ? { group: ",", decimal: "," }
        : { group, decimal },
  };
}

/** Converts cells to numbers, and counts those that depend on an unknown locale. */
export interface NumberReader {
  /** NaN for a cell without a number, and for an absent cell. */
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
 * Most of a large export is plain digits, parsed here directly from the bytes; everything else goes through
 * `parseNumber`.
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
      // Both operands are exact, so that the quotient is the nearest double, as with Number().
      if (decimals > 0) value /= POWERS_OF_TEN[decimals] ?? 1;
      return negative ? -value : value;
    },
    ambiguous: () => ambiguous,
  };
}
