import { callerOf } from "../process/caller.ts";
import type { Console } from "../process/console.ts";
import { LEVELS, type LevelName } from "./levels.ts";
import { type LoggerTree, levelOf, lineOf, stateOf } from "./logger-tree.ts";
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
