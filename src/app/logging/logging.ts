import { ConfigError } from "../../values/errors.ts";
import { callerOf } from "../caller.ts";
import type { Console } from "../console.ts";
import { LEVELS, type LevelName } from "./levels.ts";
import {
  configured,
  type Handler,
  namesOf,
  openHandler,
  refuseMalformed,
  rememberFormatters,
  requireLevel,
  type Section,
  section,
} from "./log-config.ts";
import type { LogRecord } from "./record.ts";

/** One named source of log records. An error is shown below the message, with its stack. */
export interface Logger {
  /** Shown where `hydra.verbose` names this logger, or is true. */
  debug(message: string, error?: unknown): void;
  /** Shown unless the config says otherwise, as are those below. */
  info(message: string, error?: unknown): void;
  /** What the user should know of, and nothing had to be given up for. */
  warning(message: string, error?: unknown): void;
  /** Something failed. */
  error(message: string, error?: unknown): void;
  /** Nothing that follows can work. */
  critical(message: string, error?: unknown): void;
  /** Whether records of a level go anywhere: what is costly to say is worth it. */
  isEnabledFor(level: LevelName): boolean;
}

/**
 * The logging of one run of a program, as Python's `logging` is that of a process: loggers whose
 * names form a tree, and handlers that a config attaches to them.
 */
export interface Logging {
  logger(name: string): Logger;
  /**
   * What Hydra does with `hydra.job_logging` and `hydra.hydra_logging`: closes all handlers and
   * attaches those of the config (the dictionary schema of Python's logging.config, resolved),
   * unless its `root` is null, which leaves everything as it was. Then `hydra.verbose` (true, a name
   * or names of loggers) lowers levels to DEBUG.
   *
   * @param cwd where relative file names start
   * @throws ConfigError `app.unsupported` for handlers and formats that only Python has, and
   * `value.wrong_type` for any other `hydra.verbose`
   */
  configure(config: unknown, verbose: unknown, cwd: string): void;
  /** Closes log files; records that come later are lost. */
  close(): void;
}

export interface LoggingRequest {
  readonly console: Console;
  readonly now?: () => Date;
}

/** What is known of a logger; the root's name is empty. */
interface LoggerState {
  level: number;
  handlers: readonly Handler[];
  propagate: boolean;
  disabled: boolean;
}

