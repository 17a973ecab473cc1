/** Reads an SQLite export of Nsight Systems into a timeline. */
import { agreeing, grouped, partOf, plural } from "../../../../foundation/text/plural.ts";
import type { RecordedHostCalls } from "../../../model/host-calls.ts";
import type { RecordedRanges } from "../../../model/range-table.ts";
import type {
  ContextStream,
  ProcessTimeline,
  RecordedMachine,
  Timeline,
} from "../../../model/timeline.ts";
import { type ExportDatabase, MOST_BYTES, withExport } from "./database.ts";
import { diagnosticNotes, unknownTableNotes, untracedNotes } from "./diagnostics.ts";
import { integer, lackingNotes, pidOf, processKey } from "./export-schema.ts";
import { type GpuEvents, readDefaultStreams, readGpu } from "./gpu-activities.ts";
import {
  NO_EVENTS,
  type NvtxEvents,
  readCategoryNames,
  readNvtx,
  readThreadNames,
} from "./nvtx.ts";
import { readHostCalls } from "./read-host-calls.ts";
import { readClock, readMachine } from "./recorded-session.ts";
import { invalid, isUnfinished, journalOf } from "./sqlite-file.ts";

/** A timeline with facts that only nsys records. */
export interface NsysTimeline extends Timeline {
  /** The version of the exporting nsys, e.g. `2023.4.4.54`; null if the file does not have it. */
  readonly toolVersion: string | null;
  readonly machine: RecordedMachine;
}

/** The newest schema that this reader was tested with. */
const KNOWN_SCHEMA = { major: 3, minor: 25 };

/** Tables of which every export has at least one. */
const OWN_TABLES = ["META_DATA_EXPORT", "EXPORT_META_DATA", "StringIds"];

/** Files of nvprof (`-o`, `.nvvp`) keep names in this table. */
const NVPROF_TABLE = "StringTable";

/**
 * Reads an SQLite export of Nsight Systems (`nsys export --type sqlite`): schema versions up to 3.25, including those
 * of 2020 without a version, missing tables, and missing newer columns.
 *
 * @param most ranges of which objects are kept: see `readNvtx`
 * @throws ToolError `nsys.invalid`
 */
export function readNsysExport(path: string, most?: number): NsysTimeline {
  return withExport(path, (database) => {
    requireExport(database, path);
    const clock = readClock(database);
    const nvtx = readNvtx(database, clock, most);
    const gpu = readGpu(database, clock);
    const defaultStreams = readDefaultStreams(database);
    const hostCalls = readHostCalls(database, clock);
    const executables = readExecutables(database);
    const threadNames = readThreadNames(database);
    const categoryNames = readCategoryNames(database);
    const keys = [...new Set([...nvtx.keys(), ...gpu.keys()])];
    const processes = keys.map((key) =>
      describeProcess(key, nvtx.get(key) ?? NO_EVENTS, gpu.get(key) ?? NO_GPU_EVENTS, {
        hostCalls: hostCalls.get(key),
        defaultStreams: defaultStreams.get(pidOf(key)),
        executable: executables.get(key) ?? "",
        threadNames: threadNames.get(key) ?? new Map<number, string>(),
        ...(categoryNames.has(key) && { categoryNames: categoryNames.get(key) ?? [] }),
      }),
    );
    const metadata = readMetadata(database);
    const lacking = lackingNotes(database);
    const unknown = unknownTableNotes(database);
    const diagnostics = diagnosticNotes(database, new Set(keys));
    const machine = readMachine(database);
    return {
      collector: "nsys",
      clock: "nsys session clock",
      originNs: clock.originNs,
      processes: processes.sort((a, b) => a.startNs - b.startNs),
      toolVersion: metadata.get("EXPORT_PRODUCT_VERSION") ?? null,
      machine,
      notes: [
        ...(isUnfinished(path)
          ? [
              `${journalOf(path)} is next to the export: the export is still being written or was not finished, and something may be missing`,
            ]
          : []),
        ...lacking,
        ...untracedNotes(database),
        ...(processes.length === 0 && lacking.length + unknown.length === 0
          ? ["Nsight Systems saw no NVTX call and no CUDA activity in any process"]
          : []),
        ...schemaNotes(metadata),
        ...unknown,
        ...diagnostics,
        ...unreadNotes(database),
        ...leftOutNotes(database),
      ],
    };
  });
}

function requireExport({ tables }: ExportDatabase, path: string): void {
  if (OWN_TABLES.some((table) => tables.has(table))) return;
  throw tables.has(NVPROF_TABLE)
    ? invalid(path, "it was made by nvprof", {
        hint: "NVIDIA has replaced nvprof: record the program with nsys profile, or measure it with ncu",
      })
    : invalid(path, "it is an SQLite file from another program");
}

/** After everything was read. */
const unreadNotes = ({ unread }: ExportDatabase): readonly string[] =>
  [...unread].map(
    ([column, count]) =>
      `${column}: ${plural(count, "value")} of more than ${grouped(String(MOST_BYTES))} bytes ${agreeing(count, "was", "were")} not read; a text is called by its length`,
  );

