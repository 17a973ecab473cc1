/**
 * The columns of tables of regions. Terminal, Markdown, page, CSV, `deep-profile query` and comparisons read this list:
 * a new column is an entry of `REGION_COLUMNS`, and its name in the lists of `TABLES` that show it.
 */

import type { Cell, Column, Field } from "../../pages/blocks.ts";
import { percentOf } from "../../pages/numbers.ts";
import { COMPARED_COLUMN_KEYS, comparedName } from "../model/compared-numbers.ts";
import type {
  MetricValue,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionRanks,
  RegionRepeats,
} from "../model/document.ts";
import { KIND_WORDS } from "../model/region-path.ts";
import {
  BUSY_HEADING,
  BUSY_LEGEND,
  busyShare,
  haveActivity,
  LIMIT_LEGEND,
  speedOfLight,
} from "./gpu-utilization.ts";
import {
  CPU_HEADING,
  CPU_LEGEND,
  exclusiveMs,
  haveCpuTime,
  type KernelWords,
  onCpuShare,
  ownTimes,
  reportKernelWords,
  type ShareBase,
  shareBase,
  shareOf,
  slowestRank,
  totalMs,
} from "./times.ts";

/** What the columns of a report depend on, apart from the region of a row. */
export interface ReportWords {
  /** Null if neither kernels nor CPU operations were recorded. */
  readonly words: KernelWords | null;
  readonly share: ShareBase;
  /** Time without inner regions, on the clock of the shares. */
  readonly exclusiveTime: (region: NCUProfileRegion) => number | null;
  /** Whether a run was recorded, so that its wall time is what counts. */
  readonly isOfRun: boolean;
}

export const reportWords = (report: NCUProfileRegionReport): ReportWords => ({
  words: reportKernelWords(report),
  share: shareBase(report),
  exclusiveTime: ownTimes(report),
  isOfRun: report.totals.run !== undefined,
});

type ValueOf = (region: NCUProfileRegion, words: ReportWords) => number | string | null;

/** A column; `title`, `hint` (its legend), `format` (its unit) and `priority` are those of any table. */
interface RegionColumn extends Omit<Column, "title" | "short" | "hint" | "priority"> {
  readonly title: string | ((words: ReportWords) => string);
  /** A shorter heading, on terminals. */
  readonly short?: string | ((words: ReportWords) => string);
  /** What the numbers mean, in a sentence. */
  readonly legend?: string | ((words: ReportWords) => string);
  readonly priority?: number | ((words: ReportWords) => number);
  /** Null: not measured. */
  readonly value: ValueOf;
  /** The member of the contract, in data for programs, where people see that a 0 was not counted. */
  readonly data?: ValueOf;
  /** Half of the 95 % interval of the value, in its unit; null if unknown. */
  readonly uncertainty?: (region: NCUProfileRegion) => number | null;
  /** Whether the value is a lower bound where ranges were never closed. */
  readonly isOpenEnded?: true;
  /** Whether a table of these regions shows it; default: always. */
  readonly isKnown?: (regions: readonly NCUProfileRegion[], words: ReportWords) => boolean;
  /** How a comparison judges its change; absent if it does not compare it. */
  readonly compared?: ComparedAs;
}

/** A number whose mean over repeated runs a report has. */
export type RepeatedNumber = Exclude<
  keyof RegionRepeats,
  "runs" | "total_runs" | "cut_runs" | "kernels"
>;

/** How the noise of a compared number is known: the runs' statistics of which number tell it, or what else does. */
export interface ComparedAs {
  readonly noise: RepeatedNumber | "median" | "none" | "count";
  /** Whether it is compared only where both sides measured the same kernels. */
  readonly needsSameWork?: true;
}

const hasWork = (_: readonly NCUProfileRegion[], { words }: ReportWords): boolean => words !== null;

const haveInstructions = (regions: readonly NCUProfileRegion[]): boolean =>
  regions.some(({ instructions }) => instructions !== undefined);