export function createLogging({ console, now = () => new Date() }: LoggingRequest): Logging {
  const root: LoggerState = { ...fresh(), level: LEVELS.WARNING };
  const loggers = new Map<string, LoggerState>([["", root]]);
  let open: readonly Handler[] = [];

  const stateOf = (given: string): LoggerState => {
    // The root's own name in Python, too.
    const name = given === "root" ? "" : given;
    const known = loggers.get(name);
    if (known !== undefined) return known;
    const made = fresh();
    loggers.set(name, made);
    return made;
  };
  const close = (): void => {
    for (const { sink } of open) sink.close();
    open = [];
  };

  /** A logger and those above it, up to the root: `a.b`, `a`, the root. */
  function* lineOf(name: string): Generator<LoggerState> {
    for (let at = name; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
      const state = loggers.get(at);
      if (state !== undefined) yield state;
    }
    yield root;
  }

  const levelOf = (name: string): number => {
    for (const { level } of lineOf(name)) if (level !== LEVELS.NOTSET) return level;
    return LEVELS.NOTSET;
  };

  const deliver = (record: LogRecord): void => {
    let heard = false;
    for (const state of lineOf(record.logger)) {
      for (const { level, format, sink, accepts } of state.handlers) {
        heard = true;
        if (record.level >= level && accepts(record.logger))
          writeOrTell(record, () => sink.write(format(record)), console);
      }
      if (!state.propagate) break;
    }
    // Python's handler of last resort.
    if (!heard && record.level >= LEVELS.WARNING) console.stderr(`${record.message}\n`);
  };

  const logger = (name: string): Logger => {
    const own = stateOf(name);
    const method = (levelName: LevelName) => {
      const level = LEVELS[levelName];
      return function log(message: string, error?: unknown): void {
        if (own.disabled || level < levelOf(name)) return;
        const caller = () => callerOf(log);
        const told = error === undefined ? {} : { error };
        deliver({ logger: name, levelName, level, message, time: now(), caller, ...told });
      };
    };
    return {
      debug: method("DEBUG"),
      info: method("INFO"),
      warning: method("WARNING"),
      error: method("ERROR"),
      critical: method("CRITICAL"),
      isEnabledFor: (level) => !own.disabled && LEVELS[level] >= levelOf(name),
    };
  };

  const formatterFor = rememberFormatters();

  const attach = (config: Section, cwd: string): void => {
    refuseMalformed(config, formatterFor);
    close();
    const named = section(config["loggers"]);
    for (const [name, state] of loggers) {
      if (name === "" || Object.hasOwn(named, name)) continue;
      // What is below a logger that the config names goes with it.
      if (Object.keys(named).some((above) => name.startsWith(`${above}.`)))
        Object.assign(state, fresh(), { disabled: state.disabled });
      else state.disabled = config["disable_existing_loggers"] !== false;
    }
    const handlers = new Map<string, Handler>();
    const place = { console, cwd, formatterFor };
    for (const name of Object.keys(section(config["handlers"]))) {
      const handler = openHandler(name, config, place);
      handlers.set(name, handler);
      open = [...open, handler];
    }
    for (const [name, settings] of Object.entries(named)) {
      const state = stateOf(name);
      setUp(state, section(settings), handlers, `logger '${name}'`);
      // Where the config does not say it, it stays as it was.
      const { propagate } = section(settings);
      if (typeof propagate === "boolean") state.propagate = propagate;
      state.disabled = false;
    }
    setUp(root, section(config["root"]), handlers, "root logger");
  };

  return {
    logger,
    configure(given, verbose, cwd) {
      requireVerbose(verbose);
      const config = section(given);
      if (!Object.hasOwn(config, "root"))
        throw new ConfigError({
          code: "app.unsupported",
          message: "A log config needs a 'root'; null leaves logging as it is",
        });
      if (config["root"] !== null) attach(config, cwd);
      if (verbose === true) root.level = LEVELS.DEBUG;
      for (const name of namesOf(verbose)) stateOf(name).level = LEVELS.DEBUG;
    },
    close,
  };
}

function requireVerbose(value: unknown): void {
  if (typeof value === "boolean" || typeof value === "string") return;
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return;
  throw new ConfigError({
    code: "value.wrong_type",
    message: "hydra.verbose must be true, false, or the name or names of loggers",
    key: "hydra.verbose",
  });
}

const fresh = (): LoggerState => ({
  level: LEVELS.NOTSET,
  handlers: [],
  propagate: true,
  disabled: false,
});

function setUp(
  state: LoggerState,
  settings: Section,
  handlers: ReadonlyMap<string, Handler>,
  what: string,
): void {
  const { level } = settings;
  if (level !== undefined && level !== null)
    state.level = configured(what, () => requireLevel(level));
  state.handlers = [...new Set(namesOf(settings["handlers"]))].map((name) => {
    const handler = handlers.get(name);
    if (handler !== undefined) return handler;
    throw new ConfigError({
      code: "app.unsupported",
      message: `Unable to configure ${what}: there is no handler '${name}'`,
      available: [...handlers.keys()],
    });
  });
}

/** A record that cannot be written is told of, and the program goes on, as in Python. */
function writeOrTell(record: LogRecord, write: () => void, console: Console): void {
  try {
    write();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const { file, line } = record.caller?.() ?? { file: "", line: 0 };
    console.stderr(
      `--- Logging error ---\n${why}\nCall stack:\n  ${file}:${line}\nMessage: '${record.message}'\nArguments: ()\n`,
    );
  }
}
