/** The timeline: what a collector recorded, in a form that no tool owns. */
import type { HostCallList } from "./host-calls.ts";
import type { PayloadNumber } from "./payload.ts";

/**
 * The recording of a collector, in a collector-independent form: ranges, marks, operations and kernels on one clock.
 * Importers (recorder files, nsys SQLite, ncu reports) build it; the region tree reads it.
 *
 * Times are nanoseconds since `Timeline.originNs` on the collector's clock, as plain numbers: they stay exact for 104
 * days.
 */
export interface Timeline {
  /** `recorder`, `counters`, `nsys` or `ncu`. */
  readonly collector: string;
  /** Name of the clock, e.g. `CLOCK_MONOTONIC`. */
  readonly clock: string;
  /**
   * The clock's absolute value at time 0, for alignment with other tools; with several clocks, that of the first
   * process.
   */
  readonly originNs: bigint;
  readonly processes: readonly ProcessTimeline[];
  /** When the program began and ended according to the process that started it; absent if unknown. */
  readonly span?: ProgramSpan;
  /** Notes for readers of the report: truncated file, dropped events, unclosed ranges. */
  readonly notes: readonly string[];
}

/** The span of the started program, which may itself have started the recorded ones. On the timeline's clock. */
export interface ProgramSpan {
  readonly pid: number;
  readonly startNs: number;
  readonly endNs: number;
}

/**
 * When the run began and ended: with its first process or the program that was started, and their end. What a launcher of several ranks does
 * before and after them is no part of it. Without processes or a program, 0.
 */
export function runInterval({
  processes,
  span,
}: Pick<Timeline, "processes" | "span">): Pick<ProcessTimeline, "startNs" | "endNs"> {
  const isPart =
    span !== undefined && (processes.length < 2 || processes.some(({ pid }) => pid === span.pid));
  const all: readonly Pick<ProcessTimeline, "startNs" | "endNs">[] = isPart
    ? [...processes, span]
    : processes;
  return all.length === 0
    ? { startNs: 0, endNs: 0 }
    : {
        startNs: Math.min(...all.map(({ startNs }) => startNs)),
        endNs: Math.max(...all.map(({ endNs }) => endNs)),
      };
}

/** A category as the program named it. */
export interface CategoryName {
  readonly domain: string;
  readonly category: number;
  readonly name: string;
}

/** The identity of a process in a parallel program, as its launcher gives it. */
export interface RankIdentity {
  /** From 0. */
  readonly rank: number;
  /** The number of ranks. */
  readonly size: number;
  /** The rank on its host; null if the launcher does not give it. */
  readonly localRank: number | null;
  readonly host: string;
}

/** The recording of one process. Times are nanoseconds since `Timeline.originNs`. */
export interface ProcessTimeline {
  readonly pid: number;
  readonly parentPid: number | null;
  /** Distinguishes processes of several machines, or of several boots of one; absent if unknown. */
  readonly machine?: number;
  /** Absent if the program is not parallel, or the collector does not know it. */
  readonly rank?: RankIdentity;
  /** Executable path or name, as the collector knows it. */
  readonly executable: string;
  /** The first and the last recorded time, of ranges, GPU work and calls. */
  readonly startNs: number;
  readonly endNs: number;
  /** Whether the process reported its end to the collector; if not, `notes` explain what that means. */
  readonly finished: boolean;
  /** In order of `startNs`; ties in order of opening. Only the first ones if `allRanges` is present. */
  readonly ranges: readonly RangeInstance[];
  /** All ranges, read again from the file, if there are too many to keep. */
  readonly allRanges?: RangeStream;
  readonly marks: readonly MarkInstance[];
  readonly kernels: KernelList;
  /** The program's names of its threads, by OS thread id; absent if the collector does not record them. */
  readonly threadNames?: ReadonlyMap<number, string>;
  /** The program's names of its categories; absent if the collector does not record them. */
  readonly categoryNames?: readonly CategoryName[];
  /** The program's NVTX counters, and hardware counters of its devices; absent without any. */
  readonly counters?: readonly CounterSeries[];
  /** Waits of the host for the GPU, by start; absent if the collector does not record them. */
  readonly synchronizations?: readonly SynchronizationInstance[];
  /** The null stream of each context; absent if the collector does not record which streams these are. */
  readonly defaultStreams?: readonly ContextStream[];
  /** Calls of its threads to CUDA and to the system; absent if the collector does not record them. */
  readonly hostCalls?: HostCallList;
  /** What its threads were doing, by time; absent if the collector does not sample them. */
  readonly threadSamples?: readonly ThreadSample[];
  readonly notes: readonly string[];
}

