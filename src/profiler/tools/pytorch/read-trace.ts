/**
 * Reads a trace of the PyTorch profiler (Kineto) into a timeline: operators and `record_function` as ranges; kernels,
 * copies and sets at the calls that launched them; waits for the GPU; memory of the allocator as counters; collectives
 * with their sizes.
 */
import { errorCode } from "../../../foundation/system/files.ts";
import { grouped, partOf, plural } from "../../../foundation/text/plural.ts";
import { createColumn, createIdIndex, doubles, words } from "../../model/columns.ts";
import { createHostCalls } from "../../model/host-calls.ts";
import { createKernelTable, type ExecutedKernel } from "../../model/kernel-table.ts";
import type { PayloadField, PayloadNumber } from "../../model/payload.ts";
import { createRangeTable, MOST_KEPT, type RecordedRanges } from "../../model/range-table.ts";
import {
  type CounterSeries,
  type GpuActivityKind,
  memoryCopyName,
  type RankIdentity,
  type RecordedMachine,
  type SynchronizationInstance,
  type Timeline,
} from "../../model/timeline.ts";
import { createEventStream } from "./event-stream.ts";

export interface TorchTrace {
  readonly timeline: Timeline;
  readonly machine: RecordedMachine;
  /** Why a part of the file could not be read; null for a whole one. */
  readonly problem: string | null;
  readonly events: number;
}

/** An event of a Chrome trace; Kineto's times are microseconds with a fraction. */
interface TraceEvent {
  readonly ph?: unknown;
  readonly cat?: unknown;
  readonly name?: unknown;
  readonly pid?: unknown;
  readonly tid?: unknown;
  readonly ts?: unknown;
  readonly dur?: unknown;
  readonly args?: Arguments;
}

type Arguments = Readonly<Record<string, unknown>>;

/** @param most ranges of which objects are kept: see `createRangeTable` */
export async function readTorchTrace(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most = MOST_KEPT,
): Promise<TorchTrace> {
  const draft = createDraft();
  const stream = createEventStream((events) => {
    for (const event of events) if (typeof event === "object" && event !== null) draft.add(event);
  });
  let cut: string | null = null;
  try {
    for await (const chunk of chunks) if (!stream.push(chunk)) break;
  } catch (error) {
    // A compressed file without its end still has what comes before.
    if (!isCutStream(error)) throw error;
    cut = "its end is missing";
  }
  const { header, events, problem } = stream.finish();
  return { ...draft.finish(header, most), problem: cut ?? problem, events };
}

const isCutStream = (error: unknown): boolean =>
  ["Z_BUF_ERROR", "Z_DATA_ERROR"].includes(errorCode(error) ?? "");

type Kind = "range" | "call" | GpuActivityKind;

/** By category, in lower case; the last lines are the names of the first versions. */
const KINDS: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ["cpu_op", "range"],
  ["user_annotation", "range"],
  ["cuda_runtime", "call"],
  ["cuda_driver", "call"],
  ["kernel", "kernel"],
  ["gpu_memcpy", "memcpy"],
  ["gpu_memset", "memset"],
  // A build without Kineto gives no category.
  [undefined, "range"],
  ["operator", "range"],
  ["runtime", "call"],
  ["memcpy", "memcpy"],
  ["memset", "memset"],
]);

const kindOf = (category: unknown): Kind | undefined =>
  KINDS.get(category) ??
  (typeof category === "string" ? KINDS.get(category.toLowerCase()) : undefined);

/** Events are not in the order of their times: some precede the first. */
const MARGIN_US = 3_600_000_000;
/** Times above are counted from 1970, too many nanoseconds to be exact. */
const EXACT_US = 2 ** 42;

const WAIT_CALL = /^(?:cuda|cu|hip)(Device|Ctx|Stream|Event)Synchronize/;

