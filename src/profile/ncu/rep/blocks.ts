import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { PbfReader } from "pbf";
import { ConfigError } from "../../../values/errors.ts";
import { openUnpacked, ZSTD_MAGIC } from "./compressed.ts";
import * as field from "./fields.ts";
import { type FieldReaders, readEmbedded, readWhole } from "./messages.ts";

/** What a report begins with. */
export const REPORT_MAGIC = Uint8Array.of(0x4e, 0x56, 0x52, 0x00);

/** Files are in this version since 2020; others may have moved fields. */
const KNOWN_VERSION = 7;

/** No message is larger; a size beyond is damage. */
const LARGEST_MESSAGE = 1 << 30;

export interface ReportFile {
  /** In order; what was not read of one when the next is asked for is skipped. */
  blocks(): Generator<Block>;
  /** What was found wrong on the way. */
  notes(): readonly string[];
  close(): void;
}

/** Results of one process, with what they have in common. */
export interface Block {
  readonly process: { readonly id: number; readonly name: string };
  /** Of the whole file. */
  readonly strings: readonly string[];
  readonly toolVersion: string | null;
  messages(): Generator<BlockMessage>;
}

export interface BlockMessage {
  readonly kind: "source" | "kernel" | "range" | "command list" | "graph";
  readonly bytes: Uint8Array;
}

/**
 * Opens a report: `NVR\0`, a size and the file header, then blocks of a size, a header and messages,
 * each with its size before it. Sizes are 32 bits, little-endian.
 *
 * @throws ConfigError `profile.input`
 */