/** A counter of the program or of the hardware, with its samples. */
export interface CounterSeries {
  readonly domain: string;
  readonly name: string;
  /** Empty if unknown. */
  readonly unit: string;
  /** The thread of a per-thread counter; null: the counter belongs to the process or another scope. */
  readonly threadId: number | null;
  /** Whether a value holds until the next one. */
  readonly holds: boolean;
  /** The sample times in order, and their values. */
  readonly timesNs: Float64Array;
  readonly values: Float64Array;
  /** When each value ends to hold, in order; absent: with the next one. Only of values that hold. */
  readonly endsNs?: Float64Array;
}

/** How NVTX opened a range: per-thread stack, or process-wide with an id. */
export type RangeKind = "push_pop" | "start_end";

/** NVTX event attributes shared by ranges and marks. */
export interface EventAttributes {
  readonly category: number | null;
  /** ARGB, e.g. 0xff00ff00. */
  readonly color: number | null;
  /** The payload as a number or, where JavaScript cannot hold it exactly, a decimal bigint. */
  readonly payload: number | bigint | null;
}

/** The system's counts for a thread, in the order of `THREAD_COUNTS`; recordings of format 1.8 and older lack the last two. */
export type ThreadCounts = readonly number[];

/** Names and units of `ThreadCounts` in reports. */
export const THREAD_COUNTS = [
  "minor_page_faults",
  "major_page_faults",
  "voluntary_context_switches",
  "involuntary_context_switches",
  "blocks_read",
  "blocks_written",
] as const;

/**
 * What a thread was doing when it was looked at: `running` also while it waits for a processor. All others wait: for a mutex
 * or barrier (`lock`), for a condition variable or semaphore (with a time limit: `timed_condition`), for the end of a
 * thread (`join`), for files, for a device of another kind (`device`), for several things at once (`poll`).
 */
export const THREAD_STATES = [
  "running",
  "lock",
  "condition",
  "timed_condition",
  "join",
  "sleep",
  "file",
  "pipe",
  "socket",
  "poll",
  "child",
  "device",
  "other",
  "unknown",
] as const;

/** What a thread does: it runs, or waits for something. */
export type ThreadState = (typeof THREAD_STATES)[number];

/** A look at a thread, with what the system counted for it since the look before. */
export interface ThreadSample {
  readonly threadId: number;
  readonly timeNs: number;
  /** The look before; `timeNs` for the first one. */
  readonly sinceNs: number;
  readonly state: ThreadState;
  /** Time in the queue of a processor, and how often it then got one. */
  readonly queuedNs: number;
  readonly slices: number;
  /** Processor time in the kernel. */
  readonly systemNs: number;
  readonly minorFaults: number;
  readonly majorFaults: number;
  /** Processor time of children of the process that ended meanwhile, and that it waited for. */
  readonly childrenNs: number;
}

