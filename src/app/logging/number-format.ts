import { ConfigError } from "../../values/errors.ts";

/** How `%` and `format()` of Python write a number, without its width. */
export interface NumberFormat {
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
  const isNegative = value < 0 || Object.is(value, -0);
  const sign = isNegative ? "-" : format.sign;
  const base = BASES[format.conversion.toLowerCase()];
  if (base === undefined)
    return { before: sign, digits: floatDigits(Math.abs(Number(value)), format) };
  const int = wholeOf(value, format);
  const text = (int < 0n ? -int : int).toString(base).padStart(format.precision ?? 0, "0");
  const grouped = separated(text, format.separator, base === 10 ? 3 : 4);
  const before = format.alternate && base !== 10 ? `0${format.conversion}` : "";
  return {
    before: `${sign}${before}`,
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

function floatDigits(
  value: number,
  { conversion, precision = 6, ...format }: NumberFormat,
): string {
  const kind = conversion.toLowerCase();
  const text =
    kind === "e"
      ? exponential(value, precision)
      : kind === "g" || kind === "n"
        ? general(value, Math.max(1, precision), format.alternate)
        : kind === "%"
          ? `${(value * 100).toFixed(precision)}%`
          : value.toFixed(precision);
  const grouped = separated(text, format.separator, 3);
  return conversion === kind ? grouped : grouped.toUpperCase();
}

/** Python writes two digits of an exponent at least. */
const exponential = (value: number, precision: number): string =>
  value.toExponential(precision).replace(/(e[+-])(\d)$/, "$10$2");

/** So many digits in all, with an exponent where they are not enough or begin late. */
function general(value: number, digits: number, keepsZeros: boolean): string {
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  const isPlain = exponent >= -4 && exponent < digits;
  const text = isPlain ? value.toFixed(digits - 1 - exponent) : exponential(value, digits - 1);
  return keepsZeros ? text : text.replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");
}

function separated(text: string, separator: string, every: 3 | 4): string {
  if (separator === "") return text;
  const whole = /^[0-9a-f]+/.exec(text)?.[0] ?? "";
  const groups = new RegExp(`(?<=.)(?=(?:.{${every}})+$)`, "g");
  return whole.replace(groups, separator) + text.slice(whole.length);
}
