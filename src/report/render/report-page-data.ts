/** Region reports as the data of the page's script, reduced to a reasonable size of a page. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import type { Column } from "../../pages/blocks.ts";
import { roundedForPage } from "../../pages/numbers.ts";
import type {
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../model/document.ts";
import { kernelsOfReport } from "../view/kernel-list.ts";
import { HARDWARE_COLUMNS } from "../view/kernel-tables.ts";
import { medianOfRuns, medianRunWords } from "../view/notes.ts";
import type {
  CallsData,
  KernelColumn,
  KernelColumns,
  MeasureData,
  PageData,
  RegionColumnData,
  RegionsData,
  RooflineData,
  ScopeData,
  TextIndex,
} from "../view/page-data.ts";
import {
  allMetrics,
  type RegionColumnKey,
  type ReportWords,
  regionFacts,
  reportWords,
  type ShownColumn,
  shownColumns,
} from "../view/region-columns.ts";
import { hotRegions } from "../view/report-tables.ts";
import { rooflineCeilings, rooflinePoints } from "../view/roofline.ts";
import { kernelMs, RANGE_TIME, reportKernelWords, shareBase } from "../view/times.ts";
import { largestRegions, type TreeRow, treeRows } from "../view/tree-rows.ts";

/** The data of a page that shows so much of the reports. */
interface PageDataLevel extends BuiltPageData {
  readonly detail: Detail;
}

/**
 * The data at falling levels of detail. Those whose page would certainly be larger than `MAX_PAGE_BYTES` are left out; the last
 * is given whatever its size.
 */
export function* pageDataLevels(bundle: RegionReportBundle): Generator<PageDataLevel> {
  const sources = createKernelSources();
  for (const [level, detail] of DETAILS.entries()) {
    const most = level === DETAILS.length - 1 ? Number.POSITIVE_INFINITY : MAX_PAGE_BYTES;
    const built = buildPageData(bundle, detail, sources, most);
    if (built !== null) yield { ...built, detail };
  }
}

interface BuiltPageData {
  readonly data: PageData;
  /** What the page leaves out, one sentence each. */
  readonly left: readonly string[];
}

/**
 * Null if it would certainly be larger than `maxBytes`: the text of a large report may not fit into memory.
 *
 * @param sources shared by the levels of detail of one bundle
 */
function buildPageData(
  { reports }: RegionReportBundle,
  detail: Detail,
  sources: KernelSources,
  maxBytes: number,
): BuiltPageData | null {
  const table = createStringTable();
  const left: string[] = [];
  const [main, ...others] = distinct(reports);
  const shown = main === undefined ? [] : [main, ...others.slice(0, detail.scopes)];
  if (others.length > detail.scopes)
    left.push(
      `${plural(others.length - detail.scopes, "report")} of single processes and devices not shown`,
    );
  const scopes: ScopeData[] = [];
  let leastBytes = 0;
  for (const [index, report] of shown.entries()) {
    const chosen = chooseContent(report, detail);
    leastBytes += leastBytesOf(chosen);
    if (leastBytes > maxBytes) return null;
    const budget = index === 0 ? mainShare(detail, shown.length) : otherShare(detail, shown.length);
    const ofScope = { ...detail, kernels: budget };
    const scope = buildScope(report, chosen, ofScope, { sources, table });
    scopes.push(scope.data);
    if (index === 0) left.push(...scope.left);
  }
  return { data: { strings: table.strings, scopes }, left };
}

/** If there are other scopes, the main report gets most of the records. */
const mainShare = ({ kernels }: Detail, scopes: number): number =>
  scopes === 1 ? kernels : Math.floor(kernels * 0.6);

const otherShare = ({ kernels }: Detail, scopes: number): number =>
  Math.floor((kernels * 0.4) / (scopes - 1));

/** Omits reports that repeat an earlier one, as those of the only process and the only device do. */
function distinct(reports: readonly NCUProfileRegionReport[]): readonly NCUProfileRegionReport[] {
  const seen = new Set<string>();
  return reports.filter(({ totals, regions }) => {
    const numbers = JSON.stringify([
      totals,
      regions.map(({ path, kind, domain, path_domains, total_ms, wall_ms, kernel_count }) => [
        path,
        kind,
        domain,
        path_domains,
        total_ms,
        wall_ms,
        kernel_count,
      ]),
    ]);
    if (seen.has(numbers)) return false;
    seen.add(numbers);
    return true;
  });
}

