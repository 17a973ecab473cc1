import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { fileProblem, requireFile } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";
import type { ImportSource } from "./importer.ts";

/** Enough for every magic number: thousands of files may be open at once. */
const HEAD_BYTES = 1 << 10;

/** Enough for the lines that a program prints before ncu's CSV begins. */
const BEGINNING_BYTES = 1 << 20;

/**
 * Looks at what was given, without reading all of it.
 *
 * @throws ConfigError `profile.input` where there is nothing that can be read
 */
export function openSource(
  name: string,
  cwd: string,
  repeatOf: string | null = null,
): ImportSource {
  const path = resolve(cwd, name);
  return reading(name, () => {
    const status = requireFile(path);
    const isDirectory = status.isDirectory();
    return {
      name,
      repeatOf,
      path,
      isDirectory,
      entries: isDirectory ? readdirSync(path).sort() : [],
      head: isDirectory ? new Uint8Array() : readFirst(path, Math.min(status.size, HEAD_BYTES)),
      bytes: isDirectory ? 0 : status.size,
    };
  });
}

/**
 * As much of a file as tells whether it is a table; empty for a directory. It is read anew each time.
 *
 * @throws ConfigError `profile.input` where the file cannot be read any more
 */
export const readBeginning = ({ name, path, isDirectory, bytes }: ImportSource): Uint8Array =>
  isDirectory
    ? new Uint8Array()
    : reading(name, () => readFirst(path, Math.min(bytes, BEGINNING_BYTES)));

function reading<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ConfigError({
      code: "profile.input",
      message: `${name} cannot be read: ${fileProblem(cause)}`,
      cause,
    });
  }
}

function readFirst(path: string, length: number): Uint8Array {
  const first = Buffer.alloc(length);
  const descriptor = openSync(path, "r");
  try {
    return first.subarray(0, readSync(descriptor, first, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a file begins with these bytes. */
export const beginsWith = ({ head }: ImportSource, bytes: Uint8Array): boolean =>
  head.length >= bytes.length && bytes.every((byte, index) => head[index] === byte);
