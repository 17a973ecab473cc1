import { ConfigError } from "../../values/errors.ts";
import { ATTRIBUTES, type Attribute } from "./attributes.ts";
import { FORMAT_STYLES, type FormatStyle } from "./format-styles.ts";
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
 * @throws ConfigError `app.unsupported` for a style or an attribute that does not exist.
 */
export function compileFormat(request: RecordFormat): RecordFormatter {
  const { format, style = "%", datefmt, more = () => undefined } = request;
  const parts = FORMAT_STYLES[requireStyle(style)](format).map((part) => {
    if (typeof part === "string") return () => part;
    const attribute = findAttribute(part.name, more);
    return (record: LogRecord) => part.write(attribute(record, datefmt));
  });
  return (record) => parts.map((part) => part(record)).join("") + errorText(record);
}

function requireStyle(style: unknown): FormatStyle {
  if (typeof style === "string" && Object.hasOwn(FORMAT_STYLES, style)) return style as FormatStyle;
  throw new ConfigError({
    code: "app.unsupported",
    message: `Log format style '${String(style)}' does not exist`,
    available: Object.keys(FORMAT_STYLES),
  });
}

function findAttribute(name: string, more: (name: string) => Attribute | undefined): Attribute {
  const found = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : more(name);
  if (found !== undefined) return found;
  throw new ConfigError({
    code: "app.unsupported",
    message: `Log format attribute '${name}' is not supported`,
    available: Object.keys(ATTRIBUTES),
  });
}

function errorText({ error }: LogRecord): string {
  if (error === undefined) return "";
  return `\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