function createDraft() {
  const ranges = createRangeTable();
  const kernels = createKernelTable();
  const calls = createCalls();
  const hostCalls = createHostCalls();
  const memory = createMemory();
  const waits: SynchronizationInstance[] = [];
  const threads = new Map<number, string>();
  const names = new Map<number, string>();
  let baseUs: number | undefined;
  let pid: number | undefined;
  const others = new Set<number>();
  let startNs = Number.POSITIVE_INFINITY;
  let endNs = Number.NEGATIVE_INFINITY;
  let activities = 0;
  let pythonCalls = 0;

  const nsOf = (us: number): number => {
    baseUs ??= us > EXACT_US ? Math.floor(us) - MARGIN_US : 0;
    return Math.round((us - baseUs) * 1000);
  };

  const see = (start: number, end: number): void => {
    if (start < startNs) startNs = start;
    if (end > endNs) endNs = end;
  };

  const seeProcess = (id: unknown): void => {
    if (typeof id !== "number") return;
    pid ??= id;
    if (id !== pid) others.add(id);
  };

  const addRange = (event: TraceEvent, start: number, end: number, args: Arguments): void => {
    const threadId = numberIn(event.tid) ?? 0;
    // The profiler ended before them.
    const isOpen = args["finished"] === "false";
    const values = collectiveNumbers(args);
    seeProcess(event.pid);
    see(start, end);
    ranges.add({
      kind: "push_pop",
      domain: "",
      name: String(event.name),
      threadId,
      category: null,
      color: null,
      payload: null,
      startNs: start,
      endNs: isOpen ? null : end,
      endThreadId: isOpen ? null : threadId,
      ...(values.length > 0 && { values }),
    });
  };

  const addCall = (event: TraceEvent, start: number, end: number, args: Arguments): void => {
    const threadId = numberIn(event.tid) ?? 0;
    seeProcess(event.pid);
    see(start, end);
    const correlation = numberIn(args["correlation"]);
    if (correlation !== null) calls.add(correlation, threadId, start);
    hostCalls.add({ api: "cuda", name: String(event.name), threadId, startNs: start, endNs: end });
    const [, waited] = WAIT_CALL.exec(String(event.name)) ?? [];
    if (waited === undefined) return;
    waits.push({
      kind: waited === "Stream" ? "stream" : waited === "Event" ? "event" : "context",
      threadId,
      callNs: start,
      startNs: start,
      endNs: end,
      stream: null,
    });
  };

  const addActivity = (
    kind: GpuActivityKind,
    event: TraceEvent,
    {
      start,
      end,
      args,
    }: { readonly start: number; readonly end: number; readonly args: Arguments },
  ): void => {
    activities++;
    see(start, end);
    const kernel: { -readonly [K in keyof ExecutedKernel]: ExecutedKernel[K] } = {
      kind,
      name: activityName(kind, String(event.name)),
      device: numberIn(args["device"]) ?? numberIn(event.pid) ?? 0,
      stream: numberIn(args["stream"]) ?? numberIn(event.tid),
      startNs: start,
      endNs: end,
    };
    const context = numberIn(args["context"]);
    if (context !== null) kernel.context = context;
    const size = numberIn(args["bytes"]);
    if (size !== null) kernel.bytes = size;
    const memory = /\((\w+) -> (\w+)\)$/.exec(String(event.name));
    if (kind === "memcpy" && memory !== null) kernel.isPageable = memory.includes("Pageable");
    const correlation = numberIn(args["correlation"]);
    if (correlation !== null && correlation > 0) kernel.correlation = correlation;
    const node = numberIn(args["graph node id"]);
    if (node !== null && node > 0)
      kernel.graph = { id: numberIn(args["graph id"]) ?? 0, node: BigInt(Math.trunc(node)) };
    kernels.add(kernel);
  };

  return {
    add(event: TraceEvent): void {
      const { ph, name, args = NO_ARGUMENTS } = event;
      if (ph === "M") {
        const said = args["name"];
        if (typeof said !== "string" || typeof event.pid !== "number") return;
        if (name === "process_name") names.set(event.pid, said);
        const thread = numberIn(event.tid);
        if (name === "thread_name" && thread !== null) threads.set(thread, ownName(said));
        return;
      }
      const ts = numberIn(event.ts);
      if (ts === null) return;
      if (ph === "X") {
        const kind = kindOf(event.cat);
        if (kind === undefined) {
          if (event.cat === "python_function") pythonCalls++;
          return;
        }
        const start = nsOf(ts);
        const end = Math.max(start, nsOf(ts + (numberIn(event.dur) ?? 0)));
        if (kind === "range") addRange(event, start, end, args);
        else if (kind === "call") addCall(event, start, end, args);
        else addActivity(kind, event, { start, end, args });
      } else if (ph === "i" && name === "[memory]") memory.add(nsOf(ts), args);
    },
    finish(header: Arguments, most: number) {
      const events = ranges.finish(most);
      let unlaunched = 0;
      const placed = kernels.finish((correlation, start, end) => {
        const call = correlation === null ? null : calls.find(correlation);
        if (call === null) unlaunched++;
        return {
          launchThreadId: call?.threadId ?? null,
          launchNs: call?.startNs ?? start,
          startNs: start,
          endNs: end,
        };
      });
      waits.sort((a, b) => a.startNs - b.startNs);
      const identity = rankOf(header);
      const process = pid ?? 0;
      const timeline: Timeline = {
        collector: "pytorch",
        clock: "the PyTorch profiler's clock",
        originNs: BigInt(baseTime(header)) + BigInt(baseUs ?? 0) * 1000n,
        processes:
          events.kept + activities + calls.size() === 0
            ? []
            : [
                {
                  pid: process,
                  parentPid: null,
                  ...(identity && { rank: identity }),
                  executable: names.get(process) ?? "",
                  startNs,
                  endNs,
                  finished: true,
                  get ranges() {
                    return events.ranges;
                  },
                  ...(events.allRanges && { allRanges: events.allRanges }),
                  marks: [],
                  kernels: placed,
                  threadNames: threads,
                  counters: memory.series(),
                  synchronizations: waits,
                  hostCalls: hostCalls.finish(),
                  notes: notesOn(process, events, { unlaunched, activities, others }),
                },
              ],
        notes: pythonCalls === 0 ? [] : [pythonNote(pythonCalls)],
      };
      return { timeline, machine: machineOf(header) };
    },
  };
}

