/** Converts region reports to the data of the page's script, reduced to a reasonable size of a page. */
import { plural } from "../../foundation/text/plural.ts";
import { roundedForPage } from "../../pages/numbers.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../model/document.ts";
import { reportKernelWords } from "../view/kernel-words.ts";
import type { PageData, ScopeData } from "../view/page-data.ts";
import { shareBase } from "../view/times.ts";
import { largestRegions, treeRows } from "../view/tree-rows.ts";
import { foldKernels, type KernelSources } from "./fold-kernels.ts";
import {
  callsData,
  chooseMetrics,
  createStringTable,
  kernelColumns,
  metricValues,
  regionsData,
  rooflineData,
  type StringTable,
} from "./page-columns.ts";

export interface BuiltPageData {
  readonly data: PageData;
  /** What the page leaves out, one sentence each. */
  readonly left: readonly string[];
}

/**
 * Null if it would certainly be larger than `maxBytes`: the text of a large report may not fit into memory.
 *
 * @param sources shared by the levels of detail of one bundle
 */
export function buildPageData(
  { reports }: RegionReportBundle,
  detail: Detail,
  sources: KernelSources,
  maxBytes = Number.POSITIVE_INFINITY,
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
  return (region) => share.of(region) ?? region.wall_ms ?? 0;
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
    kernelWords: reportKernelWords(report)?.many ?? null,
    ...regionsData(report, rows, table, detail.name),
    metrics: metrics.names.map((metric) => ({
      ...metric,
      values: metricValues(metric, regions).map(roundedForPage),
    })),
    kernels: folded.map(({ kept, other }) => kernelColumns(kept, other, table, detail.name)),
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
  of: (region: NCUProfileRegion) => T | null,
): Readonly<Record<number, T>> {
  const found: Record<number, T> = {};
  regions.forEach((region, row) => {
    const value = of(region);
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
export const DETAILS: readonly Detail[] = [
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
