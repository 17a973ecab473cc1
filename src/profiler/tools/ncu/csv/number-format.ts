/** Numbers as ncu prints them in each locale. */
import type { TextBytes } from "../../../../foundation/system/platform-types.ts";
import { type CellPlaces, rawCellText } from "./cells.ts";

/**
 * Numbers as ncu prints them, which depends on the locale of the printing process: `9612288` in the C locale,
 * `9,612,288` and `27.80` in English ones, `9.612.288` and `27,80` in German ones, `9 612 288` and `27,80` in French
 * ones, and in all of them `52.576000` if units are chosen automatically. So `52.576` may be 52576 or 52.576: the rest
 * of the file decides, and the C locale where that is not conclusive.
 */
export interface NumberFormat {
  /**
   * Separator of groups of digits; empty: none; null: unknown. A comma that is also `decimal` comes from a table that a
   * program of another locale has changed: there a number with one comma is ambiguous.
   */
  readonly group: string | null;
  readonly decimal: string | null;
}

export const C_FORMAT: NumberFormat = { group: "", decimal: "." };

/**
 * The format of a locale: `C`, or one of CLDR's by name (`de`, `fr-CH`), also as the system writes it (`de_CH.UTF-8`).
 *
 * @returns null for an unknown locale
 */
export function numberFormatOf(locale: string): NumberFormat | null {
  const tag = locale.replace(/[.@].*$/, "").replaceAll("_", "-");
  if (tag === "C" || tag === "POSIX") return C_FORMAT;
  try {
    const [locale] = Intl.NumberFormat.supportedLocalesOf(tag);
    if (locale === undefined) return null;
    const parts = new Intl.NumberFormat(locale).formatToParts(1_234_567.5);
    const separator = (type: "group" | "decimal") =>
      parts.find((part) => part.type === type)?.value ?? "";
    return { group: separator("group"), decimal: separator("decimal") };
  } catch {
    // Not a name that a locale can have.
    return null;
  }
}

/** `1234`, `1,234`: the separator may be for groups or for decimals. */
const AMBIGUOUS = Symbol("ambiguous");

/**
 * @returns NaN for a text that is not a number: `n/a`, an empty cell, and `nan` and `inf`, which a report cannot
 * contain; AMBIGUOUS if it depends on an unknown format
 */
function parseNumber(text: string, format: NumberFormat): number | typeof AMBIGUOUS {
  const written = writtenNumber(text);
  if (written === null) return Number.NaN;
  const { digits, exponent, sign } = written;
  const numberOf = (plain: string) => Number(`${sign}${plain}${exponent}`);
  const shape = shapeOf(written);
  switch (shape.kind) {
    case "none":
      return Number.NaN;
    case "plain":
      return numberOf(digits);
    case "grouped":
      return numberOf(digits.replaceAll(shape.group, ""));
    case "decimal":
      if (isContradictory(shape.decimal, format)) return AMBIGUOUS;
      return numberOf(digits.replace(shape.decimal, "."));
    case "both":
      return numberOf(digits.replaceAll(shape.group, "").replace(shape.decimal, "."));
    case "either": {
      const meaning = meaningOf(shape.separator, format);
      if (meaning === null) return AMBIGUOUS;
      return numberOf(digits.replace(shape.separator, meaning === "group" ? "" : "."));
    }
  }
}

/** The parts of a number. */
interface WrittenNumber {
  readonly sign: "" | "-";
  /** Digits and separators. */
  readonly digits: string;
  /** Empty, or `e` and a number. */
  readonly exponent: string;
}

/**
 * Separators that are always those of groups: blanks, apostrophes, the Arabic one, and what is left of a byte that is
 * not UTF-8 (a blank or an apostrophe of a Windows code page).
 */
const GROUPS = " \u00a0\u2009\u202f'\u2019\u066c\ufffd";
/** Always that of decimals. */
const ARABIC_DECIMAL = "\u066b";
const NUMBER = new RegExp(
  `^([-+\\u2212]?)([\\d.,${ARABIC_DECIMAL}${GROUPS}]*\\d)(?:[eE]([-+]?\\d+))?$`,
);

/** Null for a text that is not a number. */
function writtenNumber(text: string): WrittenNumber | null {
  const [, sign, digits, exponent] =
    NUMBER.exec(inAsciiDigits(withoutInstances(text).trim())) ?? [];
  if (digits === undefined) return null;
  return {
    sign: sign === "" || sign === "+" ? "" : "-",
    digits,
    exponent: exponent === undefined ? "" : `e${exponent}`,
  };
}

