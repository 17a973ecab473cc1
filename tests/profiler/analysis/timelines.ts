/** Short ways to write timelines, and generators of random ones. */
import fc from "fast-check";
import type {
  GpuActivityKind,
  KernelInstance,
  ProcessTimeline,
  RangeInstance,
  RangeKind,
  ThreadCounts,
  Timeline,
} from "../../../src/profiler/model/timeline.ts";

export interface RangeSketch {
  readonly name: string;
  readonly start: number;
  readonly end: number | null;
  readonly thread?: number;
  readonly domain?: string;
  readonly kind?: RangeKind;
  readonly startSequence?: number;
  readonly endSequence?: number;
  readonly cpu?: number;
  readonly instructions?: number;
  readonly counts?: ThreadCounts;
  readonly payload?: number | bigint;
  readonly category?: number;
}

export interface KernelSketch {
  readonly name: string;
  readonly launch: number;
  readonly ns: number;
  readonly thread?: number | null;
  readonly device?: number;
  readonly kind?: GpuActivityKind;
  readonly bytes?: number;
  readonly stream?: number;
  readonly context?: number;
  readonly isPageable?: boolean;
}

export interface WaitSketch {
  readonly call: number;
  readonly ns: number;
  readonly thread?: number;
}

export interface ProcessSketch {
  readonly pid?: number;
  readonly ranges?: readonly RangeSketch[];
  readonly kernels?: readonly KernelSketch[];
  readonly waits?: readonly WaitSketch[];
  readonly defaultStreams?: ProcessTimeline["defaultStreams"];
  readonly endNs?: number;
  readonly finished?: boolean;
  readonly categoryNames?: ProcessTimeline["categoryNames"];
  readonly rank?: ProcessTimeline["rank"];
  readonly threadNames?: ProcessTimeline["threadNames"];
  readonly notes?: readonly string[];
}

export function processOf(sketch: ProcessSketch): ProcessTimeline {
  const ranges = (sketch.ranges ?? []).map(
    (range, id): RangeInstance => ({
      id,
      kind: range.kind ?? "push_pop",
      domain: range.domain ?? "",
      name: range.name,
      threadId: range.thread ?? 1,
      startNs: range.start,
      endNs: range.end,
      endThreadId: range.end === null ? null : (range.thread ?? 1),
      category: range.category ?? null,
      color: null,
      payload: range.payload ?? null,
      ...(range.cpu !== undefined && { cpuNs: range.cpu }),
      ...(range.instructions !== undefined && { instructions: range.instructions }),
      ...(range.counts !== undefined && { counts: range.counts }),
      ...(range.startSequence === undefined ? {} : { startSequence: range.startSequence }),
      ...(range.endSequence === undefined ? {} : { endSequence: range.endSequence }),
    }),
  );
  const kernels = (sketch.kernels ?? []).map(
    (kernel): KernelInstance => ({
      name: kernel.name,
      device: kernel.device ?? 0,
      stream: kernel.stream ?? null,
      ...(kernel.context !== undefined && { context: kernel.context }),
      ...(kernel.isPageable !== undefined && { isPageable: kernel.isPageable }),
      launchThreadId: kernel.thread === undefined ? 1 : kernel.thread,
      launchNs: kernel.launch,
      startNs: kernel.launch + 1000,
      endNs: kernel.launch + 1000 + kernel.ns,
      ...(kernel.kind !== undefined && { kind: kernel.kind }),
      ...(kernel.bytes !== undefined && { bytes: kernel.bytes }),
    }),
  );
  return {
    pid: sketch.pid ?? 100,
    parentPid: null,
    executable: "prog",
    startNs: 0,
    endNs: sketch.endNs ?? Math.max(0, ...ranges.map(({ startNs, endNs }) => endNs ?? startNs)),
    finished: sketch.finished ?? true,
    ranges: ranges.sort((a, b) => a.startNs - b.startNs),
    marks: [],
    ...(sketch.categoryNames !== undefined && { categoryNames: sketch.categoryNames }),
    ...(sketch.rank !== undefined && { rank: sketch.rank }),
    kernels,
    ...(sketch.threadNames !== undefined && { threadNames: sketch.threadNames }),
    ...(sketch.defaultStreams !== undefined && { defaultStreams: sketch.defaultStreams }),
    ...(sketch.waits !== undefined && {
      synchronizations: sketch.waits.map(({ call, ns, thread }) => ({
        kind: "context" as const,
        threadId: thread ?? 1,
        callNs: call,
        startNs: call + 10,
        endNs: call + 10 + ns,
        stream: null,
      })),
    }),
    notes: sketch.notes ?? [],
  };
}

