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
}

/** The handlers of Python's logging that a config may name. */
export const HANDLER_KINDS: readonly HandlerKind[] = [
  {
    className: "logging.StreamHandler",
    open: ({ stream = "ext://sys.stderr" }, { console }) => {
      const write = stream === "ext://sys.stdout" ? console.stdout : console.stderr;
      return { write: (line) => write(`${line}\n`), close: () => {} };
    },
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
  },
  { className: "logging.NullHandler", open: () => ({ write: () => {}, close: () => {} }) },
];

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
