/** Decodes the records of a stream into events. */
import { type GpuActivityKind, memoryCopyName, type ThreadCounts } from "../../model/timeline.ts";
import type { GpuTimes } from "./clocks.ts";
import type {
  EventSink,
  GpuEvent,
  GpuWorkEvent,
  InstructionReading,
  NoteCollector,
  RecordedEvent,
} from "./events.ts";
import type { Extensions, PayloadContents, PendingPayload } from "./extensions.ts";
import { recordFlag, recordType } from "./format.ts";
import { createNameTable, type NameTable, payloadValue, type RecordReader } from "./records.ts";

/** Decodes the records of one stream: resolves texts and domains, and tracks thread and time. */
export interface StreamDecoder {
  /** A new chunk begins; its records' times are relative to this. */
  readonly setBase: (baseNs: bigint) => void;
  /** Records before the next one are missing. */
  readonly skip: () => void;
  readonly decode: (record: RecordReader) => void;
}

/**
 * @param originNs the origin of event times
 * @param gpuTimes, extensions the same for all streams of the file
 * @param sink receives the events; damaged and unknown records only leave a note
 */
export function createStreamDecoder(
  stream: number,
  originNs: bigint,
  sink: EventSink,
  notes: NoteCollector,
  gpuTimes: GpuTimes,
  extensions: Extensions,
): StreamDecoder {
  const names = createNameTable(notes);
  let baseNs = 0;
  let threadId = 0;
  /** The base of processor times; null if the record with the base may be missing. */
  let cpuBaseNs: number | null = 0;
  /** Structures for the next event. */
  let pending: PendingPayload[] = [];

  const sinceOrigin = (absoluteNs: bigint): number => Number(absoluteNs - originNs);
  const domainField = (record: RecordReader): string =>
    (record.flags() & recordFlag.domain) !== 0 ? names.domain(record.u32()) : "";
  /** @param name the event's name so far */
  const payloadsField = (record: RecordReader, name = ""): PayloadContents | null => {
    if ((record.flags() & recordFlag.payloads) === 0) return null;
    const count = record.u32();
    return extensions.contents(pending.slice(Math.max(0, pending.length - count)), name);
  };
  const time = (record: RecordReader): number => baseNs + record.u32();
  const cpuField = (record: RecordReader): number | null => {
    if ((record.flags() & recordFlag.processorTime) === 0) return null;
    const ns = record.u32();
    return cpuBaseNs === null ? null : cpuBaseNs + ns;
  };
  /** The last fields of a push, pop, start or end. */
  const usedFields = (record: RecordReader, name?: string) => {
    const cpuNs = cpuField(record);
    const counts = countsField(record);
    const contents = payloadsField(record, name);
    const all = counts === null ? null : withBlocks(record, counts);
    return { cpuNs, counts: all, instructions: instructionsField(record), contents };
  };

  const gpuEventOf = createGpuDecoder({
    stream,
    names,
    notes,
    gpuTimes,
    threadId: () => threadId,
    time,
    sinceOrigin,
  });

  /** The event of a record; null for one that only prepares later ones. */
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
      case recordType.processorTime:
        cpuBaseNs = Number(record.u64());
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
      case recordType.otherInjection:
        return { kind: "other_injection", library: names.text(record.u32()) };
      case recordType.noInstructions: {
        const [reason, errno, level] = [record.u32(), record.u32(), record.u32() | 0];
        const paranoidLevel = level === UNKNOWN_LEVEL ? null : level;
        return { kind: "no_instructions", reason, errno, paranoidLevel };
      }
      // Each event is one literal, though their fields repeat: to spread the common ones takes five times as long.
      case recordType.push: {
        const timeNs = time(record);
        const name = names.text(record.u32());
        const domain = domainField(record);
        const category = categoryField(record);
        const color = colorField(record);
        const payload = payloadField(record);
        const { cpuNs, counts, instructions, contents } = usedFields(record, name);
        return {
          kind: "push",
          stream,
          threadId,
          timeNs,
          name,
          domain,
          category,
          color,
          payload,
          cpuNs,
          counts,
          instructions,
          ...opened(contents, category, color),
        };
      }
      case recordType.mark: {
        const timeNs = time(record);
        const name = names.text(record.u32());
        const domain = domainField(record);
        const category = categoryField(record);
        const color = colorField(record);
        const payload = payloadField(record);
        const more = opened(payloadsField(record, name), category, color);
        const event = { kind: "mark", stream, threadId, timeNs, name, domain, payload } as const;
        return { ...event, category, color, ...more };
      }
      case recordType.pop: {
        const timeNs = time(record);
        const domain = domainField(record);
        const { cpuNs, counts, instructions, contents } = usedFields(record);
        const more = closed(contents);
        const used = { cpuNs, counts, instructions };
        return { kind: "pop", stream, threadId, timeNs, domain, ...used, ...more };
      }
      case recordType.start: {
        const timeNs = time(record);
        const rangeId = record.id64();
        const name = names.text(record.u32());
        const domain = domainField(record);
        const category = categoryField(record);
        const color = colorField(record);
        const payload = payloadField(record);
        const { cpuNs, counts, instructions, contents } = usedFields(record, name);
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
          cpuNs,
          counts,
          instructions,
          ...opened(contents, category, color),
        };
      }
      case recordType.end: {
        const timeNs = time(record);
        const rangeId = record.id64();
        const { cpuNs, counts, instructions, contents } = usedFields(record);
        const more = closed(contents);
        const used = { cpuNs, counts, instructions };
        return { kind: "end", stream, threadId, timeNs, rangeId, ...used, ...more };
      }
      case recordType.schema:
      case recordType.enumeration:
      case recordType.counter:
      case recordType.scope:
      case recordType.timeDomain:
        extensions.define(record);
        return null;
      case recordType.payload:
        pending.push(extensions.payload(record, names));
        return null;
      case recordType.sample:
        extensions.sample(record, time(record), { names, threadId });
        return null;
      case recordType.batchSample:
        extensions.batchSample(record, { names, threadId });
        return null;
      case recordType.deferred:
        extensions.deferred(record, pending, { names, threadId });
        pending = [];
        return null;
      case recordType.clockPair:
      case recordType.conversion:
        extensions.clock(record);
        return null;
      default:
        return gpuEventOf(record);
    }
  };

  return {
    setBase: (absoluteNs) => {
      baseNs = sinceOrigin(absoluteNs);
    },
    skip: () => {
      cpuBaseNs = null;
      pending = [];
    },
    decode: (record) => {
      const event = eventOf(record);
      if (event !== null) {
        // Structures may remain from an event that could not be recorded. Allocates only then, not for each event.
        if (pending.length > 0) pending = [];
        sink(event);
      }
      if (record.overrun()) notes.count("damaged records");
    },
  };
}

