/** Formats one field of a log line as Python does. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { floatRepr, pyRepr } from "../../../engine/values/python-text.ts";
import type { AttributeValue } from "./record.ts";

/** The format of one field: conversion, precision, alignment and width. */
export interface FieldFormat extends NumberFormat {
  /** `=`: filled between the sign and the digits. */
  readonly align: "<" | ">" | "^" | "=";
  readonly fill: string;
  readonly width: number;
}

/** Whether a conversion is for numbers; all others are for texts. */
export const isNumeric = (conversion: string): boolean => /^[diuxXobeEfFgGn%]?$/.test(conversion);

/** @throws ConfigError `value.wrong_type` for a text where the conversion needs a number */
export function writeField(value: AttributeValue, format: FieldFormat): string {
  const { conversion, precision } = format;
  if (conversion === "c") return padded({ prefix: "", digits: character(value) }, format);
  if (isNumeric(conversion)) {
    if (typeof value !== "string") return padded(writeNumber(value, format), format);
    throw new ConfigError({
      code: "value.wrong_type",
      message: `%${conversion} format: a real number is required, not '${value}'`,
    });
  }
  const quoted = conversion === "r" || conversion === "a";
  const whole = quoted && typeof value === "string" ? pyRepr(value) : plainText(value);
  const text = conversion === "a" ? asciiOnly(whole) : whole;
  return padded({ prefix: "", digits: firstOf(text, precision) }, format);
}

/** Characters as Python counts them: code points. */
const charactersOf = (text: string): readonly string[] => [...text];

const firstOf = (text: string, characters: number | undefined): string =>
  characters === undefined ? text : charactersOf(text).slice(0, characters).join("");

/** A value as Python's `str()` writes it. */
export const plainText = (value: AttributeValue): string =>
  typeof value === "number" ? floatRepr(value) : String(value);

function character(value: AttributeValue): string {
  if (typeof value === "bigint") return String.fromCodePoint(Number(value));
  if (typeof value === "string" && charactersOf(value).length === 1) return value;
  throw new ConfigError({ code: "value.wrong_type", message: "%c requires int or char" });
}

/** Escapes characters outside ASCII as Python's `ascii()` does: `\xe9`, `\u20ac`, `\U0001f600`. */
const asciiOnly = (text: string): string =>
  text.replaceAll(/[^\0-\x7f]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
    return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
  });

function padded({ prefix, digits }: WrittenNumber, format: FieldFormat): string {
  const { align, fill, width } = format;
  if (align === "=" && fill === "0")
    return prefix + filledWithZeros(digits, width - prefix.length, format);
  const text = prefix + digits;
  const missing = Math.max(0, width - charactersOf(text).length);
  if (align === "=") return prefix + fill.repeat(missing) + digits;
  const left = align === "<" ? 0 : align === "^" ? Math.floor(missing / 2) : missing;
  return fill.repeat(left) + text + fill.repeat(missing - left);
}

/** The format of a number in Python's `%` and `format()`, without its width. */
interface NumberFormat {
  /** Empty for a float as `str()` writes it, limited to the precision. */
  readonly conversion: string;
  readonly precision?: number;
  /** The sign of a number that is not negative. */
  readonly sign: "" | "+" | " ";
  /** `#`: with a prefix such as `0x`, and with the trailing zeros of a float. */
  readonly alternate: boolean;
  /** The thousands separator. */
  readonly separator: "" | "," | "_";
}

/** A number in two parts: zeros that fill the width go between them. */
interface WrittenNumber {
  /** The sign, and a prefix such as `0x`. */
  readonly prefix: string;
  readonly digits: string;
}

/**
 * @param value a bigint is an int, a number a float
 * @throws ConfigError `value.wrong_type` for a float where the conversion needs an int
 */
