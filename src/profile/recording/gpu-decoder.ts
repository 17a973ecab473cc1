import { memoryCopyName } from "../timeline/cupti-names.ts";
import type { GpuActivityKind } from "../timeline/timeline.ts";
import type { GpuEvent, GpuWorkEvent } from "./events.ts";
import { recordFlag, recordType } from "./format.ts";
import type { GpuTimes } from "./gpu-clock.ts";
import type { NameTable } from "./name-table.ts";
import type { NoteCollector } from "./notes.ts";
import type { RecordReader } from "./record-reader.ts";

/** What the records of the GPU need of the stream that they stand in. */
export interface GpuRecordContext {
  readonly stream: number;
  readonly names: NameTable;
  readonly notes: NoteCollector;
  readonly gpuTimes: GpuTimes;
  /** Thread of the records so far. */
  readonly threadId: () => number;
  /** Reads a record's time; nanoseconds from the origin of events. */
  readonly time: (record: RecordReader) => number;
  readonly sinceOrigin: (absoluteNs: bigint) => number;
}

/** The event that a record of the GPU stands for; null for one that only prepares later ones. */
export type GpuDecoder = (record: RecordReader) => GpuEvent | null;

export function createGpuDecoder(context: GpuRecordContext): GpuDecoder {
  const { stream, names, notes, gpuTimes, threadId, time, sinceOrigin } = context;

  const gpuTime = (record: RecordReader): number => gpuTimes(record.u32(), record.u32());
  const graphOf = (record: RecordReader): GpuWorkEvent["graph"] =>
    (record.flags() & recordFlag.graph) !== 0 ? { id: record.u32(), node: record.u64() } : null;

  /** One literal for all kinds of work: there are millions, and V8 is quick where all look alike. */
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
      default:
        notes.count("records of an unknown kind");
        return null;
    }
  };
}
