import type { EventAttributes } from "../timeline.ts";
import type { EventSink, RecordedEvent } from "./events.ts";
import { DEFAULT_DOMAIN, recordFlag, recordType } from "./format.ts";
import type { NoteCollector } from "./notes.ts";
import { payloadValue, type RecordReader } from "./record-reader.ts";

/** Gives the records of one stream their meaning: texts, domains, thread and time so far. */
export interface StreamDecoder {
  /** A new chunk begins; its records' times count from here. */
  readonly setBase: (baseNs: bigint) => void;
  readonly decode: (record: RecordReader) => void;
}

/**
 * @param originNs what event times count from
 * @param sink receives the events; damaged and unknown records only leave a note
 */
export function createStreamDecoder(
  stream: number,
  originNs: bigint,
  sink: EventSink,
  notes: NoteCollector,
): StreamDecoder {
  const texts = new Map<number, string>();
  const domains = new Map<number, string>([[DEFAULT_DOMAIN, ""]]);
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let baseNs = 0;
  let threadId = 0;

  const textOf = (id: number): string => {
    const text = texts.get(id);
    if (text !== undefined) return text;
    notes.count("names whose text is missing from the recording");
    return `(unknown name ${id})`;
  };
  const domainOf = (id: number): string => {
    const name = domains.get(id);
    if (name !== undefined) return name;
    notes.count("domains whose name is missing from the recording");
    return `(unknown domain ${id})`;
  };
  const domainField = (record: RecordReader): string =>
    (record.flags() & recordFlag.domain) !== 0 ? domainOf(record.u32()) : "";
  const attributes = (record: RecordReader): EventAttributes => ({
    category: (record.flags() & recordFlag.category) !== 0 ? record.u32() : null,
    color: (record.flags() & recordFlag.color) !== 0 ? record.u32() : null,
    payload:
      (record.flags() & recordFlag.payload) !== 0 ? payloadValue(record.u32(), record.u64()) : null,
  });
  const time = (record: RecordReader): number => baseNs + record.u32();

  /** NVTX does not say what encoding a `char*` has; UTF-8 in practice, else shown as Latin-1. */
  const decodeText = (bytes: Uint8Array): string => {
    try {
      return utf8.decode(bytes);
    } catch {
      notes.count("names that are not UTF-8, read as Latin-1");
      return Buffer.from(bytes).toString("latin1");
    }
  };

  const readString = (record: RecordReader): void => {
    const id = record.u32();
    const length = record.u32();
    texts.set(id, decodeText(record.bytes(length)));
    if ((record.flags() & recordFlag.truncated) !== 0) notes.count("names cut at 64 KiB");
  };

  /** The event a record stands for; null for one that only prepares later ones. */
  const eventOf = (record: RecordReader): RecordedEvent | null => {
    switch (record.type()) {
      case recordType.string:
        readString(record);
        return null;
      case recordType.domain:
        domains.set(record.u32(), textOf(record.u32()));
        return null;
      case recordType.time:
        baseNs = sinceOrigin(record.u64());
        return null;
      case recordType.thread: {
        const timeNs = time(record);
        threadId = record.u32();
        return { kind: "thread", stream, threadId, timeNs };
      }
      case recordType.threadName:
        return { kind: "thread_name", threadId: record.u32(), name: textOf(record.u32()) };
      case recordType.categoryName: {
        const domain = domainOf(record.u32());
        const category = record.u32();
        return { kind: "category_name", domain, category, name: textOf(record.u32()) };
      }
      case recordType.push:
      case recordType.mark: {
        const kind = record.type() === recordType.push ? "push" : "mark";
        const timeNs = time(record);
        const name = textOf(record.u32());
        const domain = domainField(record);
        return { kind, stream, threadId, timeNs, name, domain, ...attributes(record) };
      }
      case recordType.pop: {
        const timeNs = time(record);
        return { kind: "pop", stream, threadId, timeNs, domain: domainField(record) };
      }
      case recordType.start: {
        const timeNs = time(record);
        const rangeId = record.u64();
        const name = textOf(record.u32());
        const domain = domainField(record);
        const rest = attributes(record);
        return { kind: "start", stream, threadId, timeNs, rangeId, name, domain, ...rest };
      }
      case recordType.end: {
        const timeNs = time(record);
        return { kind: "end", stream, threadId, timeNs, rangeId: record.u64() };
      }
      default:
        notes.count("records of a kind this version does not know");
        return null;
    }
  };

  const sinceOrigin = (absoluteNs: bigint): number => Number(absoluteNs - originNs);

  return {
    setBase: (absoluteNs) => {
      baseNs = sinceOrigin(absoluteNs);
    },
    decode: (record) => {
      const event = eventOf(record);
      if (event !== null) sink(event);
      if (record.overrun()) notes.count("damaged records");
    },
  };
}
