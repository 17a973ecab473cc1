import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** More of a line of a log is not shown. */
const MOST_BYTES = 64 * 1024;

/**
 * The last lines of a log, which may be longer than memory; none where it cannot be read.
 *
 * @param from the byte at which to begin
 */
export function lastLines(file: string, count: number, from = 0): readonly string[] {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(descriptor);
    const start = Math.max(from, size - MOST_BYTES);
    const bytes = Buffer.alloc(Math.max(0, size - start));
    const read = readSync(descriptor, bytes, 0, bytes.length, start);
    const text = bytes.toString("utf8", 0, read).trimEnd();
    return text === "" ? [] : text.split("\n").slice(-count);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether Node says in what it printed last that the heap of a process was full: it aborts then. */
export const isHeapFull = (lines: readonly string[]): boolean =>
  lines.some((line) => line.includes("heap out of memory"));

export const MORE_HEAP = "NODE_OPTIONS=--max-old-space-size=MB gives each job more";
