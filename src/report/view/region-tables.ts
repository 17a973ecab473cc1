/** Tables of regions: their columns and the contents of their cells. */

import { type Block, type Field, paragraph, type Table, tableOf } from "../../pages/blocks.ts";
import { NOT_MEASURED, percentOf } from "../../pages/numbers.ts";
import type { NCUProfileRegion, NCUProfileRegionReport, RegionRanks } from "../model/document.ts";
import {
  BUSY_HEADING,
  BUSY_LEGEND,
  busyShare,
  haveActivity,
  LIMIT_LEGEND,
  speedOfLight,
} from "./gpu-utilization.ts";
import { type KernelWords, reportKernelWords } from "./kernel-words.ts";
import {
  CPU_HEADING,
  CPU_LEGEND,
  exclusiveMs,
  haveCpuTime,
  onCpuShare,
  type ShareBase,
  shareBase,
  slowestRank,
  totalMs,
} from "./times.ts";
import { regionLabels, type TreeRow, treeRows } from "./tree-rows.ts";

type RegionField = Field<TreeRow>;

type RegionColumn =
  | "calls"
  | "total"
  | "exclusive"
  | "wall"
  | "wall_exclusive"
  | "cpu"
  | "on_cpu"
  | "busy"
  | "median"
  | "p95"
  | "kernels"
  | "sm"
  | "memory"
  | "limit"
  | "share";

const NAME: RegionField = {
  title: "Region",
  cell: ({ label, level }) => ({ kind: "label", text: label, level }),
};

const field = (
  title: string,
  of: (region: NCUProfileRegion) => number | string | null,
  rest: Omit<RegionField, "title" | "cell">,
): RegionField => ({ title, ...rest, cell: ({ region }) => of(region) });

/**
 * The columns of a table of these regions, by name. Columns of kernels, shares and counters appear only if something of
 * the kind was measured.
 */
function regionFields(
  report: NCUProfileRegionReport,
  regions: readonly NCUProfileRegion[],
): Partial<Record<RegionColumn, RegionField>> {
  const words = reportKernelWords(report);
  const share = shareBase(report);
  const isOfRun = report.totals.run !== undefined;
  const ms = (priority: number, short?: string) => ({
    format: "ms" as const,
    priority,
    ...(short !== undefined && { short }),
  });
  return {
    calls: field("Calls", knownCalls, { format: "count", priority: 3 }),
    // If no kernels were recorded, the only time of a run is its wall time.
    wall: {
      title: "Wall ms",
      ...ms(words === null && !isOfRun ? 0 : 2),
      cell: ({ region }) => atLeastIfOpen(region, region.wall_ms),
    },
    wall_exclusive: field(
      "Wall excl. ms",
      ({ wall_exclusive_ms }) => wall_exclusive_ms,
      ms(isOfRun ? 0 : 2, "Excl ms"),
    ),
    ...(haveCpuTime(regions) && {
      cpu: {
        title: "CPU ms",
        ...ms(3),
        cell: ({ region }: TreeRow) => atLeastIfOpen(region, region.cpu_ms ?? null),
      },
      on_cpu: field(CPU_HEADING, onCpuShare, { short: "CPU %", format: "percent", priority: 5 }),
    }),
    median: field(
      "Median ms",
      ({ invocation_wall_ms }) => invocation_wall_ms?.median ?? null,
      ms(4),
    ),
    p95: field("p95 ms", ({ invocation_wall_ms }) => invocation_wall_ms?.p95 ?? null, ms(5)),
    ...(words !== null && {
      total: field(
        "Total ms",
        totalMs,
        isOfRun ? ms(3, words.heading.startsWith("CPU") ? "Ops ms" : "GPU ms") : ms(0),
      ),
      exclusive: field("Exclusive ms", exclusiveMs, ms(4, "Excl ms")),
      kernels: field(words.heading, knownKernelCount, { format: "count", priority: 5 }),
    }),
    ...(haveActivity(regions) && { busy: BUSY }),
    ...limitFields(regions),
    ...(share.label !== null && {
      share: field("Share %", (region) => percentOf(share.of(region), share.whole), {
        format: "percent",
        // Kept longest on narrow terminals: it answers most questions.
        priority: 1,
      }),
    }),
  };
}

