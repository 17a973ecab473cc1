import type { Attribute } from "./attributes.ts";
import { colorCode, colorCodes } from "./color-codes.ts";
import type { FormatterSettings } from "./formatters.ts";
import { compileFormat, type RecordFormatter } from "./record-format.ts";

const DEFAULT_FORMAT = "%(log_color)s%(levelname)s:%(name)s:%(message)s";

const DEFAULT_FORMATS: Readonly<Record<string, string>> = {
  "{": "{log_color}{levelname}:{name}:{message}",
  $: "${log_color}${levelname}:${name}:${message}",
};

const DEFAULT_COLORS = {
  DEBUG: "white",
  INFO: "green",
  WARNING: "yellow",
  ERROR: "red",
  CRITICAL: "bold_red",
};

/**
 * `colorlog.ColoredFormatter`: the attributes of a record, every colour by its name, `log_color`
 * for the level of the record, and `NAME_log_color` for each of `secondary_log_colors`. Lines end
 * in a reset unless `reset` is false.
 *
 * Where `color` is false the colours are empty, so that log files and pipes hold plain text.
 *
 * @see https://github.com/borntyping/python-colorlog
 * @throws ConfigError `app.unsupported` for a colour or an attribute that does not exist.
 */
export function coloredFormat(settings: FormatterSettings, color: boolean): RecordFormatter {
  const shown = settings["force_color"] === true || (color && settings["no_color"] !== true);
  const { format: named, fmt = named, datefmt } = settings;
  const levels = levelColors(settings);
  const format = compileFormat({
    format:
      typeof fmt === "string"
        ? fmt
        : (DEFAULT_FORMATS[String(settings["style"])] ?? DEFAULT_FORMAT),
    style: settings["style"],
    datefmt: typeof datefmt === "string" ? datefmt : undefined,
    more: (name): Attribute | undefined => {
      const code = levels.get(name) ?? constant(colorCode(name));
      return shown || code === undefined ? code : () => "";
    },
  });
  if (!shown || settings["reset"] === false) return format;
  const reset = colorCodes("reset");
  return (record) => {
    const line = format(record);
    return line.endsWith(reset) ? line : line + reset;
  };
}

const constant = (code: string | undefined): Attribute | undefined =>
  code === undefined ? undefined : () => code;

/** The colours that depend on a record's level, by the attribute that shows them. */
function levelColors(settings: FormatterSettings): ReadonlyMap<string, Attribute> {
  const secondary = Object.entries(sectionOf(settings["secondary_log_colors"]));
  const all = [
    ["log_color", settings["log_colors"] ?? DEFAULT_COLORS] as const,
    ...secondary.map(([name, colors]) => [`${name}_log_color`, colors] as const),
  ];
  return new Map(all.map(([name, colors]) => [name, byLevel(colors)]));
}

function byLevel(colors: unknown): Attribute {
  const levels = Object.entries(sectionOf(colors));
  const codes = new Map(levels.map(([level, names]) => [level, colorCodes(String(names))]));
  return ({ levelName }) => codes.get(levelName) ?? "";
}

const sectionOf = (value: unknown): object =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
