/**
 * The activities of the GPUs, each tied to its launching API call by the correlation id: tables `CUPTI_ACTIVITY_KIND_*`
 * of an export. One call launches all nodes of a CUDA graph.
 */

import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import { createColumn, createIdIndex, doubles, words } from "../../../model/columns.ts";
import {
  createKernelTable,
  type ExecutedKernel,
  type KernelTable,
} from "../../../model/kernel-table.ts";
import {
  type ContextStream,
  type GpuActivityKind,
  type KernelList,
  memoryCopyName,
  type SynchronizationInstance,
  WAIT_KINDS,
} from "../../../model/timeline.ts";
import type { ExportDatabase } from "./database.ts";
import {
  CALL_TABLES,
  COPY_TABLE,
  createNameReader,
  GRAPH_TABLE,
  integer,
  isReadable,
  KERNEL_TABLE,
  type NameReader,
  processKey,
  SET_TABLE,
  STREAM_TABLE,
  soleProcess,
  threadId,
} from "./export-schema.ts";
import { type Columns, type IntegerColumns, integerAt, numberAt } from "./queries.ts";
import type { ExportClock } from "./recorded-session.ts";

export interface GpuEvents {
  /** In order of their launch. */
  readonly kernels: KernelList;
  readonly synchronizations: readonly SynchronizationInstance[];
  /** The first and last time of kernels, copies and sets; infinite without any. */
  readonly startNs: number;
  readonly endNs: number;
  /** Kernels, copies and sets without a launching call in the file. */
  readonly unlaunched: number;
  /** Automatic migrations of managed memory, which no call launches. */
  readonly migrations: number;
  /** CUDA graphs that were traced as a whole. */
  readonly wholeGraphs: number;
}

/** The table of one kind of activity, and the special columns of its rows. */
interface ActivityTable<C extends string = never, Rare extends string = never> {
  readonly table: string;
  readonly kind: GpuActivityKind;
  readonly columns: Columns<C>;
  readonly rare: Columns<Rare>;
  /** Called for a batch of rows before `name` is called for each of them. */
  readonly prepare?: (read: ActivityRows<C, Rare>, names: NameReader) => void;
  /** Whether it copies pageable memory; null if unknown. */
  readonly isPageable?: (read: ActivityRows<C, Rare>, row: number) => boolean | null;
  /** Whether no call launches it. */
  readonly isMigration?: (read: ActivityRows<C, Rare>, row: number) => boolean;
  readonly name: (read: ActivityRows<C, Rare>, row: number, names: NameReader) => string;
}

type ActivityRows<C extends string, Rare extends string> = IntegerColumns<C | CommonColumn, Rare>;

/** nsys gives all kernels a demangled name; other names are queried only for kernels without one. */
const KERNELS: ActivityTable<"demangled", "short" | "mangled"> = {
  table: KERNEL_TABLE,
  kind: "kernel",
  columns: { demangled: "demangledName" },
  rare: { short: "shortName", mangled: "mangledName" },
  prepare({ rows, numbers: { demangled }, rare }, names) {
    if (names.load(demangled.subarray(0, rows))) return;
    const { short, mangled } = rare();
    const others: number[] = [];
    for (let row = 0; row < rows; row++)
      if (names.nameOf(numberAt(demangled, row)) === null)
        others.push(numberAt(short, row), numberAt(mangled, row));
    names.load(others);
  },
  name({ numbers, rare }, row, names) {
    const demangled = names.nameOf(numberAt(numbers.demangled, row));
    if (demangled !== null) return demangled;
    const { short, mangled } = rare();
    return (
      names.nameOf(numberAt(short, row)) ??
      names.nameOf(numberAt(mangled, row)) ??
      "(unnamed kernel)"
    );
  },
};

/** Kinds of copies for managed memory. */
const UNIFIED_COPIES: ReadonlySet<number> = new Set([11, 12, 13]);

/** Of nsys's `ENUM_CUDA_MEM_KIND`. */
const PAGEABLE = 0;

const COPIES: ActivityTable<"copy" | "source" | "target"> = {
  table: COPY_TABLE,
  kind: "memcpy",
  columns: { copy: "copyKind", source: "srcKind", target: "dstKind" },
  rare: {},
  isPageable({ numbers }, row) {
    const kinds = [integerAt(numbers.source, row), integerAt(numbers.target, row)];
    return kinds.includes(null) ? null : kinds.includes(PAGEABLE);
  },
  isMigration: ({ numbers }, row) => UNIFIED_COPIES.has(integerAt(numbers.copy, row) ?? 0),
  name: ({ numbers }, row) => memoryCopyName(integerAt(numbers.copy, row) ?? 0),
};

const SETS: ActivityTable = {
  table: SET_TABLE,
  kind: "memset",
  columns: {},
  rare: {},
  name: () => "[CUDA memset]",
};

/** Only with `--cuda-graph-trace=graph`; then the graphs' kernels are in no table. */
const GRAPHS: ActivityTable = {
  table: GRAPH_TABLE,
  kind: "kernel",
  columns: {},
  rare: {},
  name: ({ numbers }, row) => `[CUDA graph ${integerAt(numbers.graph, row) ?? "?"}]`,
};

