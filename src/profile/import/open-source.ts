import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { fileProblem } from "../../system/file-problem.ts";
import { requireFile } from "../../system/require-file.ts";
import { ConfigError } from "../../values/errors.ts";
import type { ImportSource } from "./importer.ts";

/** Enough for every magic number, and for the lines that a program prints before ncu's CSV begins. */
const HEAD_BYTES = 1 << 20;

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
  try {
    const status = requireFile(path);
    const isDirectory = status.isDirectory();
    return {
      name,
      repeatOf,
      path,
      isDirectory,
      entries: isDirectory ? readdirSync(path).sort() : [],
      head: isDirectory ? new Uint8Array() : readHead(path, status.size),
      bytes: isDirectory ? 0 : status.size,
    };
  } catch (cause) {
    throw new ConfigError({
      code: "profile.input",
      message: `${name} cannot be read: ${fileProblem(cause)}`,
      cause,
    });
  }
}

function readHead(path: string, size: number): Uint8Array {
  const head = Buffer.alloc(Math.min(size, HEAD_BYTES));
  const descriptor = openSync(path, "r");
  try {
    return head.subarray(0, readSync(descriptor, head, 0, head.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a file begins with these bytes. */
export const beginsWith = ({ head }: ImportSource, bytes: Uint8Array): boolean =>
  head.length >= bytes.length && bytes.every((byte, index) => head[index] === byte);