export function openReport(path: string): ReportFile {
  const descriptor = openPlain(path);
  try {
    return readerOf(descriptor, path);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** A report may be compressed as a whole. */
function openPlain(path: string): number {
  const descriptor = openSync(path, "r");
  const magic = Buffer.alloc(ZSTD_MAGIC.length);
  readSync(descriptor, magic, 0, magic.length, 0);
  if (!magic.equals(ZSTD_MAGIC)) return descriptor;
  closeSync(descriptor);
  return openUnpacked(path);
}

function readerOf(descriptor: number, path: string): ReportFile {
  const size = fstatSync(descriptor).size;
  const notes: string[] = [];
  let at = 0;
  const take = (length: number): Uint8Array | null => {
    if (length > LARGEST_MESSAGE || at + length > size) return null;
    const bytes = Buffer.alloc(length);
    if (readSync(descriptor, bytes, 0, length, at) < length) return null;
    at += length;
    return bytes;
  };
  const takeSized = (): Uint8Array | null => {
    const length = take(4);
    return length === null ? null : take(Buffer.from(length).readUInt32LE(0));
  };
  const cutShort = () => {
    notes.push(`${path} was cut short: what it holds up to there is reported`);
  };

  const magic = take(4);
  if (magic === null || !REPORT_MAGIC.every((byte, index) => magic[index] === byte))
    throw invalid(path, "it does not begin like one");
  const header = takeSized();
  const version = header === null ? null : versionOf(header);
  if (version === null) throw invalid(path, "its header is damaged");
  if (version !== KNOWN_VERSION)
    notes.push(
      `${path} has format version ${version}, ${KNOWN_VERSION} is known here: compare with ncu --import`,
    );

  function* messagesOf(block: BlockHeader): Generator<BlockMessage> {
    const counts: readonly (readonly [BlockMessage["kind"], number])[] = [
      ["source", block.numSources],
      ["kernel", block.numResults],
      ["range", block.numRangeResults],
      ["command list", block.numCmdlistResults],
      ["graph", block.numGraphResults],
    ];
    for (const [kind, count] of counts)
      for (let number = 0; number < count; number++) {
        const bytes = takeSized();
        if (bytes === null) {
          at = size;
          cutShort();
          return;
        }
        yield { kind, bytes };
      }
  }

  /**
   * Headers of all blocks, by their place, and their names: one table for the whole file, to which a block adds
   * also for results in blocks before it.
   */
  const readHeaders = () => {
    const strings: string[] = [];
    const headers = new Map<number, WalkedHeader>();
    const start = at;
    while (at < size) {
      const [place, known] = [at, strings.length];
      const bytes = takeSized();
      const block = bytes === null ? null : readBlockHeader(bytes, strings);
      if (block === null) {
        strings.length = known;
        break;
      }
      headers.set(place, { block, end: at });
      at += block.payloadSize;
    }
    at = start;
    return { strings, headers };
  };

  /** Of a block that stands elsewhere than the sizes of those before it say; null where the file ends. */
  const headerHere = (): WalkedHeader | null => {
    const bytes = takeSized();
    return bytes === null ? null : { block: readBlockHeader(bytes, []), end: at };
  };

  return {
    *blocks() {
      const { strings, headers } = readHeaders();
      let first = true;
      while (at < size) {
        const walked = headers.get(at) ?? headerHere();
        if (walked === null) {
          cutShort();
          return;
        }
        at = walked.end;
        const { block } = walked;
        if (block === null) {
          if (first) throw invalid(path, "the header of a block is damaged");
          notes.push(`${path} is damaged: what it holds up to there is reported`);
          return;
        }
        first = false;
        const end = at + block.payloadSize;
        const messages = messagesOf(block);
        yield {
          process: { id: block.processId, name: block.processName },
          strings,
          toolVersion: block.toolVersion,
          messages: () => messages,
        };
        at = Math.max(at, Math.min(end, size));
      }
    },
    notes: () => notes,
    close: () => closeSync(descriptor),
  };
}

interface WalkedHeader {
  /** Null where it is damaged. */
  readonly block: BlockHeader | null;
  /** Where the payload begins. */
  readonly end: number;
}

interface BlockHeader {
  numSources: number;
  numResults: number;
  numRangeResults: number;
  numCmdlistResults: number;
  numGraphResults: number;
  payloadSize: number;
  processId: number;
  processName: string;
  toolVersion: string | null;
  strings: string[];
}

const VERSION_INFO: FieldReaders<{ provider: string; version: string }> = {
  [field.versionInfo.provider]: (into, pbf) => {
    into.provider = pbf.readString();
  },
  [field.versionInfo.version]: (into, pbf) => {
    into.version = pbf.readString();
  },
};

const SESSION: FieldReaders<BlockHeader> = {
  [field.sessionDetails.versionInfo]: (into, pbf) => {
    const { provider, version } = readEmbedded(pbf, VERSION_INFO, { provider: "", version: "" });
    if (/Nsight Compute/.test(provider)) into.toolVersion ??= version.split(" ")[0] ?? null;
  },
};

const PROCESS: FieldReaders<BlockHeader> = {
  [field.processInfo.processId]: (into, pbf) => {
    into.processId = pbf.readVarint();
  },
  [field.processInfo.processName]: (into, pbf) => {
    into.processName = pbf.readString();
  },
};

const STRINGS: FieldReaders<BlockHeader> = {
  [field.stringTable.strings]: (into, pbf) => {
    into.strings.push(pbf.readString());
  },
};

type CountName =
  | "numSources"
  | "numResults"
  | "payloadSize"
  | "numRangeResults"
  | "numCmdlistResults"
  | "numGraphResults";

const countReader =
  (name: CountName): FieldReaders<BlockHeader>[number] =>
  (into, pbf) => {
    into[name] = pbf.readVarint();
  };

const BLOCK: FieldReaders<BlockHeader> = {
  [field.blockHeader.numSources]: countReader("numSources"),
  [field.blockHeader.numResults]: countReader("numResults"),
  [field.blockHeader.payloadSize]: countReader("payloadSize"),
  [field.blockHeader.numRangeResults]: countReader("numRangeResults"),
  [field.blockHeader.numCmdlistResults]: countReader("numCmdlistResults"),
  [field.blockHeader.numGraphResults]: countReader("numGraphResults"),
  [field.blockHeader.sessionDetails]: (into, pbf) => {
    readEmbedded(pbf, SESSION, into);
  },
  [field.blockHeader.stringTable]: (into, pbf) => {
    readEmbedded(pbf, STRINGS, into);
  },
  [field.blockHeader.process]: (into, pbf) => {
    readEmbedded(pbf, PROCESS, into);
  },
};

/** @param strings to which its names are added */
function readBlockHeader(bytes: Uint8Array, strings: string[]): BlockHeader | null {
  try {
    return readWhole(new PbfReader(bytes), BLOCK, {
      numSources: 0,
      numResults: 0,
      numRangeResults: 0,
      numCmdlistResults: 0,
      numGraphResults: 0,
      payloadSize: 0,
      processId: 0,
      processName: "",
      toolVersion: null,
      strings,
    });
  } catch {
    return null;
  }
}

/** Null where the bytes do not say. */
function versionOf(bytes: Uint8Array): number | null {
  const fields: FieldReaders<{ version: number | null }> = {
    [field.fileHeader.version]: (into, pbf) => {
      into.version = pbf.readVarint();
    },
  };
  try {
    return readWhole(new PbfReader(bytes), fields, { version: null as number | null }).version;
  } catch {
    return null;
  }
}

const invalid = (path: string, why: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${path} is not a report of Nsight Compute that can be read: ${why}`,
    hint: "a report may need a newer ncu: ncu --import FILE --csv --page raw shows what the tool makes of it",
  });
