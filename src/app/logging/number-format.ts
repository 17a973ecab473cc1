import { ConfigError } from "../../values/errors.ts";
import { floatRepr } from "../../values/python-text.ts";

/** How `%` and `format()` of Python write a number, without its width. */
export interface NumberFormat {
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
export interface WrittenNumber {
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
export function filledWithZeros(
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