/** Attributes that structures give to an event whose own record has none. */
const opened = (
  contents: PayloadContents | null,
  category: number | null,
  color: number | null,
): { readonly values?: PayloadContents["numbers"]; category?: number; color?: number } =>
  contents === null
    ? {}
    : {
        ...(contents.numbers.length > 0 && { values: contents.numbers }),
        ...(category === null && contents.category !== null && { category: contents.category }),
        ...(color === null && contents.color !== null && { color: contents.color }),
      };

const closed = (contents: PayloadContents | null) =>
  contents === null
    ? {}
    : {
        ...(contents.numbers.length > 0 && { values: contents.numbers }),
        ...(contents.name !== null && { rename: contents.name }),
      };

/** Optional fields of records, which have a flag each, in their order. */
const categoryField = (record: RecordReader): number | null =>
  (record.flags() & recordFlag.category) !== 0 ? record.u32() : null;
const colorField = (record: RecordReader): number | null =>
  (record.flags() & recordFlag.color) !== 0 ? record.u32() : null;
const payloadField = (record: RecordReader): number | bigint | null =>
  (record.flags() & recordFlag.payload) !== 0 ? payloadValue(record.u32(), record.u64()) : null;

const countsField = (record: RecordReader): ThreadCounts | null =>
  (record.flags() & recordFlag.counts) !== 0
    ? [record.u32(), record.u32(), record.u32(), record.u32()]
    : null;
const withBlocks = (record: RecordReader, counts: ThreadCounts): ThreadCounts =>
  (record.flags() & recordFlag.blocks) !== 0 ? [...counts, record.u32(), record.u32()] : counts;

/** Has no flag: it is what a record has behind all fields with one. */
const instructionsField = (record: RecordReader): InstructionReading | null =>
  record.wordsLeft() >= INSTRUCTION_WORDS
    ? { count: Number(record.id64()), interruptions: record.u32() }
    : null;
const INSTRUCTION_WORDS = 3;

/** Of kernel.perf_event_paranoid, where it could not be read. */
const UNKNOWN_LEVEL = -(2 ** 31);

/** The context in which GPU records of a stream are decoded. */
interface GpuRecordContext {
  readonly stream: number;
  readonly names: NameTable;
  readonly notes: NoteCollector;
  readonly gpuTimes: GpuTimes;
  /** The current thread of the stream. */
  readonly threadId: () => number;
  /** Reads a record's time as nanoseconds since the origin of events. */
  readonly time: (record: RecordReader) => number;
  readonly sinceOrigin: (absoluteNs: bigint) => number;
}

