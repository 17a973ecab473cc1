import { ConfigError } from "../../values/errors.ts";
import { strftime } from "../strftime.ts";

export interface LogRecord {
  readonly logger: string;
  readonly levelName: string;
  readonly level: number;
  readonly message: string;
  readonly time: Date;
}

export type RecordFormatter = (record: LogRecord) => string;

/** Something that a format may show of a record. */
export type Attribute = (record: LogRecord, datefmt: string | undefined) => string | number;

/** Python's name of every attribute a format may show, and how a record of ours has it. */
const ATTRIBUTES: Readonly<Record<string, Attribute>> = {
  asctime: (record, datefmt) => asctime(record.time, datefmt),
  name: (record) => record.logger,
  levelname: (record) => record.levelName,
  levelno: (record) => record.level,
  message: (record) => record.message,
  created: (record) => record.time.getTime() / 1000,
  msecs: (record) => record.time.getMilliseconds(),
  process: () => process.pid,
  processName: () => "MainProcess",
  threadName: () => "MainThread",
};

/**
 * Compiles a format of Python's logging, `%(levelname)-8s %(message)s` and the like.
 *
 * @param more finds attributes beside those that every record has.
 * @throws ConfigError `app.unsupported` for an attribute that only Python code has (`%(lineno)d`).
 */
export function compileFormat(
  format: string,
  datefmt?: string,
  more: (name: string) => Attribute | undefined = () => undefined,
): RecordFormatter {
  const find = (name: string) => (Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : more(name));
  const parts = [...format.matchAll(/%(?:%|\((\w+)\)([-0#+ ]*)(\d*)(?:\.(\d+))?([sdifr]))/g)];
  const unknown = parts.find(([, name]) => name !== undefined && find(name) === undefined);
  if (unknown !== undefined)
    throw new ConfigError({
      code: "app.unsupported",
      message: `Log format attribute '${unknown[1]}' is not supported`,
      available: Object.keys(ATTRIBUTES),
    });
  return (record) =>
    format.replace(
      /%(?:%|\((\w+)\)([-0#+ ]*)(\d*)(?:\.(\d+))?([sdifr]))/g,
      (_whole, name?: string, flags = "", width = "", precision?: string, conversion = "s") => {
        const attribute = name === undefined ? undefined : find(name);
        if (attribute === undefined) return "%";
        const text = convert(attribute(record, datefmt), conversion, precision);
        return pad(text, flags, Number(width));
      },
    );
}

function convert(
  value: string | number,
  conversion: string,
  precision: string | undefined,
): string {
  if (conversion === "f")
    return Number(value).toFixed(precision === undefined ? 6 : Number(precision));
  if (conversion === "d" || conversion === "i") return String(Math.trunc(Number(value)));
  const text = String(value);
  return precision === undefined ? text : text.slice(0, Number(precision));
}

function pad(text: string, flags: string, width: number): string {
  if (flags.includes("-")) return text.padEnd(width);
  return text.padStart(width, flags.includes("0") ? "0" : " ");
}

/** Without a format of its own a time ends in milliseconds after a comma. */
function asctime(time: Date, datefmt: string | undefined): string {
  if (datefmt !== undefined) return strftime(datefmt, time);
  const milliseconds = String(time.getMilliseconds()).padStart(3, "0");
  return `${strftime("%Y-%m-%d %H:%M:%S", time)},${milliseconds}`;
}