export const timelineOf = (
  processes: readonly ProcessSketch[],
  notes: readonly string[] = [],
): Timeline => ({
  collector: "recorder",
  clock: "CLOCK_MONOTONIC",
  originNs: 0n,
  processes: processes.map(processOf),
  notes,
});

/** Steps of two libraries that differ in their NVTX domain only, around loads of a third library. */
export const twoLibraries: ProcessSketch = {
  pid: 7,
  ranges: [
    { name: "step", start: 0, end: 10_000_000, domain: "A" },
    { name: "load", start: 1_000_000, end: 4_000_000, domain: "io" },
    { name: "step", start: 20_000_000, end: 50_000_000, domain: "B" },
    { name: "load", start: 21_000_000, end: 41_000_000, domain: "io" },
  ],
  kernels: [
    { name: "gemm", launch: 2_000_000, ns: 100_000 },
    { name: "gemm", launch: 30_000_000, ns: 7_000_000 },
  ],
};

/** Ranges that overlap in every way, on few threads, with few names, so that they collide. */
export const anyRanges: fc.Arbitrary<RangeSketch[]> = fc.array(
  fc
    .record({
      name: fc.constantFrom("a", "b", "c", "(outside)", ""),
      start: fc.integer({ min: 0, max: 30 }),
      length: fc.integer({ min: 0, max: 12 }),
      closed: fc.integer({ min: 0, max: 9 }),
      thread: fc.integer({ min: 1, max: 3 }),
      domain: fc.constantFrom("", "", "x"),
      kind: fc.constantFrom<RangeKind>("push_pop", "push_pop", "start_end"),
    })
    .map(({ start, length, closed, ...rest }) => ({
      ...rest,
      start,
      end: closed === 0 ? null : start + length,
    })),
  { maxLength: 25 },
);

/** What is measured of a range, as far as it is. */
export const anyNumbers = fc.record(
  {
    cpu: fc.integer({ min: 0, max: 20 }),
    instructions: fc.integer({ min: 0, max: 1000 }),
    counts: fc.array(fc.nat(9), { minLength: 2, maxLength: 3 }),
    payload: fc.nat(99),
    category: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: [] },
);

export const anyKernels: fc.Arbitrary<KernelSketch[]> = fc.array(
  fc.record({
    name: fc.constantFrom("k1", "k2"),
    launch: fc.integer({ min: 0, max: 45 }),
    ns: fc.integer({ min: 0, max: 1_000_000 }),
    thread: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 8, nil: null }),
    device: fc.integer({ min: 0, max: 1 }),
  }),
  { maxLength: 20 },
);

/**
 * Well-nested push/pop traces: each thread opens and closes like a program does, with kernels and
 * operations in between; every event of a thread has a time of its own.
 */
export const wellNested: fc.Arbitrary<ProcessSketch> = fc
  .array(
    fc.record({
      thread: fc.integer({ min: 1, max: 3 }),
      action: fc.constantFrom("open", "open", "close", "launch"),
      name: fc.constantFrom("a", "b", "c"),
      ns: fc.integer({ min: 1, max: 1000 }),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    const ranges: { -readonly [K in keyof RangeSketch]: RangeSketch[K] }[] = [];
    const kernels: KernelSketch[] = [];
    const open = new Map<number, typeof ranges>();
    steps.forEach(({ thread, action, name, ns }, index) => {
      const stack = open.get(thread) ?? [];
      open.set(thread, stack);
      if (action === "launch") kernels.push({ name: `k${name}`, launch: index, ns, thread });
      else if (action === "open") {
        const range = { name, start: index, end: null, thread };
        ranges.push(range);
        stack.push(range);
      } else {
        const range = stack.pop();
        if (range !== undefined) range.end = index;
      }
    });
    let time = steps.length;
    for (const stack of open.values())
      for (let range = stack.pop(); range !== undefined; range = stack.pop()) range.end = time++;
    return { ranges, kernels };
  });
