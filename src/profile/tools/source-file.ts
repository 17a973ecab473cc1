/**
 * Files that are given to be read: what they are, whether they change meanwhile or are the same, and errors about them.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileHash, fileProblem, requireFile } from "../../system/files.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import { ConfigError } from "../../values/errors.ts";
import type { ImportSource, NcuResults } from "./importer.ts";

/** Enough for every magic number: thousands of files may be open at once. */
const HEAD_BYTES = 1 << 10;

/** Enough for the lines that a program prints before ncu's CSV begins. */
const BEGINNING_BYTES = 1 << 20;

/**
 * Looks at what was given, without reading all of it.
 *
 * @throws ConfigError `profile.input` where there is nothing that can be read
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
 * As much of a file as tells whether it is a table; empty for a directory. It is read anew each time.
 *
 * @throws ConfigError `profile.input` where the file cannot be read any more
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
 * A file's results, which are read more than once. What is put in the file's place meanwhile, or written to it, would
 * be counted for regions that were found in another: the first reading says so in a note, later ones refuse.
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

/** Differs once a file was written, or another one has its name; empty where it is gone. */
function stateOf(path: string): string {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined
    ? ""
    : [status.dev, status.ino, status.size, status.mtimeNs].join(" ");
}

/** The files that hold the same as one before them, each with the first of those. Only files of the same size and beginning are read for it. */
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

/** The error of something that was named and cannot be read, or is not what it should be. */
export const inputError = (name: string, why: string, hint?: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${name}: ${why}`,
    hint,
  });

/** The error of something that the system does not let us read. */
export const unreadableError = (name: string, cause: unknown): ConfigError =>
  new ConfigError({ code: "profile.input", message: `${name}: ${fileProblem(cause)}`, cause });

/** The error of a run's own file that reports are made from. */
export const missingFileError = (path: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${path} no longer exists: its reports cannot be rebuilt`,
  });
