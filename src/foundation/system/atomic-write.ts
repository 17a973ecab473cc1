/** Writes files so that a reader sees all of one or nothing, whoever is killed meanwhile. */
import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isBytes, isError } from "./builtin-types.ts";
import { errorCode, makeDirectory } from "./files.ts";
import { isOfThisBoot, isRunning, type ProcessIdentity, thisProcess } from "./process-identity.ts";

/**
 * Writes a file so that a reader sees all of it or nothing, even if this process is killed meanwhile: it is written
 * under a temporary name beside the file and then renamed. Makes missing directories. Content too large for one string
 * can be given in pieces, which are written as they come.
 * @throws the system's error, with the file's name
 */
export async function writeFileAtomic(
  file: string,
  data: string | Uint8Array | Iterable<string>,
): Promise<void> {
  makeDirectory(dirname(file));
  const temporary = draftBeside(file);
  try {
    await writeNew(temporary, typeof data === "string" || isBytes(data) ? [data] : data);
    await rename(temporary, file);
  } catch (error) {
    // An error of the cleanup must not hide the first error.
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

export interface AtomicOptions {
  /** The file's rights, whatever the umask is; by default as the umask says. */
  readonly mode?: number;
}

/** Like `writeFileAtomic`, but synchronous: for files that must be there before a job's next step. */
export const writeFileAtomicSync = (
  file: string,
  data: string | Uint8Array,
  { mode }: AtomicOptions = {},
): void =>
  replaceFile(file, (temporary) => {
    writeFileSync(temporary, data, { flag: "wx", ...(mode !== undefined && { mode }) });
    if (mode !== undefined && isForOthers(mode)) chmodSync(temporary, mode);
  });

/** The umask takes rights only from others. */
export const isForOthers = (mode: number): boolean => (mode & 0o077) !== 0;

export interface DurableOptions extends AtomicOptions {
  /** The temporary file's path, for callers that clean up after killed processes. Default: a name made by `draftBeside`. */
  readonly draft?: string;
}

/**
 * Like `writeFileAtomicSync`, but the file also survives a power failure: its content is flushed to disk before the rename, and its
 * directory before this returns, which takes some milliseconds longer.
 */
export function writeFileDurableSync(
  file: string,
  data: string,
  { draft, mode }: DurableOptions = {},
): void {
  const write = (temporary: string) => {
    const descriptor = openSync(temporary, "wx", mode);
    try {
      if (mode !== undefined && isForOthers(mode)) fchmodSync(descriptor, mode);
      writeFileSync(descriptor, data);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  };
  replaceFile(file, write, draft);
  flushName(file);
}

/** A rename changes the directory, so the directory must be flushed. */
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

/** Windows cannot open directories, some file systems cannot flush them, and a writable directory may be unreadable. */
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
      // Tried first without a check, which saves a system call in the usual case of an existing directory.
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
 * Overwrites an existing file in place and flushes it: for a full disk, which has no room for a second copy. A reader
 * may see half of it, and a power failure may leave half of it. If the new content does not fit, the old content is put
 * back.
 * @throws the system's error, with the file's name
 */
export function overwriteFileSync(file: string, data: string): void {
  try {
    const descriptor = openSync(file, "r+");
    try {
      const original = readFileSync(descriptor);
      try {
        writeWhole(descriptor, Buffer.from(data));
      } catch (error) {
        writeWhole(descriptor, original);
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
  for (let offset = 0; offset < bytes.length; )
    offset += writeSync(descriptor, bytes, offset, bytes.length - offset, offset);
  ftruncateSync(descriptor, bytes.length);
  fsyncSync(descriptor);
}

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

/** Truncates the file after its last complete line, and returns its new size in bytes. */
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
  if (!(isError(error) && "syscall" in error)) return error;
  error.message = error.message.includes(temporary)
    ? error.message.replace(temporary, file)
    : `${error.message} '${file}'`;
  return Object.assign(error, { path: file });
}

/**
 * A temporary name beside a file, used until the file is complete. It identifies the writing process as a claim does, so that others
 * can tell later which drafts will never be finished:
 *
 *     .HOST+PID+BOOT+START+NAMESPACE+CONTAINER+RANDOM.tmp
 *
 * The file's own name is not part of it: that may already be as long as the file system allows.
 */
export const draftBeside = (file: string): string =>
  join(dirname(file), `.${ownFields()}${DRAFT_SEPARATOR}${randomPart()}${SUFFIX}`);

let cached: { readonly process: ProcessIdentity; readonly fields: string } | undefined;

/** Built once, since it never changes and a job of a sweep writes many files. */
function ownFields(): string {
  const process = thisProcess();
  if (cached?.process !== process)
    cached = { process, fields: fieldsOf(process).join(DRAFT_SEPARATOR) };
  return cached.fields;
}

const SUFFIX = ".tmp";
/** Occurs in no field, because fields that might contain it are escaped. */
const DRAFT_SEPARATOR = "+";
const randomPart = (): string => randomUUID().slice(-12);

/**
 * Removes the drafts in a directory whose writers are certainly dead. Drafts from another host, container or boot stay: such a writer
 * cannot be checked, two machines may have the same name, and removing a living writer's draft is worse than leaving a dead one's.
 * Drafts that cannot be removed stay, too; they do no harm.
 *
 * @param options.recursive also look in the directories below
 */
export function removeDeadDrafts(
  directory: string,
  { recursive = false }: { readonly recursive?: boolean } = {},
): void {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    const writer = writerOf(entry.name);
    if (writer !== undefined && isDead(writer)) removeIfAllowed(path);
    // `readdir`'s own recursion would follow links: out of the directory, or in circles.
    else if (recursive && entry.isDirectory()) removeDeadDrafts(path, { recursive });
  }
}

const isDead = (writer: ProcessIdentity): boolean =>
  isRunning(writer) === false && (writer.birth === null || isOfThisBoot(writer));

/** The entries of a directory; none if it is missing or cannot be read. */
function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Removes a file that does no harm if it stays. */
export function removeIfAllowed(file: string): void {
  try {
    rmSync(file, { force: true, recursive: true });
  } catch (error) {
    if (!(isError(error) && "syscall" in error)) throw error;
  }
}

/** `-` stands for a fact that the kernel does not provide. */
function fieldsOf({ birth, container, host, pid, pid_namespace }: ProcessIdentity): string[] {
  const [boot = UNKNOWN, start = UNKNOWN] = birth?.split(" ") ?? [];
  const namespace = /\d+/.exec(pid_namespace ?? "")?.[0] ?? UNKNOWN;
  return [hostField(host), String(pid), boot, start, namespace, containerField(container)];
}

const UNKNOWN = "-";

/** The host's name, escaped; a hash of it if it is too long for a part of a file name. */
function hostField(host: string): string {
  const escaped = encodeURIComponent(host);
  return escaped.length <= 64 ? escaped : shortOf(host);
}

/** A container is identified by a path, of which a hash is enough here. */
const containerField = (container: string | undefined): string =>
  container === undefined ? UNKNOWN : shortOf(container);

const shortOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

const DRAFT =
  /^\.(?<host>[^+]+)\+(?<pid>\d+)\+(?<boot>[^+]+)\+(?<start>\d+|-)\+(?<namespace>\d+|-)\+(?<container>[^+]+)\+[^+]+\.tmp$/;

/** The process that wrote a draft; undefined for any other file. */
function writerOf(name: string): ProcessIdentity | undefined {
  const fields = DRAFT.exec(name)?.groups;
  if (fields === undefined) return undefined;
  const { boot, container = "", host = "", namespace, pid, start } = fields;
  const current = thisProcess();
  return {
    // Equal fields mean our own host or container. The names of others cannot be decoded from their fields.
    host: host === hostField(current.host) ? current.host : host,
    pid: Number(pid),
    birth: boot === UNKNOWN ? null : `${boot} ${start}`,
    pid_namespace: namespace === UNKNOWN ? null : `pid:[${namespace}]`,
    ...(container !== UNKNOWN && {
      container:
        container === containerField(current.container)
          ? (current.container ?? container)
          : container,
    }),
  };
}

/** Joins pieces of text into larger blocks, because one write per piece would be slow. */
export function* bufferedPieces(pieces: Iterable<string>): Generator<string> {
  let block: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    block.push(piece);
    length += piece.length;
    if (length < BLOCK) continue;
    yield block.join("");
    block = [];
    length = 0;
  }
  if (length > 0) yield block.join("");
}

const BLOCK = 1 << 16;
