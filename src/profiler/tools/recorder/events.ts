/** The events of a recording. */
import { constants } from "node:os";
import type { PayloadNumber } from "../../model/payload.ts";
import type {
  EventAttributes,
  GpuActivityKind,
  RangeKind,
  ThreadCounts,
} from "../../model/timeline.ts";

/**
 * The contents of a recording, record by record, with ids resolved. Times are nanoseconds since the origin that the
 * reader was given. The events of one stream come in order; different streams (usually threads) interleave arbitrarily.
 */
export type RecordedEvent = NvtxEvent | GpuEvent;

export type NvtxEvent =
  | ThreadEvent
  | PushEvent
  | PopEvent
  | StartEvent
  | EndEvent
  | MarkEvent
  | DeferredRangeEvent
  | SampleEvent
  | ThreadNameEvent
  | CategoryNameEvent
  | OtherInjectionEvent
  | NoInstructionsEvent;

interface OnThread {
  readonly stream: number;
  /** OS thread id. */
  readonly threadId: number;
  readonly timeNs: number;
}

/** The resources that the thread had used by then; null if not recorded. */
interface Used {
  /** Nanoseconds of processor time. */
  readonly cpuNs: number | null;
  readonly counts: ThreadCounts | null;
  readonly instructions: InstructionReading | null;
}

/** What lies between two readings is known if the counter was interrupted equally often at both. */
export interface InstructionReading {
  readonly count: number;
  readonly interruptions: number;
}

interface WithPayloads {
  /** Numbers of structured payloads; absent without any. */
  readonly values?: readonly PayloadNumber[];
}

interface Named extends OnThread, EventAttributes, WithPayloads {
  /** Empty for the default domain. */
  readonly domain: string;
  readonly name: string;
}

/** Attributes of a closing that its opening did not have. */
interface Closing extends OnThread, Used, WithPayloads {
  readonly rename?: string;
}

/** From here on another thread writes this stream: no range is open on it. */
export interface ThreadEvent extends OnThread {
  readonly kind: "thread";
}

export interface PushEvent extends Named, Used {
  readonly kind: "push";
}

export interface PopEvent extends Closing {
  readonly kind: "pop";
  readonly domain: string;
}

/** NVTX's 64-bit id, as a number if that is exact. */
export type RangeId = number | bigint;

export interface StartEvent extends Named, Used {
  readonly kind: "start";
  readonly rangeId: RangeId;
}

export interface EndEvent extends Closing {
  readonly kind: "end";
  readonly rangeId: RangeId;
}

export interface MarkEvent extends Named {
  readonly kind: "mark";
}

/** A range that the program reported after its end. */
export interface DeferredRangeEvent extends EventAttributes, WithPayloads {
  readonly kind: "range";
  readonly rangeKind: RangeKind;
  readonly threadId: number;
  readonly domain: string;
  readonly name: string;
  readonly timeNs: number;
  readonly endNs: number;
}

/** The value of a counter at one time. */
export interface SampleEvent {
  readonly kind: "sample";
  readonly domain: string;
  readonly name: string;
  readonly unit: string;
  /** The thread of a per-thread counter; null: the counter belongs to the process or another scope. */
  readonly threadId: number | null;
  /** Whether the value holds until the next sample. */
  readonly holds: boolean;
  readonly timeNs: number;
  readonly value: number;
}

export interface ThreadNameEvent {
  readonly kind: "thread_name";
  readonly threadId: number;
  readonly name: string;
}

export interface CategoryNameEvent {
  readonly kind: "category_name";
  readonly domain: string;
  readonly category: number;
  readonly name: string;
}

/** `NVTX_INJECTION64_PATH` of a process that only the CUDA driver made load the recorder. */
export interface OtherInjectionEvent {
  readonly kind: "other_injection";
  readonly library: string;
}

/** Instructions are not counted: of this thread or, where the reason holds for all, of the process. */
export interface NoInstructionsEvent {
  readonly kind: "no_instructions";
  readonly reason: number;
  /** The system's error number; 0 if no call failed. */
  readonly errno: number;
  /** The level of kernel.perf_event_paranoid; null if unknown. */
  readonly paranoidLevel: number | null;
}

/** GPU activities and the calls that led to them. GPU times are on CUPTI's clock: see GpuTimes. */
export type GpuEvent =
  | LaunchEvent
  | GpuWorkEvent
  | WaitEvent
  | DeviceEvent
  | ClockEvent
  | GpuStateEvent
  | LossEvent
  | ProgramProfilerEvent
  | UnwatchedCallsEvent
  | CounterEvent;

/** What was measured by hardware counters, in a run that measures nothing else of the GPU. */
export type CounterEvent =
  | CounterRangeEvent
  | CounterSessionEvent
  | CounterSessionEndEvent
  | CounterFailureEvent
  | CounterTallyEvent
  | SamplingEvent;

/** The counters of an open range begin, or go on after those of another one. */
export interface CounterRangeEvent extends OnThread {
  readonly kind: "counter_range";
  readonly session: number;
  /** Its number in the session, from 1: its name in the session's file. */
  readonly number: number;
  /** Index among the open push/pop ranges of the thread, from 0 at the outermost. */
  readonly position: number;
}

