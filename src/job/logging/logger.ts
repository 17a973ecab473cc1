import { callerOf } from "../../system/caller.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import type { Console } from "../process/invocation.ts";
import type { Handler } from "./log-config.ts";
import { LEVELS, type LevelName, type LogRecord } from "./record.ts";

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

/** Where records get their time, and what cannot go to a handler goes. */
export interface LogSurroundings {
  readonly console: Console;
  readonly now: () => Date;
}

/** The logger of a name, as the tree is configured at each of its records. */
export function openLogger(
  tree: LoggerTree,
  name: string,
  { console, now }: LogSurroundings,
): Logger {
  const own = stateOf(tree, name);
  const method = (levelName: LevelName) => {
    const level = LEVELS[levelName];
    return function log(message: string, error?: unknown): void {
      if (own.disabled || level < levelOf(tree, name)) return;
      const caller = () => callerOf(log);
      const told = error === undefined ? {} : { error };
      deliver(
        { logger: name, levelName, level, message, time: now(), caller, ...told },
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
    isEnabledFor: (level) => !own.disabled && LEVELS[level] >= levelOf(tree, name),
  };
}

/** To the handlers of its logger, and of those above as long as records go further up. */
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

/** A record that cannot be written is reported, and the program goes on, as in Python. */
export function writeOrTell(record: LogRecord, write: () => void, console: Console): void {
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

/** What is known of a logger. */
export interface LoggerState {
  level: number;
  handlers: readonly Handler[];
  propagate: boolean;
  disabled: boolean;
}

/** All loggers that anybody asked for. Their names, with dots, form a tree; the root's name is empty. */
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
});

/** The state of a logger, which is there from now on. */
export function stateOf({ loggers }: LoggerTree, given: string): LoggerState {
  // The root's own name in Python, too.
  return getOrCreate(loggers, given === "root" ? "" : given, freshLogger);
}

/** A logger and those above it, up to the root: `a.b`, `a`, the root. */
function* lineOf({ loggers, root }: LoggerTree, name: string): Generator<LoggerState> {
  for (let at = name; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const state = loggers.get(at);
    if (state !== undefined) yield state;
  }
  yield root;
}

/** The level that holds for a logger: its own, or that of the nearest above it that has one. */
function levelOf(tree: LoggerTree, name: string): number {
  for (const { level } of lineOf(tree, name)) if (level !== LEVELS.NOTSET) return level;
  return LEVELS.NOTSET;
}
