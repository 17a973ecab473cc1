import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import type { HandlerSettings, LogSink } from "./log-sink.ts";

interface FileSink extends LogSink {
  /** How long the file is, in bytes. */
  size(): number;
}

/** `mode: w` begins the file anew; with `delay` it is not there before the first line. Its directory must exist. */
export function openLogFile(
  { filename, mode = "a", delay }: HandlerSettings,
  cwd: string,
): FileSink {
  if (typeof filename !== "string")
    throw new ConfigError({
      code: "app.unsupported",
      message: "'filename' must be the name of a file",
      key: "filename",
    });
  const path = resolve(cwd, filename);
  let descriptor: number | undefined;
  const open = (): number => {
    if (descriptor !== undefined) return descriptor;
    descriptor = openSync(path, mode === "w" ? "w" : "a");
    return descriptor;
  };
  if (delay !== true) open();
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
 * Moves a file that would get longer than `maxBytes` to `NAME.1`, that one to `NAME.2`, up to
 * `backupCount`. Without either it is an ordinary file, as in Python.
 */
export function openRotatingFile(settings: HandlerSettings, cwd: string): LogSink {
  const { filename, maxBytes = 0, backupCount = 0 } = settings;
  const path = resolve(cwd, String(filename));
  const limit = Number(maxBytes);
  const kept = Number(backupCount);
  const sink = openLogFile(limit > 0 ? { ...settings, mode: "a" } : settings, cwd);
  // The next line opens the file again: a new one where this was moved away.
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