/** `632520 (31752; 31752; ...)` is a value and its instances. */
function withoutInstances(text: string): string {
  const index = text.indexOf(" (");
  return index < 0 ? text : text.slice(0, index);
}

/** The zeros of other digits that locales use: Arabic, Persian, Devanagari, Bengali. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6];

const inAsciiDigits = (text: string): string =>
  text.replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef]/g, (digit) => {
    const code = digit.charCodeAt(0);
    return String(code - (ZEROS.findLast((zero) => zero <= code) ?? code));
  });

type Shape =
  | { readonly kind: "none" }
  | { readonly kind: "plain" }
  | { readonly kind: "grouped"; readonly group: string }
  | { readonly kind: "decimal"; readonly decimal: string }
  | { readonly kind: "both"; readonly group: string; readonly decimal: string }
  | { readonly kind: "either"; readonly separator: string };

const NONE: Shape = { kind: "none" };

/** What the form of a number implies about the format. */
function shapeOf({ digits, exponent }: WrittenNumber): Shape {
  const separators = [...new Set(digits.replace(/\d/g, ""))];
  const [first, second] = separators;
  if (first === undefined) return { kind: "plain" };
  if (second !== undefined) {
    const decimal = digits.lastIndexOf(first) > digits.lastIndexOf(second) ? first : second;
    const group = decimal === first ? second : first;
    const [whole = "", ...rest] = digits.split(decimal);
    const isOne = separators.length === 2 && rest.length === 1 && !GROUPS.includes(decimal);
    return isOne && isGrouped(whole, group) ? { kind: "both", group, decimal } : NONE;
  }
  const isDecimal = first === ARABIC_DECIMAL;
  if (!isDecimal && isGrouped(digits, first)) {
    if (GROUPS.includes(first) || digits.split(first).length > 2)
      return { kind: "grouped", group: first };
    // A number with an exponent has one digit before its decimals.
    return exponent === ""
      ? { kind: "either", separator: first }
      : { kind: "decimal", decimal: first };
  }
  if (GROUPS.includes(first) || digits.split(first).length > 2) return NONE;
  return { kind: "decimal", decimal: first };
}

/** Groups of three digits, or as in India of two and at last three. */
function isGrouped(text: string, group: string): boolean {
  const [head = "", ...groups] = text.split(group);
  const last = groups.at(-1);
  if (last?.length !== 3 || !/^[1-9]\d{0,2}$/.test(head)) return false;
  const others = groups.slice(0, -1);
  return (
    others.every(({ length }) => length === 3) ||
    (head.length < 3 && others.every(({ length }) => length === 2))
  );
}

const isContradictory = (separator: string, { group, decimal }: NumberFormat): boolean =>
  separator === group && separator === decimal;

/** Null if the format has no such separator, or it is not known which one it is. */
function meaningOf(separator: string, format: NumberFormat): "group" | "decimal" | null {
  const { group, decimal } = format;
  if (isContradictory(separator, format)) return null;
  if (group === separator) return "group";
  if (decimal === separator) return "decimal";
  if (decimal === null && group !== null) return "decimal";
  if (group === null && decimal !== null) return "group";
  return null;
}

/** Collects evidence about the locale from the numbers of a file. */
export interface FormatEvidence {
  add(text: string): void;
  /** That of C without any evidence. */
  format(): NumberFormat;
}

export function createFormatEvidence(): FormatEvidence {
  let group: string | null = null;
  let decimal: string | null = null;
  let hasLongPlain = false;
  const decimals = new Set<string>();
  return {
    add(text) {
      if (text.includes(" (")) return;
      const written = writtenNumber(text);
      if (written === null) return;
      const { digits } = written;
      const shape = shapeOf(written);
      if (shape.kind === "plain") hasLongPlain ||= digits.length >= 4;
      if (shape.kind === "grouped" || shape.kind === "both") group = shape.group;
      if (shape.kind === "both") decimal = shape.decimal;
      // Six decimals have a dot in every locale; one or two use the locale's separator.
      if (shape.kind === "decimal" && (shape.decimal !== "." || /\.\d{1,2}$/.test(digits))) {
        decimal ??= shape.decimal;
        decimals.add(shape.decimal);
      }
    },
    format() {
      if (decimals.has(",") && (decimals.has(".") || group === ","))
        return { group: ",", decimal: "," };
      if (group === null && decimal === null) return C_FORMAT;
      return { group: group ?? (hasLongPlain ? "" : null), decimal };
    },
  };
}

