/** Compiles formats of log lines in Python's three styles. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { isError } from "../../../foundation/system/builtin-types.ts";
import { type FieldFormat, isNumeric, plainText, writeField } from "./field-format.ts";
import { ATTRIBUTES, type Attribute, type AttributeValue, type LogRecord } from "./record.ts";

export type RecordFormatter = (record: LogRecord) => string;

export interface RecordFormat {
  readonly format: string;
  /** Default: `%`. */
  readonly style?: unknown;
  readonly datefmt?: string | undefined;
  /** Finds attributes in addition to those of every record. */
  readonly more?: (name: string) => Attribute | undefined;
}

/**
 * Compiles a format of Python's logging: `%(levelname)-8s %(message)s`, in the style `{` `{levelname:<8} {message}`, in
 * the style `$` `$levelname $message`. The error of a record is written below the line.
 *
 * The formatter throws `app.unsupported` for an attribute that its records do not have.
 *
 * @throws ConfigError `app.unsupported` for an unknown style, a format without attributes, and an invalid field
 */
export function compileFormat(request: RecordFormat): RecordFormatter {
  const { format, style: named = "%", datefmt, more = () => undefined } = request;
  const style = requireStyle(named);
  if (!HAS_FIELDS[style](format))
    throw new ConfigError({
      code: "app.unsupported",
      message: noFields(style, format),
      key: "format",
      hint: "a log format must show at least one attribute of a record",
      available: Object.keys(ATTRIBUTES),
    });
  const parts = FORMAT_STYLES[style](format).map((part) => {
    if (typeof part === "string") return () => part;
    if ("problem" in part)
      return (): never => {
        throw new ConfigError({ code: "app.unsupported", message: part.problem });
      };
    return (record: LogRecord) => part.write(findAttribute(part.name, more)(record, datefmt));
  });
  return (record) => parts.map((part) => part(record)).join("") + errorText(record);
}

/** Python's wording depends on the style. */
const noFields = (style: FormatStyle, format: string): string =>
  style === "%"
    ? `Invalid format '${format}' for '%' style`
    : `invalid format: no fields in '${format}' for '${style}' style`;

function requireStyle(style: unknown): FormatStyle {
  if (typeof style === "string" && Object.hasOwn(FORMAT_STYLES, style)) return style as FormatStyle;
  throw new ConfigError({
    code: "app.unsupported",
    message: `Style must be one of: ${Object.keys(FORMAT_STYLES).join()}, not '${String(style)}'`,
    key: "style",
  });
}

function findAttribute(name: string, more: (name: string) => Attribute | undefined): Attribute {
  const found = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : more(name);
  if (found !== undefined) return found;
  throw new ConfigError({
    code: "app.unsupported",
    message: `Formatting field not found in record: '${name}'`,
    available: Object.keys(ATTRIBUTES),
  });
}

function errorText({ error }: LogRecord): string {
  if (error === undefined) return "";
  return `\n${isError(error) ? (error.stack ?? error.message) : String(error)}`;
}

/** A parsed format: literal texts, attributes with their conversion, and fields that no record can satisfy. */
type FormatPart = string | FormatField | FormatProblem;

interface FormatField {
  readonly name: string;
  readonly write: (value: AttributeValue) => string;
}

/** Python accepts such a format, and reports an error with every record. */
interface FormatProblem {
  readonly problem: string;
}

/** How formats are written: Python's `style` of a formatter. */
type FormatStyle = "%" | "{" | "$";

/**
 * The parsers of the three styles.
 *
 * They throw ConfigError `app.unsupported` for what begins like a field but is not one. Python refuses most of these,
 * too; only Python has items, members and nested formats (`{args[0]}`, `{message:{lineno}}`).
 */
const FORMAT_STYLES: Readonly<Record<FormatStyle, (format: string) => readonly FormatPart[]>> = {
  "%": (format) =>
    partsOf(format, PERCENT, percentField, (text) =>
      text.includes("%") ? { problem: `'${text}' is not the format of an attribute` } : text,
    ),
  "{": (format) =>
    partsOf(format, BRACES, bracesField, (text) => {
      if (/[{}]/.test(text)) throw invalid(`'${text.trim()}' is not a field in '{' style`);
      return text;
    }),
  $: (format) =>
    partsOf(format, DOLLARS, dollarsField, (text) => {
      if (text.includes("$")) throw invalid("bare '$' not allowed");
      return text;
    }),
};

const invalid = (why: string): ConfigError =>
  new ConfigError({ code: "app.unsupported", message: `invalid format: ${why}` });

/**
 * Python's own check of a format: at least one well-formed field.
 * @see https://docs.python.org/3/library/logging.html#logging.Formatter
 */
