/** Checks whether a file is an SQLite export, and whether it is complete, before SQLite opens it. */

import { closeSync, openSync, readSync } from "node:fs";
import { fileProblem } from "../../../../foundation/system/files.ts";
import { shellQuote } from "../../../../foundation/text/shell-words.ts";
import { ToolError } from "../../../machine/tool-error.ts";

/**
 * The position of the read version, and its value for a database with a write-ahead log (SQLite, "Database File
 * Format").
 */
const READ_VERSION = 19;
const WRITE_AHEAD = 2;

/** The beginning of a journal with a pending transaction; a finished one is empty, or has zeros there. */
const JOURNAL_MAGIC = Uint8Array.of(0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7);

/** @throws ToolError `nsys.invalid` */
export function requireSqlite(path: string): void {
  let head: Uint8Array;
  try {
    head = readHead(path, READ_VERSION + 1);
  } catch (cause) {
    throw invalid(path, fileProblem(cause), { cause });
  }
  if (!isSqliteFile(head)) throw invalid(path, "it is not an SQLite file");
  if (head[READ_VERSION] === WRITE_AHEAD)
    throw invalid(path, "another program has switched it to write-ahead logging (WAL)", {
      hint: `sqlite3 ${shellQuote(path)} 'PRAGMA journal_mode=DELETE' switches it back; or export again`,
    });
}

/** Whether an export is being written, or was left incomplete; an unreadable journal does not count. */
export function isUnfinished(path: string): boolean {
  try {
    return readHead(journalOf(path), JOURNAL_MAGIC.length).equals(JOURNAL_MAGIC);
  } catch {
    return false;
  }
}

export const journalOf = (path: string): string => `${path}-journal`;

function readHead(path: string, bytes: number): Buffer {
  const head = Buffer.alloc(bytes);
  const descriptor = openSync(path, "r");
  try {
    return head.subarray(0, readSync(descriptor, head, 0, bytes, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** The beginning of every SQLite file. Not in `database.ts`, which loads all of SQLite. */
const SQLITE_MAGIC = "SQLite format 3\0";

export const isSqliteFile = (head: Uint8Array): boolean =>
  Buffer.from(head.subarray(0, SQLITE_MAGIC.length)).toString("latin1") === SQLITE_MAGIC;

/** The error of a file that cannot be read as an export. */
export const invalid = (
  path: string,
  why: string,
  { cause, hint = HOW_TO_EXPORT }: { readonly cause?: unknown; readonly hint?: string } = {},
): ToolError =>
  new ToolError({
    tool: "nsys",
    code: "nsys.invalid",
    message: `${path} is not a readable nsys export: ${why}`,
    hint,
    ...(cause !== undefined && { cause }),
  });

const HOW_TO_EXPORT =
  "make one with: nsys export --type sqlite --force-overwrite=true REPORT.nsys-rep";