export function writeNumber(value: bigint | number, format: NumberFormat): WrittenNumber {
  const signOf = (isNegative: boolean): string => (isNegative ? "-" : format.sign);
  const base = BASES[format.conversion.toLowerCase()];
  if (base === undefined) {
    const prefix = signOf(value < 0 || Object.is(value, -0));
    return { prefix, digits: floatDigits(Math.abs(Number(value)), format) };
  }
  // The sign is that of the truncated integer: -0.5 becomes 0.
  const int = wholeOf(value, format);
  const text = (int < 0n ? -int : int).toString(base).padStart(format.precision ?? 0, "0");
  const grouped = separated(text, format.separator, base === 10 ? 3 : 4);
  const basePrefix = format.alternate && base !== 10 ? `0${format.conversion}` : "";
  return {
    prefix: `${signOf(int < 0n)}${basePrefix}`,
    digits: format.conversion === "X" ? grouped.toUpperCase() : grouped,
  };
}

const BASES: Readonly<Record<string, number>> = { d: 10, i: 10, u: 10, b: 2, o: 8, x: 16 };

/** Only `%d` truncates a float. */
function wholeOf(value: bigint | number, { conversion }: NumberFormat): bigint {
  if (typeof value === "bigint") return value;
  if ("diu".includes(conversion)) return BigInt(Math.trunc(value));
  throw new ConfigError({
    code: "value.wrong_type",
    message: `%${conversion} format: an integer is required, not float`,
  });
}

function floatDigits(value: number, format: NumberFormat): string {
  const { conversion } = format;
  const text = floatText(value, format);
  const whole = format.alternate ? text.replace(/^\d+(?=e|%|$)/, "$&.") : text;
  const grouped = separated(whole, format.separator, 3);
  return conversion === conversion.toLowerCase() ? grouped : grouped.toUpperCase();
}

function floatText(value: number, { conversion, precision, alternate }: NumberFormat): string {
  const digits = precision ?? 6;
  switch (conversion.toLowerCase()) {
    case "":
      if (precision === undefined) return floatRepr(value);
      return shortened(value, Math.max(1, precision), alternate);
    case "e":
      return exponential(value, digits);
    case "g":
    case "n":
      return general(value, Math.max(1, digits), alternate);
    case "%":
      return `${(value * 100).toFixed(digits)}%`;
    default:
      return value.toFixed(digits);
  }
}

/** Python writes an exponent with at least two digits. */
const exponential = (value: number, precision: number): string =>
  value.toExponential(precision).replace(/(e[+-])(\d)$/, "$10$2");

/** Rounds to `digits` significant digits; uses an exponent where the value needs more digits or is too small. */
function general(value: number, digits: number, keepsZeros: boolean): string {
  const exponent = exponentOf(value, digits);
  const isPlain = exponent >= -4 && exponent < digits;
  const text = isPlain ? value.toFixed(digits - 1 - exponent) : exponential(value, digits - 1);
  return keepsZeros ? text : withoutZeros(text);
}

/** As `general`, but with at least one decimal digit where there is no exponent. */
function shortened(value: number, digits: number, keepsZeros: boolean): string {
  const exponent = exponentOf(value, digits);
  const isPlain = exponent >= -4 && exponent < digits - 1;
  const text = isPlain ? value.toFixed(digits - 1 - exponent) : exponential(value, digits - 1);
  if (keepsZeros) return text;
  const short = withoutZeros(text);
  return isPlain && !short.includes(".") ? `${short}.0` : short;
}

/** The exponent of the value after rounding to `digits` significant digits. */
const exponentOf = (value: number, digits: number): number =>
  Number(value.toExponential(digits - 1).split("e")[1]);

const withoutZeros = (text: string): string =>
  text.replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");

/** Pads with zeros, which are grouped like the digits: `00,000,012`, never `,000,012`. */
function filledWithZeros(
  digits: string,
  width: number,
  { conversion, separator }: NumberFormat,
): string {
  if (separator === "") return digits.padStart(width, "0");
  const every = /[boxX]/.test(conversion) ? 4 : 3;
  let filled = digits.replaceAll(separator, "");
  while (separated(filled, separator, every).length < width) filled = `0${filled}`;
  return separated(filled, separator, every);
}

function separated(text: string, separator: string, every: 3 | 4): string {
  if (separator === "") return text;
  const whole = /^[0-9a-fA-F]+/.exec(text)?.[0] ?? "";
  const groups = new RegExp(`(?<=.)(?=(?:.{${every}})+$)`, "g");
  return whole.replace(groups, separator) + text.slice(whole.length);
}
