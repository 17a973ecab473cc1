import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { draftBeside, removeIfAllowed } from "./drafts.ts";
import { makeDirectory } from "./make-directory.ts";
import { errorCode } from "./system-error.ts";

/**
 * Writes a file so that a reader sees all of it or nothing, even if this process dies half-way: it is written under a temporary name
 * beside the file and then renamed. Makes missing directories. Content too large for one string can be given in pieces, which are
 * written as they come.
 *
 * @throws the system's error, with the file's name
 */
export async function writeFileAtomic(
  file: string,
  data: string | Uint8Array | Iterable<string>,
): Promise<void> {
  makeDirectory(dirname(file));
  const temporary = draftBeside(file);
  try {
    await writeNew(
      temporary,
      typeof data === "string" || data instanceof Uint8Array ? [data] : data,
    );
    await rename(temporary, file);
  } catch (error) {
    // What it was about is the first error, and not one about this.
    await rm(temporary, { force: true }).catch(() => {});
    throw aboutFile(error, file, temporary);
  }
}

/** Piece by piece: Yarn's Plug'n'Play replaces Node's `fs` with its own, whose `writeFile` takes no iterables. */
async function writeNew(file: string, pieces: Iterable<string | Uint8Array>): Promise<void> {
  const handle = await open(file, "wx");
  try {
    for (const piece of pieces) await handle.appendFile(piece);
  } finally {
    await handle.close();
  }
}

/** Like `writeFileAtomic`, but synchronous: for files that must be there before a job's next step. */
export const writeFileAtomicSync = (file: string, data: string | Uint8Array): void =>
  replaceFile(file, (temporary) => writeFileSync(temporary, data, { flag: "wx" }));

export interface DurableOptions {
  readonly mode?: number;
  /** The temporary file's path, for callers that clean up after killed processes. Default: a name made by `draftBeside`. */
  readonly draft?: string;
}

/**
 * Like `writeFileAtomicSync`, but the file also survives a power failure: its content is flushed to disk before the rename, and its
 * directory before this returns. This takes some milliseconds longer.
 */
export function writeFileDurableSync(
  file: string,
  data: string,
  { draft, mode = 0o666 }: DurableOptions = {},
): void {
  const write = (temporary: string) => {
    const descriptor = openSync(temporary, "wx", mode);
    try {
      writeFileSync(descriptor, data);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  };
  replaceFile(file, write, draft);
  flushName(file);
}

/** A rename changes the directory, so that is what has to be flushed. */
function flushName(file: string): void {
  try {
    const descriptor = openSync(dirname(file), "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (!NOT_FLUSHED.has(errorCode(error) ?? "")) throw aboutFile(error, file, dirname(file));
  }
}

/** Windows cannot open directories, some file systems cannot flush them, and a directory that may be written need not be readable. */
const NOT_FLUSHED: ReadonlySet<string> = new Set([
  "EACCES",
  "EINVAL",
  "EISDIR",
  "ENOTSUP",
  "EPERM",
]);

function replaceFile(
  file: string,
  writeTo: (temporary: string) => void,
  temporary = draftBeside(file),
): void {
  const write = () => writeTo(temporary);
  try {
    try {
      write();
    } catch (error) {
      // Trying first spares the usual case, a directory that exists, a system call.
      if (errorCode(error) !== "ENOENT") throw error;
      makeDirectory(dirname(file));
      write();
    }
    renameSync(temporary, file);
  } catch (error) {
    removeIfAllowed(temporary);
    throw aboutFile(error, file, temporary);
  }
}

/**
 * Overwrites an existing file in place and flushes it: for a full disk, which has no room for a second copy. A reader may see half of
 * it, and so may a power failure leave it. If the new content does not fit, the old content is put back.
 *
 * @throws the system's error, with the file's name
 */
export function overwriteFileSync(file: string, data: string): void {
  try {
    const descriptor = openSync(file, "r+");
    try {
      const before = readFileSync(descriptor);
      try {
        writeWhole(descriptor, Buffer.from(data));
      } catch (error) {
        writeWhole(descriptor, before);
        throw error;
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw aboutFile(error, file, file);
  }
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; )
    at += writeSync(descriptor, bytes, at, bytes.length - at, at);
  ftruncateSync(descriptor, bytes.length);
  fsyncSync(descriptor);
}

/** Whether a write failed because the disk, or the user's quota, is full. */
export const isDiskFull = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT"].includes(errorCode(error) ?? "");

/**
 * Appends lines to an existing file and flushes it. Never creates the file: a new one would hold these lines only, and anybody could
 * read it. Half a line at the end, left by a process that died while appending, is removed. On a full disk nothing is added. Only one
 * process may append at a time.
 *
 * @throws the system's error, with the file's name
 */
export function appendLinesDurableSync(file: string, lines: string): void {
  try {
    const descriptor = openSync(file, constants.O_RDWR | constants.O_APPEND);
    try {
      const size = wholeLines(descriptor, file);
      try {
        writeFileSync(descriptor, lines);
        fsyncSync(descriptor);
      } catch (error) {
        ftruncateSync(descriptor, size);
        throw error;
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw aboutFile(error, file, file);
  }
}

/** Cuts the file after its last complete line, and returns its size in bytes from then on. */
function wholeLines(descriptor: number, file: string): number {
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1);
  const isWhole =
    size === 0 || (readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] === NEW_LINE);
  if (isWhole) return size;
  const end = readFileSync(file).lastIndexOf(NEW_LINE) + 1;
  ftruncateSync(descriptor, end);
  return end;
}

const NEW_LINE = 0x0a;

/**
 * The system's error with the name of the file itself: users do not know the temporary file, and an error about a full disk names no
 * file at all.
 *
 * @param temporary the path that was written instead
 */
export function aboutFile(error: unknown, file: string, temporary: string): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error;
  error.message = error.message.includes(temporary)
    ? error.message.replace(temporary, file)
    : `${error.message} '${file}'`;
  return Object.assign(error, { path: file });
}
