/** The tables of a report: regions and the orders of their rows, calls, numbers of the program, ranks, provenance. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { shellCommand } from "../../foundation/text/shell-words.ts";
import {
  type Block,
  code,
  type Field,
  numeral,
  paragraph,
  regionLink,
  type Table,
  type Text,
  tableOf,
} from "../../pages/blocks.ts";
import { NOT_MEASURED, percentOf } from "../../pages/numbers.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
  RankInfo,
  RegionHostCalls,
  ThreadTime,
} from "../model/document.ts";
import { familyKey } from "../model/families.ts";
import {
  fieldsOf,
  knownKernelCount,
  legendOf,
  type RegionTable,
  repeatedTime,
  reportWords,
  type ShownColumn,
  shownColumns,
  waitedMean,
} from "./region-columns.ts";
import { threadNames } from "./thread-time.ts";
import { CPU_HEADING, haveCpuTime, ownTimes, shareBase, totalMs } from "./times.ts";
import { regionLabels, type TreeRow, treeRows } from "./tree-rows.ts";

const NAME: Field<TreeRow> = {
  title: "Region",
  cell: ({ label, level }) => ({ kind: "label", text: label, level }),
};

/** The region tree of a report with times and counts, and its legend. */
export function regionTree(report: NCUProfileRegionReport): readonly Block[] {
  const { regions } = report;
  if (regions.length === 0) return [paragraph("No regions.")];
  const words = reportWords(report);
  const columns = shownColumns("tree", regions, words).map(withLimitBesideNumbers);
  const isOpen = regions.some(({ unclosed }) => unclosed !== undefined);
  return [
    tableOf([NAME, ...fieldsOf<TreeRow>(columns)], treeRows(regions)),
    paragraph(
      [
        ...(words.words === null
          ? [
              `Neither GPU kernels nor CPU operations were recorded: only wall times${haveCpuTime(regions) ? " and processor times" : ""} are known.`,
            ]
          : []),
        ...legendOf(columns),
        ...(isOpen
          ? ["≥: a range was never closed, and lasted at least until its process's end."]
          : []),
        `${NOT_MEASURED} means not measured.`,
      ].join(" "),
    ),
  ];
}

/** A column of words is most readable at the right of the columns of numbers. */
const withLimitBesideNumbers = (shown: ShownColumn): ShownColumn =>
  shown.column.isMark ? { ...shown, column: { ...shown.column, align: "right" } } : shown;

/** The orders of tables of regions; `exclusive` is the time of a region without its inner regions. */
export const REGION_SORTS = ["exclusive", "wall", "gpu", "calls", "kernels", "tree"] as const;
export type RegionSort = (typeof REGION_SORTS)[number];

