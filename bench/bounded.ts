/**
 * What reports of very many ranges take: `npm run bench bounded [-- RANGES LABELS]`. Recordings of 20 million ranges under one
 * label, of a million distinct labels (numbered ones, and others), each read by `deep-profile import` in a process of its own.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  CHUNK_HEADER_BYTES,
  CHUNK_MAGIC,
  chunkHeader,
  recordFlag,
  recordType,
} from "../src/profile/tools/recorder/format.ts";
import { encodeHeader, START_NS, UNIT } from "../tests/profile/tools/recorder/writer.ts";

export interface ManyRanges {
  readonly ranges: number;
  /** The label of each range, by its number. */
  readonly labelOf: (range: number) => string;
  /** Whether all of them lie inside one range around. */
  readonly isNested?: boolean;
}

const CHUNK_WORDS = (64 * 1024) / 4;
const CHUNK_HEADER_WORDS = CHUNK_HEADER_BYTES / 4;
const RANGE_NS = 1_000;

/** Writes the recording of one thread that opens and closes ranges one after another, with its processor time. @returns its directory */
export function recordManyRanges({ ranges, labelOf, isNested = false }: ManyRanges): string {
  const directory = mkdtempSync(join(tmpdir(), "many-ranges-"));
  const file = openSync(join(directory, "events-100-1.nvtxrec"), "w");
  const chunk = new Uint32Array(CHUNK_WORDS);
  const view = new DataView(chunk.buffer);
  const ids = new Map<string, number>();
  let claimed = UNIT;
  let sequence = 0;
  let at = CHUNK_HEADER_WORDS;
  let base = START_NS;
  let now = START_NS;
  const flush = (): void => {
    view.setUint32(chunkHeader.magic, CHUNK_MAGIC, true);
    view.setUint32(chunkHeader.bytes, chunk.byteLength, true);
    view.setUint32(chunkHeader.stream, 0, true);
    view.setUint32(chunkHeader.sequence, sequence++, true);
    view.setBigUint64(chunkHeader.baseNs, base, true);
    view.setUint32(chunkHeader.usedBytes, (at - CHUNK_HEADER_WORDS) * 4, true);
    writeSync(file, chunk, 0, chunk.byteLength, claimed);
    claimed += chunk.byteLength;
    chunk.fill(0);
    at = CHUNK_HEADER_WORDS;
    base = now;
  };
  const put = (type: number, flags: number, words: readonly number[]): void => {
    if (at + words.length + 1 > CHUNK_WORDS) {
      // The time of a record counts from its chunk.
      flush();
      if (type === recordType.push || type === recordType.pop) words = [0, ...words.slice(1)];
    }
    chunk[at++] = type | (flags << 8) | ((words.length + 1) << 16);
    for (const word of words) chunk[at++] = word;
  };
  let cpu = 0;
  const time = (): number => Number(now - base);
  const timed = recordFlag.processorTime;
  const nameOf = (label: string): number => {
    const known = ids.get(label);
    if (known !== undefined) return known;
    const id = ids.size + 1;
    ids.set(label, id);
    const bytes = Buffer.from(label);
    const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
    bytes.copy(padded);
    const words = Array.from({ length: padded.length / 4 }, (_, i) => padded.readUInt32LE(i * 4));
    put(recordType.string, 0, [id, bytes.length, ...words]);
    return id;
  };
  try {
    put(recordType.thread, 0, [0, 100]);
    if (isNested) put(recordType.push, timed, [time(), nameOf("all"), cpu]);
    for (let range = 0; range < ranges; range++) {
      const name = nameOf(labelOf(range));
      put(recordType.push, timed, [time(), name, cpu % 2 ** 31]);
      // A spread of times without a pattern, the same in each run.
      const took = 200 + (Math.imul(range, 0x9e3779b1) >>> 23);
      now += BigInt(took);
      cpu += took - 100;
      if (cpu >= 2 ** 31) {
        cpu -= 2 ** 31;
      }
      put(recordType.pop, timed, [time(), cpu]);
      now += BigInt(RANGE_NS - took);
    }
    if (isNested) put(recordType.pop, timed, [time(), cpu]);
    flush();
    writeSync(file, encodeHeader(claimed, { finishedNs: now + 1n }), 0, UNIT, 0);
  } finally {
    closeSync(file);
  }
  return directory;
}
