import { ConfigError } from "../../values/errors.ts";
import { floatRepr, pyRepr } from "../../values/python-text.ts";
import type { AttributeValue } from "./attributes.ts";
import {
  filledWithZeros,
  type NumberFormat,
  type WrittenNumber,
  writeNumber,
} from "./number-format.ts";

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