const haveLimit = (regions: readonly NCUProfileRegion[]): boolean =>
  regions.some((region) => speedOfLight(region) !== null);

const haveShare = (_: readonly NCUProfileRegion[], { share }: ReportWords): boolean =>
  share.label !== null;

const activity =
  (name: "busy_ms" | "kernel_ms" | "copy_ms" | "overlap_ms"): ValueOf =>
  ({ gpu_activity }) =>
    gpu_activity?.[name] ?? null;

const ofCalls =
  (name: "min" | "median" | "p95" | "max"): ValueOf =>
  ({ invocation_wall_ms }) =>
    invocation_wall_ms?.[name] ?? null;

const ofRanks =
  (value: (ranks: RegionRanks) => number | string | null): ValueOf =>
  ({ ranks }) =>
    ranks === undefined ? null : value(ranks);

/** The plain payload, which has neither a name of its own nor a unit. */
const plainPayload = ({ payloads }: NCUProfileRegion) =>
  payloads?.find(({ name, unit }) => name === "payload" && unit === "");

const ofPayload =
  (what: "sum" | "mean" | "per_second"): ValueOf =>
  (region) =>
    plainPayload(region)?.[what] ?? null;

const havePayload = (regions: readonly NCUProfileRegion[]): boolean =>
  regions.some((region) => plainPayload(region) !== undefined);

const shareLegend = ({ share: { label } }: ReportWords): string =>
  label === null ? "" : `Share is of ${label}.`;

/** What a total is of, in short headings. */
const workWord = (words: KernelWords | null): string =>
  words?.heading.startsWith("CPU") ? "Ops" : "GPU";

