import type { PayloadNumber } from "./payload.ts";

/**
 * What a collector saw, in a form no collector owns: ranges, marks, operations and kernels on one
 * clock. Importers (recorder files, nsys SQLite, ncu reports) build it; the region tree reads it.
 *
 * Times are nanoseconds since `Timeline.originNs` on the collector's clock, as plain numbers: they
 * stay exact for 104 days.
 */
export interface Timeline {
  /** `recorder`, `nsys` or `ncu`. */
  readonly collector: string;
  /** Name of the clock, e.g. `CLOCK_MONOTONIC`. */
  readonly clock: string;
  /** The clock's absolute value at time 0, for lining up with other tools; of several clocks, that of the first process. */
  readonly originNs: bigint;
  readonly processes: readonly ProcessTimeline[];
  /** When the program began and ended as the process that started it saw it; absent where that is not known. */
  readonly span?: ProgramSpan;
  /** What a reader of the report must know: truncated file, dropped events, unclosed ranges. */
  readonly notes: readonly string[];
}

/** Of the program that was started, which may have started those that were recorded. On the timeline's clock. */
export interface ProgramSpan {
  readonly pid: number;
  readonly startNs: number;
  readonly endNs: number;
}

/** A category as the program named it. */
export interface CategoryName {
  readonly domain: string;
  readonly category: number;
  readonly name: string;
}

/** Which process of a parallel program one is, as its launcher says. */
export interface RankIdentity {
  /** From 0. */
  readonly rank: number;
  /** How many there are. */
  readonly size: number;
  /** On its host; null where the launcher does not say. */
  readonly localRank: number | null;
  readonly host: string;
}

/** What one process did. Times are nanoseconds since `Timeline.originNs`. */
export interface ProcessTimeline {
  readonly pid: number;
  readonly parentPid: number | null;
  /** Tells apart those of several machines, or of several starts of one; absent where that is not known. */
  readonly machine?: number;
  /** Absent of programs that are not parallel, and where the collector does not know it. */
  readonly rank?: RankIdentity;
  /** Executable path or name, as the collector knows it. */
  readonly executable: string;
  /** First and last thing seen. */
  readonly startNs: number;
  readonly endNs: number;
  /** Whether the process told the collector that it ends; if not, `notes` say what that means. */
  readonly finished: boolean;
  /** In order of `startNs`; a tie is broken by the order in which they were opened. The first ones where `allRanges` is present. */
  readonly ranges: readonly RangeInstance[];
  /** All of them, read again where there are too many to keep. */
  readonly allRanges?: RangeStream;
  readonly marks: readonly MarkInstance[];
  readonly kernels: KernelList;
  /** What the program calls its threads, by OS thread id; absent where the collector does not see that. */
  readonly threadNames?: ReadonlyMap<number, string>;
  /** What the program calls its categories; absent where the collector does not see that. */
  readonly categoryNames?: readonly CategoryName[];
  /** What the program counted through NVTX; absent without any. */
  readonly counters?: readonly CounterSeries[];
  /** Waits of the host for the GPU, by start; absent where the collector does not see them. */
  readonly synchronizations?: readonly SynchronizationInstance[];
  readonly notes: readonly string[];
}