/** In descending order; equal regions keep the order of the report. */
export function sortedRegions(
  report: NCUProfileRegionReport,
  sort: RegionSort,
): readonly NCUProfileRegion[] {
  if (sort === "tree") return report.regions;
  const ownTimeOf = ownTimes(report);
  const keys: Readonly<
    Record<Exclude<RegionSort, "tree">, (region: NCUProfileRegion) => number | null>
  > = {
    exclusive: ownTimeOf,
    wall: ({ wall_ms }) => wall_ms,
    gpu: totalMs,
    calls: ({ invocations }) => invocations,
    kernels: knownKernelCount,
  };
  const key = keys[sort];
  return report.regions
    .map((region) => ({ region, value: key(region) ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => b.value - a.value)
    .map(({ region }) => region);
}

/** The three regions with the longest exclusive times, if each is a tenth of the whole or more. */
export function hotRegions(report: NCUProfileRegionReport): ReadonlySet<NCUProfileRegion> {
  const ownTimeOf = ownTimes(report);
  const { whole } = shareBase(report);
  const least = (whole ?? 0) * HOT;
  return new Set(
    sortedRegions(report, "exclusive")
      .slice(0, MOST_HOT)
      .filter((region) => (ownTimeOf(region) ?? 0) > 0 && (ownTimeOf(region) ?? 0) >= least),
  );
}

const HOT = 0.1;
const MOST_HOT = 3;

/**
 * The tree with fewer columns.
 * @param shown some of the report's regions, in document order
 */
export function narrowRegionTree(
  report: NCUProfileRegionReport,
  shown: readonly NCUProfileRegion[],
  sort: RegionSort = "tree",
): Table {
  const words = reportWords(report);
  const table =
    words.words === null ? "terminal_wall" : words.isOfRun ? "terminal_run" : "terminal_kernels";
  const hot = hotRegions(report);
  const labelOf = regionLabels(report.regions);
  return tableOf(
    [NAME, ...fieldsOf<TreeRow>(shownColumns(table, shown, words))],
    sort === "tree"
      ? treeRows(shown, { among: report.regions })
      : shown.map((region) => ({ region, level: 0, label: labelOf(region) })),
    ({ region }) => (hot.has(region) ? "hot" : region.kind === "outside" ? "minor" : undefined),
  );
}

type Regions = readonly NCUProfileRegion[];

/** A table of some regions of a report; none without regions. */
const tableIfAny = (table: RegionTable, some: Regions, among: Regions): readonly Table[] =>
  some.length === 0
    ? []
    : [tableOf([NAME, ...fieldsOf<TreeRow>(shownColumns(table, some))], treeRows(some, { among }))];

/** Families of several regions, those with most time of their own first, with their longest member; empty without any. */
export function familiesTable(report: NCUProfileRegionReport, most: number): readonly Table[] {
  const { families = [], regions } = report;
  if (families.length === 0) return [];
  const ownTimeOf = ownTimes(report);
  const longest = new Map<string, NCUProfileRegion>();
  for (const region of regions) {
    const key = familyKey(region);
    const longestRegion = longest.get(key);
    if (longestRegion === undefined || (ownTimeOf(region) ?? 0) > (ownTimeOf(longestRegion) ?? 0))
      longest.set(key, region);
  }
  const some = sortedRegions({ ...report, regions: families }, "exclusive").slice(0, most);
  const [familyLabel, regionLabel] = [regionLabels(families), regionLabels(regions)];
  const longestIn = (family: NCUProfileRegion) => {
    const region = longest.get(familyKey(family));
    return region === undefined ? null : [regionLink(regionLabel(region))];
  };
  return [
    tableOf<TreeRow>(
      [
        { title: "Family", cell: ({ label }) => label },
        { title: "Regions", format: "count", cell: ({ region }) => region.members ?? null },
        ...fieldsOf<TreeRow>(shownColumns("families", some, reportWords(report))),
        { title: "Longest", cell: ({ region }) => longestIn(region) },
      ],
      some.map((region) => ({ region, level: 0, label: familyLabel(region) })),
    ),
  ];
}

/** The distribution of wall time over calls, for regions called more than once. */
export const invocationTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    "calls",
    regions.filter(({ invocations }) => invocations > 1),
    regions,
  );

/** What the GPU did in each region. */
export const gpuActivityTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    "gpu_activity",
    regions.filter(({ gpu_activity }) => gpu_activity !== undefined),
    regions,
  );

/** The variation of regions over repeated runs. */
export const repeatsTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    "repeats",
    regions.filter((region) => repeatedTime(region) !== null),
    regions,
  );

/** How much of its communication each rank's computation hides; empty without any. */
export function communicationTable({
  ranks = [],
}: Pick<NCUProfileRegionReport, "ranks">): readonly Table[] {
  const some = ranks.filter(({ communication_ms }) => communication_ms !== undefined);
  const ms = (title: string, measure: (rank: RankInfo) => number | undefined): Field<RankInfo> => ({
    title,
    format: "ms",
    cell: (rank) => measure(rank) ?? null,
  });
  return some.length === 0
    ? []
    : [
        tableOf<RankInfo>(
          [
            { title: "Rank", cell: ({ rank }) => `${rank}` },
            { title: "Host", cell: ({ host }) => printableLabel(host) },
            ms("Communication ms", ({ communication_ms }) => communication_ms),
            ms("Exposed ms", ({ exposed_communication_ms }) => exposed_communication_ms),
            {
              title: "Exposed %",
              format: "percent",
              cell: ({ communication_ms = 0, exposed_communication_ms = null }) =>
                percentOf(exposed_communication_ms, communication_ms),
            },
          ],
          some,
        ),
      ];
}

