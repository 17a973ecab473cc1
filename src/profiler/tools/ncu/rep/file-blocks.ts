/** The blocks of an ncu report file. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ConfigError } from "../../../../engine/values/errors.ts";
import { limitsOf } from "../../../../engine/values/limits.ts";
import { openUnpacked, ZSTD_MAGIC } from "./compressed.ts";
import { type BlockHeader, readBlockHeader, versionOf } from "./messages.ts";

/** The beginning of a report. */
export const REPORT_MAGIC = Uint8Array.of(0x4e, 0x56, 0x52, 0x00);

/** The version of files since 2020; others may have moved fields. */
const KNOWN_VERSION = 7;

export interface ReportFile {
  /** In order; the unread rest of a block is skipped when the next one is requested. */
  blocks(): Generator<Block>;
  /** Problems found so far. */
  notes(): readonly string[];
  /** Whether the file was found truncated or damaged so far. */
  isIncomplete(): boolean;
  close(): void;
}

/** Results of one process, with their common facts. */
export interface Block {
  readonly process: { readonly id: number; readonly name: string };
  /** The string table of the whole file. */
  readonly strings: readonly string[];
  readonly toolVersion: string | null;
  messages(): Generator<BlockMessage>;
}

export interface BlockMessage {
  readonly kind: "source" | "kernel" | "range" | "command list" | "graph";
  readonly bytes: Uint8Array;
}

/**
 * Opens a report: `NVR\0`, a size and the file header, then blocks of a size, a header and messages, each preceded by
 * its size.
 *
 * @param limits `unpackedBytes` for a compressed report. Default: the limits that the environment sets
 * @throws ConfigError `profile.input`, `limit.unpacked_bytes`
 */
