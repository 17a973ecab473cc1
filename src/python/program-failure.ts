/** Extracts a program's error from its output: the exception with file and line. */
import { basename } from "node:path";

/** An exception as the program reported it. */
export interface ProgramError {
  /** `ValueError: diverged` */
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

/** `ValueError: diverged (train.py:12)` */
export const errorText = ({ file, line, message }: ProgramError): string =>
  file === undefined
    ? message
    : `${message} (${basename(file)}${line === undefined ? "" : `:${line}`})`;

/**
 * The error that a program ended with, from the end of its standard error: Hydra's own error, the exception of Python,
 * Node.js, Java, Rust, Go or C++, else the last non-empty line; undefined without output.
 */
export function errorIn(printed: string): ProgramError | undefined {
  const text = withoutControls(printed);
  const lines = text.split("\n").map((line) => line.trimEnd());
  for (const read of READERS) {
    const error = read(lines);
    if (error !== undefined) return error;
  }
  const last = lines.findLast((line) => line.trim() !== "" && !HINTS.test(line));
  return last === undefined ? undefined : { message: last.trim() };
}

/** Removes colours, and the overwritten lines of progress bars. */
const withoutControls = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  text.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, "").replaceAll(/[^\n]*\r(?!\n)/g, "");

/** The hint that Hydra prints below every error. */
const HINTS = /^Set the environment variable HYDRA_FULL_ERROR=1/;

/** What a log writes: `[2026-11-27 10:00:00,123][root][INFO] - ...`. */
const LOG_LINE = /^\[?\d{4}-\d\d-\d\d[ T]/;

type Reader = (lines: readonly string[]) => ProgramError | undefined;

/** How the errors of Hydra begin that it prints without a stack; more lines follow: options, the search path, the cause. */
const HYDRA_ERROR =
  /^(In '.+': |(Could not|Cannot) (find|load|override|append|delete)\b|Error (parsing|merging) |Primary config (directory|module|file) |You must specify '|Ambiguous value |Additional config directory '|Multiple values for |Unable to find or instantiate )/;
/** The next line names the error. */
const HYDRA_LEAD_IN = / raised while composing config:$/;

/** The first line of the error that Hydra itself ended with. */
const readHydra: Reader = (lines) => {
  const hint = lines.findLastIndex((line) => HINTS.test(line));
  const path = lines.lastIndexOf("Config search path:");
  if (hint < 0 && path < 0) return undefined;
  const traceback = lines.findLastIndex((line) => TRACEBACK.test(line));
  const block = lines.slice(traceback + 1, hint < 0 ? path : hint);
  const index = block.findLastIndex((line) => HYDRA_ERROR.test(line));
  const [first = "", second = ""] =
    index >= 0 ? block.slice(index) : traceback >= 0 || hasStack(block) ? [] : lastParagraph(block);
  if (first === "") return undefined;
  return { message: HYDRA_LEAD_IN.test(first) ? `${first} ${second.trim()}` : first.trim() };
};

/** A program of hydraMain shows an error of its task with Node.js' stack, and Hydra's hint below. */
const hasStack = (lines: readonly string[]): boolean => lines.some((line) => NODE_FRAME.test(line));

/** The last lines without an empty one between them, after what was logged. */
function lastParagraph(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex((line) => line !== "") + 1;
  const start = lines.slice(0, end).findLastIndex((line) => line === "" || LOG_LINE.test(line)) + 1;
  return lines.slice(start, end);
}

const TRACEBACK = /^\s*Traceback \(most recent call last\):$/;
const FRAME = /^\s+File "(.+)", line (\d+)(, in .*)?$/;
/** A frame of a library is shown only if there is no other. */
const LIBRARY = /[/\\](site-packages|dist-packages|lib[/\\]python\d[^/\\]*)[/\\]|^<frozen /;

/** Reads the last traceback: the innermost frame of the program's own code, and the exception. */
const readPython: Reader = (lines) => {
  const start = lines.findLastIndex((line) => TRACEBACK.test(line));
  const first = start < 0 ? lines.findLastIndex((line) => FRAME.test(line)) : start + 1;
  if (first < 0) return undefined;
  const frames: { readonly file: string; readonly line: number }[] = [];
  for (let index = first; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const [, file, number] = FRAME.exec(line) ?? [];
    if (file !== undefined) frames.push({ file, line: Number(number) });
    // Code and markers are indented more than frames.
    else if (line !== "" && !/^\s/.test(line)) {
      if (!/^[\w.]+(:|$)/.test(line)) return undefined;
      const place = frames.findLast((frame) => !LIBRARY.test(frame.file)) ?? frames.at(-1);
      return { message: line, ...place };
    }
  }
  return undefined;
};

const NODE_FRAME = /^\s+at .+:\d+:\d+\)?$/;