/** Keys are the names in CSV and in answers of `query`: those of the contract, where it has the number. */
const REGION_COLUMNS = {
  domain: {
    title: "Domain",
    value: ({ domain }) => domain || "default",
    data: ({ domain }) => domain,
  },
  kind: { title: "Kind", value: ({ kind }) => KIND_WORDS[kind], data: ({ kind }) => kind },
  device: { title: "Device", value: ({ device }) => device },
  process_id: {
    title: "Process",
    value: ({ process_id }) => process_id?.toString() ?? null,
    data: ({ process_id }) => process_id,
  },

  // Calls and times.
  invocations: {
    title: "Calls",
    format: "count",
    priority: 3,
    // ncu reports the range in which a kernel was launched, not how often the range was opened. The time outside all
    // ranges is no range.
    value: ({ invocations }) => (invocations === 0 ? null : invocations),
    data: ({ invocations }) => invocations,
    compared: { noise: "count" },
  },
  total_ms: {
    title: "Total ms",
    short: ({ words, isOfRun }) => (isOfRun ? `${workWord(words)} ms` : "Total ms"),
    legend: ({ words }) => `Total is ${words?.time ?? "time"} inside the region.`,
    format: "ms",
    priority: ({ isOfRun }) => (isOfRun ? 3 : 0),
    value: totalMs,
    isKnown: hasWork,
    compared: { noise: "total_ms", needsSameWork: true },
  },
  exclusive_ms: {
    title: "Total excl. ms",
    short: ({ words }) => `${workWord(words)} excl`,
    legend: "Total excl. is the part of Total that no inner region has.",
    format: "ms",
    priority: 4,
    value: exclusiveMs,
    isKnown: hasWork,
    compared: { noise: "exclusive_ms", needsSameWork: true },
  },
  wall_ms: {
    title: "Wall ms",
    legend: "Wall is the time the range was open, summed over calls.",
    format: "ms",
    // If no kernels were recorded, the only time of a run is its wall time.
    priority: ({ words, isOfRun }) => (words === null && !isOfRun ? 0 : 2),
    value: ({ wall_ms }) => wall_ms,
    isOpenEnded: true,
    compared: { noise: "wall_ms" },
  },
  wall_exclusive_ms: {
    title: "Wall excl. ms",
    short: "Wall excl",
    legend: "Wall excl. is the part of Wall that no inner region has.",
    format: "ms",
    priority: ({ isOfRun }) => (isOfRun ? 0 : 2),
    value: ({ wall_exclusive_ms }) => wall_exclusive_ms,
    compared: { noise: "wall_exclusive_ms" },
  },
  cpu_ms: {
    title: "CPU ms",
    legend: CPU_LEGEND,
    format: "ms",
    priority: 3,
    value: ({ cpu_ms }) => cpu_ms ?? null,
    isOpenEnded: true,
    isKnown: haveCpuTime,
    compared: { noise: "cpu_ms" },
  },
  cpu_exclusive_ms: {
    title: "CPU excl. ms",
    format: "ms",
    value: ({ cpu_exclusive_ms }) => cpu_exclusive_ms ?? null,
    isKnown: haveCpuTime,
    compared: { noise: "cpu_exclusive_ms" },
  },
  on_cpu_pct: {
    title: CPU_HEADING,
    short: "CPU %",
    legend: CPU_LEGEND,
    format: "percent",
    priority: 5,
    value: onCpuShare,
    isOpenEnded: true,
    isKnown: haveCpuTime,
  },

  instructions: {
    title: "Instructions",
    short: "Instr.",
    legend: "Instructions are those that the region's threads executed in user space.",
    format: "count",
    priority: 4,
    value: ({ instructions }) => instructions ?? null,
    isOpenEnded: true,
    isKnown: haveInstructions,
    compared: { noise: "instructions" },
  },
  instructions_exclusive: {
    title: "Instructions excl.",
    format: "count",
    value: ({ instructions_exclusive }) => instructions_exclusive ?? null,
    isKnown: haveInstructions,
    compared: { noise: "instructions_exclusive" },
  },

  // Of calls.
  call_min_ms: { title: "Min ms", format: "ms", value: ofCalls("min") },
  call_median_ms: {
    title: "Median ms",
    legend: "Median is the median wall time of a call.",
    format: "ms",
    priority: 4,
    value: ofCalls("median"),
    compared: { noise: "median" },
  },
  call_p95_ms: {
    title: "p95 ms",
    legend: "p95 is the 95th percentile of the wall time of calls.",
    format: "ms",
    priority: 5,
    value: ofCalls("p95"),
    compared: { noise: "none" },
  },
  call_max_ms: { title: "Max ms", format: "ms", value: ofCalls("max") },
  call_cpu_median_ms: {
    title: "CPU median ms",
    format: "ms",
    value: ({ invocation_cpu_ms }) => invocation_cpu_ms?.median ?? null,
    isKnown: haveCpuTime,
  },
  call_cpu_p95_ms: {
    title: "CPU p95 ms",
    format: "ms",
    value: ({ invocation_cpu_ms }) => invocation_cpu_ms?.p95 ?? null,
    isKnown: haveCpuTime,
  },

  // GPU and counters.
  kernel_count: {
    title: ({ words }) => words?.heading ?? "Kernels",
    format: "count",
    priority: 5,
    value: (region) => knownKernelCount(region),
    data: ({ kernel_count }) => kernel_count,
    isKnown: hasWork,
    compared: { noise: "count", needsSameWork: true },
  },
  gpu_busy_ms: {
    title: "GPU busy ms",
    format: "ms",
    value: activity("busy_ms"),
    isKnown: haveActivity,
  },
  gpu_busy_pct: {
    title: BUSY_HEADING,
    short: "Busy %",
    legend: BUSY_LEGEND,
    format: "percent",
    priority: 4,
    value: busyShare,
    isKnown: haveActivity,
  },
  gpu_idle_ms: {
    title: "Idle ms",
    format: "ms",
    // Clocks of two sources can differ by a little.
    value: ({ gpu_activity, wall_ms }) =>
      gpu_activity === undefined || wall_ms === null
        ? null
        : Math.max(0, wall_ms - gpu_activity.busy_ms),
    isKnown: haveActivity,
  },
  gpu_kernel_ms: {
    title: "Kernels ms",
    format: "ms",
    value: activity("kernel_ms"),
    isKnown: haveActivity,
  },
  gpu_copy_ms: {
    title: "Copies, sets ms",
    format: "ms",
    value: activity("copy_ms"),
    isKnown: haveActivity,
  },
  gpu_overlap_ms: {
    title: "Both ms",
    format: "ms",
    value: activity("overlap_ms"),
    isKnown: haveActivity,
  },
  sm_pct: {
    title: "SM %",
    legend: LIMIT_LEGEND,
    format: "percent",
    priority: 5,
    value: (region) => speedOfLight(region)?.compute ?? null,
    isKnown: haveLimit,
  },
  memory_pct: {
    title: "Memory %",
    short: "Mem %",
    legend: LIMIT_LEGEND,
    format: "percent",
    priority: 5,
    value: (region) => speedOfLight(region)?.memory ?? null,
    isKnown: haveLimit,
  },
  // The limit is the result; the shares are its basis.
  limited_by: {
    title: "Limited by",
    short: "Limit",
    legend: LIMIT_LEGEND,
    priority: 1,
    isMark: true,
    value: (region) => speedOfLight(region)?.limit ?? null,
    isKnown: haveLimit,
  },

  // Shares: of one clock, the one that counts in the report.
  share_pct: {
    title: "Share %",
    legend: shareLegend,
    format: "percent",
    // Kept longest on narrow terminals: it answers most questions.
    priority: 1,
    value: (region, { share }) => shareOf(share.timeOf(region), share.whole),
    isKnown: haveShare,
  },
  exclusive_share_pct: {
    title: "Excl. share %",
    legend: "Excl. share is the part of Share that no inner region has.",
    format: "percent",
    value: (region, { exclusiveTime, share }) => shareOf(exclusiveTime(region), share.whole),
    isKnown: haveShare,
  },

  // What the program said of its ranges.
  categories: {
    title: "Category",
    legend: "Category is the program's name for the kind of range (nvtxNameCategory).",
    priority: 6,
    value: ({ categories }) => categories?.join(", ") ?? null,
    isKnown: (regions) => regions.some(({ categories }) => categories !== undefined),
  },
  payload_sum: {
    title: "Payload sum",
    legend: "Payload is the number that the program gave with its ranges (nvtxEventAttributes).",
    format: "number",
    priority: 6,
    value: ofPayload("sum"),
    isKnown: havePayload,
  },
  payload_mean: {
    title: "Payload mean",
    format: "number",
    priority: 6,
    value: ofPayload("mean"),
    isKnown: havePayload,
  },
  payload_per_second: {
    title: "Payload/s",
    legend: "Payload/s is the sum by the wall time of the ranges that have one.",
    format: "number",
    priority: 6,
    value: ofPayload("per_second"),
    isKnown: havePayload,
  },

  // Of repeated runs, on the clock of the shares.
  runs: {
    title: "Runs",
    format: "count",
    value: ({ repeats }) => repeats?.runs ?? null,
  },
  runs_mean_ms: {
    title: "Mean ms",
    format: "ms",
    value: (region) => repeatedTime(region)?.mean ?? null,
  },
  runs_mean_interval_ms: {
    title: "Mean of runs ms",
    legend: "Mean over repeated runs, with its 95 % interval.",
    format: "ms",
    value: (region) => repeatedTime(region)?.mean ?? null,
    uncertainty: (region) => halfInterval(region),
    isKnown: (regions) => regions.some((region) => repeatedTime(region) !== null),
  },
  runs_interval_ms: {
    title: "95 %",
    format: "half_interval_ms",
    value: (region) => halfInterval(region),
  },
  runs_std_ms: {
    title: "Std ms",
    format: "ms",
    value: (region) => repeatedTime(region)?.std ?? null,
  },
  runs_steadiness: { title: "", value: (region) => steadiness(region) },

  // Of ranks.
  rank_count: {
    title: "Ranks",
    legend: "Ranks that entered the region: least, mean, most and imbalance are over these.",
    format: "count",
    priority: 5,
    value: ofRanks(({ wall_ms }) => wall_ms.filter((ms) => ms !== null).length),
  },
  rank_min_ms: {
    title: "Min ms",
    format: "ms",
    priority: 4,
    value: ofRanks(({ min_ms }) => min_ms),
  },
  rank_mean_ms: {
    title: "Mean ms",
    format: "ms",
    priority: 3,
    value: ofRanks(({ mean_ms }) => mean_ms),
  },
  rank_max_ms: {
    title: "Max ms",
    format: "ms",
    priority: 2,
    value: ofRanks(({ max_ms }) => max_ms),
  },
  rank_imbalance: {
    title: "Imbalance",
    legend: "Maximum by mean over the ranks that entered; 1 is even.",
    format: "ratio",
    priority: 1,
    value: ofRanks(({ imbalance }) => Number(imbalance.toFixed(2))),
  },
  rank_slowest: {
    title: "Slowest",
    legend:
      "Of communication that all enter: the rank that the others wait for; none if all are equal.",
    value: ofRanks(slowestRank),
  },
  rank_waiting_pct: {
    title: "Waiting %",
    legend: "From when a rank entered until the slowest one did, where all enter.",
    format: "percent",
    value: ofRanks((ranks) => percentOf(waitedMean(ranks), ranks.mean_ms)),
  },
} as const satisfies Readonly<Record<string, RegionColumn>>;

