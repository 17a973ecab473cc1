/** The records of a recording file: words, texts, payloads. */
import { createColumn, createIdIndex, createLongList, words } from "../../model/columns.ts";
import type { PayloadEnumeration, PayloadSchema, SchemaEntry } from "../../model/payload.ts";
import type { NoteCollector } from "./events.ts";
import { DEFAULT_DOMAIN, payloadType, recordFlag } from "./format.ts";

/**
 * The words of one record. Reading past its end gives zeros and sets `overrun`: lengths in a damaged file are never
 * trusted.
 */
export interface RecordReader {
  readonly type: () => number;
  readonly flags: () => number;
  readonly u32: () => number;
  readonly u64: () => bigint;
  /** A number if that is exact, which is faster to make and to look up. */
  readonly id64: () => number | bigint;
  /** The next `length` bytes, or as many as the record has; must be the last read of the record. */
  readonly bytes: (length: number) => Uint8Array;
  /** The same for bytes followed by further words. */
  readonly within: (length: number) => Uint8Array;
  /** How many words are left. */
  readonly wordsLeft: () => number;
  readonly overrun: () => boolean;
}

const WORD = 2 ** 32;
/** A number holds 53 bits. */
const HALF_EXACT = 2 ** 21;

/**
 * Splits a chunk into its records.
 *
 * @param data whole records, from the first unread byte
 * @param visit gets the same object for every record
 * @returns the number of bytes used: all, unless the length of a record is damaged
 */
export function readRecords(
  data: DataView,
  littleEndian: boolean,
  visit: (record: RecordReader) => void,
): number {
  let start = 0;
  let head = 0;
  let offset = 0;
  let end = 0;
  let overrun = false;
  const u32 = (): number => {
    if (offset + 4 > end) {
      overrun = true;
      return 0;
    }
    const value = data.getUint32(offset, littleEndian);
    offset += 4;
    return value;
  };
  const record: RecordReader = {
    type: () => head & 0xff,
    flags: () => (head >>> 8) & 0xff,
    u32,
    // The low half comes first in any byte order.
    u64: () => BigInt(u32()) | (BigInt(u32()) << 32n),
    id64: () => {
      const low = u32();
      const high = u32();
      return high < HALF_EXACT ? high * WORD + low : BigInt(low) | (BigInt(high) << 32n);
    },
    bytes: (length) => {
      const available = Math.min(length, end - offset);
      if (available < length) overrun = true;
      const bytes = new Uint8Array(data.buffer, data.byteOffset + offset, available);
      offset = end;
      return bytes;
    },
    within: (length) => {
      const available = Math.min(length, end - offset);
      if (available < length) overrun = true;
      const bytes = new Uint8Array(data.buffer, data.byteOffset + offset, available);
      offset = Math.min(end, offset + Math.ceil(available / 4) * 4);
      return bytes;
    },
    wordsLeft: () => (end - offset) >> 2,
    overrun: () => overrun,
  };
  while (start + 4 <= data.byteLength) {
    head = data.getUint32(start, littleEndian);
    offset = start + 4;
    end = start + (head >>> 16) * 4;
    if (end === start || end > data.byteLength) return start;
    overrun = false;
    visit(record);
    start = end;
  }
  return start;
}

/** A payload's value from its 64 bits; null for an unknown type. */
export function payloadValue(type: number, bits: bigint): number | bigint | null {
  switch (type) {
    case payloadType.uint64:
      return exact(bits);
    case payloadType.int64:
    case payloadType.int32:
      return exact(BigInt.asIntN(64, bits));
    case payloadType.uint32:
      return Number(bits & 0xffffffffn);
    case payloadType.double:
      return new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? null;
    case payloadType.float:
      return new Float32Array(Uint32Array.of(Number(bits & 0xffffffffn)).buffer)[0] ?? null;
    default:
      return null;
  }
}

function exact(value: bigint): number | bigint {
  const asNumber = Number(value);
  return Number.isSafeInteger(asNumber) ? asNumber : value;
}

/** Texts and domains of one stream: records refer to them by numbers that earlier records defined. */
export interface NameTable {
  readonly text: (id: number) => string;
  /** The text, demangled if the recording has its demangled form. */
  readonly kernel: (id: number) => string;
  readonly domain: (id: number) => string;
  /** Processes a record of type `string`. */
  readonly readString: (record: RecordReader) => void;
  /** Processes a record of type `domain`. */
  readonly readDomain: (record: RecordReader) => void;
  /** Processes a record of type `demangled`. */
  readonly readDemangled: (record: RecordReader) => void;
}

