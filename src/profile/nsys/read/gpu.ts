/**
 * What ran on the GPUs, each tied to the API call that launched it by the call's correlation id:
 * tables `CUPTI_ACTIVITY_KIND_*` of an export. A CUDA graph is one call that launches many.
 */
import { memoryCopyName, WAIT_KINDS } from "../../cupti-names.ts";
import { createKernelTable, type ExecutedKernel, type KernelTable } from "../../kernel-table.ts";
import type { GpuActivityKind, KernelList, SynchronizationInstance } from "../../timeline.ts";
import { createWantedCalls, readCalls, type WantedCalls } from "./calls.ts";
import type { ExportClock } from "./clock.ts";
import type { ColumnExpression, ExportDatabase, Row, SqlValue } from "./database.ts";
import { integer, processKey } from "./ids.ts";
import { createNameReader, type NameReader } from "./names.ts";

export interface GpuEvents {
  /** By start of their launch. */
  readonly kernels: KernelList;
  readonly synchronizations: readonly SynchronizationInstance[];
  /** Kernels, copies and sets without a launching call in the file. */
  readonly unlaunched: number;
  /** CUDA graphs that were traced as a whole. */
  readonly wholeGraphs: number;
}

/** One kind of activity: where it stands, and what is particular to its rows. */
interface ActivityTable {
  readonly table: string;
  readonly kind: GpuActivityKind;
  readonly columns: Readonly<Record<string, string>>;
  /** Called for some rows before `describe` is called for each of them. */
  readonly prepare?: (rows: readonly ActivityRow[], names: NameReader) => void;
  readonly describe: (row: ActivityRow, names: NameReader) => ActivityDescription;
}

type ActivityRow = Readonly<Record<string, SqlValue>>;

interface ActivityDescription {
  readonly name: string;
  readonly bytes?: number | null;
}

const GRAPH_TABLE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";

const ACTIVITIES: readonly ActivityTable[] = [
  {
    table: "CUPTI_ACTIVITY_KIND_KERNEL",
    kind: "kernel",
    columns: { demangled: "demangledName", short: "shortName", mangled: "mangledName" },
    prepare(rows, names) {
      names.load(rows.map(({ demangled = null }) => demangled));
      const unnamed = rows.filter(({ demangled = null }) => names.of(demangled) === null);
      names.load(unnamed.flatMap(({ short = null, mangled = null }) => [short, mangled]));
    },
    describe: ({ demangled = null, short = null, mangled = null }, names) => ({
      name: names.of(demangled) ?? names.of(short) ?? names.of(mangled) ?? "(unnamed kernel)",
    }),
  },
  {
    table: "CUPTI_ACTIVITY_KIND_MEMCPY",
    kind: "memcpy",
    columns: { copy: "copyKind", bytes: "bytes" },
    describe: ({ copy = null, bytes = null }) => ({
      name: memoryCopyName(integer(copy) ?? 0),
      bytes: integer(bytes),
    }),
  },
  {
    table: "CUPTI_ACTIVITY_KIND_MEMSET",
    kind: "memset",
    columns: { bytes: "bytes" },
    describe: ({ bytes = null }) => ({ name: "[CUDA memset]", bytes: integer(bytes) }),
  },
  {
    // Only with `--cuda-graph-trace=graph`; its kernels are in no table then.
    table: GRAPH_TABLE,
    kind: "kernel",
    columns: {},
    describe: ({ graph = null }) => ({ name: `[CUDA graph ${integer(graph) ?? "?"}]` }),
  },
];

/** Rows whose names are read together. */
const ROWS_AT_ONCE = 4096;

/** What one process did, as it is read. */
interface ProcessDraft {
  readonly kernels: KernelTable;
  readonly waits: Wait[];
  readonly calls: WantedCalls;
  wholeGraphs: number;
}

/** A wait without the call that waits, and that call's correlation. */
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
      draft = { kernels, waits: [], calls, wholeGraphs: 0 };
      processes.set(key, draft);
    }
    return draft;
  };
  const names = createNameReader(database);
  for (const activity of ACTIVITIES) readActivities(activity, database, clock, names, draftOf);
  readWaits(database, clock, draftOf);
  readCalls(database, clock, new Map([...processes].map(([key, { calls }]) => [key, calls])));
  return new Map([...processes].map(([key, draft]) => [key, joined(draft)]));
}

