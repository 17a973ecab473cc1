/** The messages of a report: field numbers, readers, and headers. */
import { PbfReader } from "pbf";

/**
 * Field numbers of Nsight Compute's report file, version 7, as NVIDIA documents it ("Report File Format" in the
 * Customization Guide): the fields that are read here, with an object for each message.
 */
export const fileHeader = { version: 1 } as const;

export const blockHeader = {
  numSources: 1,
  numResults: 2,
  sessionDetails: 3,
  stringTable: 4,
  payloadSize: 5,
  process: 6,
  numRangeResults: 7,
  numCmdlistResults: 8,
  numGraphResults: 9,
} as const;

export const sessionDetails = { processId: 1, versionInfo: 8 } as const;
export const versionInfo = { provider: 1, version: 2 } as const;
export const stringTable = { strings: 1 } as const;
export const processInfo = { processId: 1, hostname: 2, processName: 3 } as const;

export const profileResult = {
  threadId: 1,
  mangledName: 5,
  functionName: 6,
  demangledName: 7,
  metricResults: 13,
  sections: 17,
  ruleResults: 19,
  nvtx: 21,
  contextId: 22,
  streamId: 23,
} as const;

export const rangeResult = {
  threadId: 1,
  metricResults: 4,
  sections: 7,
  nvtx: 10,
  contextId: 11,
} as const;

/** Results of CUDA graphs that were launched as a whole have the same fields, and a stream. */
export const graphResult = { ...rangeResult, streamId: 12 } as const;

export const metricResult = { nameId: 1, value: 2 } as const;
export const metricValue = { string: 1, float: 2, double: 3, uint32: 4, uint64: 5 } as const;

export const section = { identifier: 1, displayName: 2, order: 3, header: 4, filter: 11 } as const;
export const sectionHeader = { metrics: 2 } as const;
export const sectionMetric = { name: 1, filter: 6, options: 7 } as const;
export const sectionMetricOption = { name: 1, filter: 3 } as const;
export const sectionFilter = { min: 1, max: 2, items: 3, collection: 4 } as const;
export const gpuRange = { min: 1, max: 2 } as const;
export const collectionFilter = { scopes: 1 } as const;

export const ruleResult = { identifier: 1, body: 3, sectionIdentifier: 4 } as const;
export const ruleBody = { items: 1 } as const;
export const ruleItem = { message: 1, speedup: 10 } as const;
export const ruleMessage = { text: 1, type: 2 } as const;
export const ruleSpeedup = { type: 1, value: 2 } as const;

export const nvtxState = { domains: 1, threads: 2, startEndDomains: 3, defaultDomain: 4 } as const;
export const nvtxDomain = { id: 1, name: 2 } as const;
export const nvtxThread = { threadId: 1, pushPopDomains: 2 } as const;
export const nvtxPushPopDomain = { id: 1, stack: 3 } as const;
export const nvtxPushPopRange = { name: 1 } as const;
export const nvtxStartEndDomain = { id: 1, ranges: 3 } as const;
export const nvtxStartEndRange = { id: 1, name: 2 } as const;

/** Readers of a message's fields by number; other fields are skipped. */
export type FieldReaders<T> = Readonly<Record<number, (into: T, pbf: PbfReader) => void>>;

/** Reads an embedded message at the reader's place. */
export const readEmbedded = <T>(pbf: PbfReader, fields: FieldReaders<T>, into: T): T =>
  pbf.readMessage((tag, result, reader) => fields[tag]?.(result, reader), into);

/** Reads a message that fills the reader. */
export const readWhole = <T>(pbf: PbfReader, fields: FieldReaders<T>, into: T): T =>
  pbf.readFields((tag, result, reader) => fields[tag]?.(result, reader), into);

/** Reads a text into the property of this name. */
export const readText =
  <K extends string>(name: K) =>
  (into: Record<K, string | null>, pbf: PbfReader): void => {
    into[name] = pbf.readString();
  };

/** Reads an integer into the property of this name. */
export const readInteger =
  <K extends string>(name: K) =>
  (into: Record<K, number | null>, pbf: PbfReader): void => {
    into[name] = pbf.readVarint();
  };

// The headers of a report: one for the file, and one before the messages of each block.

/** The version in the file header; null if the bytes are damaged. */
export function versionOf(bytes: Uint8Array): number | null {
  const fields: FieldReaders<{ version: number | null }> = {
    [fileHeader.version]: readInteger("version"),
  };
  try {
    return readWhole(new PbfReader(bytes), fields, { version: null as number | null }).version;
  } catch {
    return null;
  }
}

/** The header of a block, with facts about its process. */
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
 * Null if the bytes are damaged.
 *
 * @param strings table to which its names are added
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
  [versionInfo.provider]: readText("provider"),
  [versionInfo.version]: readText("version"),
};

const SESSION: FieldReaders<BlockHeader> = {
  [sessionDetails.versionInfo]: (into, pbf) => {
    const { provider, version } = readEmbedded(pbf, VERSION_INFO, { provider: "", version: "" });
    if (/Nsight Compute/.test(provider)) into.toolVersion ??= version.split(" ")[0] ?? null;
  },
};

const PROCESS: FieldReaders<BlockHeader> = {
  [processInfo.processId]: readInteger("processId"),
  [processInfo.processName]: readText("processName"),
};

const STRINGS: FieldReaders<BlockHeader> = {
  [stringTable.strings]: (into, pbf) => {
    into.strings.push(pbf.readString());
  },
};

const BLOCK: FieldReaders<BlockHeader> = {
  [blockHeader.numSources]: readInteger("numSources"),
  [blockHeader.numResults]: readInteger("numResults"),
  [blockHeader.payloadSize]: readInteger("payloadSize"),
  [blockHeader.numRangeResults]: readInteger("numRangeResults"),
  [blockHeader.numCmdlistResults]: readInteger("numCmdlistResults"),
  [blockHeader.numGraphResults]: readInteger("numGraphResults"),
  [blockHeader.sessionDetails]: (into, pbf) => {
    readEmbedded(pbf, SESSION, into);
  },
  [blockHeader.stringTable]: (into, pbf) => {
    readEmbedded(pbf, STRINGS, into);
  },
  [blockHeader.process]: (into, pbf) => {
    readEmbedded(pbf, PROCESS, into);
  },
};
