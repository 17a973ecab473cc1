/** What a file must be to be read as an export, and whether it was finished: seen before SQLite opens it. */
import { closeSync, openSync, readSync } from "node:fs";
import { shellQuote } from "../../../../text/shell-words.ts";
import { ToolError } from "../../../machine/tool-error.ts";

/** Where a file says how it is to be read, and what it says of a log beside it (SQLite, "Database File Format"). */
const READ_VERSION = 19;
const WRITE_AHEAD = 2;

/** What a journal begins with while what it reports is not done; one that was done with is empty, or has zeros there. */
const JOURNAL_MAGIC = Uint8Array.of(0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7);

/** @throws ToolError `nsys.invalid` */
export function requireSqlite(path: string): void {
  let head: Uint8Array;
  try {
    head = readHead(path, READ_VERSION + 1);
  } catch (cause) {
    throw invalid(path, cause instanceof Error ? cause.message : String(cause), { cause });
  }
  if (!isSqliteFile(head)) throw invalid(path, "it is not an SQLite file");
  if (head[READ_VERSION] === WRITE_AHEAD)
    throw invalid(path, "another program has switched it to write-ahead logging (WAL)", {
      hint: `sqlite3 ${shellQuote(path)} 'PRAGMA journal_mode=DELETE' switches it back; or export again`,
    });
}

/** Whether an export is being written, or was left so; a journal that may not be read does not tell. */
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

/** What every SQLite file begins with. Apart from `database.ts`, which loads all of SQLite. */
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
