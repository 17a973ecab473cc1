/** The region tree for a terminal: aligned columns without boxes, never wider than the terminal. */

import picocolors from "picocolors";
import { plural } from "../../text/plural.ts";
import { checkOptions, type OptionChecks } from "../../values/check-options.ts";
import { count, optional, trueOrFalse } from "../../values/option-kinds.ts";
import { busyText, haveActivity } from "../conclusions/gpu-activity.ts";
import { limitColumns } from "../conclusions/speed-of-light.ts";
import type { NCUProfileRegion, NCUProfileRegionReport } from "../document.ts";
import {
  type KernelWords,
  reportKernelWords,
  shownCalls,
  shownKernelCount,
} from "../kernels/kernel-words.ts";
import { largestRegions } from "../longest.ts";
import { exclusiveMs, totalMs } from "../measured-time.ts";
import { formatMs, formatShare } from "../numbers.ts";
import { type ShareBase, shareBase } from "../share.ts";
import { treeRows } from "../tree-rows.ts";
import { type TerminalColumn, terminalTable } from "./terminal-table.ts";

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
  const table = terminalTable("Region", rows, columnsOf(shown, words, share), width);
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

const column = (
  heading: string,
  dispensable: number,
  cell: (region: NCUProfileRegion) => string,
  side: Column["side"] = "right",
): Column => ({ heading, side, dispensable, cell: ({ region }) => cell(region) });

/** Where no kernels were recorded the wall clock is all there is, and gets the room. */
const columnsOf = (
  regions: readonly NCUProfileRegion[],
  words: KernelWords | null,
  share: ShareBase,
): readonly Column[] => [
  column("Calls", 3, shownCalls),
  ...(words === null ? wallColumns : kernelColumns(words)),
  ...(haveActivity(regions) ? [column("Busy %", 4, busyText)] : []),
  ...limitColumns(regions).map(({ short, isVerdict, cell }) =>
    isVerdict ? column(short, 1, cell, "left") : column(short, 5, cell),
  ),
  ...(share.label === null
    ? []
    : [column("Share %", 6, (region) => formatShare(share.of(region), share.whole))]),
];

const kernelColumns = (words: KernelWords): readonly Column[] => [
  column("Total ms", 0, (region) => formatMs(totalMs(region))),
  column("Excl ms", 4, (region) => formatMs(exclusiveMs(region))),
  column("Wall ms", 2, ({ wall_ms }) => formatMs(wall_ms)),
  column(words.heading, 5, shownKernelCount),
];

const wallColumns: readonly Column[] = [
  column("Wall ms", 0, ({ wall_ms }) => formatMs(wall_ms)),
  column("Excl ms", 2, ({ wall_exclusive_ms }) => formatMs(wall_exclusive_ms)),
  column("Median ms", 4, (region) => formatMs(region.invocation_wall_ms?.median ?? null)),
  column("p95 ms", 5, (region) => formatMs(region.invocation_wall_ms?.p95 ?? null)),
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