/** The part of a report that a page shows, before it is put into columns. */
interface ChosenContent {
  readonly regions: readonly NCUProfileRegion[];
  readonly metrics: ReturnType<typeof chooseMetrics>;
}

function chooseContent(report: NCUProfileRegionReport, detail: Detail): ChosenContent {
  const regions = largestRegions(report.regions, detail.regions, weightIn(report));
  return { regions, metrics: chooseMetrics(regions, detail.metrics) };
}

function weightIn(report: NCUProfileRegionReport): (region: NCUProfileRegion) => number {
  const share = shareBase(report);
  return (region) => share.timeOf(region) ?? region.wall_ms ?? 0;
}

/** The number of columns that every scope has: labels, places in the tree, a time and its share. */
const REGION_COLUMNS = 4;
/** A digit and a comma. */
const LEAST_CELL_BYTES = 2;

const leastBytesOf = ({ regions, metrics }: ChosenContent): number =>
  regions.length * (REGION_COLUMNS + metrics.names.length) * LEAST_CELL_BYTES;

interface BuiltScope {
  readonly data: ScopeData;
  /** What the page leaves out, one sentence each. */
  readonly left: readonly string[];
}

/** @param shared shared by the scopes of a page */
function buildScope(
  report: NCUProfileRegionReport,
  { regions, metrics }: ChosenContent,
  detail: Detail,
  { sources, table }: { readonly sources: KernelSources; readonly table: StringTable },
): BuiltScope {
  const left: string[] = [];
  if (regions.length < report.regions.length)
    left.push(`${plural(report.regions.length - regions.length, "shorter region")} not shown`);

  const rows = treeRows(regions, { among: report.regions, labelLimit: detail.name });
  const lists = [sources.ofReport(report), ...regions.map(sources.ofRegion)];
  const folded = foldKernels(lists, detail.kernels);
  const all = lists.reduce((sum, { times }) => sum + times.length, 0);
  if (all > detail.kernels)
    left.push(
      `only the ${detail.kernels} longest of ${all} kernel records are shown; the others are added up as "other"`,
    );
  if (metrics.left > 0) left.push(`${plural(metrics.left, "metric")} not shown`);

  const withSections = new Set(
    largestRegions(
      regions.filter(({ sections }) => Object.keys(sections).length > 0),
      detail.sections,
      weightIn(report),
    ),
  );
  const hidden = regions.filter((region) => hasSections(region) && !withSections.has(region));
  if (hidden.length > 0) left.push(`sections of ${plural(hidden.length, "region")} not shown`);

  const data: ScopeData = {
    scope: report.scope,
    kernelWords: reportKernelWords(report)?.plural ?? null,
    ...(medianOfRuns(report.notes) !== null && { kernelSource: medianRunWords(report.notes) }),
    ...regionsData(report, rows, table, detail.name),
    metrics: metrics.names.map((metric) => ({
      ...metric,
      values: metricValues(metric, regions).map(roundedForPage),
    })),
    ...(folded.some(({ kept }) => haveHardware(kept)) && { hardware: hardwareHeads() }),
    kernels: folded.map((list) => kernelColumns(list, table, detail.name)),
    notes: byRow(regions, ({ notes }) => (notes.length === 0 ? null : notes)),
    sections: byRow(regions, (region) => (withSections.has(region) ? region.sections : null)),
    roofline: rooflineData(regions),
    calls: callsData(regions),
  };
  return { data, left };
}

const hasSections = ({ sections }: NCUProfileRegion): boolean => Object.keys(sections).length > 0;

function byRow<T>(
  regions: readonly NCUProfileRegion[],
  measure: (region: NCUProfileRegion) => T | null,
): Readonly<Record<number, T>> {
  const found: Record<number, T> = {};
  regions.forEach((region, row) => {
    const value = measure(region);
    if (value !== null) found[row] = value;
  });
  return found;
}