/** The state while a process's activities are read. */
interface ProcessDraft {
  readonly kernels: KernelTable;
  readonly waits: Wait[];
  readonly calls: WantedCalls;
  wholeGraphs: number;
  migrations: number;
}

/** A wait without its thread and call time, which the correlation leads to. */
interface Wait {
  readonly correlation: number;
  readonly instance: Omit<SynchronizationInstance, "threadId" | "callNs">;
}

/** GPU events of each process, by process key. */
export function readGpu(
  database: ExportDatabase,
  clock: ExportClock,
): ReadonlyMap<number, GpuEvents> {
  const processes = new Map<number, ProcessDraft>();
  const draftOf = (key: number): ProcessDraft => {
    let draft = processes.get(key);
    if (draft === undefined) {
      const [kernels, calls] = [createKernelTable(), createWantedCalls()];
      draft = { kernels, waits: [], calls, wholeGraphs: 0, migrations: 0 };
      processes.set(key, draft);
    }
    return draft;
  };
  const names = createNameReader(database);
  const read = <C extends string, Rare extends string>(activity: ActivityTable<C, Rare>): void =>
    readActivities(activity, database, clock, names, draftOf);
  read(KERNELS);
  read(COPIES);
  read(SETS);
  read(GRAPHS);
  readWaits(database, clock, draftOf);
  readCalls(database, clock, new Map([...processes].map(([key, { calls }]) => [key, calls])));
  return new Map([...processes].map(([key, draft]) => [key, joined(draft)]));
}

function readActivities<C extends string, Rare extends string>(
  { table, kind, columns, rare, prepare, isPageable, isMigration, name }: ActivityTable<C, Rare>,
  database: ExportDatabase,
  clock: ExportClock,
  names: NameReader,
  draftOf: (key: number) => ProcessDraft,
): void {
  // Most exports lack one of these tables, and finding the sole process scans others completely.
  if (!database.tables.has(table)) return;
  const sole = database.has(table, "globalPid") ? null : soleProcess(database);
  const all: Columns<C | CommonColumn> = { ...commonColumns(clock), ...columns };
  for (const read of database.integers(table, { columns: all, wide: WIDE, rare })) {
    prepare?.(read, names);
    if (sole !== null) read.numbers.key.fill(sole);
    const { key, correlation, start, end, device, context, stream, bytes } = read.numbers;
    for (let row = 0; row < read.rows; row++) {
      if (!isComplete(read.numbers, row)) {
        database.leaveOut(table);
        continue;
      }
      const draft = draftOf(numberAt(key, row));
      if (table === GRAPH_TABLE) draft.wholeGraphs++;
      const startNs = numberAt(start, row);
      // No object spread: there can be millions of kernels.
      const kernel: { -readonly [K in keyof ExecutedKernel]: ExecutedKernel[K] } = {
        kind,
        name: name(read, row, names),
        device: integerAt(device, row) ?? 0,
        stream: integerAt(stream, row),
        startNs,
        endNs: Math.max(startNs, numberAt(end, row)),
      };
      const size = integerAt(bytes, row);
      if (size !== null) kernel.bytes = size;
      const pageable = isPageable?.(read, row) ?? null;
      if (pageable !== null) kernel.isPageable = pageable;
      const id = integerAt(context, row);
      if (id !== null) kernel.context = id;
      if (isCorrelated(correlation, row)) {
        kernel.correlation = numberAt(correlation, row);
        draft.calls.want(kernel.correlation);
      } else if (isMigration?.(read, row)) draft.migrations++;
      const graph = graphOf(read, row);
      if (graph !== null) kernel.graph = graph;
      draft.kernels.add(kernel);
    }
  }
}

function readWaits(
  database: ExportDatabase,
  clock: ExportClock,
  draftOf: (key: number) => ProcessDraft,
): void {
  const columns = { ...commonColumns(clock), type: "syncType" };
  for (const { rows, numbers } of database.integers("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {
    columns,
    rare: {},
  }))
    for (let row = 0; row < rows; row++) {
      const kind = WAIT_KINDS.get(integerAt(numbers.type, row) ?? 0);
      if (!isComplete(numbers, row) || kind === undefined) continue;
      const { calls, waits } = draftOf(numberAt(numbers.key, row));
      if (!isCorrelated(numbers.correlation, row)) continue;
      const correlation = numberAt(numbers.correlation, row);
      const startNs = numberAt(numbers.start, row);
      const endNs = Math.max(startNs, numberAt(numbers.end, row));
      calls.want(correlation);
      const stream = integerAt(numbers.stream, row);
      waits.push({ correlation, instance: { kind, startNs, endNs, stream } });
    }
}

