import { alternativesTo, ConfigError } from "../../values/errors.ts";
import { coloredFormat } from "./colored-format.ts";
import { compileFormat, type RecordFormatter } from "./record-format.ts";

/** What a config says of one formatter. */
export interface FormatterSettings {
  readonly [key: string]: unknown;
}

interface FormatterKind {
  /** The class that configs name as `()` or `class`. */
  readonly className: string;
  /** @param color whether lines go to where colours are seen */
  readonly create: (settings: FormatterSettings, color: boolean) => RecordFormatter;
}

const DEFAULT_FORMATS: Readonly<Record<string, string>> = { "{": "{message}", $: "$message" };

/** The formatters that a logging config may name; the first where it names none. */
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

/** @throws ConfigError `value.wrong_type` for what is neither a text nor null. */
function formatText(value: unknown = ""): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `a format is a string, not ${JSON.stringify(String(value))}`,
    key: "format",
    hint: "quote it",
  });
}

/** @throws ConfigError `app.unsupported` for a class or a format that only Python has. */
export function openFormatter(settings: FormatterSettings, color: boolean): RecordFormatter {
  const { "()": factory, class: className = "logging.Formatter" } = settings;
  const wanted = factory ?? className;
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
