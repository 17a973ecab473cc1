/** What every SQLite file begins with. Apart from `database.ts`, which loads all of SQLite. */
const SQLITE_MAGIC = "SQLite format 3\0";

export const isSqliteFile = (head: Uint8Array): boolean =>
  Buffer.from(head.subarray(0, SQLITE_MAGIC.length)).toString("latin1") === SQLITE_MAGIC;