export type RegionColumnKey = keyof typeof REGION_COLUMNS;

const COUNTERS = ["gpu_busy_pct", "sm_pct", "memory_pct", "limited_by", "share_pct"] as const;

/** Where columns are shown, in the order in which they stand there. */
const TABLES = {
  /** The tree of Markdown. */
  tree: [
    ...(["invocations", "total_ms", "exclusive_ms", "wall_ms", "wall_exclusive_ms"] as const),
    ...(["cpu_ms", "on_cpu_pct", "instructions", "gpu_busy_pct", "kernel_count"] as const),
    ...(["sm_pct", "memory_pct", "limited_by", "share_pct", "categories"] as const),
  ],
  /** The tree of a terminal: of a run, of kernels alone, of wall times alone. */
  terminal_run: [
    ...([
      "invocations",
      "wall_ms",
      "wall_exclusive_ms",
      "cpu_ms",
      "instructions",
      "total_ms",
      "kernel_count",
    ] as const),
    ...COUNTERS,
  ],
  terminal_kernels: [
    ...(["invocations", "total_ms", "exclusive_ms", "wall_ms", "cpu_ms", "kernel_count"] as const),
    ...COUNTERS,
  ],
  terminal_wall: [
    ...(["invocations", "wall_ms", "wall_exclusive_ms", "cpu_ms", "on_cpu_pct"] as const),
    ...(["instructions", "call_median_ms", "call_p95_ms"] as const),
    ...COUNTERS,
  ],
  /** The table of the page, and what only its details of a region show. */
  page: [
    ...(["invocations", "total_ms", "exclusive_ms", "wall_ms", "wall_exclusive_ms"] as const),
    ...(["cpu_ms", "on_cpu_pct", "instructions", "gpu_busy_pct"] as const),
    ...(["call_median_ms", "call_p95_ms"] as const),
    ...(["runs_mean_interval_ms", "kernel_count"] as const),
    ...(["sm_pct", "memory_pct", "limited_by", "share_pct"] as const),
    ...(["payload_sum", "payload_mean", "payload_per_second", "categories"] as const),
  ],
  details: [
    ...(["domain", "kind", "device", "process_id", "cpu_exclusive_ms"] as const),
    ...(["instructions_exclusive", "call_min_ms", "call_max_ms"] as const),
    ...(["gpu_busy_ms", "gpu_idle_ms", "gpu_kernel_ms", "gpu_copy_ms", "gpu_overlap_ms"] as const),
  ],
  /** `regions.csv`, after the names of a region. */
  csv: [
    ...(["domain", "kind", "device", "process_id", "invocations"] as const),
    ...(["total_ms", "exclusive_ms", "wall_ms", "wall_exclusive_ms"] as const),
    ...(["call_min_ms", "call_median_ms", "call_p95_ms", "call_max_ms", "kernel_count"] as const),
  ],
  /** The following ones only if known for some region of any report. */
  csv_if_known: [
    ...(["cpu_ms", "cpu_exclusive_ms", "call_cpu_median_ms", "call_cpu_p95_ms"] as const),
    ...(["instructions", "instructions_exclusive"] as const),
    ...(["gpu_busy_ms", "gpu_kernel_ms", "gpu_copy_ms", "gpu_overlap_ms"] as const),
    "categories",
  ],
  /** Answers of `deep-profile query regions`, as data and as text. */
  query: [
    ...([
      "invocations",
      "wall_ms",
      "wall_exclusive_ms",
      "cpu_ms",
      "instructions",
      "total_ms",
      "exclusive_ms",
    ] as const),
    ...(["kernel_count", "gpu_busy_ms", "share_pct", "exclusive_share_pct"] as const),
  ],
  query_text: [
    ...(["invocations", "wall_ms", "wall_exclusive_ms", "kernel_count", "exclusive_ms"] as const),
    ...(["share_pct", "exclusive_share_pct"] as const),
    ...(["payload_sum", "payload_mean", "payload_per_second", "categories"] as const),
  ],
  /** Answers of `deep-profile query why`. */
  query_shares: ["share_pct", "exclusive_share_pct"],
  /** What comparisons compare; medians and percentiles are `median_ms` and `p95_ms` there. */
  comparison: COMPARED_COLUMN_KEYS,
  families: [
    ...(["invocations", "total_ms", "exclusive_ms", "wall_ms", "wall_exclusive_ms"] as const),
    ...(["call_median_ms", "call_p95_ms", "kernel_count", "share_pct"] as const),
  ],
  calls: ["invocations", "call_min_ms", "call_median_ms", "call_p95_ms", "call_max_ms"],
  gpu_activity: [
    ...(["wall_ms", "gpu_busy_pct", "gpu_idle_ms"] as const),
    ...(["gpu_kernel_ms", "gpu_copy_ms", "gpu_overlap_ms"] as const),
  ],
  repeats: ["runs", "runs_mean_ms", "runs_interval_ms", "runs_std_ms", "runs_steadiness"],
  ranks: [
    ...(["rank_count", "rank_min_ms", "rank_mean_ms", "rank_max_ms"] as const),
    ...(["rank_imbalance", "rank_slowest", "rank_waiting_pct"] as const),
  ],
} as const satisfies Readonly<Record<string, readonly RegionColumnKey[]>>;

