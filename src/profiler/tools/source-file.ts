/** Input files: their kind, changes while they are read, duplicates, and errors about them. */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { fileHash } from "../../foundation/system/file-hash.ts";
import { fileProblem, requireFile } from "../../foundation/system/files.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { ImportSource, NcuResults } from "./importer.ts";

/** Enough for every magic number; small, because thousands of files may be open at once. */
const HEAD_BYTES = 1 << 10;

/** Enough for the output of a program before ncu's CSV begins. */
const BEGINNING_BYTES = 1 << 20;

/**
 * Opens an input without reading all of it.
 *
 * @throws ConfigError `profile.input` if there is nothing readable
 */
export function openSource(
  name: string,
  cwd: string,
  repeatOf: string | null = null,
): ImportSource {
  const path = resolve(cwd, name);
  return reading(name, () => {
    const status = requireFile(path);
    const isDirectory = status.isDirectory();
    return {
      name,
      repeatOf,
      path,
      isDirectory,
      entries: isDirectory ? readdirSync(path).sort() : [],
      head: isDirectory ? new Uint8Array() : readFirst(path, Math.min(status.size, HEAD_BYTES)),
      bytes: isDirectory ? 0 : status.size,
    };
  });
}

/**
 * The beginning of a file, enough to recognise a table; empty for a directory. Read again at each call.
 *
 * @throws ConfigError `profile.input` if the file can no longer be read
 */
export const readBeginning = ({ name, path, isDirectory, bytes }: ImportSource): Uint8Array =>
  isDirectory
    ? new Uint8Array()
    : reading(name, () => readFirst(path, Math.min(bytes, BEGINNING_BYTES)));

function reading<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ConfigError({
      code: "profile.input",
      message: `${name} cannot be read: ${fileProblem(cause)}`,
      cause,
    });
  }
}

function readFirst(path: string, length: number): Uint8Array {
  const first = Buffer.alloc(length);
  const descriptor = openSync(path, "r");
  try {
    return first.subarray(0, readSync(descriptor, first, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a file begins with these bytes. */
export const beginsWith = ({ head }: ImportSource, bytes: Uint8Array): boolean =>
  head.length >= bytes.length && bytes.every((byte, index) => head[index] === byte);

/**
 * A file's results, which are read more than once. If the file is replaced or changed meanwhile, results would be
 * counted for regions of another version: the first reading adds a note, later ones fail.
 *
 * @param read reads the file from its start
 */
export function unchangedSource(
  { name, path }: Pick<ImportSource, "name" | "path">,
  { toolVersion, stream: read }: NcuResults,
): NcuResults {
  const first = stateOf(path);
  let readBefore = false;
  return {
    toolVersion,
    async stream(onResult) {
      const isFirst = !readBefore;
      readBefore = true;
      if (!isFirst && stateOf(path) !== first) throw changed(name);
      const streamed = await read(onResult);
      if (stateOf(path) === first) return streamed;
      if (!isFirst) throw changed(name);
      return { ...streamed, notes: [...streamed.notes, `${changedWords(name)}: ${INCOMPLETE}`] };
    },
  };
}

const INCOMPLETE = "results may be missing or mixed; import it again once nothing writes to it";

const changedWords = (name: string): string => `${name} changed while it was read`;

const changed = (name: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: changedWords(name),
    hint: "import it again once nothing writes to it",
  });

/** Changes when the file is written or replaced; empty if it is gone. */
function stateOf(path: string): string {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined
    ? ""
    : [status.dev, status.ino, status.size, status.mtimeNs].join(" ");
}

/**
 * The files that are copies of an earlier one, each with the first of its copies. Only files of the same size and
 * beginning are read.
 */
export async function duplicatesAmong(
  sources: readonly ImportSource[],
): Promise<ReadonlyMap<ImportSource, ImportSource>> {
  const alike = new Map<string, ImportSource[]>();
  for (const source of sources)
    if (!source.isDirectory) getOrCreate(alike, beginning(source), () => []).push(source);
  const copies = new Map<ImportSource, ImportSource>();
  for (const group of alike.values()) {
    if (group.length === 1) continue;
    const firsts = new Map<string, ImportSource>();
    for (const source of group) {
      const first = getOrCreate(firsts, await fileHash(source.path), () => source);
      if (first !== source) copies.set(source, first);
    }
  }
  return copies;
}

const beginning = ({ bytes, head }: ImportSource): string =>
  `${bytes} ${Buffer.from(head).toString("latin1")}`;

/** The error of a named input that cannot be read, or has the wrong contents. */
export const inputError = (name: string, why: string, hint?: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${name}: ${why}`,
    hint,
  });

/** The error of an input that the system refuses to read. */
export const unreadableError = (name: string, cause: unknown): ConfigError =>
  new ConfigError({ code: "profile.input", message: `${name}: ${fileProblem(cause)}`, cause });

/** The error of a missing file of a run that its reports are made from. */
export const missingFileError = (path: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${path} no longer exists: its reports cannot be rebuilt`,
  });