/** The time of a region with unclosed ranges is a lower bound. */
const atLeastIfOpen = ({ unclosed }: NCUProfileRegion, value: number | null) =>
  unclosed === undefined || value === null
    ? value
    : ({ kind: "measured", value, uncertainty: null, isAtLeast: true } as const);

const BUSY = field(BUSY_HEADING, busyShare, { short: "Busy %", format: "percent", priority: 4 });

function limitFields(regions: readonly NCUProfileRegion[]) {
  const known = new Map(regions.map((region) => [region, speedOfLight(region)]));
  if ([...known.values()].every((each) => each === null)) return {};
  const of = (region: NCUProfileRegion) => known.get(region) ?? null;
  const share = { format: "percent", priority: 5 } as const;
  return {
    sm: field("SM %", (region) => of(region)?.compute ?? null, share),
    memory: field("Memory %", (region) => of(region)?.memory ?? null, { ...share, short: "Mem %" }),
    // The limit is the result; the shares are its basis.
    limit: field("Limited by", (region) => of(region)?.limit ?? null, {
      short: "Limit",
      priority: 1,
    }),
  };
}

/**
 * ncu reports the range in which a kernel was launched, not how often the range was opened. The time outside all ranges
 * is no range.
 */
const knownCalls = ({ invocations }: NCUProfileRegion): number | null =>
  invocations === 0 ? null : invocations;

/** Null if the tool could not count. */
export const knownKernelCount = ({
  kernel_count,
  total_ms,
}: Pick<NCUProfileRegion, "kernel_count" | "total_ms">): number | null =>
  kernel_count === 0 && (total_ms ?? 0) > 0 ? null : kernel_count;

const chosen = (
  fields: ReturnType<typeof regionFields>,
  names: readonly RegionColumn[],
): readonly RegionField[] => [NAME, ...names.flatMap((name) => fields[name] ?? [])];

const PAGE_COLUMNS = [
  ...(["calls", "total", "exclusive", "wall", "wall_exclusive"] as const),
  ...(["cpu", "on_cpu", "busy"] as const),
  ...(["kernels", "sm", "memory", "limit", "share"] as const),
] as const;

/** The region tree of a report with times and counts, and its legend. */
export function regionTree(report: NCUProfileRegionReport): readonly Block[] {
  const { regions } = report;
  if (regions.length === 0) return [paragraph("No regions.")];
  const fields = regionFields(report, regions);
  return [
    tableOf(chosen(withLimitBesideNumbers(fields), PAGE_COLUMNS), treeRows(regions)),
    paragraph(
      treeLegend(
        reportKernelWords(report),
        shareBase(report),
        fields,
        regions.some(({ unclosed }) => unclosed !== undefined),
      ),
    ),
  ];
}

/** A column of words is most readable at the right of the columns of numbers. */
const withLimitBesideNumbers = (fields: ReturnType<typeof regionFields>) =>
  fields.limit === undefined
    ? fields
    : { ...fields, limit: { ...fields.limit, align: "right" as const } };

const treeLegend = (
  words: KernelWords | null,
  { label }: ShareBase,
  { cpu, busy, limit }: ReturnType<typeof regionFields>,
  isOpen: boolean,
): string =>
  [
    words === null
      ? `Neither GPU kernels nor CPU operations were recorded: only wall times${cpu === undefined ? "" : " and processor times"} are known.`
      : `Total is ${words.time} inside the region, Exclusive the part that no inner region has.`,
    "Wall is the time the range was open, summed over calls.",
    ...(isOpen
      ? ["≥: a range was never closed, and lasted at least until its process's end."]
      : []),
    ...(cpu === undefined ? [] : [CPU_LEGEND]),
    ...(busy === undefined ? [] : [BUSY_LEGEND]),
    ...(limit === undefined ? [] : [LIMIT_LEGEND]),
    ...(label === null ? [] : [`Share is of ${label}.`]),
    `${NOT_MEASURED} means not measured.`,
  ].join(" ");

