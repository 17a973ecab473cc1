/**
 * What ran on the GPUs, each tied to the API call that launched it by the call's correlation id:
 * tables `CUPTI_ACTIVITY_KIND_*` of an export. A CUDA graph is one call that launches many.
 */
import { memoryCopyName, WAIT_KINDS } from "../../cupti-names.ts";
import type { GpuActivityKind, KernelInstance, SynchronizationInstance } from "../../timeline.ts";
import type { ExportClock } from "./clock.ts";
import type { ColumnExpression, ExportDatabase, Row, SqlValue } from "./database.ts";
import { integer, processKey, threadId } from "./ids.ts";

export interface GpuEvents {
  /** By start of their launch. */
  readonly kernels: readonly KernelInstance[];
  readonly synchronizations: readonly SynchronizationInstance[];
  /** Kernels, copies and sets without a launching call in the file. */
  readonly unlaunched: number;
  /** CUDA graphs that were traced as a whole. */
  readonly wholeGraphs: number;
}

/** An API call. */
interface Call {
  readonly threadId: number;
  readonly startNs: number;
}

const API_TABLES = ["CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"];

/** One kind of activity: where it stands, and what is particular to its rows. */
interface ActivityTable {
  readonly table: string;
  readonly kind: GpuActivityKind;
  readonly columns: Readonly<Record<string, string>>;
  readonly describe: (
    row: Readonly<Record<string, SqlValue>>,
    database: ExportDatabase,
  ) => Pick<KernelInstance, "name" | "mangledName" | "bytes">;
}

const GRAPH_TABLE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";

const ACTIVITIES: readonly ActivityTable[] = [
  {
    table: "CUPTI_ACTIVITY_KIND_KERNEL",
    kind: "kernel",
    columns: { demangled: "demangledName", short: "shortName", mangled: "mangledName" },
    describe: ({ demangled = null, short = null, mangled = null }, { string }) => {
      const raw = string(mangled);
      const name = string(demangled) ?? string(short) ?? raw ?? "(unnamed kernel)";
      return { name, ...(raw !== null && raw !== name && { mangledName: raw }) };
    },
  },
  {
    table: "CUPTI_ACTIVITY_KIND_MEMCPY",
    kind: "memcpy",
    columns: { copy: "copyKind", bytes: "bytes" },
    describe: ({ copy = null, bytes = null }) => ({
      name: memoryCopyName(integer(copy) ?? 0),
      ...bytesOf(bytes),
    }),
  },
  {
    table: "CUPTI_ACTIVITY_KIND_MEMSET",
    kind: "memset",
    columns: { bytes: "bytes" },
    describe: ({ bytes = null }) => ({ name: "[CUDA memset]", ...bytesOf(bytes) }),
  },
  {
    // Only with `--cuda-graph-trace=graph`; its kernels are in no table then.
    table: GRAPH_TABLE,
    kind: "kernel",
    columns: {},
    describe: ({ graph = null }) => ({ name: `[CUDA graph ${integer(graph) ?? "?"}]` }),
  },
];

const bytesOf = (value: SqlValue) => {
  const bytes = integer(value);
  return bytes === null ? {} : { bytes };
};

/** GPU events of each process, by process key. */
export function readGpu(
  database: ExportDatabase,
  clock: ExportClock,
): ReadonlyMap<number, GpuEvents> {
  const activities = readActivities(database, clock);
  const waits = readWaits(database, clock);
  const calls = readCalls(database, clock, [activities, waits]);
  return new Map(
    [...new Set([...activities.keys(), ...waits.keys()])].map((key) => {
      const ofProcess = calls.get(key);
      const callOf = ({ correlation }: Correlated): Call | null =>
        correlation === null ? null : (ofProcess?.get(correlation) ?? null);
      return [key, joined(activities.get(key) ?? [], waits.get(key) ?? [], callOf)];
    }),
  );
}

