import { ConfigError } from "../../values/errors.ts";
import { floatRepr, pyRepr } from "../../values/python-text.ts";
import type { AttributeValue } from "./record.ts";

/** How a field of a log format is written: a number, or a text, and in which width. */
export interface FieldFormat extends NumberFormat {
  /** `=`: filled between the sign and the digits. */
  readonly align: "<" | ">" | "^" | "=";
  readonly fill: string;
  readonly width: number;
}

/** The conversions of numbers; all others are of texts. */
export const isNumeric = (conversion: string): boolean => /^[diuxXobeEfFgGn%]?$/.test(conversion);

/** @throws ConfigError `value.wrong_type` for a number that is wanted, and a text */
export function writeField(value: AttributeValue, format: FieldFormat): string {
  const { conversion, precision } = format;
  if (conversion === "c") return padded({ before: "", digits: character(value) }, format);
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
  return padded({ before: "", digits: firstOf(text, precision) }, format);
}

/** Python's characters, of which an emoji is one. */
const charactersOf = (text: string): readonly string[] => [...text];

const firstOf = (text: string, characters: number | undefined): string =>
  characters === undefined ? text : charactersOf(text).slice(0, characters).join("");

/** As `str()` writes it. */
export const plainText = (value: AttributeValue): string =>
  typeof value === "number" ? floatRepr(value) : String(value);

function character(value: AttributeValue): string {
  if (typeof value === "bigint") return String.fromCodePoint(Number(value));
  if (typeof value === "string" && charactersOf(value).length === 1) return value;
  throw new ConfigError({ code: "value.wrong_type", message: "%c requires int or char" });
}

/** As Python's `ascii()` writes what is not: `\xe9`, `\u20ac`, `\U0001f600`. */
const asciiOnly = (text: string): string =>
  text.replaceAll(/[^\0-\x7f]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
    return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
  });

function padded({ before, digits }: WrittenNumber, format: FieldFormat): string {
  const { align, fill, width } = format;
  if (align === "=" && fill === "0")
    return before + filledWithZeros(digits, width - before.length, format);
  const text = before + digits;
  const missing = Math.max(0, width - charactersOf(text).length);
  if (align === "=") return before + fill.repeat(missing) + digits;
  const left = align === "<" ? 0 : align === "^" ? Math.floor(missing / 2) : missing;
  return fill.repeat(left) + text + fill.repeat(missing - left);
}

/** How `%` and `format()` of Python write a number, without its width. */
interface NumberFormat {
  /** Empty for a float as `str()` writes it, or as much of it as the precision says. */
  readonly conversion: string;
  readonly precision?: number;
  /** What stands before a number that is not negative. */
  readonly sign: "" | "+" | " ";
  /** `#`: with `0x` and the like before it, and with the zeros at the end of a float. */
  readonly alternate: boolean;
  /** What stands between thousands. */
  readonly separator: "" | "," | "_";
}

/** A number in two parts: zeros that fill a width stand between them. */
interface WrittenNumber {
  /** The sign, and `0x` and the like. */
  readonly before: string;
  readonly digits: string;
}

/**
 * @param value a bigint is an int, a number a float
 * @throws ConfigError `value.wrong_type` for a conversion of ints, and a float
 */
export function writeNumber(value: bigint | number, format: NumberFormat): WrittenNumber {
  const signOf = (isNegative: boolean): string => (isNegative ? "-" : format.sign);
  const base = BASES[format.conversion.toLowerCase()];
  if (base === undefined) {
    const before = signOf(value < 0 || Object.is(value, -0));
    return { before, digits: floatDigits(Math.abs(Number(value)), format) };
  }
  // A float's own sign does not count: what is left of -0.5 is 0.
  const int = wholeOf(value, format);
  const text = (int < 0n ? -int : int).toString(base).padStart(format.precision ?? 0, "0");
  const grouped = separated(text, format.separator, base === 10 ? 3 : 4);
  const before = format.alternate && base !== 10 ? `0${format.conversion}` : "";
  return {
    before: `${signOf(int < 0n)}${before}`,
    digits: format.conversion === "X" ? grouped.toUpperCase() : grouped,
  };
}

const BASES: Readonly<Record<string, number>> = { d: 10, i: 10, u: 10, b: 2, o: 8, x: 16 };

/** Only `%d` cuts off what stands behind the point. */
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

/** Python writes two digits of an exponent at least. */
const exponential = (value: number, precision: number): string =>
  value.toExponential(precision).replace(/(e[+-])(\d)$/, "$10$2");

/** So many digits in all, with an exponent where they are not enough or begin late. */
function general(value: number, digits: number, keepsZeros: boolean): string {
  const exponent = exponentOf(value, digits);
  const isPlain = exponent >= -4 && exponent < digits;
  const text = isPlain ? value.toFixed(digits - 1 - exponent) : exponential(value, digits - 1);
  return keepsZeros ? text : withoutZeros(text);
}

/** As `general`, with one digit behind the point at least where there is no exponent. */
function shortened(value: number, digits: number, keepsZeros: boolean): string {
  const exponent = exponentOf(value, digits);
  const isPlain = exponent >= -4 && exponent < digits - 1;
  const text = isPlain ? value.toFixed(digits - 1 - exponent) : exponential(value, digits - 1);
  if (keepsZeros) return text;
  const short = withoutZeros(text);
  return isPlain && !short.includes(".") ? `${short}.0` : short;
}

/** Of the value as it is rounded to so many digits. */
const exponentOf = (value: number, digits: number): number =>
  Number(value.toExponential(digits - 1).split("e")[1]);

const withoutZeros = (text: string): string =>
  text.replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");

/** The digits with zeros before them, which are separated as they are: `00,000,012`, and never `,000,012`. */
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