/** Decodes a GPU record to its event; null for one that only prepares later ones. */
type GpuDecoder = (record: RecordReader) => GpuEvent | null;

function createGpuDecoder(context: GpuRecordContext): GpuDecoder {
  const { stream, names, notes, gpuTimes, threadId, time, sinceOrigin } = context;

  const gpuTime = (record: RecordReader): number => gpuTimes(record.u32(), record.u32());
  const graphOf = (record: RecordReader): GpuWorkEvent["graph"] =>
    (record.flags() & recordFlag.graph) !== 0 ? { id: record.u32(), node: record.u64() } : null;

  /** One literal for all kinds of work: there are millions, and V8 is fast if all have the same shape. */
  const workOf = (record: RecordReader, activity: GpuActivityKind): GpuWorkEvent => {
    const correlation = record.u32();
    const device = record.u32();
    const cudaContext = record.u32();
    const cudaStream = record.u32();
    const startGpuNs = gpuTime(record);
    const endGpuNs = gpuTime(record);
    let name = "[CUDA memset]";
    let bytes: number | null = null;
    if (activity === "kernel") {
      name = names.kernel(record.u32());
    } else {
      bytes = record.u32() + record.u32() * 2 ** 32;
      if (activity === "memcpy") name = memoryCopyName(record.u32());
    }
    return {
      kind: "gpu_work",
      activity,
      correlation,
      device,
      context: cudaContext,
      cudaStream,
      startGpuNs,
      endGpuNs,
      name,
      bytes,
      graph: graphOf(record),
    };
  };

  return (record) => {
    switch (record.type()) {
      case recordType.launch: {
        const timeNs = time(record);
        const startsKernels = (record.flags() & recordFlag.kernels) !== 0;
        const correlation = record.u32();
        return { kind: "launch", stream, threadId: threadId(), timeNs, correlation, startsKernels };
      }
      case recordType.kernel:
        return workOf(record, "kernel");
      case recordType.memoryCopy:
        return workOf(record, "memcpy");
      case recordType.memorySet:
        return workOf(record, "memset");
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
        return { kind: "device", index, computeCapability, name: names.text(record.u32()) };
      }
      case recordType.clock:
        return { kind: "clock", gpuNs: gpuTime(record), timeNs: sinceOrigin(record.u64()) };
      case recordType.gpu: {
        record.u32(); // CUPTI's version
        record.u32(); // the driver's
        const result = record.u32();
        const text = names.text(record.u32());
        const failed = (record.flags() & recordFlag.failure) !== 0;
        return { kind: "gpu_state", result, failure: failed ? text : null };
      }
      case recordType.loss:
        return { kind: "loss", reason: record.u32(), count: record.u32() };
      case recordType.demangled:
        names.readDemangled(record);
        return null;
      case recordType.programProfiler: {
        const timeNs = time(record);
        const call = names.text(record.u32());
        const library = names.text(record.u32());
        const recorderGoesOn = (record.flags() & recordFlag.precedence) !== 0;
        return { kind: "program_profiler", timeNs, call, library, recorderGoesOn };
      }
      case recordType.unwatchedCalls:
        return { kind: "unwatched_calls", count: record.u32() };
      case recordType.counterRange: {
        const timeNs = time(record);
        const [session, number, position] = [record.u32(), record.u32(), record.u32()];
        const from = { stream, threadId: threadId(), timeNs };
        return { kind: "counter_range", ...from, session, number, position };
      }
      case recordType.counterSession: {
        const [session, device] = [record.u32(), record.u32()];
        return { kind: "counter_session", session, device, file: names.text(record.u32()) };
      }
      case recordType.counterSessionEnd: {
        const [session, dropped, ranges] = [record.u32(), record.u32(), record.u32()];
        const isLastPass = record.u32() !== 0;
        return { kind: "counter_session_end", session, dropped, ranges, isLastPass };
      }
      case recordType.counterFailure: {
        const result = record.u32();
        return { kind: "counter_failure", result, text: names.text(record.u32()) };
      }
      case recordType.counterTally: {
        const [missedLaunches, lateEnds, beyondLimit] = [record.u32(), record.u32(), record.u32()];
        return { kind: "counter_tally", missedLaunches, lateEnds, beyondLimit };
      }
      case recordType.sampling: {
        const timeNs = time(record);
        const [device, trigger] = [record.u32(), record.u32()];
        const [interval, realtimeOffsetNs] = [Number(record.u64()), record.u64()];
        return { kind: "sampling", timeNs, device, trigger, interval, realtimeOffsetNs };
      }
      default:
        notes.count("records of an unknown kind");
        return null;
    }
  };
}
