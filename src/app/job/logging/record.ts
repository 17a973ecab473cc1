/** Log records, their levels and their attributes. */
import { basename, parse } from "node:path";
import type { Caller } from "../../../foundation/system/caller.ts";
import { localStrftime } from "../../../foundation/text/date-time.ts";

/** One log record. */
export interface LogRecord {
  readonly logger: string;
  readonly levelName: string;
  readonly level: number;
  readonly message: string;
  readonly time: Date;
  /** The error that the record reports: shown below the message with its stack. */
  readonly error?: unknown;
  /** The line of code that logged, computed only where a format shows it. */
  readonly caller?: () => Caller;
}

/** Python's levels of log records, by name. */
export const LEVELS = {
  CRITICAL: 50,
  FATAL: 50,
  ERROR: 40,
  WARNING: 30,
  WARN: 30,
  INFO: 20,
  DEBUG: 10,
  NOTSET: 0,
} as const;

export type LevelName = keyof typeof LEVELS;

/** A level as a config gives it: a name or a number; undefined for anything else. */
export function levelNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? value : undefined;
  return isLevelName(value) ? LEVELS[value] : undefined;
}

const isLevelName = (value: unknown): value is LevelName =>
  typeof value === "string" && Object.hasOwn(LEVELS, value);

/** As in a config, a bigint is an int and a number a float. */
export type AttributeValue = string | bigint | number;

/** An attribute of a record that a format may show. */
export type Attribute = (record: LogRecord, datefmt: string | undefined) => AttributeValue;

const STARTED = Date.now();

/**
 * The attributes that a format may show, by Python's name.
 * @see https://docs.python.org/3/library/logging.html#logrecord-attributes
 */
export const ATTRIBUTES: Readonly<Record<string, Attribute>> = {
  asctime: (record, datefmt) => asctime(record.time, datefmt),
  name: (record) => record.logger,
  levelname: (record) => record.levelName,
  levelno: (record) => BigInt(record.level),
  message: (record) => record.message,
  created: (record) => record.time.getTime() / 1000,
  relativeCreated: (record) => record.time.getTime() - STARTED,
  msecs: (record) => record.time.getMilliseconds(),
  pathname: (record) => record.caller?.().file ?? "",
  filename: (record) => basename(record.caller?.().file ?? ""),
  module: (record) => parse(record.caller?.().file ?? "").name,
  lineno: (record) => BigInt(record.caller?.().line ?? 0),
  funcName: (record) => record.caller?.().functionName ?? "",
  process: () => BigInt(process.pid),
  processName: () => "MainProcess",
  thread: () => 0n,
  threadName: () => "MainThread",
};

/** Without a date format, or with an empty one, a time ends in milliseconds after a comma. */
function asctime(time: Date, datefmt: string | undefined): string {
  if (datefmt) return localStrftime(datefmt, time);
  const milliseconds = String(time.getMilliseconds()).padStart(3, "0");
  return `${localStrftime("%Y-%m-%d %H:%M:%S", time)},${milliseconds}`;
}

/** Whether all filters pass the records of a logger: as Python's `logging.Filter`, each passes those of one and its descendants. */
export const passing =
  (filters: readonly string[]) =>
  (logger: string): boolean =>
    filters.every((name) => logger === name || logger.startsWith(`${name}.`));