function joined({ kernels, waits, calls, wholeGraphs, migrations }: ProcessDraft): GpuEvents {
  let unlaunched = 0;
  let firstNs = Number.POSITIVE_INFINITY;
  let lastNs = Number.NEGATIVE_INFINITY;
  const placed = kernels.finish((correlation, startNs, endNs) => {
    const call = correlation === null ? null : calls.find(correlation);
    if (call === null) unlaunched++;
    const launchNs = call?.startNs ?? startNs;
    firstNs = Math.min(firstNs, launchNs, startNs);
    lastNs = Math.max(lastNs, endNs);
    return { launchThreadId: call?.threadId ?? null, launchNs, startNs, endNs };
  });
  const synchronizations = waits.flatMap(({ instance, correlation }): SynchronizationInstance[] => {
    const call = calls.find(correlation);
    if (call === null) return [];
    return [{ ...instance, threadId: call.threadId, callNs: call.startNs }];
  });
  synchronizations.sort((a, b) => a.startNs - b.startNs);
  return {
    kernels: placed,
    synchronizations,
    startNs: firstNs,
    endNs: lastNs,
    unlaunched: unlaunched - migrations,
    migrations,
    wholeGraphs,
  };
}

type CommonColumn = keyof ReturnType<typeof commonColumns>;

/** Columns of all activities; a table may lack some. */
const commonColumns = (clock: ExportClock) =>
  ({
    key: processKey("globalPid"),
    correlation: "correlationId",
    start: clock.time("start"),
    end: clock.time("end"),
    device: "deviceId",
    context: "contextId",
    stream: "streamId",
    bytes: "bytes",
    graph: "graphId",
    node: "graphNodeId",
  }) satisfies Columns<string>;

/** 64-bit columns, which exceed the exact range of numbers. */
const WIDE = ["node"] as const;

type CommonColumns<C extends CommonColumn> = IntegerColumns<C>["numbers"];

const isComplete = (
  { key, start, end }: CommonColumns<"key" | "start" | "end">,
  row: number,
): boolean => !Number.isNaN(numberAt(key, row) + numberAt(start, row) + numberAt(end, row));

/** CUPTI sets 0 if it could not correlate an activity. */
const isCorrelated = (correlation: Float64Array, row: number): boolean =>
  (integerAt(correlation, row) ?? 0) !== 0;

function graphOf(
  { numbers, exact }: IntegerColumns<"graph" | "node">,
  row: number,
): { id: number; node: bigint } | null {
  if (Number.isNaN(numberAt(numbers.node, row))) return null;
  return { id: integerAt(numbers.graph, row) ?? 0, node: exact("node", row) };
}

interface Call {
  readonly threadId: number;
  readonly startNs: number;
}

/** The requested calls of one process. */
interface WantedCalls {
  /** To be called before the calls are read. */
  readonly want: (correlation: number) => void;
  /** Null: not requested, or not in the file. */
  readonly find: (correlation: number) => Call | null;
  readonly offer: (correlation: number, threadId: number, startNs: number) => void;
}

function createWantedCalls(): WantedCalls {
  const wanted = createIdIndex();
  const threads = createColumn(words);
  const starts = createColumn(doubles, Number.NaN);
  return {
    want: wanted.add,
    find(correlation) {
      const index = wanted.find(correlation);
      if (index === null) return null;
      const startNs = starts.get(index);
      return Number.isNaN(startNs) ? null : { threadId: threads.get(index), startNs };
    },
    offer(correlation, threadId, startNs) {
      const index = wanted.find(correlation);
      // If a runtime call contains a driver call, the outer one counts.
      if (index === null || starts.get(index) <= startNs) return;
      threads.set(index, threadId);
      starts.set(index, startNs);
    },
  };
}

/** Of `ENUM_CUPTI_STREAM_TYPE`. */
const NULL_STREAM = 3;

/** The null streams of each process, by process id; nothing for a file that does not list streams. */
export function readDefaultStreams({
  rows,
}: ExportDatabase): ReadonlyMap<number, readonly ContextStream[]> {
  const streams = new Map<number, ContextStream[]>();
  const columns = { pid: "processId", context: "contextId", stream: "streamId", flag: "flag" };
  for (const row of rows(STREAM_TABLE, columns)) {
    const [pid, context, stream] = [row.pid, row.context, row.stream].map(integer);
    if (pid == null || context == null || stream == null) continue;
    const contextStreams = getOrCreate(streams, pid, () => []);
    if (integer(row.flag) === NULL_STREAM) contextStreams.push({ context, stream });
  }
  return streams;
}

/** Passes every call of the file to the requested calls of its process. */
function readCalls(
  database: ExportDatabase,
  clock: ExportClock,
  processes: ReadonlyMap<number, WantedCalls>,
): void {
  if (processes.size === 0) return;
  const columns = {
    key: processKey("globalTid"),
    thread: threadId("globalTid"),
    correlation: "correlationId",
    start: clock.time("start"),
  };
  for (const table of CALL_TABLES.filter((name) => isReadable(database, name)))
    for (const { rows, numbers } of database.integers(table, { columns, rare: {} })) {
      const { key, thread, correlation, start } = numbers;
      for (let row = 0; row < rows; row++) {
        const id = numberAt(correlation, row);
        if (Number.isNaN(id)) continue;
        const calls = processes.get(integerAt(key, row) ?? 0);
        calls?.offer(id, integerAt(thread, row) ?? 0, integerAt(start, row) ?? 0);
      }
    }
}