/** A range, from its opening to its closing. */
export interface RangeInstance extends EventAttributes {
  /** Unique within its process. */
  readonly id: number;
  readonly kind: RangeKind;
  /** NVTX domain name; empty for the default domain. */
  readonly domain: string;
  readonly name: string;
  /** OS thread id of the opening thread. */
  readonly threadId: number;
  readonly startNs: number;
  /** Null: never closed. */
  readonly endNs: number | null;
  /** OS thread id of the closing thread; differs from `threadId` only for start/end ranges. */
  readonly endThreadId: number | null;
  /**
   * Processor time of its thread from the opening to the closing; for a range that was never closed, up to the last
   * known time. Null if two threads opened and closed it; absent if none was recorded.
   */
  readonly cpuNs?: number | null;
  /** Counts of the same thread during the range; absent if they were not recorded. */
  readonly counts?: ThreadCounts | null;
  /**
   * Instructions that the same thread executed in user space during the range; null if they were not counted all the time,
   * absent if they were not counted at all.
   */
  readonly instructions?: number | null;
  /**
   * Position of the opening and of the closing in the order in which the process's events were
   * recorded. They decide between events of equal time, so that nesting survives a coarse clock.
   * Where a collector does not know them, a range counts as closed before anything that happens
   * at its end time.
   */
  readonly startSequence?: number;
  readonly endSequence?: number | undefined;
  /** Numbers of its structured payloads, first those of the opening; absent without any. */
  readonly values?: readonly PayloadNumber[] | undefined;
}

/** Ranges that are not kept in memory, but read from the beginning each time. */
export interface RangeStream {
  readonly count: number;
  /** Calls the handlers in order of time. */
  readonly replay: (handlers: RangeHandlers) => void;
}

/** Receives the ranges of a process as they open and close, in order of time. */
export interface RangeHandlers {
  /**
   * The range may have no end yet.
   *
   * @param endNs when it will close, infinity for never; null if the reader does not look ahead, because ranges of a
   * thread close in the reverse order of their opening
   */
  readonly opens: (range: RangeInstance, endNs: number | null) => void;
  /** The same object, with its end. Not called for ranges that were never closed. */
  readonly closes: (range: RangeInstance) => void;
}

/** A stream by CUPTI's ids. */
export interface ContextStream {
  readonly context: number;
  readonly stream: number;
}

/** Visits ranges in order of time, up to the times that it is asked for. */
export interface RangeReplay {
  /** Visits what opens before a time and what closes until then. */
  readonly until: (ns: number) => void;
}

/**
 * Replays ranges whose ends are known. At one time those close that were open before, the last opened first, and then others open.
 *
 * @param rangeAt the ranges by their place in order of opening, made when it is asked for
 */
export function createRangeReplay(
  length: number,
  rangeAt: (place: number) => RangeInstance | undefined,
  { opens, closes }: RangeHandlers,
): RangeReplay {
  /** Those that end: the next one last. */
  const open: { readonly range: RangeInstance; readonly endNs: number }[] = [];
  let place = 0;
  const closeUntil = (ns: number): void => {
    for (let next = open.at(-1); next !== undefined && next.endNs <= ns; next = open.at(-1)) {
      open.pop();
      closes(next.range);
    }
  };
  const openRange = (range: RangeInstance): void => {
    const { startNs, endNs } = range;
    closeUntil(startNs);
    opens(range, endNs ?? Number.POSITIVE_INFINITY);
    if (endNs === null) return;
    if (endNs <= startNs) {
      closes(range);
      return;
    }
    let low = 0;
    for (let high = open.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((open[middle]?.endNs ?? 0) >= endNs) low = middle + 1;
      else high = middle;
    }
    open.splice(low, 0, { range, endNs });
  };
  return {
    until(ns) {
      for (; place < length; place++) {
        const range = rangeAt(place);
        if (range === undefined || range.startNs >= ns) break;
        openRange(range);
      }
      closeUntil(ns);
    },
  };
}

/** Visits all ranges of a process, including those that are not kept in memory; the latter as they close, and last those that never did. */
export function forEachRange(
  { ranges, allRanges }: Pick<ProcessTimeline, "ranges" | "allRanges">,
  visit: (range: RangeInstance) => void,
): void {
  if (allRanges === undefined) {
    for (const range of ranges) visit(range);
    return;
  }
  const open = new Set<RangeInstance>();
  allRanges.replay({
    opens: (range) => void open.add(range),
    closes(range) {
      open.delete(range);
      visit(range);
    },
  });
  for (const range of open) visit(range);
}

