/** Formatters of log records: Python's own and colorlog's. */
import { alternativesTo, ConfigError } from "../../../engine/values/errors.ts";
import type { Attribute } from "./record.ts";
import { compileFormat, type RecordFormatter } from "./record-format.ts";
import { isTruthy, type Section, section } from "./section.ts";

interface FormatterKind {
  /** The class that configs name as `()` or `class`. */
  readonly className: string;
  /** @param color whether the lines go to a terminal with colours */
  readonly create: (settings: Section, color: boolean) => RecordFormatter;
}

const DEFAULT_FORMATS: Readonly<Record<string, string>> = { "{": "{message}", $: "$message" };

/** The formatters that a logging config may name; the first is the default. */
const FORMATTER_KINDS: readonly FormatterKind[] = [
  {
    className: "logging.Formatter",
    create: ({ format, datefmt, style }) =>
      compileFormat({
        format: formatText(format) || (DEFAULT_FORMATS[String(style)] ?? "%(message)s"),
        style,
        datefmt: textOf(datefmt),
      }),
  },
  { className: "colorlog.ColoredFormatter", create: coloredFormat },
];

/** @throws ConfigError `value.wrong_type` for a format that is no text, unless Python takes it for nothing. */
function formatText(value: unknown): string {
  if (typeof value === "string") return value;
  if (!isTruthy(value)) return "";
  throw new ConfigError({
    code: "value.wrong_type",
    message: `a format is a string, not ${JSON.stringify(value)}`,
    key: "format",
    hint: "quote it",
  });
}

/** @throws ConfigError `app.unsupported` for a class or a format that exists only in Python. */
export function openFormatter(settings: Section, color: boolean): RecordFormatter {
  const { "()": factory, class: className } = settings;
  const wanted = factory ?? (isTruthy(className) ? className : FORMATTER_KINDS[0]?.className);
  const kind = FORMATTER_KINDS.find((candidate) => candidate.className === wanted);
  if (kind !== undefined) return kind.create(settings, color);
  throw new ConfigError({
    code: "app.unsupported",
    message: `Log formatter class '${String(wanted)}' is not supported`,
    key: factory === undefined ? "class" : "()",
    ...alternativesTo(
      String(wanted),
      FORMATTER_KINDS.map((candidate) => candidate.className),
    ),
  });
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

const DEFAULT_FORMAT = "%(log_color)s%(levelname)s:%(name)s:%(message)s";

const COLORED_FORMAT_DEFAULT_FORMATS: Readonly<Record<string, string>> = {
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
function coloredFormat(settings: Section, color: boolean): RecordFormatter {
  const shown = settings["force_color"] === true || (color && settings["no_color"] !== true);
  const { format: named, fmt = named, datefmt } = settings;
  const levels = levelColors(settings);
  const format = compileFormat({
    format:
      typeof fmt === "string"
        ? fmt
        : (COLORED_FORMAT_DEFAULT_FORMATS[String(settings["style"])] ?? DEFAULT_FORMAT),
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

/** The colours that depend on a record's level, by the attribute that writes them. */
function levelColors(settings: Section): ReadonlyMap<string, Attribute> {
  const secondary = Object.entries(section(settings["secondary_log_colors"]));
  const all = [
    ["log_color", settings["log_colors"] ?? DEFAULT_COLORS] as const,
    ...secondary.map(([name, colors]) => [`${name}_log_color`, colors] as const),
  ];
  return new Map(all.map(([name, colors]) => [name, byLevel(colors)]));
}

function byLevel(colors: unknown): Attribute {
  const levels = Object.entries(section(colors));
  const codes = new Map(levels.map(([level, names]) => [level, colorCodes(String(names))]));
  return ({ levelName }) => codes.get(levelName) ?? "";
}

/** In the order of their codes: 30 to 37 as text, 10 more as background, 60 more for the light ones. */
const COLORS = ["black", "red", "green", "yellow", "blue", "purple", "cyan", "white"];

const STYLES: Readonly<Record<string, number>> = { reset: 0, bold: 1, thin: 2 };

const TEXT_COLOR = new RegExp(`^(?:fg_)?(?:(bold|thin)_)?(light_)?(${COLORS.join("|")})$`);
const BACKGROUND = new RegExp(`^bg_(light_|bold_)?(${COLORS.join("|")})$`);
const NUMBERED = /^(fg|bg)_(0|[1-9]\d{0,2})$/;

/**
 * The escape code of one of colorlog's names: `red`, `bold_light_red`, `bg_red`, `fg_208`, `reset`.
 * Undefined for any other name.
 */
export function colorCode(name: string): string | undefined {
  if (Object.hasOwn(STYLES, name)) return sequence(STYLES[name]);
  const [, style, light, text] = TEXT_COLOR.exec(name) ?? [];
  if (text !== undefined)
    return sequence(style && STYLES[style], 30 + COLORS.indexOf(text) + (light ? 60 : 0));
  // There is no bold background: colorlog reads the name as the light one.
  const [, bright, behind] = BACKGROUND.exec(name) ?? [];
  if (behind !== undefined) return sequence(40 + COLORS.indexOf(behind) + (bright ? 60 : 0));
  const [, where, number] = NUMBERED.exec(name) ?? [];
  if (number === undefined || Number(number) > 255) return undefined;
  return sequence(where === "fg" ? 38 : 48, 5, Number(number));
}

const sequence = (...codes: readonly unknown[]): string =>
  `\u001b[${codes.filter((code) => code !== undefined).join(";")}m`;

/**
 * The escape codes of names such as `bold_red,bg_white`.
 *
 * @throws ConfigError `app.unsupported` for a name that is not one of colorlog's.
 */
function colorCodes(names: string): string {
  return names
    .split(",")
    .filter((name) => name !== "")
    .map((name) => {
      const code = colorCode(name);
      if (code !== undefined) return code;
      throw new ConfigError({
        code: "app.unsupported",
        message: `Log colour '${name}' does not exist`,
        available: COLORS,
        hint: "each also as bold_, thin_, light_ or bg_, and fg_0 to fg_255",
      });
    })
    .join("");
}