/** How much of a report a page contains: pages, unlike reports, must have a size that mail and browsers can handle. */
export interface Detail {
  /** Number of kernel records in all lists together, the longest ones. */
  readonly kernels: number;
  /** Number of regions of a scope, the longest ones. */
  readonly regions: number;
  readonly metrics: number;
  /** Number of regions with their sections, the longest ones. */
  readonly sections: number;
  /** Number of reports of single processes and devices, in addition to the main report. */
  readonly scopes: number;
  /** Maximum length of a name, in characters. */
  readonly name: number;
  /** Maximum length of a note, of a value of the configuration and of other free texts, in characters. */
  readonly text: number;
  /** Maximum number of notes, and of values of the configuration. */
  readonly lines: number;
}

export const MAX_PAGE_BYTES = 2_000_000;

/** The levels of detail, from complete to what fits in any case. */
const DETAILS: readonly Detail[] = [
  {
    kernels: 10_000,
    regions: 10_000,
    metrics: 10_000,
    sections: 1000,
    scopes: 64,
    name: 240,
    text: 2000,
    lines: 2000,
  },
  {
    kernels: 10_000,
    regions: 10_000,
    metrics: 400,
    sections: 1000,
    scopes: 64,
    name: 240,
    text: 2000,
    lines: 2000,
  },
  {
    kernels: 10_000,
    regions: 5000,
    metrics: 100,
    sections: 200,
    scopes: 16,
    name: 160,
    text: 1000,
    lines: 500,
  },
  {
    kernels: 10_000,
    regions: 3000,
    metrics: 40,
    sections: 50,
    scopes: 4,
    name: 120,
    text: 1000,
    lines: 300,
  },
  {
    kernels: 6000,
    regions: 2000,
    metrics: 20,
    sections: 20,
    scopes: 1,
    name: 100,
    text: 500,
    lines: 200,
  },
  {
    kernels: 2000,
    regions: 1000,
    metrics: 12,
    sections: 0,
    scopes: 0,
    name: 80,
    text: 300,
    lines: 100,
  },
  {
    kernels: 500,
    regions: 300,
    metrics: 8,
    sections: 0,
    scopes: 0,
    name: 60,
    text: 200,
    lines: 50,
  },
];

// Regions, metrics and the roofline, in columns.

/** @param shown the rows of some of the report's regions */
function regionsData(
  report: NCUProfileRegionReport,
  shown: readonly TreeRow[],
  table: StringTable,
  nameLimit: number,
): { readonly regions: RegionsData; readonly measures: readonly MeasureData[] } {
  const regions = shown.map(({ region }) => region);
  const words = reportWords(report);
  const named = (["page", "details"] as const).flatMap((where) =>
    shownColumns(where, regions, words).flatMap((column) => {
      const data = columnData(column, regions, { table, nameLimit });
      if (data === null) return [];
      return [
        { key: column.key, data: where === "page" ? data : { ...data, isDetail: true as const } },
      ];
    }),
  );
  const columnOf = (key: RegionColumnKey) => named.findIndex((column) => column.key === key);
  const columns = named.map(({ data }) => data);
  const parent = parents(shown);
  const hot = hotRegions(report);
  const ownColumn = words.share.basis === "wall" ? "wall_exclusive_ms" : "exclusive_ms";
  return {
    regions: {
      label: shown.map(({ label }) => table.add(label)),
      parent,
      columns,
      calls: columnOf("invocations"),
      hot: regions.flatMap((region, row) => (hot.has(region) ? [row] : [])),
      order: columns[columnOf(ownColumn)]?.title ?? null,
      facts: regionFacts(words)
        .map(({ title, texts, keys }) => ({
          title,
          texts,
          columns: keys.map(columnOf),
        }))
        .filter(({ columns: [first = -1] }) => first !== -1),
    },
    measures: measuresOf(words, columnOf, (column) =>
      parent.reduce(
        (sum, around, row) => sum + (around === -1 ? (columns[column]?.values[row] ?? 0) : 0),
        0,
      ),
    ),
  };
}

