import type { Console } from "../console.ts";
import { openFormatter } from "./formatters.ts";
import { handlerKind, type LogSink } from "./handlers.ts";
import { LEVELS, type LevelName, levelNumber } from "./levels.ts";
import type { LogRecord, RecordFormatter } from "./record-format.ts";

/** One named source of log records. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warning(message: string): void;
  error(message: string): void;
}

export interface Logging {
  logger(name: string): Logger;
  /** Closes log files; records that come later are lost. */
  close(): void;
}

export interface LoggingRequest {
  /** `hydra.job_logging`, resolved: the dictionary schema of Python's logging.config. */
  readonly config: unknown;
  /** `hydra.verbose`: true, or the names of loggers to show in detail. */
  readonly verbose: unknown;
  readonly console: Console;
  /** Where relative file names start. */
  readonly cwd: string;
  readonly now?: () => Date;
}

interface Section {
  readonly [key: string]: unknown;
}

interface Handler {
  readonly level: number;
  readonly format: RecordFormatter;
  readonly sink: LogSink;
}

/** What Hydra logs with where a config's own logging is switched off. */
const FALLBACK: Section = {
  formatters: { simple: { format: "[%(asctime)s][HYDRA] %(message)s" } },
  handlers: {
    console: {
      class: "logging.StreamHandler",
      formatter: "simple",
      stream: "ext://sys.stdout",
    },
  },
  root: { level: "INFO", handlers: ["console"] },
};

/**
 * Opens the handlers of a logging config: the root logger's, and the levels of named loggers. A
 * config without a root (`hydra/job_logging=none`) leaves Hydra's own logging in place.
 *
 * @throws ConfigError `app.unsupported` for handlers and formats that only Python has.
 */
export function openLogging(request: LoggingRequest): Logging {
  const given = section(request.config);
  const config = given["root"] === null || given["root"] === undefined ? FALLBACK : given;
  const root = section(config["root"]);
  const handlers = namesOf(root["handlers"]).map((name) => openHandler(name, config, request));
  const levels = loggerLevels(config, root, request.verbose);
  const now = request.now ?? (() => new Date());

  const emit = (logger: string, levelName: LevelName, message: string): void => {
    const level = LEVELS[levelName];
    if (level < effectiveLevel(levels, logger)) return;
    const record: LogRecord = { logger, levelName, level, message, time: now() };
    for (const handler of handlers)
      if (level >= handler.level) handler.sink.write(handler.format(record));
  };
  return {
    logger: (name) => ({
      debug: (message) => emit(name, "DEBUG", message),
      info: (message) => emit(name, "INFO", message),
      warning: (message) => emit(name, "WARNING", message),
      error: (message) => emit(name, "ERROR", message),
    }),
    close: () => {
      for (const { sink } of handlers) sink.close();
    },
  };
}

function openHandler(name: string, config: Section, { console, cwd }: LoggingRequest): Handler {
  const settings = section(section(config["handlers"])[name]);
  const formatter = section(section(config["formatters"])[String(settings["formatter"])]);
  const kind = handlerKind(settings["class"]);
  return {
    level: levelNumber(settings["level"]) ?? LEVELS.NOTSET,
    format: openFormatter(formatter, kind.showsColor(settings, console)),
    sink: kind.open(settings, { console, cwd }),
  };
}

/** Levels by logger name; the root's name is empty. */
function loggerLevels(
  config: Section,
  root: Section,
  verbose: unknown,
): ReadonlyMap<string, number> {
  const levels = new Map<string, number>([["", levelNumber(root["level"]) ?? LEVELS.WARNING]]);
  for (const [name, settings] of Object.entries(section(config["loggers"]))) {
    const level = levelNumber(section(settings)["level"]);
    if (level !== undefined) levels.set(name, level);
  }
  if (verbose === true) levels.set("", LEVELS.DEBUG);
  for (const name of namesOf(verbose)) levels.set(name, LEVELS.DEBUG);
  return levels;
}

/** The level of the nearest logger above that has one: `a.b`, then `a`, then the root. */
function effectiveLevel(levels: ReadonlyMap<string, number>, logger: string): number {
  for (let name = logger; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const level = levels.get(name);
    if (level !== undefined && level !== LEVELS.NOTSET) return level;
  }
  return levels.get("") ?? LEVELS.WARNING;
}

const section = (value: unknown): Section =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Section) : {};

function namesOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.map(String) : [];
}