function readActivities(
  { table, kind, columns, prepare, describe }: ActivityTable,
  database: ExportDatabase,
  clock: ExportClock,
  names: NameReader,
  draftOf: (key: number) => ProcessDraft,
): void {
  const wanted = { ...where(clock), graph: "graphId", node: "graphNodeId", ...columns };
  const add = (row: Row<keyof typeof wanted>): void => {
    const span = spanOf(row);
    if (span === null) return;
    const { key, correlation, startNs, endNs, stream } = span;
    const { name, bytes = null } = describe(row, names);
    const context = integer(row.context);
    const graph = graphOf(row);
    const draft = draftOf(key);
    if (correlation !== null) draft.calls.want(correlation);
    if (table === GRAPH_TABLE) draft.wholeGraphs++;
    // Not spread together: there can be millions.
    const kernel: { -readonly [K in keyof ExecutedKernel]: ExecutedKernel[K] } = {
      kind,
      name,
      device: integer(row.device) ?? 0,
      stream,
      startNs,
      endNs,
    };
    if (bytes !== null) kernel.bytes = bytes;
    if (context !== null) kernel.context = context;
    if (correlation !== null) kernel.correlation = correlation;
    if (graph !== null) kernel.graph = graph;
    draft.kernels.add(kernel);
  };
  for (const rows of atOnce(database.rows(table, wanted), ROWS_AT_ONCE)) {
    prepare?.(rows, names);
    for (const row of rows) add(row);
  }
}

/** So many elements at a time, the last ones as they are. */
function* atOnce<T>(elements: Iterable<T>, count: number): Generator<readonly T[]> {
  let some: T[] = [];
  for (const element of elements)
    if (some.push(element) === count) {
      yield some;
      some = [];
    }
  if (some.length > 0) yield some;
}

function readWaits(
  database: ExportDatabase,
  clock: ExportClock,
  draftOf: (key: number) => ProcessDraft,
): void {
  const columns = { ...where(clock), type: "syncType" };
  for (const row of database.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns)) {
    const span = spanOf(row);
    const kind = WAIT_KINDS.get(integer(row.type) ?? 0);
    if (span === null || kind === undefined) continue;
    const { key, correlation, startNs, endNs, stream } = span;
    const { calls, waits } = draftOf(key);
    if (correlation === null) continue;
    calls.want(correlation);
    waits.push({ correlation, instance: { kind, startNs, endNs, stream } });
  }
}

function joined({ kernels, waits, calls, wholeGraphs }: ProcessDraft): GpuEvents {
  let unlaunched = 0;
  const placed = kernels.finish((correlation, startNs, endNs) => {
    const call = correlation === null ? null : calls.find(correlation);
    if (call === null) unlaunched++;
    return {
      launchThreadId: call?.threadId ?? null,
      launchNs: call?.startNs ?? startNs,
      startNs,
      endNs,
    };
  });
  const synchronizations = waits.flatMap(({ instance, correlation }): SynchronizationInstance[] => {
    const call = calls.find(correlation);
    if (call === null) return [];
    return [{ ...instance, threadId: call.threadId, callNs: call.startNs }];
  });
  synchronizations.sort((a, b) => a.startNs - b.startNs);
  return { kernels: placed, synchronizations, unlaunched, wholeGraphs };
}

/** The columns that all activities have. */
const where = (clock: ExportClock) =>
  ({
    key: processKey("globalPid"),
    correlation: "correlationId",
    start: clock.time("start"),
    end: clock.time("end"),
    device: "deviceId",
    context: "contextId",
    stream: "streamId",
  }) satisfies Record<string, string | ColumnExpression>;

function spanOf(row: Row<"key" | "correlation" | "start" | "end" | "stream">) {
  const key = integer(row.key);
  const startNs = integer(row.start);
  const endNs = integer(row.end);
  if (key === null || startNs === null || endNs === null) return null;
  const correlation = integer(row.correlation);
  return {
    key,
    startNs,
    endNs: Math.max(startNs, endNs),
    // CUPTI gives 0 to what it could not correlate.
    correlation: correlation === 0 ? null : correlation,
    stream: integer(row.stream),
  };
}

function graphOf({ graph, node }: Row<"graph" | "node">): { id: number; node: bigint } | null {
  if (node === null || (typeof node !== "number" && typeof node !== "bigint")) return null;
  return { id: integer(graph) ?? 0, node: BigInt(node) };
}