/** The legend of that table. */
export const COMMUNICATION_LEGEND =
  "Exposed is communication that no computation hides: no other kernel of the rank ran meanwhile.";

/** How evenly ranks share the time of regions; those that lose most come first. */
export function ranksTable(regions: Regions, most = Number.POSITIVE_INFINITY): readonly Table[] {
  const lost = ({ ranks }: NCUProfileRegion) =>
    ranks === undefined ? 0 : Math.max(ranks.max_ms - ranks.mean_ms, waitedMean(ranks) ?? 0);
  const some = regions
    .filter(({ ranks, kind }) => ranks !== undefined && kind !== "outside")
    .toSorted((a, b) => lost(b) - lost(a));
  return tableIfAny("ranks", some.slice(0, most), regions);
}

// Calls of CUDA and of the system, in tables as `cuda_api_sum` and `osrt_sum` of nsys stats give them.

const MOST_ROWS = 20;

/** The calls of one function in several regions. */
export interface HostCallSum extends Omit<RegionHostCalls, "first_thread"> {
  /** The regions that it was called in, those with most of its time first. */
  readonly regions: readonly {
    readonly region: NCUProfileRegion;
    readonly calls: RegionHostCalls;
  }[];
}

/** The calls of all regions together, the longest first; empty without any. */
export function hostCallTable(
  regions: readonly NCUProfileRegion[],
  api: RegionHostCalls["api"],
): readonly Block[] {
  const rows = hostCallSums(regions).filter((row) => row.api === api);
  if (rows.length === 0) return [];
  const wholeMs = rows.reduce((sum, { total_ms }) => sum + total_ms, 0);
  const table = tableOf<HostCallSum>(
    [
      { title: "Function", cell: ({ name }) => printableLabel(name) },
      { title: "Calls", format: "count", cell: ({ calls }) => calls },
      { title: "Total ms", format: "ms", cell: ({ total_ms }) => total_ms },
      { title: "Mean ms", format: "mean_ms", cell: ({ total_ms, calls }) => total_ms / calls },
      { title: "Min ms", format: "mean_ms", cell: ({ min_ms }) => min_ms },
      { title: "Max ms", format: "mean_ms", cell: ({ max_ms }) => max_ms },
      {
        title: "% of their time",
        format: "percent",
        cell: ({ total_ms }) => percentOf(total_ms, wholeMs),
      },
      { title: "Most in", cell: mostIn },
    ],
    rows.slice(0, MOST_ROWS),
  );
  const left = rows.length - MOST_ROWS;
  return left > 0 ? [table, paragraph([numeral(`${plural(left, "more function")}.`)])] : [table];
}

/** The label of the region with most of its time. */
export const mostIn = ({ regions: [most] }: HostCallSum): string =>
  most === undefined ? "" : printableLabel(most.region.name);

/** The calls of regions together, by function, the longest first. */
export function hostCallSums(regions: readonly NCUProfileRegion[]): readonly HostCallSum[] {
  const sums = new Map<string, { region: NCUProfileRegion; calls: RegionHostCalls }[]>();
  for (const region of regions)
    for (const calls of region.host_calls ?? [])
      getOrCreate(sums, `${calls.api} ${calls.name}`, () => []).push({ region, calls });
  return [...sums.values()]
    .flatMap((parts): readonly HostCallSum[] => {
      const [first] = parts;
      if (first === undefined) return [];
      const { api, name } = first.calls;
      const sumOf = (measure: (calls: RegionHostCalls) => number) =>
        parts.reduce((sum, { calls }) => sum + measure(calls), 0);
      const edge = (
        measure: (calls: RegionHostCalls) => number,
        better: (a: number, b: number) => number,
      ) => parts.reduce((value, { calls }) => better(value, measure(calls)), measure(first.calls));
      return [
        {
          api,
          name,
          calls: sumOf(({ calls }) => calls),
          total_ms: sumOf(({ total_ms }) => total_ms),
          min_ms: edge(({ min_ms }) => min_ms, Math.min),
          max_ms: edge(({ max_ms }) => max_ms, Math.max),
          regions: parts.sort((a, b) => b.calls.total_ms - a.calls.total_ms),
        },
      ];
    })
    .sort((a, b) => b.total_ms - a.total_ms);
}

