import { memoryCopyName } from "../cupti-names.ts";
import type { GpuActivityKind } from "../timeline.ts";
import type { EventSink, GpuEvent, GpuWorkEvent, RecordedEvent } from "./events.ts";
import { DEFAULT_DOMAIN, recordFlag, recordType } from "./format.ts";
import type { GpuTimes } from "./gpu-clock.ts";
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
  const texts = new Map<number, string>();
  const domains = new Map<number, string>([[DEFAULT_DOMAIN, ""]]);
  const demangled = new Map<string, string>();
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
  const categoryField = (record: RecordReader): number | null =>
    (record.flags() & recordFlag.category) !== 0 ? record.u32() : null;
  const colorField = (record: RecordReader): number | null =>
    (record.flags() & recordFlag.color) !== 0 ? record.u32() : null;
  const payloadField = (record: RecordReader): number | bigint | null =>
    (record.flags() & recordFlag.payload) !== 0 ? payloadValue(record.u32(), record.u64()) : null;
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
        const name = textOf(record.u32());
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

  const gpuTime = (record: RecordReader): number => gpuTimes(record.u32(), record.u32());
  const graphOf = (record: RecordReader): GpuWorkEvent["graph"] =>
    (record.flags() & recordFlag.graph) !== 0 ? { id: record.u32(), node: record.u64() } : null;

  /** One literal for all kinds of work: there are millions, and V8 is quick where all look alike. */
  const gpuWorkOf = (record: RecordReader, activity: GpuActivityKind): GpuWorkEvent => {
    const correlation = record.u32();
    const device = record.u32();
    const context = record.u32();
    const cudaStream = record.u32();
    const startGpuNs = gpuTime(record);
    const endGpuNs = gpuTime(record);
    let name = "[CUDA memset]";
    let mangledName: string | null = null;
    let bytes: number | null = null;
    if (activity === "kernel") {
      const mangled = textOf(record.u32());
      const readable = demangled.get(mangled);
      name = readable ?? mangled;
      if (readable !== undefined) mangledName = mangled;
    } else {
      bytes = record.u32() + record.u32() * 2 ** 32;
      if (activity === "memcpy") name = memoryCopyName(record.u32());
    }
    return {
      kind: "gpu_work",
      activity,
      correlation,
      device,
      context,
      cudaStream,
      startGpuNs,
      endGpuNs,
      name,
      mangledName,
      bytes,
      graph: graphOf(record),
    };
  };

  const gpuEventOf = (record: RecordReader): GpuEvent | null => {
    switch (record.type()) {
      case recordType.launch: {
        const timeNs = time(record);
        const startsKernels = (record.flags() & recordFlag.kernels) !== 0;
        return {
          kind: "launch",
          stream,
          threadId,
          timeNs,
          correlation: record.u32(),
          startsKernels,
        };
      }
      case recordType.kernel:
        return gpuWorkOf(record, "kernel");
      case recordType.memoryCopy:
        return gpuWorkOf(record, "memcpy");
      case recordType.memorySet:
        return gpuWorkOf(record, "memset");
      case recordType.synchronization: {
        const correlation = record.u32();
        record.u32(); // the context says nothing beside the stream
        const cudaStream = record.u32();
        const startGpuNs = gpuTime(record);
        const endGpuNs = gpuTime(record);
        const type = record.u32();
        return { kind: "wait", correlation, cudaStream, startGpuNs, endGpuNs, type };
      }
      case recordType.device: {
        const index = record.u32();
        const computeCapability = `${record.u32()}.${record.u32()}`;
        return { kind: "device", index, computeCapability, name: textOf(record.u32()) };
      }
      case recordType.clock:
        return { kind: "clock", gpuNs: gpuTime(record), timeNs: sinceOrigin(record.u64()) };
      case recordType.gpu: {
        record.u32(); // CUPTI's version
        record.u32(); // the driver's
        const result = record.u32();
        const text = textOf(record.u32());
        const failed = (record.flags() & recordFlag.failure) !== 0;
        return { kind: "gpu_state", result, failure: failed ? text : null };
      }
      case recordType.loss:
        return { kind: "loss", reason: record.u32(), count: record.u32() };
      case recordType.demangled:
        demangled.set(textOf(record.u32()), textOf(record.u32()));
        return null;
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
