/** The standard streams of a process: closed pipes, colours, width. */
import { fstatSync, writeSync } from "node:fs";
import { errorCode } from "./files.ts";

type StreamName = "stderr" | "stdout";

/**
 * Ignores a reader that closes its pipe early (`| head`), and a terminal that is gone. Other errors of the
 * output, such as a full disk, are reported in one line, and the exit code becomes 1. Calling this more than
 * once is harmless.
 */
export function tolerateClosedPipes(): void {
  tolerateClosed("stdout");
  tolerateClosed("stderr");
}

function tolerateClosed(name: StreamName): void {
  const { onError } = STREAMS[name];
  if (!process[name].listeners("error").includes(onError)) process[name].on("error", onError);
}

const STREAMS = {
  stdout: {
    descriptor: 1,
    onError: (error: NodeJS.ErrnoException): void => report("standard output", error),
  },
  stderr: {
    descriptor: 2,
    onError: (error: NodeJS.ErrnoException): void => report("standard error", error),
  },
} as const;

/** A pipe or file that is written to without Node's stream. */
export interface DirectOutput {
  readonly isTTY?: false;
  readonly write: (text: string) => void;
}

/**
 * A standard stream of a process in which only our code has run yet. Loading Node's stream takes longer than composing most
 * configs, so a pipe or a file is written to directly, until anybody takes the stream from `process`: what goes through it
 * then may wait there, and nothing must overtake that. A full pipe blocks the process meanwhile: who has other work to
 * do takes the stream first (`tolerateClosedPipes`).
 */
export function standardStream(name: StreamName): NodeJS.WriteStream | DirectOutput {
  const { descriptor } = STREAMS[name];
  const property = Object.getOwnPropertyDescriptor(process, name);
  if (property?.get === undefined || mayHaveRunOthers() || !isPipeOrFile(descriptor)) {
    tolerateClosed(name);
    return process[name];
  }
  const takeStream = (): NodeJS.WriteStream => {
    Object.defineProperty(process, name, property);
    tolerateClosed(name);
    return process[name];
  };
  Object.defineProperty(process, name, { ...property, get: takeStream });
  const isTaken = () => Object.getOwnPropertyDescriptor(process, name)?.get !== takeStream;
  return {
    write(text) {
      const rest = isTaken() ? text : writeWhole(name, text);
      if (rest.length > 0) process[name].write(rest);
    },
  };
}

/** Node's options may name modules that run first. */
const mayHaveRunOthers = (): boolean =>
  process.execArgv.length > 0 || Boolean(process.env["NODE_OPTIONS"]);

function isPipeOrFile(descriptor: number): boolean {
  if (process.platform === "win32") return false;
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false;
  }
}

/** @returns what a full pipe does not take now, if another process has made it one that does not wait */
function writeWhole(name: StreamName, text: string): Uint8Array {
  const { descriptor, onError } = STREAMS[name];
  let rest: Uint8Array = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch (error) {
    if (errorCode(error) === "EAGAIN") return rest;
    onError(error as NodeJS.ErrnoException);
    return rest.subarray(rest.length);
  }
  return rest;
}

function report(name: string, error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "EIO") return;
  process.exitCode = 1;
  // Only the first failure is reported, because later lines fail likewise.
  if (process.listeners("exit").includes(fail)) return;
  process.once("exit", fail);
  complain(`${name} cannot be written: ${error.message}\n`);
}

const fail = (): void => {
  process.exitCode = 1;
};

/** Writes to the descriptor directly, because a stream has just failed. */
function complain(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Nobody reads standard error any more.
  }
}

/**
 * Whether a stream gets colours: a terminal, unless `NO_COLOR` is set and not empty (<https://no-color.org>) or the
 * terminal supports text only.
 */
export const takesColor = (
  { isTTY }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean => isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";

/**
 * The terminal's width in columns: `COLUMNS` if it is set, as for Python's programs, else what the
 * terminal reports. Some terminals (in CI, in containers) report a width of 0; they count as 100.
 */
export function terminalWidth(
  env: Readonly<Record<string, string | undefined>>,
  columns: number | undefined = process.stdout.columns,
): number {
  const wanted = Number(env["COLUMNS"]);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : columns || 100;
}