/** Exports of nsys have none. */
const leftOutNotes = ({ leftOut, has }: ExportDatabase): readonly string[] =>
  [...leftOut]
    // Of a table without these columns, other notes tell.
    .filter(
      ([table]) =>
        has(table, "start") &&
        has(table, "end") &&
        (has(table, "globalPid") || has(table, "globalTid")),
    )
    .map(
      ([table, count]) =>
        `${table}: ${plural(count, "row")} without a time or process ${agreeing(count, "was", "were")} left out: the file is damaged, or was changed`,
    );

const NO_GPU_EVENTS: GpuEvents = {
  kernels: [],
  synchronizations: [],
  startNs: Number.POSITIVE_INFINITY,
  endNs: Number.NEGATIVE_INFINITY,
  unlaunched: 0,
  migrations: 0,
  wholeGraphs: 0,
};

function describeProcess(
  key: number,
  { events, marks, ...seen }: NvtxEvents,
  gpu: GpuEvents,
  {
    hostCalls,
    defaultStreams,
    ...names
  }: Pick<ProcessTimeline, "executable" | "threadNames" | "categoryNames"> & {
    readonly hostCalls: RecordedHostCalls | undefined;
    readonly defaultStreams: readonly ContextStream[] | undefined;
  },
): ProcessTimeline {
  const pid = pidOf(key);
  const { kernels, synchronizations } = gpu;
  const startNs = Math.min(seen.startNs, gpu.startNs, hostCalls?.startNs ?? gpu.startNs);
  const endNs = Math.max(seen.endNs, gpu.endNs, hostCalls?.endNs ?? gpu.endNs);
  return {
    pid,
    parentPid: null,
    ...names,
    startNs: Number.isFinite(startNs) ? startNs : 0,
    endNs: Number.isFinite(endNs) ? endNs : 0,
    finished: true,
    get ranges() {
      return events.ranges;
    },
    ...(events.allRanges && { allRanges: events.allRanges }),
    marks,
    kernels,
    synchronizations,
    ...(hostCalls !== undefined && { hostCalls }),
    ...(defaultStreams !== undefined && { defaultStreams }),
    notes: [...rangeNotes(pid, events), ...gpuNotes(pid, gpu)],
  };
}

const rangeNotes = (pid: number, { kept, allRanges }: RecordedRanges): readonly string[] =>
  allRanges === undefined
    ? []
    : [
        `process ${pid}: timelines and traces have the first ${grouped(String(kept))} of ${plural(allRanges.count, "range")}; reports have all`,
      ];

function gpuNotes(
  pid: number,
  { kernels, unlaunched, migrations, wholeGraphs }: GpuEvents,
): string[] {
  const notes: string[] = [];
  if (unlaunched > 0)
    notes.push(
      `process ${pid}: the calls that launched ${partOf(unlaunched, kernels.length, "GPU activity", "GPU activities")} are not in the file; these count as outside every range`,
    );
  if (migrations > 0)
    notes.push(
      `process ${pid}: ${plural(migrations, "copy", "copies")} of managed memory, which ${agreeing(migrations, "no call requests, counts", "no call requests, count")} as outside every range`,
    );
  if (wholeGraphs > 0)
    notes.push(
      `process ${pid}: ${plural(wholeGraphs, "CUDA graph launch was", "CUDA graph launches were")} traced as a whole; nsys profile --cuda-graph-trace=node shows their kernels`,
    );
  return notes;
}

/** `EXPORT_META_DATA` is the table's name until 2023.2. */
function readMetadata({ tables, rows }: ExportDatabase): ReadonlyMap<string, string> {
  const table = tables.has("META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
  const metadata = new Map<string, string>();
  for (const { name, value } of rows(table, { name: "name", value: "value" }))
    if (typeof name === "string" && value !== null) metadata.set(name, String(value));
  return metadata;
}

function schemaNotes(metadata: ReadonlyMap<string, string>): string[] {
  const major = Number(metadata.get("EXPORT_SCHEMA_VERSION_MAJOR"));
  const minor = Number(metadata.get("EXPORT_SCHEMA_VERSION_MINOR"));
  const { major: knownMajor, minor: knownMinor } = KNOWN_SCHEMA;
  const isNewer = major > knownMajor || (major === knownMajor && minor > knownMinor);
  return isNewer
    ? [
        `the export has schema ${major}.${minor}, newer than the newest known schema ${knownMajor}.${knownMinor}: something may be missing`,
      ]
    : [];
}

/** Executables by process; nsys lists every process of the machine. */
function readExecutables({ rows }: ExportDatabase): ReadonlyMap<number, string> {
  const executables = new Map<number, string>();
  const columns = { key: processKey("globalPid"), name: "name" };
  for (const { key, name } of rows("PROCESSES", columns))
    if (typeof name === "string") executables.set(integer(key) ?? 0, name);
  return executables;
}
