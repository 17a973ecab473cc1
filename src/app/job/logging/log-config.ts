/** Opens the handlers of a log config (the dictionary schema of Python's logging.config). */

import {
  alternativesTo,
  ConfigError,
  type ErrorDetails,
  isConfigError,
} from "../../../engine/values/errors.ts";
import { messageOf } from "../../../foundation/system/builtin-types.ts";
import type { Console } from "../process/invocation.ts";
import { openFormatter } from "./formatters.ts";
import { handlerKind, type LogSink } from "./handlers.ts";
import { LEVELS, levelNumber, passing } from "./record.ts";
import type { RecordFormatter } from "./record-format.ts";
import { isSection, isTruthy, namesOf, type Section, section } from "./section.ts";

export interface Handler {
  readonly level: number;
  readonly format: RecordFormatter;
  readonly sink: LogSink;
  /** Whether the handler writes to a file, as `logging.FileHandler` does. */
  readonly isFile: boolean;
  readonly accepts: (logger: string) => boolean;
}

/** Maps a path of keys in a log config to the key in the composed config, with its origin. */
export type Locate = (path: readonly string[]) => Pick<ErrorDetails, "key" | "origin">;

/** What the opening of a handler depends on. */
export interface HandlerPlace {
  readonly console: Console;
  readonly cwd: string;
  readonly formatterFor: typeof openFormatter;
  readonly locate: Locate;
}

/** Caches formatters: each job of a sweep configures the same formats again. */
export function rememberFormatters(): typeof openFormatter {
  const formatters = new Map<string, RecordFormatter>();
  return (settings, color) => {
    const key = `${color} ${JSON.stringify(settings)}`;
    const formatter = formatters.get(key) ?? openFormatter(settings, color);
    formatters.set(key, formatter);
    return formatter;
  };
}

export const openHandler = (
  name: string,
  settings: unknown,
  config: Section,
  place: HandlerPlace,
): Handler =>
  configured(`handler '${name}'`, ["handlers", name], place.locate, () =>
    handlerOf(requireSection(settings), config, place),
  );

function handlerOf(settings: Section, config: Section, place: HandlerPlace): Handler {
  const formatter = formatterOf(settings, section(config["formatters"]));
  const kind = handlerKind(settings);
  const { level } = settings;
  return {
    level: level === undefined || level === null ? LEVELS.NOTSET : requireLevel(level),
    format: place.formatterFor(formatter, kind.showsColor(settings, place.console)),
    isFile: kind.isFile === true,
    sink: withoutSecrets(kind.open(settings, place), place.console),
    accepts: passing(filtersOf(settings, config)),
  };
}

/** The formatter that a handler names; Python's default if it names none. */
function formatterOf({ formatter: name }: Section, formatters: Section): Section {
  if (!isTruthy(name)) return {};
  if (Object.hasOwn(formatters, String(name))) return section(formatters[String(name)]);
  throw new ConfigError({
    code: "app.unsupported",
    message: `Unable to set formatter ${typeof name === "string" ? `'${name}'` : JSON.stringify(name)}`,
    key: "formatter",
    ...alternativesTo(String(name), Object.keys(formatters)),
  });
}

/**
 * Refuses what Python's `dictConfig` refuses before it attaches any handler.
 *
 * @throws ConfigError `app.unsupported`
 */
export function refuseMalformed(
  config: Section,
  { formatterFor, locate }: Pick<HandlerPlace, "formatterFor" | "locate">,
): void {
  const { version } = config;
  if (version !== 1)
    throw new ConfigError({
      code: "app.unsupported",
      message: Object.hasOwn(config, "version")
        ? `Unsupported version: ${version === null ? "None" : String(version)}`
        : "dictionary doesn't specify a version",
      ...locate(["version"]),
      hint: "a log config must have `version: 1`",
    });
  if (isTruthy(config["incremental"]))
    throw new ConfigError({
      code: "app.unsupported",
      message: "Log configs with `incremental: true` are not supported",
      ...locate(["incremental"]),
    });
  for (const [name, settings] of Object.entries(partsOf(config, "formatters", locate)))
    configured(`formatter '${name}'`, ["formatters", name], locate, () =>
      formatterFor(requireSection(settings), false),
    );
  for (const [name, settings] of Object.entries(partsOf(config, "filters", locate)))
    configured(`filter '${name}'`, ["filters", name], locate, () =>
      requireFilter(requireSection(settings)),
    );
}