/** A counter of the program's, and what it was when. */
export interface CounterSeries {
  readonly domain: string;
  readonly name: string;
  /** Empty where it is not known. */
  readonly unit: string;
  /** Of a counter of one thread; null: of the process, or of something else. */
  readonly threadId: number | null;
  /** Whether a value holds until the next one. */
  readonly holds: boolean;
  /** In order, and the value of each. */
  readonly timesNs: Float64Array;
  readonly values: Float64Array;
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

/** What the system counts of a thread, in this order: see `THREAD_COUNTS`. */
export type ThreadCounts = readonly [number, number, number, number];

/** Names and units of `ThreadCounts` in reports. */
export const THREAD_COUNTS = [
  "minor_page_faults",
  "major_page_faults",
  "voluntary_context_switches",
  "involuntary_context_switches",
] as const;

/** One range, from when it was opened to when it was closed. */
export interface RangeInstance extends EventAttributes {
  /** Unique in its process. */
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
   * Processor time of its thread from the opening to the closing; of a range that was never closed, as far as it is
   * known. Null where two threads opened and closed it; absent where nothing was recorded of it.
   */
  readonly cpuNs?: number | null;
  /** Of the same thread meanwhile; absent where they were not recorded. */
  readonly counts?: ThreadCounts | null;
  /**
   * Position of the opening and of the closing in the order in which the process's events were
   * recorded. They decide between events of equal time, so that nesting survives a coarse clock.
   * Where a collector does not know them, a range counts as closed before anything that happens
   * at its end time.
   */
  readonly startSequence?: number;
  readonly endSequence?: number | undefined;
  /** Numbers of its structured payloads, those of the opening first; absent without any. */
  readonly values?: readonly PayloadNumber[] | undefined;
}

/** Ranges that are not kept but read again, each time from the first. */
export interface RangeStream {
  readonly count: number;
  /** Calls back in order of time. */
  readonly replay: (handlers: RangeHandlers) => void;
}

/** Receives the ranges of a process as they open and close, in order of time. */
export interface RangeHandlers {
  /**
   * The range may have no end yet.
   *
   * @param endNs when it will close, infinity for never; null where the reader does not look ahead, since ranges of a
   *   thread close in the reverse order of their opening
   */
  readonly opens: (range: RangeInstance, endNs: number | null) => void;
  /** The same object, with its end. Not called for ranges that were never closed. */
  readonly closes: (range: RangeInstance) => void;
}

/** Tells of ranges in order of time, as far as it is asked. */
export interface RangeReplay {
  /** Of what opens before a time, and of what closes until then. */
  readonly until: (ns: number) => void;
}

/**
 * Replays ranges whose ends are known. At one time those close that were open before, the last opened first, and then others open.
 *
 * @param at the ranges by their place in order of opening, made when it is asked for
 */
export function createRangeReplay(
  length: number,
  at: (place: number) => RangeInstance | undefined,
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
        const range = at(place);
        if (range === undefined || range.startNs >= ns) break;
        openRange(range);
      }
      closeUntil(ns);
    },
  };
}

/** Visits all ranges of a process, also those that are not kept; these as they close, and last those that never did. */
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
  /** As those of a range. */
  readonly values?: readonly PayloadNumber[];
}

/** A GPU kernel, memory copy or memory set. Collectors without a GPU deliver none. */
export interface KernelInstance {
  /** What ran; a kernel where absent. Only kernels count as kernels in a report. */
  readonly kind?: GpuActivityKind;
  /** A kernel's demangled name; `[CUDA memcpy Host-to-Device]` and the like for the others. */
  readonly name: string;
  /** CUDA device index. */
  readonly device: number;
  readonly context?: number;
  readonly stream: number | null;
  /**
   * The thread that launched it, and when: the launch, not the execution, decides the region. Null:
   * the launch was not recorded. No range contains the kernel then, and `launchNs` is its start.
   */
  readonly launchThreadId: number | null;
  readonly launchNs: number;
  /** Execution on the device. */
  readonly startNs: number;
  readonly endNs: number;
  /** Copied or set. */
  readonly bytes?: number;
  /** Ties it to the API call that launched it: one call of a CUDA graph launches many. */
  readonly correlation?: number;
  /** The CUDA graph it was a node of. */
  readonly graph?: { readonly id: number; readonly node: bigint };
}

/**
 * In order of `launchNs`. Arrays are such lists, too; readers of large files deliver tables that make an
 * object for each kernel when it is asked for.
 */
export interface KernelList extends Iterable<KernelInstance> {
  readonly length: number;
  /** Set where the list was made in order: to look at millions again takes time. */
  readonly isOrdered?: true;
  /** Undefined where there is none; indices count from 0. */
  readonly at: (index: number) => KernelInstance | undefined;
}

/** Whether any of them is a kernel, and not only copies and sets. */
export function ranKernels({ kernels }: Pick<ProcessTimeline, "kernels">): boolean {
  for (const { kind = "kernel" } of kernels) if (kind === "kernel") return true;
  return false;
}

/** What the GPU was busy with: a kernel, a copy of memory, or setting memory to a value. */
export type GpuActivityKind = "kernel" | "memcpy" | "memset";

/** A call in which a thread waited for the GPU. */
export interface SynchronizationInstance {
  readonly kind: "event" | "stream" | "context";
  /** The waiting thread, and when it called: that decides the region. */
  readonly threadId: number;
  readonly callNs: number;
  /** The wait itself. */
  readonly startNs: number;
  readonly endNs: number;
  readonly stream: number | null;
}

/** The machine on which a timeline was recorded; null where its file does not say. */
export interface RecordedMachine {
  readonly hostname: string | null;
  readonly os: string | null;
  readonly cpu: string | null;
  /** Names of all its GPUs, in CUDA's order where the file has it. */
  readonly gpus: readonly string[];
}

// Names for CUPTI's numbers, the same whichever tool recorded them, because `compare` matches by name.

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