const NO_ARGUMENTS: Arguments = {};

const numberIn = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** `thread 4711 (python3)` for a thread that only its program names. */
const ownName = (said: string): string => /^thread \d+ \((.*)\)$/.exec(said)?.[1] ?? said;

function notesOn(
  pid: number,
  { allRanges, kept }: RecordedRanges,
  seen: {
    readonly unlaunched: number;
    readonly activities: number;
    readonly others: ReadonlySet<number>;
  },
): readonly string[] {
  const notes: string[] = [];
  if (allRanges !== undefined)
    notes.push(
      `process ${pid}: timelines and traces have the first ${grouped(String(kept))} of ${plural(allRanges.count, "range")}; reports have all`,
    );
  if (seen.unlaunched > 0)
    notes.push(
      `process ${pid}: the calls that launched ${partOf(seen.unlaunched, seen.activities, "GPU activity", "GPU activities")} are not in the file; these count as outside every range`,
    );
  if (seen.others.size > 0)
    notes.push(
      `the file has ${plural(seen.others.size + 1, "process", "processes")}, read as threads of process ${pid}`,
    );
  return notes;
}

const pythonNote = (count: number): string =>
  `${plural(count, "call", "calls")} of Python functions (with_stack) ${count === 1 ? "is" : "are"} not shown as ${count === 1 ? "a region" : "regions"}`;

/** Kinds of copies by Kineto's words, as CUPTI numbers them. */
const COPIES: ReadonlyMap<string, number> = new Map([
  ["HtoD", 1],
  ["DtoH", 2],
  ["HtoA", 3],
  ["AtoH", 4],
  ["AtoA", 5],
  ["AtoD", 6],
  ["DtoA", 7],
  ["DtoD", 8],
  ["HtoH", 9],
  ["PtoP", 10],
]);

/** The names that other tools give, so that reports can be compared: `Memcpy HtoD (Pageable -> Device)`. */
function activityName(kind: GpuActivityKind, name: string): string {
  if (kind === "kernel") return name;
  if (kind === "memset") return "[CUDA memset]";
  const copy = COPIES.get(/^Memcpy (\w+)/.exec(name)?.[1] ?? "");
  return copy === undefined ? name : memoryCopyName(copy);
}

interface Call {
  readonly threadId: number;
  readonly startNs: number;
}

/** The calls of the CUDA API by correlation id. If a runtime call contains a driver call, the outer one counts. */
function createCalls() {
  const ids = createIdIndex();
  const threadOf = createColumn(words);
  const starts = createColumn(doubles, Number.NaN);
  return {
    add(correlation: number, threadId: number, startNs: number): void {
      const row = ids.add(correlation);
      if (starts.get(row) <= startNs) return;
      threadOf.set(row, threadId);
      starts.set(row, startNs);
    },
    find(correlation: number): Call | null {
      const row = ids.find(correlation);
      return row === null ? null : { threadId: threadOf.get(row), startNs: starts.get(row) };
    },
    size: ids.size,
  };
}

const CPU = "cpu";