/** Null if no region has a value. */
function columnData(
  { column, cell }: ShownColumn,
  regions: readonly NCUProfileRegion[],
  { table, nameLimit }: { readonly table: StringTable; readonly nameLimit: number },
): RegionColumnData | null {
  const cells = regions.map(cell);
  if (cells.every((cell) => cell === null)) return null;
  const measured = cells.map((cell) =>
    typeof cell === "object" && cell !== null && "kind" in cell && cell.kind === "measured"
      ? cell
      : null,
  );
  const isText = cells.some((cell) => typeof cell === "string");
  const atLeast = measured.flatMap((value, row) => (value?.isAtLeast ? [row] : []));
  const uncertain = measured.some((value) => (value?.uncertainty ?? null) !== null);
  return {
    ...headOf(column),
    values: cells.map((cell, row) => {
      if (typeof cell === "string") return table.add(printableLabel(cell, nameLimit));
      return roundedForPage(typeof cell === "number" ? cell : (measured[row]?.value ?? null));
    }),
    ...(isText && { isText }),
    ...(uncertain && {
      uncertainty: measured.map((value) => roundedForPage(value?.uncertainty ?? null)),
    }),
    ...(atLeast.length > 0 && { atLeast }),
  };
}

/** What the page shows of a column. */
const headOf = ({ title, hint, format, isMark }: Column): Column => ({
  title,
  ...(hint !== undefined && { hint }),
  ...(format !== undefined && { format }),
  ...(isMark !== undefined && { isMark }),
});

/** Of several clocks, the one of the shares first; GPU busy time is a part of the time in ranges. */
function measuresOf(
  { words, share }: ReportWords,
  columnOf: (key: RegionColumnKey) => number,
  sumOfRoots: (column: number) => number,
): readonly MeasureData[] {
  const [wall, gpu, kernels] = [
    { name: "wall", title: "Wall time", column: columnOf("wall_ms") },
    { name: "gpu", title: "GPU busy while open", column: columnOf("gpu_busy_ms") },
    {
      name: "kernels",
      title: words?.time === RANGE_TIME ? RANGE_TIME : "Kernel time",
      column: columnOf("total_ms"),
    },
  ] as const;
  const first = share.basis === "wall" ? wall : kernels;
  const whole = { wholeMs: roundedForPage(share.whole), wholeLabel: share.label };
  const others = [wall, gpu, kernels].filter(
    (measure) => measure !== first && measure.column !== -1 && sumOfRoots(measure.column) > 0,
  );
  return [
    { ...first, ...whole },
    ...others.map((measure) => ({
      ...measure,
      ...(measure === gpu
        ? whole
        : {
            wholeMs: roundedForPage(sumOfRoots(measure.column)),
            wholeLabel:
              measure === wall
                ? "wall time of outermost ranges"
                : `total ${words?.time ?? "time of kernels"}`,
          }),
    })),
  ];
}

const MOST_SPREADS = 40;

/** Regions called more than once, the longest first. */
function callsData(regions: readonly NCUProfileRegion[]): CallsData {
  const all = regions
    .flatMap((region, row) => {
      const { invocation_wall_ms: calls, invocations } = region;
      if (calls === null || invocations < 2) return [];
      const { min, median, p95, max } = calls;
      return [{ row, invocations, wall: region.wall_ms ?? 0, times: { min, median, p95, max } }];
    })
    .sort((a, b) => b.wall - a.wall);
  return {
    rows: all.slice(0, MOST_SPREADS).map(({ row, invocations, times }) => ({
      region: row,
      calls: invocations,
      min: roundedForPage(times.min),
      median: roundedForPage(times.median),
      p95: roundedForPage(times.p95),
      max: roundedForPage(times.max),
    })),
    left: Math.max(0, all.length - MOST_SPREADS),
  };
}

/** The row of each row's enclosing region, derived from the levels of the tree. */
function parents(rows: readonly TreeRow[]): readonly number[] {
  const open: number[] = [];
  return rows.map(({ level }, row) => {
    open.length = level;
    open.push(row);
    return level === 0 ? -1 : (open[level - 1] ?? -1);
  });
}

/** Null if no region has a point. */
function rooflineData(regions: readonly NCUProfileRegion[]): RooflineData | null {
  const points = regions.flatMap((region, row) =>
    rooflinePoints(region).map(({ precision, intensity, flops }) => ({
      region: row,
      label: precision,
      intensity: roundedForPage(intensity),
      flops: roundedForPage(flops),
    })),
  );
  if (points.length === 0) return null;
  const { bytesPerSecond, compute } = rooflineCeilings(regions);
  return {
    // Without traffic or without a count there is no slope.
    bandwidth: bytesPerSecond === 0 ? null : roundedForPage(bytesPerSecond),
    ceilings: compute.map(({ precision, flops }) => ({
      label: precision,
      flops: roundedForPage(flops),
    })),
    points,
  };
}