// Threads of regions.

interface ThreadRow {
  /** Its whole path: a row has no other around it. */
  readonly label: string;
  readonly thread: string;
  readonly invocations: number;
  readonly wallMs: number;
  /** Null for several threads together. */
  readonly calls: ThreadTime["invocation_wall_ms"] | null;
  readonly cpuMs: number | null;
}

const THREAD_FIELDS: readonly Field<ThreadRow>[] = [
  {
    title: "Region",
    cell: ({ label }) => ({ kind: "label", text: label, level: 0, isPath: true }),
  },
  { title: "Thread", priority: 1, cell: ({ thread }) => thread },
  { title: "Calls", format: "count", priority: 3, cell: ({ invocations }) => invocations },
  { title: "Median ms", format: "ms", priority: 0, cell: ({ calls }) => calls?.median ?? null },
  { title: "Wall ms", format: "ms", priority: 2, cell: ({ wallMs }) => wallMs },
  { title: "Min ms", format: "ms", priority: 6, cell: ({ calls }) => calls?.min ?? null },
  { title: "Max ms", format: "ms", priority: 5, cell: ({ calls }) => calls?.max ?? null },
];

const ON_CPU: Field<ThreadRow> = {
  title: CPU_HEADING,
  format: "percent",
  priority: 4,
  cell: ({ cpuMs, wallMs }) => percentOf(cpuMs, wallMs),
};

/** How many regions a table of threads has, those with the most wall time; `report.json` has all. */
const MOST_WITH_THREADS = 20;

/** The calls of regions by thread; empty where each is of one thread. */
export function threadTable(regions: Regions): readonly Table[] {
  const threaded = regions.filter(({ threads }) => threads !== undefined);
  const longest = new Set(
    threaded.toSorted((a, b) => (b.wall_ms ?? 0) - (a.wall_ms ?? 0)).slice(0, MOST_WITH_THREADS),
  );
  const some = threaded.filter((region) => longest.has(region));
  const labelOf = regionLabels(regions);
  const rows = some.flatMap((region) => {
    const { threads } = region;
    if (threads === undefined) return [];
    const label = labelOf(region);
    const nameOf = threadNames(threads);
    const { listed, others } = threads;
    return [
      ...listed.map(
        (thread): ThreadRow => ({
          label,
          thread: nameOf(thread),
          invocations: thread.invocations,
          wallMs: thread.wall_ms,
          calls: thread.invocation_wall_ms,
          cpuMs: thread.cpu_ms ?? null,
        }),
      ),
      ...(others === undefined
        ? []
        : [
            {
              label,
              thread: `${plural(others.count, "other thread")} together`,
              invocations: others.invocations,
              wallMs: others.wall_ms,
              calls: null,
              cpuMs: null,
            },
          ]),
    ];
  });
  const isTimed = rows.some(({ cpuMs }) => cpuMs !== null);
  return rows.length === 0 ? [] : [tableOf([...THREAD_FIELDS, ...(isTimed ? [ON_CPU] : [])], rows)];
}

// Numbers that the program itself provided with payloads and counters.

interface NumberRow {
  readonly label: string;
  readonly level: number;
  readonly name: string;
  readonly unit: string;
  readonly cells: readonly (number | null)[];
}

const REGION: Field<NumberRow> = {
  title: "Region",
  cell: ({ label, level }) => ({ kind: "label", text: label, level }),
};
const NUMBER: Field<NumberRow> = { title: "Number", cell: ({ name }) => name };
const UNIT: Field<NumberRow> = { title: "Unit", cell: ({ unit }) => unit };

const column = (
  title: string,
  index: number,
  priority: number,
  format: "count" | "number" = "number",
) => ({ title, format, priority, cell: ({ cells }: NumberRow) => cells[index] ?? null }) as const;

/**
 * The payloads of ranges; empty without any.
 * @param among all regions of the report
 */
