/** The tree of loggers, with Python's levels and propagation. */
import { messageOf } from "../../../foundation/system/builtin-types.ts";
import { callerOf } from "../../../foundation/system/caller.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import type { Console } from "../process/invocation.ts";
import type { Handler } from "./log-config.ts";
import { LEVELS, type LevelName, type LogRecord, passing } from "./record.ts";

/** One named source of log records. An error is shown below the message, with its stack. */
export interface Logger {
  /** Shown where `hydra.verbose` names this logger, or is true. */
  debug(message: string, error?: unknown): void;
  /** Shown unless the config raises the level, as are the levels below. */
  info(message: string, error?: unknown): void;
  /** The user should know this, but everything still worked. */
  warning(message: string, error?: unknown): void;
  /** Something failed. */
  error(message: string, error?: unknown): void;
  /** The program cannot go on. */
  critical(message: string, error?: unknown): void;
  /** Whether any handler takes records of a level: if not, a costly message need not be built. */
  isEnabledFor(level: LevelName): boolean;
}

/** The clock of records, and the console for records that no handler takes. */
export interface LogSurroundings {
  readonly console: Console;
  readonly now: () => Date;
}

/** Opens a logger by name; each record uses the configuration of the tree at that time. */
export function openLogger(
  tree: LoggerTree,
  name: string,
  { console, now }: LogSurroundings,
): Logger {
  const loggerState = stateOf(tree, name);
  const method = (levelName: LevelName) => {
    const level = LEVELS[levelName];
    return function log(message: string, error?: unknown): void {
      const { disabled, filters } = loggerState;
      if (disabled || level < levelOf(tree, name)) return;
      if (!passing(filters)(name)) return;
      const caller = () => callerOf(log);
      const failure = error === undefined ? {} : { error };
      deliver(
        { logger: name, levelName, level, message, time: now(), caller, ...failure },
        tree,
        console,
      );
    };
  };
  return {
    debug: method("DEBUG"),
    info: method("INFO"),
    warning: method("WARNING"),
    error: method("ERROR"),
    critical: method("CRITICAL"),
    isEnabledFor: (level) => !loggerState.disabled && LEVELS[level] >= levelOf(tree, name),
  };
}

/** Passes a record to the handlers of its logger and of its ancestors, as far as records propagate. */
function deliver(record: LogRecord, tree: LoggerTree, console: Console): void {
  let heard = false;
  for (const state of lineOf(tree, record.logger)) {
    for (const { level, format, sink, accepts } of state.handlers) {
      heard = true;
      if (record.level >= level && accepts(record.logger))
        writeOrTell(record, () => sink.write(format(record)), console);
    }
    if (!state.propagate) break;
  }
  // Python's handler of last resort.
  if (!heard && record.level >= LEVELS.WARNING) console.stderr(`${record.message}\n`);
}

/** As in Python, a record that cannot be written is reported and the program goes on. */
export function writeOrTell(record: LogRecord, write: () => void, console: Console): void {
  try {
    write();
  } catch (error) {
    const why = messageOf(error);
    const { file, line } = record.caller?.() ?? { file: "", line: 0 };
    console.stderr(
      `--- Logging error ---\n${why}\nCall stack:\n  ${file}:${line}\nMessage: '${record.message}'\nArguments: ()\n`,
    );
  }
}

/** The configuration of one logger. */
export interface LoggerState {
  level: number;
  handlers: readonly Handler[];
  propagate: boolean;
  disabled: boolean;
  /** Of records that are logged with it, and not below it: the loggers that they must be of. */
  filters: readonly string[];
}

/** All loggers that were requested. Their dotted names form a tree; the root's name is empty. */
export interface LoggerTree {
  readonly root: LoggerState;
  readonly loggers: Map<string, LoggerState>;
}

export function createLoggerTree(): LoggerTree {
  const root = { ...freshLogger(), level: LEVELS.WARNING };
  return { root, loggers: new Map([["", root]]) };
}

export const freshLogger = (): LoggerState => ({
  level: LEVELS.NOTSET,
  handlers: [],
  propagate: true,
  disabled: false,
  filters: [],
});

/** The state of a logger; creates it if needed. */
export function stateOf({ loggers }: LoggerTree, loggerName: string): LoggerState {
  // Python's root logger is also called "root".
  return getOrCreate(loggers, loggerName === "root" ? "" : loggerName, freshLogger);
}

/** A logger and its ancestors up to the root: `a.b`, `a`, the root. */
function* lineOf({ loggers, root }: LoggerTree, name: string): Generator<LoggerState> {
  for (
    let ancestor = name;
    ancestor !== "";
    ancestor = ancestor.slice(0, Math.max(0, ancestor.lastIndexOf(".")))
  ) {
    const state = loggers.get(ancestor);
    if (state !== undefined) yield state;
  }
  yield root;
}

/** The effective level of a logger: its own, or that of the nearest ancestor that has one. */
function levelOf(tree: LoggerTree, name: string): number {
  for (const { level } of lineOf(tree, name)) if (level !== LEVELS.NOTSET) return level;
  return LEVELS.NOTSET;
}