const HAS_FIELDS: Readonly<Record<FormatStyle, (format: string) => boolean>> = {
  "%": (format) => /%\(\w+\)[#0+ -]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[diouxefgcrsa%]/i.test(format),
  "{": (format) => /(?<!\{)(?:\{\{)*\{\w/.test(format),
  $: (format) => /(?<!\$)(?:\$\$)*\$(?:\{?[_a-z])/i.test(format),
};

function partsOf(
  format: string,
  pattern: RegExp,
  read: (match: RegExpMatchArray) => FormatPart,
  between: (text: string) => FormatPart,
): readonly FormatPart[] {
  const parts: FormatPart[] = [];
  let end = 0;
  for (const match of format.matchAll(pattern)) {
    parts.push(between(format.slice(end, match.index)), read(match));
    end = match.index + match[0].length;
  }
  return [...parts, between(format.slice(end))];
}

/** `$NAME` and `${NAME}` of Python's `string.Template`. */
const DOLLARS = /\$(?:\$|(\w+)|\{(\w+)\})/g;

function dollarsField([, bare, braced]: RegExpMatchArray): FormatPart {
  const name = bare ?? braced;
  return name === undefined ? "$" : { name, write: plainText };
}

/** `%(NAME)`, flags, width, precision, size (which Python ignores) and conversion of Python's `%`. */
const PERCENT = /%(?:%|\((\w+)\)([-0#+ ]*)(\d*)(?:\.(\d*))?[hlL]?([diouxXeEfFgGcrsa]))/g;

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

/**
 * `{NAME!SHOWN:FORMAT}` of Python's `str.format`. Conversions match in any case, as in Python's check before there is a
 * value.
 */
const BRACES =
  /\{\{|\}\}|\{(\w*)(?:!([rsa]))?(?::(?:([^{}\n])?([<>^=]))?([-+ ])?(#)?(0)?(\d*)([,_])?(?:\.(\d+))?([bcdefgnosxBCDEFGNOSX%])?)?\}/gu;

function bracesField(match: RegExpMatchArray): FormatPart {
  const [whole, name, shown, fill, align, sign, alternate, zero, width, separator, digits, code] =
    match;
  if (name === undefined) return whole.slice(0, 1);
  const precision = digits === undefined ? undefined : Number(digits);
  const write = (attribute: AttributeValue): string => {
    const value = shown === undefined ? attribute : asText(attribute, shown);
    const isText = typeof value === "string";
    if (isText) refuseForText({ align, sign, alternate, separator });
    return writeField(value, {
      conversion: bracesConversion(value, code, { precision, separator, sign, alternate }),
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

/** The options that only numbers may have, as written. */
interface NumberMarks {
  readonly sign: string | undefined;
  readonly alternate: string | undefined;
  readonly separator: string | undefined;
}

function refuseForText(marks: NumberMarks & { readonly align: string | undefined }): void {
  const { align, alternate, separator, sign } = marks;
  if (sign !== undefined) throw refused("Sign not allowed in string format specifier");
  if (alternate !== undefined)
    throw refused("Alternate form (#) not allowed in string format specifier");
  if (separator !== undefined) throw refused(`Cannot specify '${separator}' with 's'.`);
  if (align === "=") throw refused("'=' alignment not allowed in string format specifier");
}

const refused = (message: string): ConfigError =>
  new ConfigError({ code: "value.wrong_type", message });

/** The conversion, by default that of the value's type: a float without one is written as `str()` writes it. */
function bracesConversion(
  value: AttributeValue,
  code: string | undefined,
  { precision, ...marks }: NumberMarks & { readonly precision: number | undefined },
): string {
  const { alternate, separator, sign } = marks;
  const kind = typeof value === "string" ? "str" : typeof value === "bigint" ? "int" : "float";
  const conversion = code ?? (kind === "int" ? "d" : kind === "float" ? "" : "s");
  const isFor = kind === "str" ? "s" : kind === "int" ? "bcdoxXneEfFgG%" : "neEfFgG%";
  if (code !== undefined && !isFor.includes(code))
    throw refused(`Unknown format code '${code}' for object of type '${kind}'`);
  if (separator !== undefined && (separator === "," ? "bcnoxX" : "cn").includes(code ?? "d"))
    throw refused(`Cannot specify '${separator}' with '${code}'.`);
  if (code === "c" && (sign ?? alternate) !== undefined)
    throw refused(
      `${sign === undefined ? "Alternate form (#)" : "Sign"} not allowed with integer format specifier 'c'`,
    );
  if (kind === "int" && precision !== undefined && "bcdoxXn".includes(conversion))
    throw refused("Precision not allowed in integer format specifier");
  return conversion === "n" && kind === "int" ? "d" : conversion;
}
