import { getOrCreate } from "../../system/get-or-create.ts";
import { LEVELS } from "./levels.ts";
import type { Handler } from "./log-config.ts";

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
export function* lineOf({ loggers, root }: LoggerTree, name: string): Generator<LoggerState> {
  for (let at = name; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const state = loggers.get(at);
    if (state !== undefined) yield state;
  }
  yield root;
}

/** The level that holds for a logger: its own, or that of the nearest above it that has one. */
export function levelOf(tree: LoggerTree, name: string): number {
  for (const { level } of lineOf(tree, name)) if (level !== LEVELS.NOTSET) return level;
  return LEVELS.NOTSET;
}
