import { ConfigError } from "../../values/errors.ts";
import { pyRepr } from "../../values/python-text.ts";

/** A format taken apart: text that stays, and attributes with how each is written. */
export type FormatPart = string | FormatField;

export interface FormatField {
  readonly name: string;
  readonly write: (value: string | number) => string;
}

/** How formats are written: Python's `style` of a formatter. */
export type FormatStyle = "%" | "{" | "$";

/** The parsers of the three styles. */
export const FORMAT_STYLES: Readonly<
  Record<FormatStyle, (format: string) => readonly FormatPart[]>
> = {
  "%": (format) =>
    partsOf(
      format,
      /%(?:%|\((\w+)\)([-0#+ ]*)(\d*)(?:\.(\d+))?([sdiufra]))/g,
      ([, name, flags = "", width = "", precision, conversion = "s"]) =>
        name === undefined
          ? "%"
          : {
              name,
              write: (value) =>
                pad(convert(value, conversion, precision), {
                  align: flags.includes("-") ? "<" : ">",
                  fill: /^[^-]*0[^-]*$/.test(flags) && NUMERIC.includes(conversion) ? "0" : " ",
                  width: Number(width),
                }),
            },
    ),
  "{": (format) =>
    partsOf(
      format,
      /\{\{|\}\}|\{(\w+)(?:!([rsa]))?(?::(?:(.)?([<>^=]))?([-+ ])?#?(0)?(\d*)(?:\.(\d+))?([sdfFeg%])?)?\}/g,
      ([whole, name, shown, fill, align, , zero, width = "", precision, conversion = "s"]) =>
        name === undefined
          ? whole.slice(0, 1)
          : {
              name,
              write: (value) =>
                pad(
                  convert(
                    shown === undefined ? value : convert(value, shown),
                    conversion,
                    precision,
                  ),
                  {
                    align: align ?? (typeof value === "number" && shown === undefined ? ">" : "<"),
                    fill: fill ?? (zero === undefined ? " " : "0"),
                    width: Number(width),
                  },
                ),
            },
    ),
  $: (format) =>
    partsOf(format, /\$(?:\$|(\w+)|\{(\w+)\})/g, ([, bare, braced]) => {
      const name = bare ?? braced;
      return name === undefined ? "$" : { name, write: String };
    }),
};

/**
 * What Python demands of a format before it uses it: one field at least, well written.
 * @see https://docs.python.org/3/library/logging.html#logging.Formatter
 */
export const HAS_FIELDS: Readonly<Record<FormatStyle, (format: string) => boolean>> = {
  "%": (format) => /%\(\w+\)[#0+ -]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[diouxefgcrsa%]/i.test(format),
  "{": (format) => /(?<!\{)(?:\{\{)*\{\w/.test(format),
  $: (format) => /(?<!\$)(?:\$\$)*\$(?:\{?[_a-z])/i.test(format),
};

function partsOf(
  format: string,
  pattern: RegExp,
  read: (match: RegExpMatchArray) => FormatPart,
): readonly FormatPart[] {
  const parts: FormatPart[] = [];
  let end = 0;
  for (const match of format.matchAll(pattern)) {
    parts.push(format.slice(end, match.index), read(match));
    end = match.index + match[0].length;
  }
  return [...parts, format.slice(end)];
}

/** The conversions that take numbers alone: zeros are put in front of no other. */
const NUMERIC = "diufF";

function convert(value: string | number, conversion: string, precision?: string): string {
  if (conversion === "f" || conversion === "F")
    return Number(value).toFixed(precision === undefined ? 6 : Number(precision));
  if ("diu".includes(conversion)) {
    if (typeof value !== "number")
      throw new ConfigError({
        code: "value.wrong_type",
        message: `%${conversion} format: a real number is required, not '${value}'`,
      });
    return String(Math.trunc(value));
  }
  const quoted = conversion === "r" || conversion === "a";
  const whole = quoted && typeof value === "string" ? pyRepr(value) : String(value);
  const text = conversion === "a" ? asciiOnly(whole) : whole;
  return precision === undefined ? text : text.slice(0, Number(precision));
}

/** As Python's `ascii()` writes what is not: `\xe9`, `\u20ac`, `\U0001f600`. */
const asciiOnly = (text: string): string =>
  text.replaceAll(/[^\0-\x7f]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
    return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
  });

interface Padding {
  readonly align: string;
  readonly fill: string;
  readonly width: number;
}

function pad(text: string, { align, fill, width }: Padding): string {
  if (align === "<") return text.padEnd(width, fill);
  if (align !== "^") return text.padStart(width, fill);
  const missing = Math.max(0, width - text.length);
  return text.padStart(text.length + Math.floor(missing / 2), fill).padEnd(width, fill);
}
