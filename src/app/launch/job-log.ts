/** Reads the logs of jobs, also while they grow. */
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
import { draftBeside, removeIfAllowed } from "../../foundation/system/atomic-write.ts";

/** The longest part of a log line to show. */
const MOST_BYTES = 64 * 1024;

/**
 * The last lines of a log, which may be larger than memory; empty if it cannot be read.
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

/** The polling interval for a followed log, in milliseconds. */
const LOOKS_MS = 100;

/**
 * Passes new output in a log to `write`, in whole lines until the end.
 *
 * @param from the byte at which to begin
 * @returns stops following, after all output has been passed on
 */
export function followLog(file: string, from: number, write: (text: string) => void): () => void {
  const decoder = new TextDecoder();
  let offset = from;
  let rest = "";
  const look = (): void => {
    for (const bytes of piecesFrom(file, offset)) {
      offset += bytes.length;
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

/** The content of a file from a byte on; nothing if it cannot be read. */
function* piecesFrom(file: string, from: number): Generator<Uint8Array> {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return;
  }
  try {
    for (let offset = from; ; ) {
      const bytes = Buffer.alloc(MOST_BYTES);
      const read = readSync(descriptor, bytes, 0, bytes.length, offset);
      if (read === 0) return;
      offset += read;
      yield bytes.subarray(0, read);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Whether the last lines of a Node process report that its heap is full, after which it aborts. */
export const isHeapFull = (lines: readonly string[]): boolean =>
  lines.some((line) => line.includes("heap out of memory"));

export const MORE_HEAP = "NODE_OPTIONS=--max-old-space-size=MB gives each job more";

/** The size in bytes; 0 if the file does not exist. */
export const sizeOf = (file: string): number =>
  statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** A larger log stays the file of its process, which then runs no other job: it would have to be copied. */
const MOST_COPIED = 16 << 20;

/**
 * The file that a reused process writes to, whichever job it runs: its open descriptors cannot be changed from outside.
 * While a job runs, its log is a hard link to this file; afterwards the log becomes a separate file, and this one is
 * emptied for the next job.
 */
export interface SharedLog {
  readonly file: string;
  /**
   * Links a job's log to the file, with the log's earlier content.
   * @returns the byte at which the job's output begins
   */
  begin(jobLog: string): number;
  /** Makes the job's log a separate file. @returns whether the file can be used for another job */
  separate(jobLog: string): boolean;
  remove(): void;
}

/** @returns undefined if the file system does not support hard links */
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
        // Keep the link, for example on a full disk.
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
