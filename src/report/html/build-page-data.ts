/** From region reports to what the page's script reads, cut to a size that a page can have. */

import { printableLabel } from "../../printable.ts";
import type { NCUProfileRegion, NCUProfileRegionReport, RegionReportBundle } from "../document.ts";
import { reportKernelWords } from "../kernel-words.ts";
import { forPage, plural } from "../numbers.ts";
import { rooflineCeilings, rooflinePoints } from "../roofline.ts";
import { shareBase } from "../share.ts";
import { type TreeRow, treeRows } from "../tree-rows.ts";
import type { Detail } from "./detail.ts";
import { foldKernels } from "./fold-kernels.ts";
import { createKernelSources, type KernelSources } from "./kernel-sources.ts";
import { chooseMetrics } from "./metric-columns.ts";
import type {
  KernelColumns,
  NumberColumn,
  PageData,
  RegionColumns,
  RooflineData,
  ScopeData,
} from "./page-data.ts";
import { createStringTable, type StringTable } from "./string-table.ts";

export interface BuiltPageData {
  readonly data: PageData;
  /** What the page leaves out, a sentence each. */
  readonly left: readonly string[];
}

/** @param sources kept between levels of detail of one bundle */
export function buildPageData(
  { reports }: RegionReportBundle,
  detail: Detail,
  sources: KernelSources = createKernelSources(),
): BuiltPageData {
  const table = createStringTable();
  const left: string[] = [];
  const [main, ...others] = distinct(reports);
  const shown = main === undefined ? [] : [main, ...others.slice(0, detail.scopes)];
  if (others.length > detail.scopes)
    left.push(
      `${plural(others.length - detail.scopes, "report")} of single processes and devices not shown`,
    );
  const scopes = shown.map((report, index) => {
    const budget = index === 0 ? mainShare(detail, shown.length) : otherShare(detail, shown.length);
    const ofScope = { ...detail, kernels: budget };
    return buildScope(report, ofScope, sources, table, index === 0 ? left : []);
  });
  return { data: { strings: table.strings, scopes }, left };
}

/** The main report gets most of the records where there are other scopes to show, too. */
const mainShare = ({ kernels }: Detail, scopes: number): number =>
  scopes === 1 ? kernels : Math.floor(kernels * 0.6);

const otherShare = ({ kernels }: Detail, scopes: number): number =>
  Math.floor((kernels * 0.4) / (scopes - 1));