export function createNameTable(notes: NoteCollector): NameTable {
  /** There can be a million texts; a Map of them would take most of the time and half of the memory. */
  const ids = createIdIndex();
  const texts = createLongList<string>();
  /** By the number of a text: 1 + the id of its demangled form, 0 without one. */
  const demangled = createColumn(words);
  const domains = new Map<number, string>([[DEFAULT_DOMAIN, ""]]);
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  /** NVTX does not define the encoding of a `char*`; UTF-8 in practice, otherwise read as Latin-1. */
  const decode = (bytes: Uint8Array): string => {
    try {
      return utf8.decode(bytes);
    } catch {
      notes.count("names that are not UTF-8, read as Latin-1");
      return Buffer.from(bytes).toString("latin1");
    }
  };
  const text = (id: number): string => {
    const number = ids.find(id);
    const existing = number === null ? undefined : texts.at(number);
    if (existing !== undefined) return existing;
    notes.count("names whose text is missing from the recording");
    return `(unknown name ${id})`;
  };

  return {
    text,
    kernel: (id) => {
      const number = ids.find(id);
      const better = number === null ? 0 : demangled.get(number);
      return text(better === 0 ? id : better - 1);
    },
    domain: (id) => {
      const existing = domains.get(id);
      if (existing !== undefined) return existing;
      notes.count("domains whose name is missing from the recording");
      return `(unknown domain ${id})`;
    },
    readString: (record) => {
      const id = record.u32();
      const length = record.u32();
      // Ids are never reused.
      if (ids.add(id) === texts.length()) texts.push(decode(record.bytes(length)));
      if ((record.flags() & recordFlag.truncated) !== 0) notes.count("names cut at 64 KiB");
    },
    readDomain: (record) => {
      domains.set(record.u32(), text(record.u32()));
    },
    readDemangled: (record) => {
      const number = ids.find(record.u32());
      if (number !== null) demangled.set(number, record.u32() + 1);
    },
  };
}

// Descriptions that programs give once: payloads, enumerations, counters. These records contain their texts.

/** A counter, or a group of them. */
export interface CounterDefinition {
  readonly schema: bigint;
  readonly flags: bigint;
  readonly scale: number;
  readonly scope: bigint;
  readonly timeDomain: bigint;
  readonly unit: string;
  readonly name: string;
}

const inlineUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export function inlineText(record: RecordReader): string {
  return inlineUtf8.decode(record.within(record.u32()));
}

/** Copies the bytes, because the reader's buffer belongs to a whole chunk. */
export function bytesOf(record: RecordReader, length: number): DataView {
  const bytes = Uint8Array.from(record.bytes(length));
  return new DataView(bytes.buffer);
}

function readMeaning(record: RecordReader) {
  const counterFlags = record.u64();
  const [numerator, denominator] = [Number(record.u64()), Number(record.u64())];
  const [scope, timeDomain] = [record.u64(), record.u64()];
  const scale = numerator === 0 || denominator === 0 ? 1 : numerator / denominator;
  return { counterFlags, scale, scope, timeDomain, unit: inlineText(record) };
}

export function readSchema(record: RecordReader): PayloadSchema {
  const [type, flags] = [record.u32(), record.u32()];
  const [staticSize, packAlign] = [record.u32(), record.u32()];
  const name = inlineText(record);
  const count = record.u32();
  const entries: SchemaEntry[] = [];
  for (let i = 0; i < count && !record.overrun(); i++) {
    const flagsOfEntry = Number(record.u64());
    const typeOfEntry = record.u64();
    const [detail, offset] = [Number(record.u64()), Number(record.u64())];
    const info = record.u32();
    const meaning = readMeaning(record);
    entries.push({
      flags: flagsOfEntry,
      type: typeOfEntry,
      detail,
      offset,
      size: info & 0xffff,
      align: info >>> 16,
      name: inlineText(record),
      ...meaning,
    });
  }
  return { name, type, flags, staticSize, packAlign, entries };
}

export function readEnumeration(record: RecordReader): PayloadEnumeration {
  const size = record.u32();
  const name = inlineText(record);
  const count = record.u32();
  const values = new Map<bigint, string>();
  for (let i = 0; i < count && !record.overrun(); i++) {
    const value = record.u64();
    record.u32(); // whether it is one bit of several
    values.set(value, inlineText(record));
  }
  return { name, size, values };
}

export function readCounter(record: RecordReader): CounterDefinition {
  const schema = record.u64();
  const { counterFlags: flags, ...meaning } = readMeaning(record);
  return { schema, flags, ...meaning, name: inlineText(record) };
}