export function payloadTable(
  regions: readonly NCUProfileRegion[],
  among: readonly NCUProfileRegion[] = regions,
): readonly Block[] {
  const some = regions.filter(({ payloads }) => payloads !== undefined);
  const rows = treeRows(some, { among }).flatMap(({ region, label, level }) =>
    (region.payloads ?? []).map(({ name, unit, count, sum, mean, min, max, per_second }) => ({
      label,
      level,
      name,
      unit,
      cells: [count, sum ?? null, mean, min, max, per_second ?? null],
    })),
  );
  if (rows.length === 0) return [];
  // Numbers that are no amounts have neither sum nor rate: empty columns would push out others.
  const isKnown = (index: number) => rows.some(({ cells }) => (cells[index] ?? null) !== null);
  const fields = [
    REGION,
    NUMBER,
    UNIT,
    column("Values", 0, 4, "count"),
    ...(isKnown(1) ? [column("Sum", 1, 2)] : []),
    column("Mean", 2, 0),
    column("Min", 3, 5),
    column("Max", 4, 3),
    ...(isKnown(5) ? [column("Per second", 5, 1)] : []),
  ];
  return [tableOf(fields, rows)];
}

/** The program's counters while ranges were open; empty without any. */
export function counterTable(
  regions: readonly NCUProfileRegion[],
  among: readonly NCUProfileRegion[] = regions,
): readonly Block[] {
  const some = regions.filter(({ counters }) => counters !== undefined);
  const rows = treeRows(some, { among }).flatMap(({ region, label, level }) =>
    (region.counters ?? []).map(({ name, unit, samples, min, mean, max }) => ({
      label,
      level,
      name,
      unit,
      cells: [samples, min, mean, max],
    })),
  );
  if (rows.length === 0) return [];
  const fields = [
    REGION,
    { ...NUMBER, title: "Counter" },
    UNIT,
    column("Samples", 0, 4, "count"),
    column("Min", 1, 3),
    column("Mean", 2, 1),
    column("Max", 3, 2),
  ];
  return [tableOf(fields, rows)];
}

/** The legend of the tables. */
export const PAYLOAD_LEGEND: Block = paragraph(
  "Given by the program with the region's own ranges. Per second is of the wall time of the ranges that have the number.",
);

// Where the numbers come from.

interface Fact {
  readonly name: string;
  readonly value: Text;
}

/** Where the numbers come from. */
export function provenanceTable(report: NCUProfileRegionReport): Table {
  const { collector, environment } = report;
  const clocks = [
    collector.wall_clock === null ? null : `wall ${collector.wall_clock}`,
    collector.kernel_clock === null ? null : `kernels ${collector.kernel_clock}`,
  ].filter((clock) => clock !== null);
  const { command } = environment;
  const facts: readonly Fact[] = [
    {
      name: "Command",
      value: command.length === 0 ? NOT_MEASURED : [code(shellCommand(command))],
    },
    { name: "Config fingerprint", value: [code(report.config_fingerprint)] },
    { name: "Collector", value: `${collector.name} ${collector.version}` },
    { name: "Clocks", value: clocks.length === 0 ? NOT_MEASURED : clocks.join(", ") },
    { name: "Device", value: environment.device ?? "the workload did not say" },
    { name: "Machine", value: machineText(environment) },
    { name: "GPUs", value: gpusText(environment) },
    { name: "hydraconf", value: environment.hydraconf_version },
    { name: "Generated", value: report.generated_at },
  ];
  return tableOf<Fact>(
    [
      { title: "Provenance", cell: ({ name }) => name },
      { title: "", cell: ({ value }) => value },
    ],
    facts,
  );
}

function gpusText({ gpus, cpu }: NCUProfileRegionReport["environment"]): string {
  if (gpus.length > 0) return gpus.join(", ");
  // An imported file that does not name its machine may come from one with GPUs.
  return cpu === "unknown" ? "unknown" : "none";
}

/** Imported files do not name the machine on which they were made. */
function machineText({ hostname, os, cpu }: NCUProfileRegionReport["environment"]): string {
  const present = [hostname, os, cpu].filter((text) => text !== "unknown");
  return present.length === 0 ? "unknown" : present.join(", ");
}
