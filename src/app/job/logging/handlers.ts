/** Handlers of log records: streams, files and rotating files. */
import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { alternativesTo, ConfigError } from "../../../engine/values/errors.ts";
import type { Console } from "../process/invocation.ts";
import type { Section } from "./section.ts";

/** The destination of formatted lines. */
export interface LogSink {
  write(line: string): void;
  close(): void;
}

export interface HandlerKind {
  /** The class names that configs use. */
  readonly classNames: readonly string[];
  /** The keys that a config may set in addition to those of every handler. */
  readonly parameters: readonly string[];
  readonly isFile?: boolean;
  readonly open: (settings: Section, place: { console: Console; cwd: string }) => LogSink;
  /** Whether the output goes to a terminal that shows colours. */
  readonly showsColor: (settings: Section, console: Console) => boolean;
}

const OF_FILES = ["filename", "mode", "encoding", "delay", "errors"];

/** The handlers of Python's logging that a config may name. */
const HANDLER_KINDS: readonly HandlerKind[] = [
  {
    classNames: ["logging.StreamHandler", "colorlog.StreamHandler"],
    parameters: ["stream"],
    open: (settings, { console }) => {
      requireStream(settings);
      const write = isStdout(settings) ? console.stdout : console.stderr;
      return { write: (line) => write(`${line}\n`), close: () => {} };
    },
    showsColor: (settings, { color = false, stdoutColor = false }) =>
      isStdout(settings) ? stdoutColor : color,
  },
  {
    classNames: ["logging.FileHandler"],
    isFile: true,
    parameters: OF_FILES,
    open: (settings, { cwd }) => openLogFile(settings, cwd),
    showsColor: () => false,
  },
  {
    classNames: ["logging.handlers.RotatingFileHandler"],
    isFile: true,
    parameters: [...OF_FILES, "maxBytes", "backupCount"],
    open: (settings, { cwd }) => openRotatingFile(settings, cwd),
    showsColor: () => false,
  },
  {
    classNames: ["logging.NullHandler"],
    parameters: [],
    open: () => ({ write: () => {}, close: () => {} }),
    showsColor: () => false,
  },
];

const STREAMS = ["ext://sys.stdout", "ext://sys.stderr"];

const isStdout = ({ stream }: Section): boolean => stream === STREAMS[0];

function requireStream({ stream }: Section): void {
  if (stream === undefined || stream === null || STREAMS.includes(String(stream))) return;
  throw new ConfigError({
    code: "app.unsupported",
    message: `'stream' must be one of the program's, not ${JSON.stringify(stream)}`,
    key: "stream",
    ...alternativesTo(String(stream), STREAMS),
  });
}

/** The keys that Python's logging itself reads. */
const OF_EVERY_HANDLER = ["class", "level", "formatter", "filters"];

/** @throws ConfigError `app.unsupported` for an unknown class, or a key that the class does not take */
export function handlerKind(settings: Section): HandlerKind {
  const { class: className } = settings;
  const kind = HANDLER_KINDS.find(({ classNames }) => classNames.includes(String(className)));
  if (kind !== undefined) return requireKnown(kind, settings);
  throw new ConfigError({
    code: "app.unsupported",
    message:
      className === undefined
        ? "it has no class"
        : `Log handler class '${String(className)}' is not supported`,
    key: "class",
    ...alternativesTo(
      String(className),
      HANDLER_KINDS.flatMap(({ classNames }) => classNames),
    ),
  });
}

function requireKnown(kind: HandlerKind, settings: Section): HandlerKind {
  const { classNames, parameters } = kind;
  const unknown = Object.keys(settings).find(
    (name) => !OF_EVERY_HANDLER.includes(name) && !parameters.includes(name),
  );
  if (unknown === undefined) return kind;
  throw new ConfigError({
    code: "app.unsupported",
    message: `${classNames[0]} takes no '${unknown}'`,
    key: unknown,
    ...alternativesTo(unknown, [...OF_EVERY_HANDLER, ...parameters]),
  });
}

interface FileSink extends LogSink {
  /** The length of the file in bytes. */
  size(): number;
}

/** `mode: w` truncates the file; with `delay` the first line creates it. Its directory must exist. */
function openLogFile({ filename, mode = "a", delay }: Section, cwd: string): FileSink {
  // Python takes the second kind of text for the name of one of its objects.
  if (typeof filename !== "string" || /^(?:ext|cfg):\/\//.test(filename))
    throw new ConfigError({
      code: "app.unsupported",
      message: "'filename' must be the name of a file",
      key: "filename",
    });
  const flag = openFlag(mode);
  const path = resolve(cwd, filename);
  let descriptor: number | undefined;
  const open = (): number => {
    if (descriptor !== undefined) return descriptor;
    descriptor = openSync(path, flag);
    return descriptor;
  };
  if (!delay) open();
  return {
    write: (line) => void writeSync(open(), `${line}\n`),
    close: () => {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
    size: () => fstatSync(open()).size,
  };
}

/**
 * How Node opens a file for a mode of Python's `open`, which is in any order: what happens to a file that is there, and
 * what makes no difference to a log.
 *
 * @throws ConfigError `app.unsupported` for a mode in which no text can be written
 */
function openFlag(mode: unknown): string {
  const letters = typeof mode === "string" ? [...mode] : [];
  const flags = letters.filter((letter) => !"t+".includes(letter)).join("");
  const flag = OPEN_FLAGS.get(flags);
  if (flag !== undefined && new Set(letters).size === letters.length) return flag;
  throw new ConfigError({
    code: "app.unsupported",
    message: `'mode' must be "a", "w" or "x", not ${JSON.stringify(mode)}`,
    key: "mode",
    hint: "write a to append, or w to begin anew",
  });
}

const OPEN_FLAGS: ReadonlyMap<string, string> = new Map([
  ["a", "a"],
  ["w", "w"],
  ["x", "wx"],
]);

/** @throws ConfigError `app.unsupported` */
function countAt(settings: Section, key: "backupCount" | "maxBytes"): number {
  const { [key]: count = 0 } = settings;
  if (typeof count === "number") return count;
  throw new ConfigError({
    code: "app.unsupported",
    message: `'${key}' must be a number, not ${JSON.stringify(count)}`,
    key,
  });
}

/**
 * Renames a file that would grow beyond `maxBytes` to `NAME.1`, that one to `NAME.2`, up to `backupCount`. Without
 * either setting it is an ordinary file, as in Python.
 */
function openRotatingFile(settings: Section, cwd: string): LogSink {
  const { filename } = settings;
  const path = resolve(cwd, String(filename));
  const limit = countAt(settings, "maxBytes");
  const kept = countAt(settings, "backupCount");
  const sink = openLogFile(limit > 0 ? { ...settings, mode: "a" } : settings, cwd);
  // The next line opens the file again: a new one if this one was renamed.
  const rotate = (): void => {
    sink.close();
    for (let number = kept - 1; number > 0; number--)
      if (existsSync(`${path}.${number}`)) renameSync(`${path}.${number}`, `${path}.${number + 1}`);
    if (kept > 0) renameSync(path, `${path}.1`);
  };
  return {
    write: (line) => {
      const size = Buffer.byteLength(line) + 1;
      if (limit > 0 && sink.size() > 0 && sink.size() + size > limit) rotate();
      sink.write(line);
    },
    close: () => sink.close(),
  };
}