/** `Error: message` with `    at f (file:///a/b.mjs:3:7)` below it. */
const readNode: Reader = (lines) => {
  const frame = lines.findIndex((line) => NODE_FRAME.test(line));
  const start = lines.findLastIndex(
    (line, index) => index < frame && /^(Uncaught )?[\w.]*(Error|Exception)\b.*/.test(line),
  );
  if (frame < 0 || start < 0) return undefined;
  const userFrame = lines
    .slice(frame)
    .find((line) => NODE_FRAME.test(line) && !/node:internal/.test(line));
  const [, file, line] =
    /(?:\(|at )(?:file:\/\/)?([^()]+?):(\d+):\d+\)?$/.exec(userFrame ?? "") ?? [];
  return {
    message: lines[start] ?? "",
    ...(file !== undefined && { file, line: Number(line) }),
  };
};

/** `Exception in thread "main" java.lang.IllegalStateException: message`, `\tat Main.main(Main.java:5)` */
const readJava: Reader = (lines) => {
  const index = lines.findLastIndex((line) => /^Exception in thread ".*" \S/.test(line));
  if (index < 0) return undefined;
  const [, message = ""] = /^Exception in thread ".*?" (.*)$/.exec(lines[index] ?? "") ?? [];
  const [, file, line] = /\(([\w.]+):(\d+)\)$/.exec(lines[index + 1] ?? "") ?? [];
  return { message, ...(file !== undefined && { file, line: Number(line) }) };
};

/**
 * `thread 'main' panicked at src/main.rs:2:5:` with the message below; before Rust 1.73 the message was in the same
 * line.
 */
const readRust: Reader = (lines) => {
  const index = lines.findLastIndex((line) => /^thread '.*' (\(\d+\) )?panicked at /.test(line));
  if (index < 0) return undefined;
  const [, older, file, line] =
    /panicked at (?:'(.*)', )?([^',]+?):(\d+):\d+:?$/.exec(lines[index] ?? "") ?? [];
  const message = older ?? lines[index + 1]?.trim() ?? "panicked";
  return { message: `panicked: ${message}`, ...(file && { file, line: Number(line) }) };
};

/** `panic: message`, and `\t/a/main.go:5 +0x1d` */
const readGo: Reader = (lines) => {
  const index = lines.findLastIndex((line) => /^panic: /.test(line));
  if (index < 0) return undefined;
  const place = lines.slice(index).find((line) => /^\t\S+\.go:\d+/.test(line));
  const [, file, line] = /^\t(\S+\.go):(\d+)/.exec(place ?? "") ?? [];
  return { message: lines[index] ?? "", ...(file !== undefined && { file, line: Number(line) }) };
};

/** `terminate called after throwing an instance of 'std::runtime_error'`, `  what():  message` */
const readCpp: Reader = (lines) => {
  const index = lines.findLastIndex((line) => /^terminate called/.test(line));
  if (index < 0) return undefined;
  const [, type = "terminate called"] = /instance of '(.*)'$/.exec(lines[index] ?? "") ?? [];
  const [, what] = /^\s*what\(\):\s*(.*)$/.exec(lines[index + 1] ?? "") ?? [];
  return { message: what === undefined ? type : `${type}: ${what}` };
};

const READERS: readonly Reader[] = [
  readHydra,
  readPython,
  readJava,
  readRust,
  readGo,
  readCpp,
  readNode,
];