/** The memory of PyTorch's allocators after each allocation and release (`profile_memory`), by device. */
function createMemory() {
  const devices = new Map<string, { readonly name: string; length: number } & MemoryColumns>();
  return {
    add(ns: number, args: Arguments): void {
      const [type, id] = [numberIn(args["Device Type"]), numberIn(args["Device Id"])];
      const name = type === 0 ? CPU : `gpu:${id ?? 0}`;
      let device = devices.get(name);
      if (device === undefined) {
        device = { name, length: 0, ...memoryColumns() };
        devices.set(name, device);
      }
      const row = device.length++;
      device.times.set(row, ns);
      device.allocated.set(row, numberIn(args["Total Allocated"]) ?? 0);
      device.reserved.set(row, numberIn(args["Total Reserved"]) ?? 0);
    },
    /** The GPUs' memory; that of the CPU only where no GPU has any. */
    series: (): readonly CounterSeries[] =>
      [...devices.values()]
        .filter(({ name }) => name !== CPU || devices.size === 1)
        .flatMap(({ name, length, times, allocated, reserved }) => {
          const order = Uint32Array.from({ length }, (_, row) => row).sort(
            (a, b) => times.get(a) - times.get(b),
          );
          const timesNs = Float64Array.from(order, times.get);
          return (
            [
              ["allocated", allocated],
              ["reserved", reserved],
            ] as const
          ).flatMap(([what, column]): readonly CounterSeries[] => {
            const values = Float64Array.from(order, column.get);
            // The CPU's allocator reserves nothing.
            if (values.every((value) => value === 0)) return [];
            return [
              {
                domain: "PyTorch",
                name: `memory ${what}, ${name}`,
                unit: "byte",
                threadId: null,
                holds: true,
                timesNs,
                values,
              },
            ];
          });
        }),
  };
}

const memoryColumns = () => ({
  times: createColumn(doubles),
  allocated: createColumn(doubles),
  reserved: createColumn(doubles),
});
type MemoryColumns = ReturnType<typeof memoryColumns>;

/** Bytes of an element, by PyTorch's name of its type. */
const ELEMENT_BYTES: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ...(["Byte", "Char", "Bool", "Float8_e4m3fn", "Float8_e5m2"] as const).map(
    (type) => [type, 1] as const,
  ),
  ...(["Short", "Half", "BFloat16"] as const).map((type) => [type, 2] as const),
  ...(["Int", "Float"] as const).map((type) => [type, 4] as const),
  ...(["Long", "Double", "ComplexFloat"] as const).map((type) => [type, 8] as const),
]);

const SENT: PayloadField = { name: "sent", unit: "byte", kind: "amount" };
const RECEIVED: PayloadField = { name: "received", unit: "byte", kind: "amount" };

/** The sizes of a collective (`record_param_comms`); empty for other operators. */
function collectiveNumbers(args: Arguments): readonly PayloadNumber[] {
  if (args["Collective name"] === undefined) return [];
  const size = ELEMENT_BYTES.get(args["dtype"]);
  if (size === undefined) return [];
  const numbers: PayloadNumber[] = [];
  for (const [field, key] of [
    [SENT, "In msg nelems"],
    [RECEIVED, "Out msg nelems"],
  ] as const) {
    const count = numberIn(args[key]);
    if (count !== null) numbers.push({ field, value: count * size });
  }
  return numbers;
}

const isRecord = (value: unknown): value is Arguments =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function rankOf({ distributedInfo }: Arguments): RankIdentity | undefined {
  if (!isRecord(distributedInfo)) return undefined;
  const rank = numberIn(distributedInfo["rank"]);
  const size = numberIn(distributedInfo["world_size"]);
  if (rank === null || size === null || size < 2) return undefined;
  return { rank, size, localRank: null, host: "" };
}

/** Nanoseconds since 1970 at which the trace's times begin; 0 where they are counted from there. */
function baseTime({ baseTimeNanoseconds }: Arguments): number {
  const base = numberIn(baseTimeNanoseconds);
  return base === null || !Number.isInteger(base) ? 0 : base;
}

function machineOf({ deviceProperties }: Arguments): RecordedMachine {
  const devices = Array.isArray(deviceProperties) ? deviceProperties : [];
  const gpus = devices.flatMap((device: unknown) =>
    isRecord(device) && typeof device["name"] === "string" ? [device["name"]] : [],
  );
  return { hostname: null, os: null, cpu: null, gpus };
}