export type RegionTable = keyof typeof TABLES;

/** A line of the page's details of a region: texts around values, shown if the first of them is known. */
export interface RegionFact {
  readonly title: string;
  /** One more than keys. */
  readonly texts: readonly string[];
  readonly keys: readonly RegionColumnKey[];
}

const fact =
  (title: string) =>
  (texts: TemplateStringsArray, ...keys: readonly RegionColumnKey[]): RegionFact => ({
    title,
    texts,
    keys,
  });

/** What the page's details of a region say, of columns of `page` and `details`. */
export const regionFacts = ({ share }: ReportWords): readonly RegionFact[] => [
  { title: "Share", texts: ["", ` % of ${share.label}`], keys: ["share_pct"] },
  fact("Domain")`${"domain"}`,
  fact("Kind")`${"kind"}`,
  fact("Device")`${"device"}`,
  fact("Process")`${"process_id"}`,
  fact("Calls")`${"invocations"}`,
  fact("Total")`${"total_ms"} ms`,
  fact("Total, exclusive")`${"exclusive_ms"} ms`,
  fact("Wall")`${"wall_ms"} ms`,
  fact("Wall, exclusive")`${"wall_exclusive_ms"} ms`,
  fact(
    "CPU",
  )`${"cpu_ms"} ms (${"on_cpu_pct"} % of the wall time), exclusive ${"cpu_exclusive_ms"} ms`,
  fact("Instructions")`${"instructions"}, exclusive ${"instructions_exclusive"}`,
  fact(
    "Per call",
  )`minimum ${"call_min_ms"}, median ${"call_median_ms"}, 95th percentile ${"call_p95_ms"}, maximum ${"call_max_ms"} ms`,
  fact(
    "GPU while open",
  )`idle ${"gpu_idle_ms"}, kernels ${"gpu_kernel_ms"}, copies or sets ${"gpu_copy_ms"}, both at once ${"gpu_overlap_ms"} ms`,
  fact("Limited by")`${"limited_by"} (SM ${"sm_pct"} %, memory ${"memory_pct"} % of the peak)`,
];

