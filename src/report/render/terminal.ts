/**
 * Reports for a terminal: tables of aligned columns without boxes, fitted to its width, of regions and of the longest
 * kernels.
 */

import picocolors from "picocolors";
import { capitalized, plural } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { fitText, padText, textWidth } from "../../text/text-width.ts";
import {
  checkOptions,
  count,
  type OptionChecks,
  optional,
  trueOrFalse,
} from "../../values/check-options.ts";
import type { NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { busyText, haveActivity, limitColumns } from "../view/gpu-utilization.ts";
import {
  hardwareColumns,
  type KernelWords,
  reportKernelWords,
  shownCalls,
  shownKernelCount,
  wordsOfKinds,
} from "../view/kernel-columns.ts";
import { type KernelOfReport, kernelsOfReport } from "../view/kernel-list.ts";
import { formatMeanMs, formatMs, formatShare } from "../view/numbers.ts";
import {
  exclusiveMs,
  kernelMs,
  meanMs,
  type ShareBase,
  shareBase,
  totalMs,
  wholeMs,
} from "../view/times.ts";
import { largestRegions, treeRows } from "../view/tree-rows.ts";

/** A column beside the labels. */
export interface TerminalColumn<Row> {
  readonly heading: string;
  readonly side: "left" | "right";
  readonly cell: (row: Row) => string;
  /** On a narrow terminal, columns with the highest number are dropped first; those with 0 always stay. */
  readonly dispensable: number;
  /** A shorter cell to show instead of dropping the column. */
  readonly short?: (row: Row) => string;
}

/** Every row has a label, which is its first column. */
interface Labelled {
  readonly label: string;
}

export interface TerminalTable {
  readonly heading: string;
  /** One line per row, in order, without trailing blanks. */
  readonly lines: readonly string[];
}

const GAP = "  ";
/** Columns are dropped until labels have this much room, or a third of the terminal. */
const MIN_LABEL = 16;
/** A label with fewer characters would be useless, however narrow the terminal. */
const LEAST_LABEL = 8;

/** @param heading of the labels */
export function terminalTable<Row extends Labelled>(
  heading: string,
  rows: readonly Row[],
  all: readonly TerminalColumn<Row>[],
  width: number,
): TerminalTable {
  const widest = rows.reduce(
    (most, { label }) => Math.max(most, textWidth(label)),
    textWidth(heading),
  );
  const columns = fittingColumns(all, rows, width, widest);
  const widths = columns.map((column) => columnWidth(column, rows));
  const taken = widths.reduce((sum, each) => sum + GAP.length + each, 0);
  const first = Math.min(widest, Math.max(LEAST_LABEL, width - taken));
  const line = (label: string, cells: readonly string[]): string =>
    [
      padText(fitText(label, first), first, "left"),
      ...columns.map(({ side }, at) => padText(cells[at] ?? "", widths[at] ?? 0, side)),
    ]
      .join(GAP)
      .trimEnd();
  const headings = columns.map((column) => column.heading);
  return {
    heading: line(heading, headings),
    lines: rows.map((row) => {
      const cells = columns.map(({ cell }) => cell(row));
      return line(row.label, cells);
    }),
  };
}

/** Columns are shortened or left out until labels have room: all that they need, or enough of it. */
function fittingColumns<Row>(
  all: readonly TerminalColumn<Row>[],
  rows: readonly Row[],
  width: number,
  widest: number,
): readonly TerminalColumn<Row>[] {
  const wanted = Math.min(widest, Math.max(MIN_LABEL, Math.floor(width / 3)));
  const levels = [...new Set(all.map(({ dispensable }) => dispensable))].sort((a, b) => b - a);
  let columns = all;
  const taken = () =>
    columns.reduce((sum, column) => sum + GAP.length + columnWidth(column, rows), 0);
  for (const level of levels) {
    if (level === 0 || wanted + taken() <= width) break;
    columns = columns.flatMap((column) => {
      if (column.dispensable !== level) return [column];
      return column.short === undefined ? [] : [{ ...column, cell: column.short }];
    });
  }
  return columns;
}

const columnWidth = <Row>({ heading, cell }: TerminalColumn<Row>, rows: readonly Row[]): number =>
  rows.reduce((widest, row) => Math.max(widest, textWidth(cell(row))), textWidth(heading));

// The region tree: the table is never wider than the terminal.

/** The page that the table is fitted to. */
export interface RegionTableOptions {
  /** Columns of the terminal; default 80. */
  readonly width?: number;
  /** Whether to use ANSI colours: the caller knows the terminal and `NO_COLOR`. Default false. */
  readonly color?: boolean;
  /** Most regions; the longest stay, in their places. Default: all. */
  readonly maxRows?: number;
}

const TABLE_OPTIONS: OptionChecks<RegionTableOptions> = {
  width: optional(count),
  color: optional(trueOrFalse),
  maxRows: optional(count),
};

/** Lines end with newlines, without trailing blanks. */
export function renderRegionTable(
  report: NCUProfileRegionReport,
  options: RegionTableOptions = {},
): string {
  checkOptions("renderRegionTable", options, TABLE_OPTIONS);
  const { width = 80, color = false, maxRows = Number.POSITIVE_INFINITY } = options;
  const colors = picocolors.createColors(color);
  const words = reportKernelWords(report);
  const share = shareBase(report);
  const shown = largestRegions(report.regions, maxRows, (region) => share.of(region) ?? 0);
  if (shown.length === 0) return `${colors.dim("No regions.")}\n`;
  const rows = treeRows(shown, { among: report.regions }).map(({ region, level, label }) => ({
    region,
    label: `${"  ".repeat(level)}${label}`,
  }));
  const table = terminalTable("Region", rows, columnsOfRegions(shown, words, share), width);
  return [
    colors.bold(table.heading),
    ...table.lines.map((line, at) =>
      rows[at]?.region.kind === "outside" ? colors.dim(line) : line,
    ),
    ...footer(report, shown.length, words, share).map(colors.dim),
  ]
    .map((text) => `${text}\n`)
    .join("");
}

type Column = TerminalColumn<{ readonly label: string; readonly region: NCUProfileRegion }>;

const regionColumn = (
  heading: string,
  dispensable: number,
  cell: (region: NCUProfileRegion) => string,
  side: Column["side"] = "right",
): Column => ({ heading, side, dispensable, cell: ({ region }) => cell(region) });

/** Where no kernels were recorded the wall clock is all there is, and gets the room. */
const columnsOfRegions = (
  regions: readonly NCUProfileRegion[],
  words: KernelWords | null,
  share: ShareBase,
): readonly Column[] => [
  regionColumn("Calls", 3, shownCalls),
  ...(words === null ? wallColumns : kernelColumns(words)),
  ...(haveActivity(regions) ? [regionColumn("Busy %", 4, busyText)] : []),
  ...limitColumns(regions).map(({ short, isVerdict, cell }) =>
    isVerdict ? regionColumn(short, 1, cell, "left") : regionColumn(short, 5, cell),
  ),
  ...(share.label === null
    ? []
    : [regionColumn("Share %", 6, (region) => formatShare(share.of(region), share.whole))]),
];

const kernelColumns = (words: KernelWords): readonly Column[] => [
  regionColumn("Total ms", 0, (region) => formatMs(totalMs(region))),
  regionColumn("Excl ms", 4, (region) => formatMs(exclusiveMs(region))),
  regionColumn("Wall ms", 2, ({ wall_ms }) => formatMs(wall_ms)),
  regionColumn(words.heading, 5, shownKernelCount),
];

const wallColumns: readonly Column[] = [
  regionColumn("Wall ms", 0, ({ wall_ms }) => formatMs(wall_ms)),
  regionColumn("Excl ms", 2, ({ wall_exclusive_ms }) => formatMs(wall_exclusive_ms)),
  regionColumn("Median ms", 4, (region) => formatMs(region.invocation_wall_ms?.median ?? null)),
  regionColumn("p95 ms", 5, (region) => formatMs(region.invocation_wall_ms?.p95 ?? null)),
];

function footer(
  report: NCUProfileRegionReport,
  shown: number,
  words: KernelWords | null,
  share: ShareBase,
): string[] {
  const left = report.regions.length - shown;
  return [
    ...(left > 0 ? [`${plural(left, "shorter region")} not shown`] : []),
    ...(words === null ? ["no GPU kernels or CPU operations were recorded"] : []),
    ...(share.whole === null ? [] : [`100 % = ${formatMs(share.whole)} ms, ${share.label}`]),
  ];
}

// The longest kernels: without named regions they are the whole report.

interface Page {
  /** Columns of the terminal. */
  readonly width: number;
  readonly color: boolean;
}

/** Names of templates can be screens long; the reports have all of them. */
const MAX_KERNEL_NAME = 300;

/** The `most` longest, with a heading; empty where none was recorded. Lines end with newlines. */
export function renderTopKernels(
  report: NCUProfileRegionReport,
  { width, color }: Page,
  most: number,
): string {
  const kernels = kernelsOfReport(report);
  const words = wordsOfKinds(kernels.kinds);
  if (words === null) return "";
  const colors = picocolors.createColors(color);
  const rows = kernels
    .longest(most)
    .map((kernel) => ({ kernel, label: printableLabel(kernel.kernel_name, MAX_KERNEL_NAME) }));
  const heading = capitalized(words.one);
  const table = terminalTable(heading, rows, columnsOfKernels(rows, wholeMs(report)), width);
  const left = kernels.length - rows.length;
  return [
    colors.bold(table.heading),
    ...table.lines,
    ...(left === 0 ? [] : [colors.dim(`${plural(left, "shorter one")} not shown`)]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

type Row = { readonly label: string; readonly kernel: KernelOfReport };

const kernelColumn = (
  heading: string,
  dispensable: number,
  cell: (kernel: KernelOfReport) => string,
): TerminalColumn<Row> => ({
  heading,
  side: "right",
  dispensable,
  cell: ({ kernel }) => cell(kernel),
});

const SHARES = ["SM %", "Mem %"];

const columnsOfKernels = (
  rows: readonly Row[],
  whole: number | null,
): readonly TerminalColumn<Row>[] => [
  kernelColumn("Calls", 2, ({ calls }) => String(calls)),
  kernelColumn("Total ms", 0, (kernel) => formatMs(kernelMs(kernel))),
  kernelColumn("Mean ms", 3, (kernel) => formatMeanMs(meanMs(kernel))),
  kernelColumn("Share %", 1, (kernel) => formatShare(kernelMs(kernel), whole)),
  ...hardwareColumns(rows.map(({ kernel }) => kernel)).map(
    ({ short, align, cell }, place): TerminalColumn<Row> => ({
      heading: short,
      side: align ?? "left",
      // What limits is the answer, the shares are where it comes from: one alone would tell nothing of it.
      dispensable: short === "Limit" ? 1 : SHARES.includes(short) ? 4 : 5 + place,
      cell: ({ kernel }) => cell(kernel),
    }),
  ),
];
