import { alternativesTo, ConfigError } from "../../values/errors.ts";
import type { Console } from "../process/console.ts";
import { openLogFile, openRotatingFile } from "./log-files.ts";
import type { HandlerSettings, LogSink } from "./log-sink.ts";

export interface HandlerKind {
  /** The classes that configs name. */
  readonly classNames: readonly string[];
  /** What a config may set beside what every handler has. */
  readonly parameters: readonly string[];
  readonly open: (settings: HandlerSettings, place: { console: Console; cwd: string }) => LogSink;
  /** Whether what is written is read on a terminal that shows colours. */
  readonly showsColor: (settings: HandlerSettings, console: Console) => boolean;
}

const OF_FILES = ["filename", "mode", "encoding", "delay", "errors"];

/** The handlers of Python's logging that a config may name. */
const HANDLER_KINDS: readonly HandlerKind[] = [
  {
    classNames: ["logging.StreamHandler", "colorlog.StreamHandler"],
    parameters: ["stream"],
    open: (settings, { console }) => {
      const write = isStdout(settings) ? console.stdout : console.stderr;
      return { write: (line) => write(`${line}\n`), close: () => {} };
    },
    showsColor: (settings, { color = false, stdoutColor = false }) =>
      isStdout(settings) ? stdoutColor : color,
  },
  {
    classNames: ["logging.FileHandler"],
    parameters: OF_FILES,
    open: (settings, { cwd }) => openLogFile(settings, cwd),
    showsColor: () => false,
  },
  {
    classNames: ["logging.handlers.RotatingFileHandler"],
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

const isStdout = ({ stream }: HandlerSettings): boolean => stream === "ext://sys.stdout";

/** What Python's logging itself reads of a handler. */
const OF_EVERY_HANDLER = ["class", "level", "formatter", "filters"];

/** @throws ConfigError `app.unsupported` for a class that is not among them, or what it does not take */
export function handlerKind(settings: HandlerSettings): HandlerKind {
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

function requireKnown(kind: HandlerKind, settings: HandlerSettings): HandlerKind {
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