/** A column of a certain report. */
export interface ShownColumn {
  readonly key: RegionColumnKey;
  readonly column: Column;
  /** For people. */
  readonly cell: (region: NCUProfileRegion) => Cell;
  /** For programs. */
  readonly data: (region: NCUProfileRegion) => number | string | null;
}

/**
 * The columns of a table of these regions, some of those of a report. Columns of kernels, shares and counters appear only
 * if something of the kind was measured.
 */
export const shownColumns = (
  table: RegionTable,
  regions: readonly NCUProfileRegion[],
  words: ReportWords = NO_REPORT,
): readonly ShownColumn[] =>
  everyColumn(table, words).filter(({ key }) => {
    const { isKnown }: RegionColumn = REGION_COLUMNS[key];
    return isKnown?.(regions, words) !== false;
  });

/** All columns of a table, as documents for programs have them whatever was measured. */
export const everyColumn = (
  table: RegionTable,
  words: ReportWords = NO_REPORT,
): readonly ShownColumn[] =>
  TABLES[table].map((key) => shownColumn(key, REGION_COLUMNS[key], words));

/** For columns that depend on regions alone. */
const NO_REPORT: ReportWords = {
  words: null,
  share: { basis: "wall", timeOf: ({ wall_ms }) => wall_ms, whole: null, label: null },
  exclusiveTime: ({ wall_exclusive_ms }) => wall_exclusive_ms,
  isOfRun: false,
};

