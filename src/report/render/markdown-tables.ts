/** The tables and lists that Markdown reports are put together from. */
import { capitalized, plural } from "../../text/plural.ts";
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import {
  BUSY_HEADING,
  BUSY_LEGEND,
  busyText,
  haveActivity,
  LIMIT_LEGEND,
  type LimitColumn,
  limitColumns,
} from "../view/gpu-utilization.ts";
import {
  type HardwareColumn,
  hardwareColumns,
  type KernelWords,
  kernelWords,
  reportKernelWords,
  shownCalls,
  shownKernelCount,
} from "../view/kernel-columns.ts";
import {
  formatMeanMs,
  formatMs,
  formatNumber,
  formatShare,
  NOT_MEASURED,
} from "../view/numbers.ts";
import { provenanceRows } from "../view/provenance.ts";
import {
  exclusiveMs,
  kernelMs,
  meanMs,
  type ShareBase,
  shareBase,
  totalMs,
} from "../view/times.ts";
import { treeRows } from "../view/tree-rows.ts";
import {
  escapeMarkdown,
  markdownCode,
  markdownIndent,
  markdownLabel,
  markdownList,
  markdownTable,
  markdownTablePieces,
} from "./markdown.ts";

/** The region tree of a report with times and counts, line by line. */
export function* regionTreeTable(report: NCUProfileRegionReport): Generator<string> {
  if (report.regions.length === 0) {
    yield "No regions.";
    return;
  }
  const words = reportKernelWords(report);
  const share = shareBase(report);
  const limits = limitColumns(report.regions);
  const busy = haveActivity(report.regions);
  const columns = treeColumns(words, share, { limits, busy });
  yield* markdownTablePieces(
    [
      { heading: "Region" },
      ...columns.map(({ heading }) => ({ heading, align: "right" as const })),
    ],
    treeRows(report.regions).map(({ region, level, label }) => [
      `${markdownIndent(level)}${escapeMarkdown(label)}`,
      ...columns.map(({ cell }) => cell(region)),
    ]),
  );
  yield `\n\n${treeLegend(words, share, { hasLimits: limits.length > 0, busy })}`;
}

interface TreeColumn {
  readonly heading: string;
  readonly cell: (region: NCUProfileRegion) => string;
}

/** Columns of kernels only where some were recorded, shares where there is a whole: dashes say nothing. */
function treeColumns(
  words: KernelWords | null,
  share: ShareBase,
  { limits, busy }: { readonly limits: readonly LimitColumn[]; readonly busy: boolean },
): readonly TreeColumn[] {
  const calls: TreeColumn = {
    heading: "Calls",
    cell: shownCalls,
  };
  const times: readonly TreeColumn[] = [
    { heading: "Total ms", cell: (region) => formatMs(totalMs(region)) },
    { heading: "Exclusive ms", cell: (region) => formatMs(exclusiveMs(region)) },
  ];
  const walls: readonly TreeColumn[] = [
    { heading: "Wall ms", cell: ({ wall_ms }) => formatMs(wall_ms) },
    { heading: "Wall excl. ms", cell: (region) => formatMs(region.wall_exclusive_ms) },
    ...(busy ? [{ heading: BUSY_HEADING, cell: busyText }] : []),
  ];
  const shares: readonly TreeColumn[] =
    share.label === null
      ? []
      : [{ heading: "Share %", cell: (region) => formatShare(share.of(region), share.whole) }];
  if (words === null) return [calls, ...walls, ...limits, ...shares];
  const counts: TreeColumn = {
    heading: words.heading,
    cell: shownKernelCount,
  };
  return [calls, ...times, ...walls, counts, ...limits, ...shares];
}

const treeLegend = (
  words: KernelWords | null,
  { label }: ShareBase,
  { hasLimits, busy }: { readonly hasLimits: boolean; readonly busy: boolean },
): string =>
  [
    words === null
      ? "Neither GPU kernels nor CPU operations were recorded: only wall times are known."
      : `Total is ${words.time} inside the region, Exclusive the part that no inner region has.`,
    "Wall is the time the range was open, summed over calls.",
    ...(busy ? [BUSY_LEGEND] : []),
    ...(hasLimits ? [LIMIT_LEGEND] : []),
    ...(label === null ? [] : [`Share is of ${label}.`]),
    `${NOT_MEASURED} means not measured.`,
  ].join(" ");

/** The distribution of wall time over calls, for regions called more than once, line by line; null where there is none. */
export function invocationTable(regions: readonly NCUProfileRegion[]): Iterable<string> | null {
  const repeated = treeRows(
    regions.filter(({ invocations }) => invocations > 1),
    { among: regions },
  );
  if (repeated.length === 0) return null;
  return markdownTablePieces(
    [
      { heading: "Region" },
      { heading: "Calls", align: "right" },
      { heading: "Min ms", align: "right" },
      { heading: "Median ms", align: "right" },
      { heading: "p95 ms", align: "right" },
      { heading: "Max ms", align: "right" },
    ],
    repeated.map(({ region, level, label }) => [
      `${markdownIndent(level)}${escapeMarkdown(label)}`,
      String(region.invocations),
      ...(["min", "median", "p95", "max"] as const).map((key) =>
        formatMs(region.invocation_wall_ms?.[key] ?? null),
      ),
    ]),
  );
}