/** A point in time that the program marked (`nvtxMark`). */
export interface MarkInstance extends EventAttributes {
  readonly domain: string;
  readonly name: string;
  readonly threadId: number;
  readonly timeNs: number;
  /** As for a range. */
  readonly values?: readonly PayloadNumber[];
}

/** A GPU kernel, memory copy or memory set. Collectors without a GPU deliver none. */
export interface KernelInstance {
  /** A kernel if absent. Only kernels count as kernels in a report. */
  readonly kind?: GpuActivityKind;
  /** A kernel's demangled name; for other activities a name such as `[CUDA memcpy Host-to-Device]`. */
  readonly name: string;
  /** CUDA device index. */
  readonly device: number;
  readonly context?: number;
  readonly stream: number | null;
  /**
   * The launching thread and the time of the launch: the launch, not the execution, determines the region. Null: the
   * launch was not recorded. Then no range contains the kernel, and `launchNs` is its start.
   */
  readonly launchThreadId: number | null;
  readonly launchNs: number;
  /** Execution on the device. */
  readonly startNs: number;
  readonly endNs: number;
  /** The number of bytes copied or set. */
  readonly bytes?: number;
  /** Whether a copy reads or writes pageable memory of the host; absent if the collector does not say. */
  readonly isPageable?: boolean;
  /** Identifies the API call that launched it: one launch of a CUDA graph starts many. */
  readonly correlation?: number;
  /** The CUDA graph node that it executed. */
  readonly graph?: { readonly id: number; readonly node: bigint };
}

/**
 * In order of `launchNs`. Arrays are such lists, too; readers of large files use tables that make an object for each
 * kernel on access.
 */
export interface KernelList extends Iterable<KernelInstance> {
  readonly length: number;
  /** Set if the list was built in order: checking millions of kernels takes time. */
  readonly isOrdered?: true;
  /** Undefined beyond the end; indices count from 0. */
  readonly at: (index: number) => KernelInstance | undefined;
}

/** Whether any activity is a kernel, rather than only copies and sets. */
export function ranKernels({ kernels }: Pick<ProcessTimeline, "kernels">): boolean {
  for (const { kind = "kernel" } of kernels) if (kind === "kernel") return true;
  return false;
}

/** An activity of the GPU: a kernel, a memory copy, or a memory set. */
export type GpuActivityKind = "kernel" | "memcpy" | "memset";

/** A call in which a thread waited for the GPU. */
export interface SynchronizationInstance {
  readonly kind: "event" | "stream" | "context";
  /** The waiting thread and the time of its call, which determine the region. */
  readonly threadId: number;
  readonly callNs: number;
  /** The wait itself. */
  readonly startNs: number;
  readonly endNs: number;
  readonly stream: number | null;
}

/** The machine of a recording; null if its file does not contain a fact. */
export interface RecordedMachine {
  readonly hostname: string | null;
  readonly os: string | null;
  readonly cpu: string | null;
  /** Names of all its GPUs, in CUDA's order if the file has it. */
  readonly gpus: readonly string[];
}

// Names for CUPTI's numbers, independent of the tool that recorded them, because `compare` matches by name.

/** By `CUpti_ActivityMemcpyKind`, in the words of `nsys stats`. */
const COPY_KINDS = [
  "Unknown",
  "Host-to-Device",
  "Device-to-Host",
  "Host-to-Array",
  "Array-to-Host",
  "Array-to-Array",
  "Array-to-Device",
  "Device-to-Array",
  "Device-to-Device",
  "Host-to-Host",
  "Peer-to-Peer",
  "Unified Host-to-Device",
  "Unified Device-to-Host",
  "Unified Device-to-Device",
];

/** e.g. `[CUDA memcpy Host-to-Device]` */
export const memoryCopyName = (kind: number): string =>
  `[CUDA memcpy ${COPY_KINDS[kind] ?? `kind ${kind}`}]`;

/** By `CUpti_ActivitySynchronizationType`. Types that are not listed do not block the host. */
export const WAIT_KINDS: ReadonlyMap<number, SynchronizationInstance["kind"]> = new Map([
  [1, "event"],
  [3, "stream"],
  [4, "context"],
]);