/** Stores each text once, since names recur in every list. */
interface StringTable {
  add(text: string): TextIndex;
  readonly strings: readonly string[];
}

function createStringTable(): StringTable {
  const strings: string[] = [];
  const places = new Map<string, TextIndex>();
  return {
    strings,
    add: (text) => getOrCreate(places, text, () => strings.push(text) - 1),
  };
}

interface MetricName {
  readonly name: string;
  readonly unit: string;
}

/** The metrics that most readers look for first. */
const FIRST = [
  "gpu__time_duration.sum",
  "sm__throughput.avg.pct_of_peak_sustained_elapsed",
  "dram__throughput.avg.pct_of_peak_sustained_elapsed",
  "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
  "sm__warps_active.avg.pct_of_peak_sustained_active",
  "lts__t_sector_hit_rate.pct",
  "l1tex__t_sector_hit_rate.pct",
  "launch__registers_per_thread",
];

/**
 * Metrics that are equal for all kernels: attributes of the machine and the profiler, a third of ncu's full set. They
 * come last, and are left out first.
 */
const CONSTANT = /^(?:device__attribute_|nvlink__|c2clink__|numa__|profiler__)/;

/**
 * Metrics with a value in some region, as columns; a metric with two units has two columns. Metrics of equal rank are
 * sorted by name.
 */
function chooseMetrics(
  regions: readonly NCUProfileRegion[],
  limit: number,
): { readonly names: readonly MetricName[]; readonly left: number } {
  const names = namesIn(regions).sort(
    (a, b) => rank(a.name) - rank(b.name) || compare(a.name, b.name),
  );
  return { names: names.slice(0, limit), left: Math.max(0, names.length - limit) };
}

/** The values in the column of a metric, region by region. */
const metricValues = (
  { name, unit }: MetricName,
  regions: readonly NCUProfileRegion[],
): readonly (number | null)[] =>
  regions.map((region) => {
    const metric = allMetrics(region)[name];
    return metric?.unit === unit ? metric.value : null;
  });

/** In order of first appearance. Fast if regions have the same metrics, as they usually do. */
function namesIn(regions: readonly NCUProfileRegion[]): MetricName[] {
  const names: MetricName[] = [];
  const units = new Map<string, Set<string>>();
  for (const region of regions)
    for (const [name, { value, unit }] of Object.entries(allMetrics(region))) {
      if (value === null) continue;
      const existing = units.get(name);
      if (existing?.has(unit)) continue;
      if (existing === undefined) units.set(name, new Set([unit]));
      else existing.add(unit);
      names.push({ name, unit });
    }
  return names;
}

function rank(name: string): number {
  const place = FIRST.indexOf(name);
  if (place !== -1) return place;
  return CONSTANT.test(name) ? FIRST.length + 1 : FIRST.length;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

// Kernels: the longest of a page, and a sum of the others.

const kernelColumns = (
  { kept, other }: FoldedKernels,
  table: StringTable,
  nameLimit: number,
): KernelColumns => ({
  name: kept.map(({ kernel_name }) => table.add(printableLabel(kernel_name, nameLimit))),
  device: kept.map(({ device }) => table.add(device)),
  calls: kept.map(({ calls }) => calls),
  total: kept.map((kernel) => roundedForPage(kernelMs(kernel))),
  hardware: haveHardware(kept)
    ? HARDWARE_COLUMNS.map(({ cell }) =>
        kept.map((kernel) => {
          const value = cell(kernel);
          return typeof value === "string" ? table.add(value) : roundedForPage(value);
        }),
      )
    : null,
  other: other && { ...other, total: roundedForPage(other.total) },
});

const hardwareHeads = (): readonly KernelColumn[] =>
  HARDWARE_COLUMNS.map(({ isText, ...column }) => ({
    ...headOf(column),
    ...(isText && { isText }),
  }));

const haveHardware = (kernels: readonly KernelRecord[]): boolean =>
  kernels.some(({ hardware }) => hardware !== undefined);

/**
 * A list of kernels, reduced to what the selection of the shown ones needs: all lists together can have millions of
 * records.
 */
interface KernelSource {
  /** The times in milliseconds, in descending order. */
  readonly times: Float64Array;
  /** The total number of calls. */
  readonly calls: number;
  /** The longest records, in descending order of time. */
  readonly longest: (count: number) => readonly KernelRecord[];
}

/** @param list called again whenever records are shown */
export function sourceOfList(list: () => readonly KernelRecord[]): KernelSource {
  const records = list();
  return {
    times: longestFirst(records.map(timeOf)),
    calls: records.reduce((sum, { calls }) => sum + calls, 0),
    longest: (count) => [...list()].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, count),
  };
}

