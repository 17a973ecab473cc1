import type { EventSink, RecordedEvent } from "./events.ts";
import { recordFlag, recordType } from "./format.ts";
import type { GpuTimes } from "./gpu-clock.ts";
import { createGpuDecoder } from "./gpu-decoder.ts";
import { createNameTable } from "./name-table.ts";
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
 * @param gpuTimes the same for all streams of the file
 * @param sink receives the events; damaged and unknown records only leave a note
 */
export function createStreamDecoder(
  stream: number,
  originNs: bigint,
  sink: EventSink,
  notes: NoteCollector,
  gpuTimes: GpuTimes,
): StreamDecoder {
  const names = createNameTable(notes);
  let baseNs = 0;
  let threadId = 0;

  const sinceOrigin = (absoluteNs: bigint): number => Number(absoluteNs - originNs);
  const domainField = (record: RecordReader): string =>
    (record.flags() & recordFlag.domain) !== 0 ? names.domain(record.u32()) : "";
  const time = (record: RecordReader): number => baseNs + record.u32();

  const gpuEventOf = createGpuDecoder({
    stream,
    names,
    notes,
    gpuTimes,
    threadId: () => threadId,
    time,
    sinceOrigin,
  });

  /** The event a record stands for; null for one that only prepares later ones. */
  const eventOf = (record: RecordReader): RecordedEvent | null => {
    switch (record.type()) {
      case recordType.string:
        names.readString(record);
        return null;
      case recordType.domain:
        names.readDomain(record);
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
        return { kind: "thread_name", threadId: record.u32(), name: names.text(record.u32()) };
      case recordType.categoryName: {
        const domain = names.domain(record.u32());
        const category = record.u32();
        return { kind: "category_name", domain, category, name: names.text(record.u32()) };
      }
      case recordType.push:
      case recordType.mark: {
        const kind = record.type() === recordType.push ? "push" : "mark";
        const timeNs = time(record);
        const name = names.text(record.u32());
        const domain = domainField(record);
        const category = categoryField(record);
        const color = colorField(record);
        const payload = payloadField(record);
        return { kind, stream, threadId, timeNs, name, domain, category, color, payload };
      }
      case recordType.pop: {
        const timeNs = time(record);
        return { kind: "pop", stream, threadId, timeNs, domain: domainField(record) };
      }
      case recordType.start: {
        const timeNs = time(record);
        const rangeId = record.id64();
        const name = names.text(record.u32());
        const domain = domainField(record);
        const category = categoryField(record);
        const color = colorField(record);
        const payload = payloadField(record);
        return {
          kind: "start",
          stream,
          threadId,
          timeNs,
          rangeId,
          name,
          domain,
          category,
          color,
          payload,
        };
      }
      case recordType.end: {
        const timeNs = time(record);
        return { kind: "end", stream, threadId, timeNs, rangeId: record.id64() };
      }
      default:
        return gpuEventOf(record);
    }
  };

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

/** Fields that only records with their flag have, in the order in which they stand in them. */
const categoryField = (record: RecordReader): number | null =>
  (record.flags() & recordFlag.category) !== 0 ? record.u32() : null;
const colorField = (record: RecordReader): number | null =>
  (record.flags() & recordFlag.color) !== 0 ? record.u32() : null;
const payloadField = (record: RecordReader): number | bigint | null =>
  (record.flags() & recordFlag.payload) !== 0 ? payloadValue(record.u32(), record.u64()) : null;