const KERNEL_COLUMNS = ["calls", "total", "exclusive", "wall", "cpu", "kernels"] as const;
const RUN_COLUMNS = ["calls", "wall", "wall_exclusive", "cpu", "total", "kernels"] as const;
const WALL_COLUMNS = ["calls", "wall", "wall_exclusive", "cpu", "on_cpu", "median", "p95"] as const;
const LAST_COLUMNS = ["busy", "sm", "memory", "limit", "share"] as const;

/** The orders of tables of regions; `exclusive` is the time of a region without its inner regions. */
export const REGION_SORTS = ["exclusive", "wall", "gpu", "calls", "kernels", "tree"] as const;
export type RegionSort = (typeof REGION_SORTS)[number];

/**
 * Times without inner regions, on the clock that the report's shares refer to; with inner regions if their parts are
 * unknown.
 */
function ownTimes(report: NCUProfileRegionReport): (region: NCUProfileRegion) => number | null {
  if (shareBase(report).basis === "wall") return ({ wall_exclusive_ms }) => wall_exclusive_ms;
  const isWhole = report.regions.every(({ exclusive_ms }) => exclusive_ms === null);
  return isWhole ? totalMs : exclusiveMs;
}

/** In descending order; equal regions keep the order of the report. */
export function sortedRegions(
  report: NCUProfileRegionReport,
  sort: RegionSort,
): readonly NCUProfileRegion[] {
  if (sort === "tree") return report.regions;
  const own = ownTimes(report);
  const keys: Readonly<
    Record<Exclude<RegionSort, "tree">, (region: NCUProfileRegion) => number | null>
  > = {
    exclusive: own,
    wall: ({ wall_ms }) => wall_ms,
    gpu: totalMs,
    calls: knownCalls,
    kernels: knownKernelCount,
  };
  const key = keys[sort];
  return report.regions
    .map((region) => ({ region, value: key(region) ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => b.value - a.value)
    .map(({ region }) => region);
}

/** The three regions with the longest exclusive times, if each is a tenth of the whole or more. */
function hotRegions(report: NCUProfileRegionReport): ReadonlySet<NCUProfileRegion> {
  const own = ownTimes(report);
  const { whole } = shareBase(report);
  const least = (whole ?? 0) * HOT;
  return new Set(
    sortedRegions(report, "exclusive")
      .slice(0, MOST_HOT)
      .filter((region) => (own(region) ?? 0) > 0 && (own(region) ?? 0) >= least),
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
  const kernels = reportKernelWords(report) !== null;
  const isOfRun = report.totals.run !== undefined;
  const first = !kernels ? WALL_COLUMNS : isOfRun ? RUN_COLUMNS : KERNEL_COLUMNS;
  const hot = hotRegions(report);
  const labelOf = regionLabels(report.regions);
  return tableOf(
    chosen(regionFields(report, shown), [...first, ...LAST_COLUMNS]),
    sort === "tree"
      ? treeRows(shown, { among: report.regions })
      : shown.map((region) => ({ region, level: 0, label: labelOf(region) })),
    ({ region }) => (hot.has(region) ? "hot" : region.kind === "outside" ? "minor" : undefined),
  );
}

type Regions = readonly NCUProfileRegion[];

/** A table of some regions of a report; none without regions. */
function tableIfAny(
  some: Regions,
  among: Regions,
  fields: readonly RegionField[],
): readonly Table[] {
  return some.length === 0 ? [] : [tableOf([NAME, ...fields], treeRows(some, { among }))];
}

const ms = (
  title: string,
  of: (region: NCUProfileRegion) => number | null,
  priority?: number,
): RegionField => field(title, of, { format: "ms", ...(priority !== undefined && { priority }) });

/** The distribution of wall time over calls, for regions called more than once. */
export const invocationTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    regions.filter(({ invocations }) => invocations > 1),
    regions,
    [
      field("Calls", ({ invocations }) => invocations, { format: "count" }),
      ms("Min ms", ({ invocation_wall_ms }) => invocation_wall_ms?.min ?? null),
      ms("Median ms", ({ invocation_wall_ms }) => invocation_wall_ms?.median ?? null),
      ms("p95 ms", ({ invocation_wall_ms }) => invocation_wall_ms?.p95 ?? null),
      ms("Max ms", ({ invocation_wall_ms }) => invocation_wall_ms?.max ?? null),
    ],
  );

/** What the GPU did in each region. */
export const gpuActivityTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    regions.filter(({ gpu_activity }) => gpu_activity !== undefined),
    regions,
    [
      ms("Wall ms", ({ wall_ms }) => wall_ms),
      BUSY,
      ms("Idle ms", idleMs),
      ms("Kernels ms", ({ gpu_activity }) => gpu_activity?.kernel_ms ?? null),
      ms("Copies ms", ({ gpu_activity }) => gpu_activity?.copy_ms ?? null),
      ms("Both ms", ({ gpu_activity }) => gpu_activity?.overlap_ms ?? null),
    ],
  );

const idleMs = ({ gpu_activity, wall_ms }: NCUProfileRegion): number | null =>
  gpu_activity === undefined || wall_ms === null
    ? null
    : Math.max(0, wall_ms - gpu_activity.busy_ms);

/** The variation of regions over repeated runs. */
export const repeatsTable = (regions: Regions): readonly Table[] =>
  tableIfAny(
    regions.filter((region) => repeatedTime(region) !== null),
    regions,
    [
      field("Runs", ({ repeats }) => repeats?.runs ?? null, { format: "count" }),
      ms("Mean ms", (region) => repeatedTime(region)?.mean ?? null),
      field("95 %", halfInterval, { format: "half_interval_ms" }),
      ms("Std ms", (region) => repeatedTime(region)?.std ?? null),
      field("", steadiness, {}),
    ],
  );

/** How evenly ranks share the time of regions; those that lose most come first. */
export function ranksTable(regions: Regions, most = Number.POSITIVE_INFINITY): readonly Table[] {
  const lost = ({ ranks }: NCUProfileRegion) =>
    ranks === undefined ? 0 : Math.max(ranks.max_ms - ranks.mean_ms, waitedMean(ranks) ?? 0);
  const some = regions
    .filter(({ ranks, kind }) => ranks !== undefined && kind !== "outside")
    .toSorted((a, b) => lost(b) - lost(a));
  return tableIfAny(some.slice(0, most), regions, [
    ms("Min ms", ({ ranks }) => ranks?.min_ms ?? null, 4),
    ms("Mean ms", ({ ranks }) => ranks?.mean_ms ?? null, 3),
    ms("Max ms", ({ ranks }) => ranks?.max_ms ?? null, 2),
    field("Imbalance", ({ ranks }) => (ranks ? Number(ranks.imbalance.toFixed(2)) : null), {
      format: "ratio",
      priority: 1,
      hint: "Maximum by mean over the ranks; 1 is even.",
    }),
    field("Slowest", ({ ranks }) => (ranks ? slowestRank(ranks) : null), {
      hint: "Of communication that all enter: the rank that the others wait for.",
    }),
    field(
      "Waiting %",
      ({ ranks }) => (ranks ? percentOf(waitedMean(ranks), ranks.mean_ms) : null),
      {
        format: "percent",
        hint: "From when a rank entered until the slowest one did, where all enter.",
      },
    ),
  ]);
}

const waitedMean = ({ waiting_ms, wall_ms }: RegionRanks): number | null =>
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
export function halfInterval(region: NCUProfileRegion): number | null {
  const time = (region.repeats?.runs ?? 0) < LEAST_RUNS ? null : repeatedTime(region);
  return time && (time.ci95_high - time.ci95_low) / 2;
}