function joined(
  activities: readonly Activity[],
  waits: readonly Wait[],
  callOf: (of: Correlated) => Call | null,
): GpuEvents {
  let unlaunched = 0;
  const kernels = activities.map(({ instance, correlation }): KernelInstance => {
    const call = callOf({ correlation });
    if (call === null) unlaunched++;
    return {
      ...instance,
      launchThreadId: call?.threadId ?? null,
      launchNs: call?.startNs ?? instance.startNs,
    };
  });
  const synchronizations = waits.flatMap(({ instance, correlation }): SynchronizationInstance[] => {
    const call = callOf({ correlation });
    if (call === null) return [];
    return [{ ...instance, threadId: call.threadId, callNs: call.startNs }];
  });
  return {
    kernels: kernels.sort((a, b) => a.launchNs - b.launchNs),
    synchronizations: synchronizations.sort((a, b) => a.startNs - b.startNs),
    unlaunched,
    wholeGraphs: activities.filter(({ wholeGraph }) => wholeGraph).length,
  };
}

interface Correlated {
  readonly correlation: number | null;
}

interface Activity extends Correlated {
  readonly instance: Omit<KernelInstance, "launchThreadId" | "launchNs">;
  readonly wholeGraph: boolean;
}

interface Wait extends Correlated {
  readonly instance: Omit<SynchronizationInstance, "threadId" | "callNs">;
}

type PerProcess<T> = ReadonlyMap<number, readonly T[]>;

function readActivities(database: ExportDatabase, clock: ExportClock): PerProcess<Activity> {
  const processes = new Map<number, Activity[]>();
  for (const { table, kind, columns, describe } of ACTIVITIES)
    for (const row of database.rows(table, {
      ...where(clock),
      graph: "graphId",
      node: "graphNodeId",
      ...columns,
    })) {
      const span = spanOf(row);
      if (span === null) continue;
      const { key, correlation, startNs, endNs, stream } = span;
      const context = integer(row.context);
      const graph = graphOf(row);
      append(processes, key, {
        correlation,
        wholeGraph: table === GRAPH_TABLE,
        instance: {
          kind,
          ...describe(row, database),
          device: integer(row.device) ?? 0,
          ...(context !== null && { context }),
          stream,
          startNs,
          endNs,
          ...(correlation !== null && { correlation }),
          ...(graph !== null && { graph }),
        },
      });
    }
  return processes;
}

function readWaits(database: ExportDatabase, clock: ExportClock): PerProcess<Wait> {
  const processes = new Map<number, Wait[]>();
  const columns = { ...where(clock), type: "syncType" };
  for (const row of database.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns)) {
    const span = spanOf(row);
    const kind = WAIT_KINDS.get(integer(row.type) ?? 0);
    if (span === null || kind === undefined) continue;
    const { key, correlation, startNs, endNs, stream } = span;
    append(processes, key, { correlation, instance: { kind, startNs, endNs, stream } });
  }
  return processes;
}

/** The calls that something needs: most calls launch nothing. */
function readCalls(
  database: ExportDatabase,
  clock: ExportClock,
  needed: readonly PerProcess<Correlated>[],
): ReadonlyMap<number, ReadonlyMap<number, Call | null>> {
  const calls = new Map<number, Map<number, Call | null>>();
  for (const processes of needed)
    for (const [key, list] of processes) {
      const ofProcess = calls.get(key) ?? new Map<number, Call | null>();
      calls.set(key, ofProcess);
      for (const { correlation } of list)
        if (correlation !== null) ofProcess.set(correlation, null);
    }
  if (calls.size === 0) return calls;
  const columns = {
    key: processKey("globalTid"),
    thread: threadId("globalTid"),
    correlation: "correlationId",
    start: clock.time("start"),
  };
  for (const table of API_TABLES)
    for (const { key, thread, correlation, start } of database.rows(table, columns)) {
      const ofProcess = calls.get(integer(key) ?? 0);
      const known = ofProcess?.get(integer(correlation) ?? -1);
      if (ofProcess === undefined || known === undefined) continue;
      const call = { threadId: integer(thread) ?? 0, startNs: integer(start) ?? 0 };
      // Of a runtime call and the driver call inside it, the outer one.
      if (known === null || call.startNs < known.startNs) ofProcess.set(Number(correlation), call);
    }
  return calls;
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

function append<T>(processes: Map<number, T[]>, key: number, item: T): void {
  const list = processes.get(key);
  if (list === undefined) processes.set(key, [item]);
  else list.push(item);
}
