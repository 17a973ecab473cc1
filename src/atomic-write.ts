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
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { draftBeside } from "./drafts.ts";
import { makeDirectory } from "./make-directory.ts";
import { errorCode } from "./system-error.ts";

/**
 * Writes a file so that a reader, or a run that dies, sees all of it or nothing: under a temporary
 * name beside it, then renamed. Makes the directories on the way. Pieces are written as they come,
 * for what is too large for one string.
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
    await rm(temporary, { force: true });
    throw aboutFile(error, file, temporary);
  }
}

/** Piece by piece: Yarn's Plug'n'Play puts an `fs` of its own before Node's, whose `writeFile` takes no iterables. */
async function writeNew(file: string, pieces: Iterable<string | Uint8Array>): Promise<void> {
  const handle = await open(file, "wx");
  try {
    for (const piece of pieces) await handle.appendFile(piece);
  } finally {
    await handle.close();
  }
}

/** As `writeFileAtomic`, at once: for what must be there before the next step of a job. */
export const writeFileAtomicSync = (file: string, data: string | Uint8Array): void =>
  replaceFile(file, (temporary) => writeFileSync(temporary, data, { flag: "wx" }));

export interface DurableOptions {
  readonly mode?: number;
  /** Where it stands until it is whole, for who removes what a killed process has left; by default under a name of no meaning. */
  readonly draft?: string;
}

/**
 * As `writeFileAtomicSync`, and a machine that loses its power still has the file: the content is on the disk before the name is, and
 * the name before this returns. Some milliseconds slower.
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

/** What a rename has changed is its directory's. */
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

/** Windows opens no directories, some file systems flush none, and who may write to one need not be allowed to read it. */
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
      // The usual case, a directory that is there, costs no look at it.
      if (errorCode(error) !== "ENOENT") throw error;
      makeDirectory(dirname(file));
      write();
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw aboutFile(error, file, temporary);
  }
}

/**
 * Writes over a file that is there, in its own place and on the disk: for what a full disk has no room beside. A reader, or a machine
 * that loses its power, may see half of it. Where it takes more room than the file has, that stays as it was.
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

/** Whether the system has no room for what was to be written. */
export const isDiskFull = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT"].includes(errorCode(error) ?? "");

/**
 * Adds lines to a file that is there, on the disk: never makes a new one, which would have these alone and be everybody's to read.
 * Half a line at its end, of a process that died as it added it, gives way; where the disk is full, nothing is added. One process
 * at a time may add.
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

/** The size of a file up to the end of its last line, which is its size from now on. */
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
 * The system's error, about the file: of the temporary one nobody knows, and of a full disk it names none.
 *
 * @param temporary what was written in its place
 */
export function aboutFile(error: unknown, file: string, temporary: string): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error;
  error.message = error.message.includes(temporary)
    ? error.message.replace(temporary, file)
    : `${error.message} '${file}'`;
  return Object.assign(error, { path: file });
}