export function openReport(path: string, limits = limitsOf(process.env)): ReportFile {
  const descriptor = openPlain(path, limits.unpackedBytes);
  try {
    return readerOf(descriptor, path);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** A report may be compressed as a whole. */
function openPlain(path: string, mostBytes: number): number {
  const descriptor = openSync(path, "r");
  const magic = Buffer.alloc(ZSTD_MAGIC.length);
  readSync(descriptor, magic, 0, magic.length, 0);
  if (!magic.equals(ZSTD_MAGIC)) return descriptor;
  closeSync(descriptor);
  return openUnpacked(path, REPORT_MAGIC, mostBytes);
}

/** A report that is being read. */
interface Reading {
  readonly file: SizedReader;
  readonly path: string;
  /** Problems found so far. */
  readonly notes: string[];
  isIncomplete: boolean;
}

function readerOf(descriptor: number, path: string): ReportFile {
  const reading: Reading = {
    file: createSizedReader(descriptor),
    path,
    notes: [],
    isIncomplete: false,
  };
  enter(reading);
  return {
    blocks: () => blocksOf(reading),
    notes: () => reading.notes,
    isIncomplete: () => reading.isIncomplete,
    close: () => closeSync(descriptor),
  };
}

/** Reads up to the first block. */
function enter({ file, path, notes }: Reading): void {
  const magic = file.take(REPORT_MAGIC.length);
  if (magic === null || !REPORT_MAGIC.every((byte, index) => magic[index] === byte))
    throw invalid(path, "it has the wrong signature");
  const header = file.takeSized();
  const version = header === null ? null : versionOf(header);
  if (version === null) throw invalid(path, "its header is damaged");
  if (version !== KNOWN_VERSION)
    notes.push(
      `${path} has format version ${version}, but only ${KNOWN_VERSION} is known: compare with ncu --import`,
    );
}

function* blocksOf(reading: Reading): Generator<Block> {
  const { file, path, notes } = reading;
  const { strings, headers } = walkHeaders(file);
  let first = true;
  while (file.offset < file.size) {
    const walked = headers.get(file.offset) ?? headerHere(file);
    if (walked === null) {
      tellCutShort(reading);
      return;
    }
    file.offset = walked.end;
    const { block } = walked;
    if (block === null) {
      if (first) throw invalid(path, "the header of a block is damaged");
      reading.isIncomplete = true;
      notes.push(`${path} is damaged: only the part before the damage is reported`);
      return;
    }
    first = false;
    const end = file.offset + block.payloadSize;
    const messages = messagesOf(block, reading);
    yield {
      process: { id: block.processId, name: block.processName },
      strings,
      toolVersion: block.toolVersion,
      messages: () => messages,
    };
    file.offset = Math.max(file.offset, Math.min(end, file.size));
  }
}

interface WalkedHeader {
  /** Null if it is damaged. */
  readonly block: BlockHeader | null;
  /** Where the payload begins. */
  readonly end: number;
}

/**
 * Headers of all blocks, by position, and the string table: one for the whole file, in which a block may also add names
 * for results in earlier blocks. Does not advance the file.
 */
function walkHeaders(file: SizedReader) {
  const strings: string[] = [];
  const headers = new Map<number, WalkedHeader>();
  const start = file.offset;
  while (file.offset < file.size) {
    const [place, stringCount] = [file.offset, strings.length];
    const bytes = file.takeSized();
    const block = bytes === null ? null : readBlockHeader(bytes, strings);
    if (block === null) {
      strings.length = stringCount;
      break;
    }
    headers.set(place, { block, end: file.offset });
    file.offset += block.payloadSize;
  }
  file.offset = start;
  return { strings, headers };
}

/** The header of a block that is not where the sizes of earlier blocks imply; null at the end of the file. */
function headerHere(file: SizedReader): WalkedHeader | null {
  const bytes = file.takeSized();
  return bytes === null ? null : { block: readBlockHeader(bytes, []), end: file.offset };
}

function* messagesOf(block: BlockHeader, reading: Reading): Generator<BlockMessage> {
  const { file } = reading;
  const counts: readonly (readonly [BlockMessage["kind"], number])[] = [
    ["source", block.numSources],
    ["kernel", block.numResults],
    ["range", block.numRangeResults],
    ["command list", block.numCmdlistResults],
    ["graph", block.numGraphResults],
  ];
  for (const [kind, count] of counts)
    for (let number = 0; number < count; number++) {
      const bytes = file.takeSized();
      if (bytes === null) {
        file.offset = file.size;
        tellCutShort(reading);
        return;
      }
      yield { kind, bytes };
    }
}

const tellCutShort = (reading: Reading): void => {
  reading.isIncomplete = true;
  reading.notes.push(`${reading.path} is truncated: only the part before its end is reported`);
};

const invalid = (path: string, why: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${path} is not a readable Nsight Compute report: ${why}`,
    hint: "the report may need a newer ncu: try ncu --import FILE --csv --page raw",
  });

/** Messages are smaller; a larger size indicates damage. */
const LARGEST_MESSAGE = 1 << 30;

/** Reads a file in which each message is preceded by its size: 32 bits, little-endian. */
interface SizedReader {
  /** The size of the file in bytes. */
  readonly size: number;
  /** Where the next read begins. */
  offset: number;
  /** The next `length` bytes; null if the file is shorter. */
  take(length: number): Uint8Array | null;
  /** The next message; null if it is incomplete. */
  takeSized(): Uint8Array | null;
}

function createSizedReader(descriptor: number): SizedReader {
  const { size } = fstatSync(descriptor);
  const reader: SizedReader = {
    size,
    offset: 0,
    take(length) {
      if (length > LARGEST_MESSAGE || reader.offset + length > size) return null;
      const bytes = Buffer.alloc(length);
      if (readSync(descriptor, bytes, 0, length, reader.offset) < length) return null;
      reader.offset += length;
      return bytes;
    },
    takeSized() {
      const length = reader.take(4);
      return length === null ? null : reader.take(Buffer.from(length).readUInt32LE(0));
    },
  };
  return reader;
}