/** The counters of a context, or of a whole device, are measured into a file from here on. */
export interface CounterSessionEvent {
  readonly kind: "counter_session";
  readonly session: number;
  readonly device: number;
  readonly file: string;
}

/** The file is complete. */
export interface CounterSessionEndEvent {
  readonly kind: "counter_session_end";
  readonly session: number;
  /** Ranges that CUPTI dropped; of samples: how often some were lost. */
  readonly dropped: number;
  /** Ranges or samples. */
  readonly ranges: number;
  /** Whether CUPTI has no further pass to collect. */
  readonly isLastPass: boolean;
}

/** The counters of a whole device are read at an interval from here on. */
export interface SamplingEvent {
  readonly kind: "sampling";
  readonly timeNs: number;
  readonly device: number;
  /** 1: the interval is in nanoseconds; 0: in cycles of the system clock. */
  readonly trigger: number;
  readonly interval: number;
  /** `CLOCK_REALTIME` less `CLOCK_MONOTONIC` at that time. */
  readonly realtimeOffsetNs: bigint;
}

/** Counters could not be measured, in a context or at all. */
export interface CounterFailureEvent {
  readonly kind: "counter_failure";
  /** CUPTI's result code; 0 if the reason is another one. */
  readonly result: number;
  readonly text: string;
}

/** What was measured in the wrong range, or not at all. */
export interface CounterTallyEvent {
  readonly kind: "counter_tally";
  /** Launches during which another thread began or ended the counters of a range. */
  readonly missedLaunches: number;
  /** Ranges whose counters ended only with the next launch. */
  readonly lateEnds: number;
  /** Beginnings of ranges, or devices with samples, beyond the limit. */
  readonly beyondLimit: number;
}

/** A call that launches GPU work or waits for it. */
export interface LaunchEvent extends OnThread {
  readonly kind: "launch";
  readonly correlation: number;
  /** Whether it launches kernels, rather than only copies. */
  readonly startsKernels: boolean;
}

export interface GpuWorkEvent {
  readonly kind: "gpu_work";
  readonly activity: GpuActivityKind;
  readonly correlation: number;
  readonly device: number;
  readonly context: number;
  readonly cudaStream: number;
  readonly startGpuNs: number;
  readonly endGpuNs: number;
  readonly name: string;
  readonly bytes: number | null;
  readonly graph: { readonly id: number; readonly node: bigint } | null;
}

export interface WaitEvent {
  readonly kind: "wait";
  readonly correlation: number;
  readonly cudaStream: number;
  /** CUPTI's CUpti_ActivitySynchronizationType. */
  readonly type: number;
  readonly startGpuNs: number;
  readonly endGpuNs: number;
}

export interface DeviceEvent {
  readonly kind: "device";
  readonly index: number;
  readonly name: string;
  /** e.g. `9.0` */
  readonly computeCapability: string;
}

/** Both clocks at one moment. Without any such event, they are one clock. */
export interface ClockEvent {
  readonly kind: "clock";
  readonly gpuNs: number;
  readonly timeNs: number;
}

/** Whether the GPU's work is recorded. */
export interface GpuStateEvent {
  readonly kind: "gpu_state";
  /** Why recording is impossible, completely or in part; null: it is possible. */
  readonly failure: string | null;
  /** CUPTI's result code for the failure. */
  readonly result: number;
}

/** A profiler of the program asked CUPTI for its only subscription. */
export interface ProgramProfilerEvent {
  readonly kind: "program_profiler";
  readonly timeNs: number;
  /** The function of CUPTI that it called. */
  readonly call: string;
  /** File name of the library that called it; empty if unknown. */
  readonly library: string;
  /** Whether the recorder kept CUPTI; otherwise its recording of the GPU ends here. */
  readonly recorderGoesOn: boolean;
}

/** Calls of the program to CUPTI that the recorder could not have seen. */
export interface UnwatchedCallsEvent {
  readonly kind: "unwatched_calls";
  readonly count: number;
}

export interface LossEvent {
  readonly kind: "loss";
  readonly reason: number;
  readonly count: number;
}

export type EventSink = (event: RecordedEvent) => void;

/** Remarks about a recording, each stored once with its count. */
export interface NoteCollector {
  /** Counts another case of `what`, e.g. `pops without an open range`. */
  readonly count: (what: string) => void;
  readonly add: (note: string) => void;
  readonly list: () => string[];
}

export function createNotes(): NoteCollector {
  const notes = new Set<string>();
  const counts = new Map<string, number>();
  return {
    add: (note) => void notes.add(note),
    count: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    list: () => [...notes, ...[...counts].map(([what, count]) => `${what}: ${count}`)],
  };
}

/** The name of a system's error number. Node's own function does not know all of them, for one EDQUOT. */
export function errorName(errno: number): string {
  const errnoEntry = Object.entries(constants.errno).find(([, number]) => number === errno);
  return errnoEntry?.[0] ?? `error ${errno}`;
}