/** What a column of numbers is, for what is said about cells that cannot be read. */
export interface NumberCell {
  /** Whether it can hold nothing but numbers: it has a unit. */
  readonly isNumber: boolean;
  /** Names the cell of a row. */
  readonly place: (bytes: TextBytes, places: CellPlaces) => string;
}

/** Cells of one kind, and the first of them with its place. */
export interface CountedCells {
  readonly count: number;
  /** Null without any. */
  readonly first: string | null;
}

/** Converts cells to numbers, and counts those that cannot be read. */
export interface NumberReader {
  /** NaN for a cell without a number, and for an absent cell. */
  read(bytes: TextBytes, places: CellPlaces, column: number, cell: NumberCell): number;
  /** Counts a number that cannot be true. */
  refuse(bytes: TextBytes, places: CellPlaces, column: number, cell: NumberCell): void;
  /** Those that depend on an unknown locale. */
  readonly ambiguous: () => CountedCells;
  readonly unreadable: () => CountedCells;
  readonly refused: () => CountedCells;
}

/** What ncu and programs that save its tables again write where there is no number. */
const NO_NUMBER = /^(?:|n\/a|[-+]?(?:nan|inf|infinity)|null|none|no data|-+|#n\/a|<na>)$/i;
/** Digits, and what may stand between them. */
const NUMERIC = new RegExp(`^[-+\\u2212]?[\\d.,eE+${GROUPS}-]*$`);

/** Whether a cell was to hold a number. */
const isMeantAsNumber = (text: string, { isNumber }: NumberCell): boolean =>
  !NO_NUMBER.test(text.trim()) && (isNumber || (/^[-+]?[.,]?\d/.test(text) && NUMERIC.test(text)));

function createCount() {
  let count = 0;
  let first: string | null = null;
  return {
    add(describe: () => string): void {
      count++;
      first ??= describe();
    },
    cells: (): CountedCells => ({ count, first }),
  };
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
  const ambiguous = createCount();
  const unreadable = createCount();
  const refused = createCount();
  const dotIsPlain = format.group !== "." && format.group !== null;

  const slow = (bytes: TextBytes, places: CellPlaces, column: number, cell: NumberCell): number => {
    const text = rawCellText(bytes, places, column);
    const value = parseNumber(text, format);
    const describe = () => shownCell(text, cell.place(bytes, places));
    if (value === AMBIGUOUS) {
      ambiguous.add(describe);
      return Number.NaN;
    }
    if (Number.isFinite(value)) return value;
    if (isMeantAsNumber(text, cell)) unreadable.add(describe);
    return Number.NaN;
  };

  return {
    read(bytes, places, column, cell) {
      if (column >= places.count) return Number.NaN;
      const from = places.starts[column] ?? 0;
      const to = places.ends[column] ?? 0;
      if (to === from) return Number.NaN;
      if (to - from > EXACT_DIGITS) return slow(bytes, places, column, cell);
      const negative = bytes[from] === MINUS;
      let offset = negative ? from + 1 : from;
      if (offset === to) return slow(bytes, places, column, cell);
      let value = 0;
      let decimals = -1;
      for (; offset < to; offset++) {
        const byte = bytes[offset] ?? 0;
        const digit = byte - ZERO;
        if (digit >= 0 && digit <= 9) {
          value = value * 10 + digit;
          if (decimals >= 0) decimals++;
        } else if (byte === DOT && decimals < 0 && dotIsPlain) decimals = 0;
        else return slow(bytes, places, column, cell);
      }
      if (decimals === 0) return slow(bytes, places, column, cell);
      // Both operands are exact, so that the quotient is the nearest double, as with Number().
      if (decimals > 0) value /= POWERS_OF_TEN[decimals] ?? 1;
      return negative ? -value : value;
    },
    refuse(bytes, places, column, cell) {
      const text = rawCellText(bytes, places, column);
      refused.add(() => shownCell(text, cell.place(bytes, places)));
    },
    ambiguous: ambiguous.cells,
    unreadable: unreadable.cells,
    refused: refused.cells,
  };
}

const LONGEST_SHOWN = 40;

const shownCell = (text: string, place: string): string =>
  `'${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text}' (${place})`;
