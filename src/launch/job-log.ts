import {
  closeSync,
  copyFileSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
} from "node:fs";
import { draftBeside, removeIfAllowed } from "../system/atomic-write.ts";

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

/** How often a log that is followed is looked at, in milliseconds. */
const LOOKS_MS = 100;

/**
 * Hands over what is written to a log while it is, in whole lines as long as it goes on.
 *
 * @param from the byte at which to begin
 * @returns ends it, when all has been handed over
 */
export function followLog(file: string, from: number, write: (text: string) => void): () => void {
  const decoder = new TextDecoder();
  let at = from;
  let rest = "";
  const look = (): void => {
    for (const bytes of piecesFrom(file, at)) {
      at += bytes.length;
      rest += decoder.decode(bytes, { stream: true });
      const end = rest.lastIndexOf("\n") + 1;
      if (end === 0) continue;
      write(rest.slice(0, end));
      rest = rest.slice(end);
    }
  };
  const timer = setInterval(look, LOOKS_MS);
  return () => {
    clearInterval(timer);
    look();
    if (rest !== "") write(`${rest}\n`);
  };
}

/** What stands in a file from a byte on; nothing where it cannot be read. */
function* piecesFrom(file: string, from: number): Generator<Uint8Array> {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return;
  }
  try {
    for (let at = from; ; ) {
      const bytes = Buffer.alloc(MOST_BYTES);
      const read = readSync(descriptor, bytes, 0, bytes.length, at);
      if (read === 0) return;
      at += read;
      yield bytes.subarray(0, read);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Whether Node says in what it printed last that the heap of a process was full: it aborts then. */
export const isHeapFull = (lines: readonly string[]): boolean =>
  lines.some((line) => line.includes("heap out of memory"));

export const MORE_HEAP = "NODE_OPTIONS=--max-old-space-size=MB gives each job more";

/** In bytes; 0 where there is no such file. */
export const sizeOf = (file: string): number =>
  statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** A log beyond this stays its process's, which then runs no other job: it would have to be copied. */
const MOST_COPIED = 16 << 20;

/**
 * The file that a process writes to, whichever job it runs: what it has open cannot be changed from outside. While a job runs, its log is a
 * second name of this file; then the log becomes a file of its own, and this one is empty for the next.
 */
export interface SharedLog {
  readonly file: string;
  /**
   * Gives the file the name of a job's log, with what that had.
   * @returns the byte at which the job's output begins
   */
  begin(jobLog: string): number;
  /** Makes the job's log a file of its own. @returns whether the file can be used for another job */
  separate(jobLog: string): boolean;
  remove(): void;
}

/** @returns undefined where files cannot have two names */
export function sharedLog(first: string): SharedLog | undefined {
  const file = draftBeside(first);
  const log: SharedLog = {
    file,
    begin(jobLog) {
      if (sizeOf(jobLog) > 0) copyFileSync(jobLog, file);
      const name = draftBeside(jobLog);
      linkSync(file, name);
      renameSync(name, jobLog);
      return sizeOf(file);
    },
    separate(jobLog) {
      try {
        if (sizeOf(file) > MOST_COPIED) return false;
        const copy = draftBeside(jobLog);
        copyFileSync(file, copy);
        renameSync(copy, jobLog);
        truncateSync(file);
        return true;
      } catch {
        // Then it stays as it is: a disk that is full, say.
        return false;
      }
    },
    remove: () => removeIfAllowed(file),
  };
  try {
    closeSync(openSync(file, "a"));
    log.begin(first);
    return log;
  } catch {
    log.remove();
    return undefined;
  }
}
