/** The region tree for a terminal: aligned columns without boxes, never wider than the terminal. */
import picocolors from "picocolors";
import { fitText, padText, textWidth } from "../text-width.ts";
import type { NCUProfileRegion, NCUProfileRegionReport } from "./document.ts";
import {
  type KernelWords,
  reportKernelWords,
  shownCalls,
  shownKernelCount,
} from "./kernel-words.ts";
import { formatMs, formatShare, plural } from "./numbers.ts";
import { type ShareBase, shareBase } from "./share.ts";
import { treeRows } from "./tree-rows.ts";

/** The page that the table is fitted to. */
export interface RegionTableOptions {
  /** Columns of the terminal; default 80. */
  readonly width?: number;
  /** Whether to use ANSI colours: the caller knows the terminal and `NO_COLOR`. Default false. */
  readonly color?: boolean;
  /** Most regions; the longest stay, in their places. Default: all. */
  readonly maxRows?: number;
}

interface TableColumn {
  readonly heading: string;
  readonly cell: (region: NCUProfileRegion) => string;
  /** On a narrow terminal, columns of the highest number go first. */
  readonly dispensable: number;
}

/** Lines end with newlines, without trailing blanks. */
export function renderRegionTable(
  report: NCUProfileRegionReport,
  { width = 80, color = false, maxRows = Number.POSITIVE_INFINITY }: RegionTableOptions = {},
): string {
  const colors = picocolors.createColors(color);
  const words = reportKernelWords(report);
  const share = shareBase(report);
  const shown = longest(report.regions, maxRows, share);
  if (shown.length === 0) return `${colors.dim("No regions.")}\n`;
  const tree = treeRows(shown).map(({ region, level, label }) => ({
    region,
    label: `${"  ".repeat(level)}${label}`,
  }));

  const labelWidth = tree.reduce(
    (widest, { label }) => Math.max(widest, textWidth(label)),
    "Region".length,
  );
  const columns = fittingColumns(columnsOf(words, share), shown, width, labelWidth);
  const widths = columns.map((column) => columnWidth(column, shown));
  const numbers = widths.reduce((sum, each) => sum + GAP.length + each, 0);
  const first = Math.max(1, Math.min(labelWidth, width - numbers));

  const line = (label: string, cells: readonly string[]) =>
    [
      padText(fitText(label, first), first, "left"),
      ...cells.map((cell, index) => padText(cell, widths[index] ?? 0, "right")),
    ]
      .join(GAP)
      .trimEnd();
  const rows = tree.map(({ region, label }) => {
    const text = line(
      label,
      columns.map(({ cell }) => cell(region)),
    );
    return region.kind === "outside" ? colors.dim(text) : text;
  });
  const heading = line(
    "Region",
    columns.map((column) => column.heading),
  );
  return [
    colors.bold(heading),
    ...rows,
    ...footer(report, shown.length, words, share).map(colors.dim),
  ]
    .map((text) => `${text}\n`)
    .join("");
}

const GAP = "  ";
const MIN_LABEL = 16;

/** Where no kernels were recorded the wall clock is all there is, and gets the room. */
const columnsOf = (words: KernelWords | null, share: ShareBase): readonly TableColumn[] => [
  {
    heading: "Calls",
    cell: shownCalls,
    dispensable: 3,
  },
  ...(words === null ? wallColumns : kernelColumns(words)),
  {
    heading: "Share %",
    cell: (region) => formatShare(share.of(region), share.whole),
    dispensable: 6,
  },
];

const kernelColumns = (words: KernelWords): readonly TableColumn[] => [
  { heading: "Total ms", cell: ({ total_ms }) => formatMs(total_ms), dispensable: 1 },
  { heading: "Excl ms", cell: ({ exclusive_ms }) => formatMs(exclusive_ms), dispensable: 4 },
  { heading: "Wall ms", cell: ({ wall_ms }) => formatMs(wall_ms), dispensable: 2 },
  { heading: words.heading, cell: shownKernelCount, dispensable: 5 },
];

const wallColumns: readonly TableColumn[] = [
  { heading: "Wall ms", cell: ({ wall_ms }) => formatMs(wall_ms), dispensable: 1 },
  { heading: "Excl ms", cell: (region) => formatMs(region.wall_exclusive_ms), dispensable: 2 },
  {
    heading: "Median ms",
    cell: (region) => formatMs(region.invocation_wall_ms?.median ?? null),
    dispensable: 4,
  },
  {
    heading: "p95 ms",
    cell: (region) => formatMs(region.invocation_wall_ms?.p95 ?? null),
    dispensable: 5,
  },
];

const columnWidth = (
  { heading, cell }: TableColumn,
  regions: readonly NCUProfileRegion[],
): number =>
  regions.reduce((widest, region) => Math.max(widest, textWidth(cell(region))), textWidth(heading));

/** Drops columns until labels have room: all of what they need, or half of the terminal. */
function fittingColumns(
  all: readonly TableColumn[],
  regions: readonly NCUProfileRegion[],
  width: number,
  labelWidth: number,
): readonly TableColumn[] {
  const wanted = Math.max(MIN_LABEL, Math.min(labelWidth, Math.floor(width / 3)));
  let columns = all;
  const taken = () =>
    columns.reduce((sum, column) => sum + GAP.length + columnWidth(column, regions), 0);
  while (columns.length > 1 && wanted + taken() > width) {
    const least = Math.max(...columns.map(({ dispensable }) => dispensable));
    columns = columns.filter(({ dispensable }) => dispensable !== least);
  }
  return columns;
}

/** The longest regions in document order; a region around another is at least as long. */
function longest(
  regions: readonly NCUProfileRegion[],
  count: number,
  share: ShareBase,
): readonly NCUProfileRegion[] {
  if (regions.length <= count) return regions;
  const ranked = [...regions].sort((a, b) => (share.of(b) ?? 0) - (share.of(a) ?? 0));
  const kept = new Set(ranked.slice(0, count));
  return regions.filter((region) => kept.has(region));
}

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