/** What ran when, region by region; null if unknown for all. */
export function gpuActivityTable(regions: readonly NCUProfileRegion[]): Iterable<string> | null {
  if (!haveActivity(regions)) return null;
  const timed = regions.filter(({ gpu_activity }) => gpu_activity !== undefined);
  return markdownTablePieces(
    [
      { heading: "Region" },
      { heading: "Wall ms", align: "right" },
      { heading: BUSY_HEADING, align: "right" },
      { heading: "Idle ms", align: "right" },
      { heading: "Kernels ms", align: "right" },
      { heading: "Copies ms", align: "right" },
      { heading: "Both ms", align: "right" },
    ],
    treeRows(timed, { among: regions }).map(({ region, level, label }) => [
      `${markdownIndent(level)}${escapeMarkdown(label)}`,
      formatMs(region.wall_ms),
      busyText(region),
      idleText(region),
      formatMs(region.gpu_activity?.kernel_ms ?? null),
      formatMs(region.gpu_activity?.copy_ms ?? null),
      formatMs(region.gpu_activity?.overlap_ms ?? null),
    ]),
  );
}

const idleText = ({ gpu_activity, wall_ms }: NCUProfileRegion): string =>
  gpu_activity === undefined || wall_ms === null
    ? NOT_MEASURED
    : formatMs(Math.max(0, wall_ms - gpu_activity.busy_ms));

/** How regions varied over repeated runs, line by line; null where there was one run. */
export function repeatsTable(regions: readonly NCUProfileRegion[]): Iterable<string> | null {
  const rows = treeRows(
    regions.filter(({ repeats }) => repeats !== undefined),
    { among: regions },
  ).flatMap(({ region: { repeats }, level, label }) => {
    const time = repeats?.total_ms ?? repeats?.wall_ms ?? null;
    if (repeats === undefined || time === null) return [];
    const half = (time.ci95_high - time.ci95_low) / 2;
    return [
      [
        `${markdownIndent(level)}${escapeMarkdown(label)}`,
        String(repeats.runs),
        formatMs(time.mean),
        `±${formatMs(half)}`,
        formatMs(time.std),
        time.stable ? "stable" : "not stable",
      ],
    ];
  });
  if (rows.length === 0) return null;
  return markdownTablePieces(
    [
      { heading: "Region" },
      { heading: "Runs", align: "right" },
      { heading: "Mean ms", align: "right" },
      { heading: "95 %", align: "right" },
      { heading: "Std ms", align: "right" },
      { heading: "" },
    ],
    rows,
  );
}

/** The kernels of one region, longest first; says how many it leaves to the JSON report. Null where it has none. */
export function kernelTable(region: NCUProfileRegion, limit: number): string | null {
  const words = kernelWords(region.kernels);
  if (words === null) return null;
  const several = new Set(region.kernels.map(({ device }) => device)).size > 1;
  const shown = region.kernels.slice(0, limit);
  const { table } = kernelRows(shown, {
    words,
    wholeMs: region.total_ms,
    columns: several ? [{ heading: "Device", cell: ({ device }) => device }] : [],
  });
  const left = region.kernels.slice(limit);
  if (left.length === 0) return table;
  const ms = left.reduce((sum, { total_ms }) => sum + total_ms, 0);
  const time = totalMs(region) === null ? "" : ` (${formatMs(ms)} ms)`;
  return `${table}\n\n${plural(left.length, "more row")}${time} in \`report.json\`.`;
}

/** Metrics with their units, where a collector measured some. */
export function metricTable(region: NCUProfileRegion): string | null {
  const metrics = Object.entries(region.metrics);
  if (metrics.length === 0) return null;
  return markdownTable(
    [{ heading: "Metric" }, { heading: "Value", align: "right" }, { heading: "Unit" }],
    metrics.map(([name, { value, unit }]) => [
      markdownLabel(name),
      formatNumber(value),
      escapeMarkdown(unit),
    ]),
  );
}

export const notesList = (notes: readonly string[]): string | null =>
  notes.length === 0 ? null : markdownList(notes.map(escapeMarkdown));

/** Where the numbers come from. */
export const provenanceTable = (report: NCUProfileRegionReport): string =>
  markdownTable(
    [{ heading: "Provenance" }, { heading: "" }],
    provenanceRows(report).map(({ name, text, code }) => [
      name,
      code ? markdownCode(text) : escapeMarkdown(text),
    ]),
  );

// Kernels as a Markdown table, in whichever list they stand.

/** A column of one list only, behind those of all. */
interface OwnColumn<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
}

export interface KernelRows<Row> {
  readonly words: KernelWords;
  /** What shares refer to, in milliseconds. */
  readonly wholeMs: number | null;
  readonly columns: readonly OwnColumn<Row>[];
}

/** The table, and the columns of hardware counters in it, for a legend. */
export function kernelRows<Row extends KernelRecord>(
  rows: readonly Row[],
  { words, wholeMs, columns }: KernelRows<Row>,
): { readonly table: string; readonly hardware: readonly HardwareColumn[] } {
  const hardware = hardwareColumns(rows);
  const table = markdownTable(
    [
      { heading: capitalized(words.one) },
      { heading: "Calls", align: "right" },
      { heading: "Total ms", align: "right" },
      { heading: "Mean ms", align: "right" },
      { heading: "Share %", align: "right" },
      ...hardware,
      ...columns,
    ],
    rows.map((row) => [
      markdownLabel(row.kernel_name),
      String(row.calls),
      formatMs(kernelMs(row)),
      formatMeanMs(meanMs(row)),
      formatShare(kernelMs(row), wholeMs),
      ...[...hardware, ...columns].map(({ cell }) => cell(row)),
    ]),
  );
  return { table, hardware };
}
