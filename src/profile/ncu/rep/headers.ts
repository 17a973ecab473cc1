/** The headers in a report: the file's own, and one before the messages of each block. */
import { PbfReader } from "pbf";
import * as field from "./fields.ts";
import { type FieldReaders, readEmbedded, readInteger, readText, readWhole } from "./messages.ts";

/** Of the header of the file; null where the bytes do not say. */
export function versionOf(bytes: Uint8Array): number | null {
  const fields: FieldReaders<{ version: number | null }> = {
    [field.fileHeader.version]: readInteger("version"),
  };
  try {
    return readWhole(new PbfReader(bytes), fields, { version: null as number | null }).version;
  } catch {
    return null;
  }
}

/** What a block says of itself and of the process that it is about. */
export interface BlockHeader {
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

/**
 * Null where the bytes are damaged.
 *
 * @param strings to which its names are added
 */
export function readBlockHeader(bytes: Uint8Array, strings: string[]): BlockHeader | null {
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

const VERSION_INFO: FieldReaders<{ provider: string; version: string }> = {
  [field.versionInfo.provider]: readText("provider"),
  [field.versionInfo.version]: readText("version"),
};

const SESSION: FieldReaders<BlockHeader> = {
  [field.sessionDetails.versionInfo]: (into, pbf) => {
    const { provider, version } = readEmbedded(pbf, VERSION_INFO, { provider: "", version: "" });
    if (/Nsight Compute/.test(provider)) into.toolVersion ??= version.split(" ")[0] ?? null;
  },
};

const PROCESS: FieldReaders<BlockHeader> = {
  [field.processInfo.processId]: readInteger("processId"),
  [field.processInfo.processName]: readText("processName"),
};

const STRINGS: FieldReaders<BlockHeader> = {
  [field.stringTable.strings]: (into, pbf) => {
    into.strings.push(pbf.readString());
  },
};

const BLOCK: FieldReaders<BlockHeader> = {
  [field.blockHeader.numSources]: readInteger("numSources"),
  [field.blockHeader.numResults]: readInteger("numResults"),
  [field.blockHeader.payloadSize]: readInteger("payloadSize"),
  [field.blockHeader.numRangeResults]: readInteger("numRangeResults"),
  [field.blockHeader.numCmdlistResults]: readInteger("numCmdlistResults"),
  [field.blockHeader.numGraphResults]: readInteger("numGraphResults"),
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