function shownColumn(key: RegionColumnKey, column: RegionColumn, words: ReportWords): ShownColumn {
  const { title, short, legend, priority, format, isMark, value, data = value } = column;
  const hint = worded(legend, words) ?? "";
  const heading = worded(short, words);
  const rank = worded(priority, words);
  return {
    key,
    column: {
      title: worded(title, words) ?? "",
      ...(heading !== undefined && { short: heading }),
      ...(hint !== "" && { hint }),
      ...(format !== undefined && { format }),
      ...(isMark !== undefined && { isMark }),
      ...(rank !== undefined && { priority: rank }),
    },
    cell: (region) => cellOf(column, value(region, words), region),
    data: (region) => data(region, words),
  };
}

const worded = <Value extends string | number>(
  value: Value | ((words: ReportWords) => Value) | undefined,
  words: ReportWords,
): Value | undefined => (typeof value === "function" ? value(words) : value);

/** The time of a region with unclosed ranges is a lower bound. */
function cellOf(
  { uncertainty, isOpenEnded }: RegionColumn,
  value: number | string | null,
  region: NCUProfileRegion,
): Cell {
  if (typeof value !== "number") return value;
  if (isOpenEnded && region.unclosed !== undefined)
    return { kind: "measured", value, uncertainty: null, isAtLeast: true };
  return uncertainty === undefined
    ? value
    : { kind: "measured", value, uncertainty: uncertainty(region) };
}