function requireFilter(settings: Section): void {
  const { name = "" } = settings;
  if (Object.hasOwn(settings, "()"))
    throw new ConfigError({
      code: "app.unsupported",
      message: `Log filter class '${String(settings["()"])}' is not supported`,
      key: "()",
      hint: "a filter with a `name` passes the records of that logger and of those below it",
    });
  if (typeof name !== "string") throw wrongKind("the name of a logger", name, "name");
}

/**
 * Configures a part of a log config.
 *
 * @param path path of the part in the log config; the key of an error from `configure` is relative to the part
 * @throws ConfigError `app.unsupported` that names the part and its origin
 */
export function configured<T>(
  what: string,
  path: readonly string[],
  locate: Locate,
  configure: () => T,
): T {
  try {
    return configure();
  } catch (cause) {
    const details = isConfigError(cause)
      ? { ...cause.details, ...locate([...path, ...keyOf(cause)]) }
      : { cause };
    const why = messageOf(cause);
    throw new ConfigError({
      ...details,
      code: "app.unsupported",
      message: `Unable to configure ${what}: ${why}`,
    });
  }
}

const keyOf = ({ details: { key } }: ConfigError): readonly string[] =>
  key === undefined ? [] : [key];

/**
 * The filters that a handler or logger names, each as the name of the logger that it is for.
 *
 * @throws ConfigError `app.unsupported`
 */
export function filtersOf(settings: Section, config: Section): readonly string[] {
  const filters = section(config["filters"]);
  return requireNames(settings, "filters")
    .map((name) => {
      if (Object.hasOwn(filters, name)) return section(filters[name])["name"];
      throw new ConfigError({
        code: "app.unsupported",
        message: `there is no filter '${name}'`,
        key: "filters",
        ...alternativesTo(name, Object.keys(filters)),
      });
    })
    .filter((name): name is string => typeof name === "string" && name !== "");
}

export function requireLevel(value: unknown): number {
  const level = levelNumber(value);
  if (level !== undefined) return level;
  throw new ConfigError({
    code: "app.unsupported",
    message: `Unknown level: '${String(value)}'`,
    key: "level",
    // The names of levels are in capitals.
    ...alternativesTo(String(value).toUpperCase(), Object.keys(LEVELS)),
  });
}

/**
 * A part of a log config, which maps names to settings. Python reads the names of an empty list or text, too: none.
 *
 * @throws ConfigError `app.unsupported`
 */
export function partsOf(
  config: Section,
  part: "filters" | "formatters" | "handlers" | "loggers",
  locate: Locate,
): Section {
  const parts = config[part];
  if (parts === undefined || parts === "" || (Array.isArray(parts) && parts.length === 0))
    return {};
  return configured(part, [part], locate, () => requireSection(parts));
}

/** @throws ConfigError `app.unsupported` */
export function requireSection(value: unknown): Section {
  if (isSection(value)) return value;
  const isLevel = typeof value === "string" && levelNumber(value) !== undefined;
  throw wrongKind("a mapping", value, undefined, isLevel ? `write {level: ${value}}` : undefined);
}

/**
 * The names that a handler or logger has at a key; none for what Python takes for nothing.
 *
 * @throws ConfigError `app.unsupported`
 */
export function requireNames(settings: Section, key: "filters" | "handlers"): readonly string[] {
  const value = settings[key];
  if (!isTruthy(value)) return [];
  if (typeof value === "string" || Array.isArray(value)) return namesOf(value);
  throw wrongKind("a list of names", value, key);
}

/** What a log config must have somewhere, and does not. */
const wrongKind = (
  wanted: string,
  value: unknown,
  key: string | undefined,
  hint?: string,
): ConfigError =>
  new ConfigError({
    code: "app.unsupported",
    message: `it must be ${wanted}, not ${JSON.stringify(value)}`,
    ...(key !== undefined && { key }),
    ...(hint !== undefined && { hint }),
  });

/** Removes secrets: a log file has more readers than the program's output. */
const withoutSecrets = (sink: LogSink, { redact }: Console): LogSink =>
  redact === undefined ? sink : { ...sink, write: (line) => sink.write(redact(line)) };