/** Reports that say the same as an earlier one, as with one process on one device, say it once. */
function distinct(reports: readonly NCUProfileRegionReport[]): readonly NCUProfileRegionReport[] {
  const seen = new Set<string>();
  return reports.filter(({ totals, regions }) => {
    const numbers = JSON.stringify([
      totals,
      regions.map(({ path, kind, domain, total_ms, wall_ms, kernel_count }) => [
        path,
        kind,
        domain,
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

function buildScope(
  report: NCUProfileRegionReport,
  detail: Detail,
  sources: KernelSources,
  table: StringTable,
  left: string[],
): ScopeData {
  const share = shareBase(report);
  const weight = (region: NCUProfileRegion) => share.of(region) ?? region.wall_ms ?? 0;
  const regions = longest(report.regions, detail.regions, weight);
  if (regions.length < report.regions.length)
    left.push(`${plural(report.regions.length - regions.length, "shorter region")} not shown`);

  const rows = treeRows(regions, detail.name);
  const lists = [sources.ofReport(report), ...regions.map(sources.ofRegion)];
  const folded = foldKernels(lists, detail.kernels);
  const all = lists.reduce((sum, { times }) => sum + times.length, 0);
  if (all > detail.kernels)
    left.push(
      `of ${all} records of kernels the ${detail.kernels} longest are shown, the others are summed up as "other"`,
    );
  const metrics = chooseMetrics(regions, detail.metrics);
  if (metrics.left > 0) left.push(`${plural(metrics.left, "metric")} not shown`);

  const withSections = new Set(
    longest(
      regions.filter(({ sections }) => Object.keys(sections).length > 0),
      detail.sections,
      weight,
    ),
  );
  const hidden = regions.filter((region) => hasSections(region) && !withSections.has(region));
  if (hidden.length > 0) left.push(`sections of ${plural(hidden.length, "region")} not shown`);

  return {
    scope: report.scope,
    basis: report.totals.total_ms === null ? "wall" : "total",
    wholeMs: forPage(share.whole),
    wholeLabel: share.label,
    kernelWords: reportKernelWords(report)?.many ?? null,
    regions: regionColumns(rows, table, detail.name),
    metrics: metrics.columns.map(({ name, unit, values }) => ({
      name,
      unit,
      values: values.map(forPage),
    })),
    kernels: folded.map(({ kept, other }) => kernelColumns(kept, other, table, detail.name)),
    notes: byRow(regions, ({ notes }) => (notes.length === 0 ? null : notes)),
    sections: byRow(regions, (region) => (withSections.has(region) ? region.sections : null)),
    roofline: roofline(regions),
  };
}

const hasSections = ({ sections }: NCUProfileRegion): boolean => Object.keys(sections).length > 0;

/** The longest regions in document order: those around them are at least as long, and stay. */
function longest(
  regions: readonly NCUProfileRegion[],
  count: number,
  weight: (region: NCUProfileRegion) => number,
): readonly NCUProfileRegion[] {
  if (regions.length <= count) return regions;
  const ranked = [...regions].sort((a, b) => weight(b) - weight(a));
  const kept = new Set(ranked.slice(0, count));
  return regions.filter((region) => kept.has(region));
}

function regionColumns(
  rows: readonly TreeRow[],
  table: StringTable,
  nameLimit: number,
): RegionColumns {
  const regions = rows.map(({ region }) => region);
  const numbers = (of: (region: NCUProfileRegion) => number | null): NumberColumn =>
    regions.map((region) => forPage(of(region)));
  return {
    label: rows.map(({ label }) => table.add(label)),
    parent: parents(rows),
    domain: regions.map(({ domain }) =>
      table.add(domain === "" ? "default" : printableLabel(domain, nameLimit)),
    ),
    kind: regions.map(({ kind }) => table.add(KINDS[kind])),
    device: regions.map(({ device }) => (device === null ? null : table.add(device))),
    process: regions.map(({ process_id }) => process_id),
    calls: regions.map(({ invocations }) => invocations),
    total: numbers(({ total_ms }) => total_ms),
    exclusive: numbers(({ exclusive_ms }) => exclusive_ms),
    wall: numbers(({ wall_ms }) => wall_ms),
    wallExclusive: numbers(({ wall_exclusive_ms }) => wall_exclusive_ms),
    min: numbers(({ invocation_wall_ms }) => invocation_wall_ms?.min ?? null),
    median: numbers(({ invocation_wall_ms }) => invocation_wall_ms?.median ?? null),
    p95: numbers(({ invocation_wall_ms }) => invocation_wall_ms?.p95 ?? null),
    max: numbers(({ invocation_wall_ms }) => invocation_wall_ms?.max ?? null),
    kernelCount: regions.map(({ kernel_count }) => kernel_count),
    ...repeatColumns(regions),
  };
}

function repeatColumns(
  regions: readonly NCUProfileRegion[],
): Pick<RegionColumns, "repeatMean" | "repeatHalf"> {
  const times = regions.map(({ repeats }) => repeats?.total_ms ?? repeats?.wall_ms ?? null);
  if (times.every((time) => time === null)) return { repeatMean: [], repeatHalf: [] };
  return {
    repeatMean: times.map((time) => forPage(time?.mean ?? null)),
    repeatHalf: times.map((time) => forPage(time && (time.ci95_high - time.ci95_low) / 2)),
  };
}

const KINDS: Readonly<Record<NCUProfileRegion["kind"], string>> = {
  push_pop: "push/pop",
  start_end: "start/end",
  outside: "outside",
};

/** Row of the region around each row, from the levels of the tree. */
function parents(rows: readonly TreeRow[]): readonly number[] {
  const open: number[] = [];
  return rows.map(({ level }, row) => {
    open.length = level;
    open.push(row);
    return level === 0 ? -1 : (open[level - 1] ?? -1);
  });
}

const kernelColumns = (
  kept: NCUProfileRegion["kernels"],
  other: KernelColumns["other"],
  table: StringTable,
  nameLimit: number,
): KernelColumns => ({
  name: kept.map(({ kernel_name }) => table.add(printableLabel(kernel_name, nameLimit))),
  device: kept.map(({ device }) => table.add(device)),
  calls: kept.map(({ calls }) => calls),
  total: kept.map(({ total_ms }) => forPage(total_ms)),
  other: other && { ...other, total: forPage(other.total) },
});

function roofline(regions: readonly NCUProfileRegion[]): RooflineData | null {
  const points = regions.flatMap((region, row) =>
    rooflinePoints(region).map(({ precision, intensity, flops }) => ({
      region: row,
      label: precision,
      intensity: forPage(intensity),
      flops: forPage(flops),
    })),
  );
  if (points.length === 0) return null;
  const { bytesPerSecond, compute } = rooflineCeilings(regions);
  return {
    // Nothing was moved, or counted: there is no slope.
    bandwidth: bytesPerSecond === 0 ? null : forPage(bytesPerSecond),
    ceilings: compute.map(({ precision, flops }) => ({ label: precision, flops: forPage(flops) })),
    points,
  };
}

function byRow<T>(
  regions: readonly NCUProfileRegion[],
  of: (region: NCUProfileRegion) => T | null,
): Readonly<Record<number, T>> {
  const found: Record<number, T> = {};
  regions.forEach((region, row) => {
    const value = of(region);
    if (value !== null) found[row] = value;
  });
  return found;
}