/** The columns as fields of rows that hold a region. */
export const fieldsOf = <Item extends { readonly region: NCUProfileRegion }>(
  columns: readonly ShownColumn[],
): readonly Field<Item>[] =>
  columns.map(({ column, cell }) => ({ ...column, cell: ({ region }) => cell(region) }));

/** What the columns mean, a sentence each. */
export const legendOf = (columns: readonly ShownColumn[]): readonly string[] => [
  ...new Set(columns.flatMap(({ column: { hint } }) => hint ?? [])),
];

/** A number of regions that comparisons compare. */
export interface ComparedColumn extends ComparedAs {
  /** The name in comparisons and in conditions of gates. */
  readonly name: string;
  readonly value: (region: NCUProfileRegion) => number | null;
}

/** In the order in which comparisons list them. */
export const COMPARED_COLUMNS: readonly ComparedColumn[] = TABLES.comparison.map((key) => {
  const { value, data = value, compared }: RegionColumn = REGION_COLUMNS[key];
  const numberOf = (region: NCUProfileRegion) => {
    const found = data(region, NO_REPORT);
    return typeof found === "number" ? found : null;
  };
  const { noise, needsSameWork }: ComparedAs = compared ?? { noise: "none" };
  return {
    name: comparedName(key),
    value: numberOf,
    noise,
    ...(needsSameWork !== undefined && { needsSameWork }),
  };
});

/** Null if the tool could not count. */
export const knownKernelCount = ({
  kernel_count,
  total_ms,
}: Pick<NCUProfileRegion, "kernel_count" | "total_ms">): number | null =>
  kernel_count === 0 && (total_ms ?? 0) > 0 ? null : kernel_count;

/** The mean over ranks of the time that each waited. */
export const waitedMean = ({ waiting_ms, wall_ms }: RegionRanks): number | null =>
  waiting_ms === undefined ? null : waiting_ms / wall_ms.length;

/** The repeated times, on the clock that shares refer to. */
export const repeatedTime = ({ repeats }: NCUProfileRegion) =>
  repeats?.total_ms ?? repeats?.wall_ms ?? null;

/** The interval of two runs is 12.7 times as wide as their difference, and therefore meaningless. */
const LEAST_RUNS = 3;

function steadiness(region: NCUProfileRegion): string {
  if ((region.repeats?.runs ?? 0) < LEAST_RUNS) return "too few runs";
  return repeatedTime(region)?.stable ? "stable" : "not stable";
}

/** Half of the 95 % interval of the mean. */
function halfInterval(region: NCUProfileRegion): number | null {
  const time = (region.repeats?.runs ?? 0) < LEAST_RUNS ? null : repeatedTime(region);
  return time && (time.ci95_high - time.ci95_low) / 2;
}

type Metrics = Readonly<Record<string, MetricValue>>;

/** A region's metrics, including the program's own numbers under names of the same form: `Message size.sum` in byte. */
export function allMetrics({ metrics, payloads, counters }: NCUProfileRegion): Metrics {
  if (payloads === undefined && counters === undefined) return metrics;
  const more: Record<string, MetricValue> = {};
  for (const { name, unit, sum, mean, per_second } of payloads ?? []) {
    if (sum !== undefined) more[`${name}.sum`] = { value: sum, unit };
    more[`${name}.mean`] = { value: mean, unit };
    if (per_second !== undefined)
      more[`${name}.per_second`] = { value: per_second, unit: `${unit}/s` };
  }
  for (const { name, unit, min, mean, max } of counters ?? [])
    for (const [what, value] of Object.entries({ min, mean, max }))
      more[`${name}.${what}`] = { value, unit };
  // A metric of a tool has precedence over a number of the same name.
  return { ...more, ...metrics };
}
