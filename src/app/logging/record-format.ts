import { ConfigError } from "../../values/errors.ts";
import { ATTRIBUTES, type Attribute } from "./attributes.ts";
import { FORMAT_STYLES, type FormatStyle, HAS_FIELDS } from "./format-styles.ts";
import type { LogRecord } from "./record.ts";

export type RecordFormatter = (record: LogRecord) => string;

export interface RecordFormat {
  readonly format: string;
  /** Default: `%`. */
  readonly style?: unknown;
  readonly datefmt?: string | undefined;
  /** Finds attributes beside those that every record has. */
  readonly more?: (name: string) => Attribute | undefined;
}

/**
 * Compiles a format of Python's logging: `%(levelname)-8s %(message)s`, in the style `{`
 * `{levelname:<8} {message}`, in the style `$` `$levelname $message`. An error that a record tells of
 * stands below the line.
 *
 * The formatter throws `app.unsupported` for an attribute that its records do not have.
 *
 * @throws ConfigError `app.unsupported` for a style that does not exist and a format without attributes, or with
 *   what is no field
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

/** Python words it by style. */
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
  return `\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
