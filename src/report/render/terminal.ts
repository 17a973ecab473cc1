/**
 * Blocks for a terminal: tables of aligned columns without boxes, fitted to its width; and the reports that are shown
 * there.
 */

import picocolors from "picocolors";
import { plural } from "../../text/plural.ts";
import { fitText, padText, textWidth } from "../../text/text-width.ts";
import {
  checkOptions,
  count,
  type OptionChecks,
  optional,
  trueOrFalse,
} from "../../values/check-options.ts";
import type { NCUProfileRegionReport } from "../model/document.ts";
import {
  type Cell,
  type Column,
  cellText,
  type Row,
  type Table,
  type Tone,
} from "../view/blocks.ts";
import { kernelsOfReport } from "../view/kernel-list.ts";
import { kernelTable } from "../view/kernel-tables.ts";
import { reportKernelWords, wordsOfKinds } from "../view/kernel-words.ts";
import { formatMs } from "../view/numbers.ts";
import { narrowRegionTree } from "../view/region-tables.ts";
import { shareBase, wholeMs } from "../view/times.ts";
import { largestRegions } from "../view/tree-rows.ts";

export interface TerminalPage {
  /** Columns of the terminal. */
  readonly width: number;
  /** Whether to use ANSI colours: the caller knows the terminal and `NO_COLOR`. */
  readonly color: boolean;
}

/** A column with the texts of its cells. */
interface DrawnColumn {
  readonly column: Column;
  readonly title: string;
  readonly cells: readonly string[];
  readonly width: number;
}

const GAP = "  ";
/** Columns are dropped until labels have this much room, or a third of the terminal. */
const MIN_LABEL = 16;
/** A label with fewer characters would be useless, however narrow the terminal. */
const LEAST_LABEL = 8;

/**
 * A line for the titles and one per row, without trailing blanks. The first column is cut to the room that the others
 * leave it.
 */
export function tableLines({ columns, rows }: Table, page: TerminalPage): readonly string[] {
  const all = [...rows];
  const drawn = columns.map((column, at) => drawColumn(column, at, all));
  const [first, ...others] = drawn;
  if (first === undefined) return [];
  const shown = fittingColumns(first, others, all, page.width);
  const taken = shown.reduce((sum, { width }) => sum + GAP.length + width, 0);
  const room = Math.min(first.width, Math.max(LEAST_LABEL, page.width - taken));
  const line = (textOf: (column: DrawnColumn) => string): string =>
    [
      padText(fitText(textOf(first), room), room, "left"),
      ...shown.map((each) => padText(textOf(each), each.width, sideOf(each.column))),
    ]
      .join(GAP)
      .trimEnd();
  const colors = picocolors.createColors(page.color);
  return [
    colors.bold(line(({ title }) => title)),
    ...all.map(({ tone }, at) => {
      const text = line(({ cells }) => cells[at] ?? "");
      return tone === undefined ? text : PAINT[tone](colors)(text);
    }),
  ];
}

/** What gives a text a colour. */
type Colors = Readonly<
  Record<"green" | "red" | "yellow" | "cyan" | "dim", (text: string) => string>
>;

/** The colour of a tone. */
export const PAINT: Readonly<Record<Tone, (colors: Colors) => (text: string) => string>> = {
  better: ({ green }) => green,
  worse: ({ red }) => red,
  doubtful: ({ yellow }) => yellow,
  new: ({ cyan }) => cyan,
  minor: ({ dim }) => dim,
};

const sideOf = ({ align, format }: Column): "left" | "right" =>
  align === "right" || format !== undefined ? "right" : "left";

function drawColumn(
  column: Column,
  at: number,
  rows: readonly Row[],
  isShort = false,
): DrawnColumn {
  const title = column.short ?? column.title;
  const cells = rows.map(({ cells }) => {
    const cell = cells[at] ?? null;
    const text = cellText(cell, column, isShort);
    const isLabel =
      cell !== null && typeof cell === "object" && "kind" in cell && cell.kind === "label";
    return isLabel ? `${"  ".repeat(cell.level)}${text}` : text;
  });
  const width = cells.reduce((widest, cell) => Math.max(widest, textWidth(cell)), textWidth(title));
  return { column, title, cells, width };
}

/** Columns are shortened or left out until labels have room: all that they need, or enough of it. */
function fittingColumns(
  first: DrawnColumn,
  others: readonly DrawnColumn[],
  rows: readonly Row[],
  width: number,
): readonly DrawnColumn[] {
  const wanted = Math.min(first.width, Math.max(MIN_LABEL, Math.floor(width / 3)));
  const priorityOf = ({ column }: DrawnColumn) => column.priority ?? 0;
  const levels = [...new Set(others.map(priorityOf))].sort((a, b) => b - a);
  let shown = others;
  for (const level of levels) {
    const taken = shown.reduce((sum, each) => sum + GAP.length + each.width, 0);
    if (level === 0 || wanted + taken <= width) break;
    shown = shown.flatMap((each) => {
      if (priorityOf(each) !== level) return [each];
      const at = others.indexOf(each) + 1;
      const isShortened = rows.some(({ cells }) => hasShortForm(cells[at] ?? null));
      return isShortened ? [drawColumn(each.column, at, rows, true)] : [];
    });
  }
  return shown;
}

const hasShortForm = (cell: Cell): boolean =>
  typeof cell === "object" &&
  cell !== null &&
  "kind" in cell &&
  (cell.kind === "measured" || cell.kind === "two_lengths");

/** The page that the region tree is fitted to. */
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
  const { dim } = picocolors.createColors(color);
  const share = shareBase(report);
  const shown = largestRegions(report.regions, maxRows, (region) => share.of(region) ?? 0);
  if (shown.length === 0) return `${dim("No regions.")}\n`;
  const left = report.regions.length - shown.length;
  return textOf([
    ...tableLines(narrowRegionTree(report, shown), { width, color }),
    ...(left > 0 ? [dim(`${plural(left, "shorter region")} not shown`)] : []),
    ...(reportKernelWords(report) === null
      ? [dim("no GPU kernels or CPU operations were recorded")]
      : []),
    ...(share.whole === null ? [] : [dim(`100 % = ${formatMs(share.whole)} ms, ${share.label}`)]),
  ]);
}

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** Names of templates can be screens long; the reports have all of them. */
const MAX_KERNEL_NAME = 300;

/**
 * The `most` longest kernels; empty where none was recorded. Without named regions they are the whole report. Lines end
 * with newlines.
 */
export function renderTopKernels(
  report: NCUProfileRegionReport,
  page: TerminalPage,
  most: number,
): string {
  const kernels = kernelsOfReport(report);
  const words = wordsOfKinds(kernels.kinds);
  if (words === null) return "";
  const shown = kernels.longest(most);
  const left = kernels.length - shown.length;
  const { dim } = picocolors.createColors(page.color);
  const table = kernelTable(shown, {
    words,
    wholeMs: wholeMs(report),
    nameLimit: MAX_KERNEL_NAME,
  });
  return textOf([
    ...tableLines(table, page),
    ...(left === 0 ? [] : [dim(`${plural(left, "shorter one")} not shown`)]),
  ]);
}
