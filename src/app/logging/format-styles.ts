import { ConfigError } from "../../values/errors.ts";
import type { AttributeValue } from "./attributes.ts";
import { type FieldFormat, isNumeric, plainText, writeField } from "./field-format.ts";

/** A format taken apart: text that stays, and attributes with how each is written. */
export type FormatPart = string | FormatField;

export interface FormatField {
  readonly name: string;
  readonly write: (value: AttributeValue) => string;
}

/** How formats are written: Python's `style` of a formatter. */
export type FormatStyle = "%" | "{" | "$";

/** The parsers of the three styles. */
export const FORMAT_STYLES: Readonly<
  Record<FormatStyle, (format: string) => readonly FormatPart[]>
> = {
  "%": (format) => partsOf(format, PERCENT, percentField),
  "{": (format) => partsOf(format, BRACES, bracesField),
  $: (format) =>
    partsOf(format, /\$(?:\$|(\w+)|\{(\w+)\})/g, ([, bare, braced]) => {
      const name = bare ?? braced;
      return name === undefined ? "$" : { name, write: plainText };
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

/** `%(NAME)`, flags, width, precision and conversion of Python's `%`. */
const PERCENT = /%(?:%|\((\w+)\)([-0#+ ]*)(\d*)(?:\.(\d+))?([diouxXeEfFgGcrsa]))/g;

function percentField(match: RegExpMatchArray): FormatPart {
  const [, name, flags = "", width, precision, conversion = "s"] = match;
  if (name === undefined) return "%";
  const zeros = flags.includes("0") && isNumeric(conversion);
  const format: FieldFormat = {
    conversion,
    ...(precision !== undefined && { precision: Number(precision) }),
    sign: flags.includes("+") ? "+" : flags.includes(" ") ? " " : "",
    alternate: flags.includes("#"),
    separator: "",
    align: flags.includes("-") ? "<" : zeros ? "=" : ">",
    fill: zeros && !flags.includes("-") ? "0" : " ",
    width: Number(width),
  };
  return { name, write: (value) => writeField(value, format) };
}

/** `{NAME!SHOWN:FORMAT}` of Python's `str.format`. */
const BRACES =
  /\{\{|\}\}|\{(\w+)(?:!([rsa]))?(?::(?:(.)?([<>^=]))?([-+ ])?(#)?(0)?(\d*)([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?)?\}/g;

function bracesField(match: RegExpMatchArray): FormatPart {
  const [whole, name, shown, fill, align, sign, alternate, zero, width, separator, digits, given] =
    match;
  if (name === undefined) return whole.slice(0, 1);
  const precision = digits === undefined ? undefined : Number(digits);
  const write = (attribute: AttributeValue): string => {
    const value = shown === undefined ? attribute : asText(attribute, shown);
    const isText = typeof value === "string";
    return writeField(value, {
      conversion: bracesConversion(value, given, precision),
      ...(precision !== undefined && { precision }),
      sign: sign === "+" || sign === " " ? sign : "",
      alternate: alternate !== undefined,
      separator: separator === "," || separator === "_" ? separator : "",
      align: isAlign(align) ? align : isText ? "<" : zero === undefined ? ">" : "=",
      fill: fill ?? (zero === undefined ? " " : "0"),
      width: Number(width),
    });
  };
  return { name, write };
}

const asText = (value: AttributeValue, conversion: string): string =>
  writeField(value, { ...PLAIN, conversion });

const PLAIN = {
  sign: "",
  alternate: false,
  separator: "",
  align: "<",
  fill: " ",
  width: 0,
} as const;

const isAlign = (align: string | undefined): align is FieldFormat["align"] =>
  align !== undefined && "<>^=".includes(align);

/** The one that is meant where none is given. */
function bracesConversion(
  value: AttributeValue,
  given: string | undefined,
  precision: number | undefined,
): string {
  const kind = typeof value === "string" ? "str" : typeof value === "bigint" ? "int" : "float";
  const conversion = given ?? (kind === "int" ? "d" : kind === "float" && precision ? "g" : "s");
  const isFor = kind === "str" ? "s" : kind === "int" ? "bcdoxXneEfFgG%" : "neEfFgG%";
  if (given !== undefined && !isFor.includes(given))
    throw new ConfigError({
      code: "value.wrong_type",
      message: `Unknown format code '${given}' for object of type '${kind}'`,
    });
  if (kind === "int" && precision !== undefined && "bcdoxXn".includes(conversion))
    throw new ConfigError({
      code: "value.wrong_type",
      message: "Precision not allowed in integer format specifier",
    });
  return conversion === "n" && kind === "int" ? "d" : conversion;
}
