import {
  BOOT_ID_BYTES,
  BYTE_ORDER_MARK,
  CHUNK_HEADER_BYTES,
  CHUNK_MAGIC,
  chunkHeader,
  fileHeader,
  MAGIC,
  recordFlag,
  recordType,
} from "../../../../src/profiler/tools/recorder/format.ts";

/** Writes recordings as the format's documentation says, to read back what no program recorded. */

export const UNIT = 4096;
export const START_NS = 5_000_000_000_000n;

export interface WriterOptions {
  readonly littleEndian?: boolean;
  readonly pid?: number;
  readonly finishedNs?: bigint;
  readonly startNs?: bigint;
  /** What CLOCK_REALTIME said at the start; none by default. */
  readonly realtimeNs?: bigint;
  readonly major?: number;
  /** A byte that the boot id is made of; without one it is not known. */
  readonly boot?: number;
}

/** Words of one record, type and length included. */
export type Words = readonly number[];

export const record = (type: number, words: readonly number[], flags = 0): Words => [
  type | (flags << 8) | ((words.length + 1) << 16),
  ...words,
];

const halves = (value: bigint): [number, number] => [
  Number(value & 0xffffffffn),
  Number((value >> 32n) & 0xffffffffn),
];

/** Text is packed in the file's byte order, so that its bytes come out in order. */
export function stringRecord(id: number, text: string, littleEndian = true): Words {
  const bytes = Buffer.from(text);
  const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
  const words: number[] = [];
  for (let i = 0; i < padded.length; i += 4) {
    words.push(littleEndian ? padded.readUInt32LE(i) : padded.readUInt32BE(i));
  }
  return record(recordType.string, [id, bytes.length, ...words]);
}

export const records = {
  thread: (delta: number, threadId: number) => record(recordType.thread, [delta, threadId]),
  time: (base: bigint) => record(recordType.time, halves(base)),
  domain: (id: number, name: number) => record(recordType.domain, [id, name]),
  push: (delta: number, name: number, domain?: number) =>
    record(recordType.push, [delta, name, ...optional(domain)], flagged(domain)),
  pop: (delta: number, domain?: number) =>
    record(recordType.pop, [delta, ...optional(domain)], flagged(domain)),
  start: (delta: number, id: bigint, name: number) =>
    record(recordType.start, [delta, ...halves(id), name]),
  end: (delta: number, id: bigint) => record(recordType.end, [delta, ...halves(id)]),
};

const optional = (domain: number | undefined): number[] => (domain === undefined ? [] : [domain]);
const flagged = (domain: number | undefined): number =>
  domain === undefined ? 0 : recordFlag.domain;

export interface ChunkContent {
  readonly stream: number;
  readonly sequence: number;
  readonly baseNs: bigint;
  readonly records: readonly Words[];
}

/** A whole recording. */
export function recording(chunks: readonly ChunkContent[], options: WriterOptions = {}): Buffer {
  const body = chunks.map((chunk) => encodeChunk(chunk, options.littleEndian ?? true));
  const claimed = UNIT + body.reduce((sum, bytes) => sum + bytes.length, 0);
  return Buffer.concat([encodeHeader(claimed, options), ...body]);
}

export function encodeHeader(claimedBytes: number, options: WriterOptions): Buffer {
  const bytes = Buffer.alloc(UNIT);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const little = options.littleEndian ?? true;
  const executable = Buffer.from("/opt/example/bin/written");
  bytes.set(MAGIC, 0);
  view.setUint16(fileHeader.major, options.major ?? 1, little);
  view.setUint32(fileHeader.byteOrder, BYTE_ORDER_MARK, little);
  view.setUint32(fileHeader.headerBytes, UNIT, little);
  view.setUint32(fileHeader.unitBytes, UNIT, little);
  view.setUint32(fileHeader.pid, options.pid ?? 100, little);
  view.setUint32(fileHeader.parentPid, 1, little);
  view.setBigUint64(fileHeader.startNs, options.startNs ?? START_NS, little);
  view.setBigUint64(fileHeader.startRealtimeNs, options.realtimeNs ?? 0n, little);
  view.setBigUint64(fileHeader.claimedBytes, BigInt(claimedBytes), little);
  view.setBigUint64(fileHeader.finishedNs, options.finishedNs ?? 0n, little);
  view.setUint32(fileHeader.executableBytes, executable.length, little);
  bytes.fill(options.boot ?? 0, fileHeader.bootId, fileHeader.bootId + BOOT_ID_BYTES);
  bytes.set(executable, 128);
  return bytes;
}

export function encodeChunk(chunk: ChunkContent, little: boolean): Buffer {
  const words = chunk.records.flat();
  const used = words.length * 4;
  const bytes = Buffer.alloc(Math.ceil((CHUNK_HEADER_BYTES + used) / UNIT) * UNIT);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setUint32(chunkHeader.magic, CHUNK_MAGIC, little);
  view.setUint32(chunkHeader.bytes, bytes.length, little);
  view.setUint32(chunkHeader.stream, chunk.stream, little);
  view.setUint32(chunkHeader.sequence, chunk.sequence, little);
  view.setBigUint64(chunkHeader.baseNs, chunk.baseNs, little);
  view.setUint32(chunkHeader.usedBytes, used, little);
  for (const [i, word] of words.entries()) {
    view.setUint32(CHUNK_HEADER_BYTES + i * 4, word >>> 0, little);
  }
  return bytes;
}