/** What has no time comes last. */
const timeOf = ({ total_ms }: KernelRecord): number => total_ms ?? 0;

const longestFirst = (times: readonly number[]): Float64Array =>
  Float64Array.from(times).sort().reverse();

interface FoldedKernels {
  /** In descending order of time. */
  readonly kept: readonly KernelRecord[];
  /** The sum of the others; null if all are kept. */
  readonly other: { readonly rows: number; readonly calls: number; readonly total: number } | null;
}

/**
 * Keeps the longest records of all lists together, and replaces the others by one sum per list.
 *
 * @param limit number of records to keep in all lists together
 */
export function foldKernels(
  lists: readonly KernelSource[],
  limit: number,
): readonly FoldedKernels[] {
  const all = lists.reduce((sum, { times }) => sum + times.length, 0);
  const counts = all <= limit ? lists.map(({ times }) => times.length) : longestOf(lists, limit);
  return lists.map((list, index) => fold(list, counts[index] ?? 0));
}

/**
 * The number of records of each list that are among the longest. Of equal records, the first in their lists are chosen.
 */
function longestOf(lists: readonly KernelSource[], limit: number): readonly number[] {
  const all = allTimes(lists);
  const least = all[all.length - limit] ?? Number.POSITIVE_INFINITY;
  const counts = lists.map(({ times }) => countWhere(times, (ms) => ms > least));
  const equal = lists.map(({ times }) => countWhere(times, (ms) => ms === least));
  let left = limit - counts.reduce((sum, count) => sum + count, 0);
  const ranked = [...counts];
  for (let position = 0; left > 0; position++) {
    let found = false;
    for (let index = 0; index < lists.length && left > 0; index++) {
      const [longer = 0, same = 0] = [counts[index], equal[index]];
      if (position >= longer + same) continue;
      found = true;
      if (position < longer) continue;
      ranked[index] = position + 1;
      left--;
    }
    if (!found) break;
  }
  return ranked;
}

/** In ascending order. */
function allTimes(lists: readonly KernelSource[]): Float64Array {
  const all = new Float64Array(lists.reduce((sum, { times }) => sum + times.length, 0));
  let offset = 0;
  for (const { times } of lists) {
    all.set(times, offset);
    offset += times.length;
  }
  return all.sort();
}

function countWhere(times: Float64Array, test: (ms: number) => boolean): number {
  let count = 0;
  for (const ms of times) if (test(ms)) count++;
  return count;
}

function fold(list: KernelSource, count: number): FoldedKernels {
  const kept = count === 0 ? [] : list.longest(count);
  const rest = list.times.subarray(count);
  return {
    kept,
    other:
      rest.length === 0
        ? null
        : {
            rows: rest.length,
            calls: list.calls - kept.reduce((sum, { calls }) => sum + calls, 0),
            total: rest.reduce((sum, ms) => sum + ms, 0),
          },
  };
}

/** The lists of kernels in the scopes of a page. */
interface KernelSources {
  readonly ofReport: (report: NCUProfileRegionReport) => KernelSource;
  readonly ofRegion: (region: NCUProfileRegion) => KernelSource;
}

/** Caches the lists, because a page is built at several levels of detail. */
function createKernelSources(): KernelSources {
  const reports = new Map<NCUProfileRegionReport, KernelSource>();
  const regions = new Map<NCUProfileRegion, KernelSource>();
  return {
    ofReport: (report) => getOrCreate(reports, report, () => sourceOfReport(report)),
    ofRegion: (region) => getOrCreate(regions, region, () => sourceOfList(() => region.kernels)),
  };
}

function sourceOfReport(report: NCUProfileRegionReport): KernelSource {
  const { times, calls, longest } = kernelsOfReport(report);
  return { times: longestFirst(times), calls, longest };
}
