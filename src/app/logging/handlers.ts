import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import type { Console } from "../console.ts";

/** Where finished lines go. */
export interface LogSink {
  write(line: string): void;
  close(): void;
}

export interface HandlerSettings {
  readonly [key: string]: unknown;
}

export interface HandlerKind {
  /** The class that configs name. */
  readonly className: string;
  readonly open: (settings: HandlerSettings, place: { console: Console; cwd: string }) => LogSink;
  /** Whether what is written is read on a terminal that shows colours. */
  readonly showsColor: (settings: HandlerSettings, console: Console) => boolean;
}

/** The handlers of Python's logging that a config may name. */
export const HANDLER_KINDS: readonly HandlerKind[] = [
  {
    className: "logging.StreamHandler",
    open: (settings, { console }) => {
      const write = isStdout(settings) ? console.stdout : console.stderr;
      return { write: (line) => write(`${line}\n`), close: () => {} };
    },
    showsColor: (settings, { color = false, stdoutColor = false }) =>
      isStdout(settings) ? stdoutColor : color,
  },
  {
    className: "logging.FileHandler",
    open: ({ filename, mode = "a" }, { cwd }) => {
      const path = resolve(cwd, String(filename));
      mkdirSync(dirname(path), { recursive: true });
      const descriptor = openSync(path, mode === "w" ? "w" : "a");
      return {
        write: (line) => void writeSync(descriptor, `${line}\n`),
        close: () => closeSync(descriptor),
      };
    },
    showsColor: () => false,
  },
  {
    className: "logging.NullHandler",
    open: () => ({ write: () => {}, close: () => {} }),
    showsColor: () => false,
  },
];

const isStdout = ({ stream }: HandlerSettings): boolean => stream === "ext://sys.stdout";

/** @throws ConfigError `app.unsupported` for a class that is not among them. */
export function handlerKind(className: unknown): HandlerKind {
  const kind = HANDLER_KINDS.find((candidate) => candidate.className === className);
  if (kind !== undefined) return kind;
  throw new ConfigError({
    code: "app.unsupported",
    message: `Log handler class '${String(className)}' is not supported`,
    available: HANDLER_KINDS.map((candidate) => candidate.className),
  });
}
