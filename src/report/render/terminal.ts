/**
 * Blocks for a terminal: tables with aligned columns and without boxes, fitted to its width; and the reports that are
 * shown there.
 */

import picocolors from "picocolors";
import {
  checkOptions,
  count,
  type OptionChecks,
  oneOf,
  optional,
  trueOrFalse,
} from "../../engine/values/check-options.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { fitText, padText, textWidth, wrapText } from "../../foundation/text/text-width.ts";
import {
  type Bar,
  type Block,
  type Cell,
  type Column,
  cellText,
  plainText,
  type Row,
  type Table,
  type Text,
  type Tone,
} from "../../pages/blocks.ts";
import { formatMs } from "../../pages/numbers.ts";
import type { NCUProfileRegionReport } from "../model/document.ts";
import { withFamilies } from "../model/families.ts";
import { type Answer, answerBlocks } from "../view/answer.ts";
import { kernelsOfReport } from "../view/kernel-list.ts";
import { kernelTable } from "../view/kernel-tables.ts";
import {
  communicationTable,
  counterTable,
  narrowRegionTree,
  payloadTable,
  REGION_SORTS,
  type RegionSort,
  ranksTable,
  sortedRegions,
} from "../view/report-tables.ts";
import { reportKernelWords, shareBase, wholeMs, wordsOfKinds } from "../view/times.ts";
import { largestRegions } from "../view/tree-rows.ts";

export interface TerminalPage {
  /** Width of the terminal, in columns. */
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
 * One line for the titles and one per row, without trailing spaces. The first column is cut to the room that the others
 * leave.
 */
export function tableLines({ columns, rows }: Table, page: TerminalPage): readonly string[] {
  const all = [...rows];
  const drawn = columns.map((column, index) => drawColumn(column, index, all));
  const [first, ...others] = drawn;
  if (first === undefined) return [];
  const shown = fittingColumns(first, others, all, page.width);
  const taken = shown.reduce((sum, { width }) => sum + GAP.length + width, 0);
  const room = Math.min(first.width, Math.max(LEAST_LABEL, page.width - taken));
  const line = (textOf: (column: DrawnColumn) => string): string =>
    [
      padText(fitName(textOf(first), room), room, "left"),
      ...shown.map((each) => padText(textOf(each), each.width, sideOf(each.column))),
    ]
      .join(GAP)
      .trimEnd();
  const colors = picocolors.createColors(page.color);
  return [
    colors.bold(line(({ title }) => title)),
    ...all.map(({ tone }, index) => {
      const text = line(({ cells }) => cells[index] ?? "");
      return tone === undefined ? text : PAINT[tone](colors)(text);
    }),
  ];
}

/** Keeps the end of a path, which is the most specific part: `… / inner`. */
function fitName(text: string, width: number): string {
  if (!text.includes(PATH_GAP) || textWidth(text) <= width) return fitText(text, width);
  const names = text.split(PATH_GAP);
  for (let from = 1; from < names.length; from++) {
    const shown = `…${PATH_GAP}${names.slice(from).join(PATH_GAP)}`;
    if (textWidth(shown) <= width || from === names.length - 1) return fitText(shown, width);
  }
  return fitText(text, width);
}

const PATH_GAP = " / ";

/** The functions that colour a text. */
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
  hot: ({ yellow }) => yellow,
};

const sideOf = ({ align, format }: Column): "left" | "right" =>
  align === "right" || format !== undefined ? "right" : "left";

function drawColumn(
  column: Column,
  index: number,
  rows: readonly Row[],
  isShort = false,
): DrawnColumn {
  const title = column.short ?? column.title;
  const cells = rows.map(({ cells }) => {
    const cell = cells[index] ?? null;
    const text = cellText(cell, column, isShort);
    const isLabel =
      cell !== null && typeof cell === "object" && "kind" in cell && cell.kind === "label";
    return isLabel ? `${"  ".repeat(cell.level)}${text}` : text;
  });
  const width = cells.reduce((widest, cell) => Math.max(widest, textWidth(cell)), textWidth(title));
  return { column, title, cells, width };
}

/** Columns are shortened or left out until labels have all the room that they need, or enough of it. */
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
      const index = others.indexOf(each) + 1;
      const isShortened = rows.some(({ cells }) => hasShortForm(cells[index] ?? null));
      return isShortened ? [drawColumn(each.column, index, rows, true)] : [];
    });
  }
  return shown;
}

const hasShortForm = (cell: Cell): boolean =>
  typeof cell === "object" &&
  cell !== null &&
  "kind" in cell &&
  (cell.kind === "measured" || cell.kind === "two_lengths");

/** All blocks except tables, as lines wrapped between words; headings are bold. */
export function blockLines(blocks: Iterable<Block>, page: TerminalPage): readonly string[] {
  return [...blocks].flatMap((block) => linesOf(block, page));
}

function linesOf(block: Block, page: TerminalPage): readonly string[] {
  const { bold } = picocolors.createColors(page.color);
  switch (block.type) {
    case "heading":
      return [bold(plainText(block.text))];
    case "paragraph":
      return wrapped(printed(block.text), page.width).map(isStrong(block.text) ? bold : same);
    case "list":
      return Array.from(block.items, (item) =>
        itemLines(item, page.width - LIST_INDENT.length).map(
          (line, index) => `${index === 0 ? LIST_MARK : LIST_INDENT}${line}`,
        ),
      ).flat();
    case "bar":
      return barLines(block, page);
    case "table":
      return tableLines(block, page);
  }
}

/** A command line at the end of an item gets a line of its own, so that it can be copied. */
function itemLines(item: Text, width: number): readonly string[] {
  const last = typeof item === "string" ? undefined : item.at(-1);
  if (
    typeof item === "string" ||
    last === undefined ||
    typeof last === "string" ||
    last.kind !== "code"
  )
    return wrapped(printed(item), width);
  return [...wrapped(printed(item.slice(0, -1)).trimEnd(), width), `  ${printable(last.text)}`];
}

const same = (text: string): string => text;

const isStrong = (text: Text): boolean =>
  typeof text !== "string" &&
  text.every((span) => typeof span !== "string" && span.kind === "strong");

const LIST_MARK = "- ";
const LIST_INDENT = "  ";

const printed = (text: Text): string => printable(plainText(text));

/** Words longer than a line are kept whole: they are names and command lines. */
const wrapped = (text: string, width: number): readonly string[] =>
  text.split("\n").flatMap((line) => wrapText(line, Math.max(20, width)));

const WIDEST_BAR = 100;

/** The signs of the parts of bars, which can be distinguished without colours. */
const FILLS: Readonly<Record<string, readonly [sign: string, paint: (colors: Colors) => Paint]>> = {
  kernels: ["█", ({ green }) => green],
  both: ["▓", ({ cyan }) => cyan],
  copies: ["▒", ({ yellow }) => yellow],
  idle_inside: ["░", ({ red }) => red],
  inside: ["█", ({ green }) => green],
};

type Paint = (text: string) => string;

/** A line divided in proportion, and a legend. */
function barLines(bar: Bar, { width, color }: TerminalPage): readonly string[] {
  const { title, parts } = bar;
  if (bar.isDetail) return wrapped(`${title}: ${parts.map(({ text }) => text).join(", ")}`, width);
  const colors = picocolors.createColors(color);
  const cells = Math.min(width, WIDEST_BAR);
  let drawn = 0;
  let share = 0;
  const line = parts.map((part) => {
    share += part.share;
    const until = Math.min(cells, Math.round(share * cells));
    const length = Math.max(0, until - drawn);
    drawn = until;
    const [sign, paint] = FILLS[part.kind] ?? ["·", ({ dim }: Colors) => dim];
    return { part, drawn: paint(colors)(sign.repeat(length)), sign: paint(colors)(sign) };
  });
  return [
    title,
    line.map((each) => each.drawn).join(""),
    ...line.map(({ sign, part }) => `${sign} ${part.text}`),
  ];
}

/** How the region tree is fitted to a page. */
export interface RegionTableOptions {
  /** Width of the terminal, in columns; default 80. */
  readonly width?: number;
  /** Whether to use ANSI colours: the caller knows the terminal and `NO_COLOR`. Default false. */
  readonly color?: boolean;
  /** Maximum number of regions, the longest ones. Default: all. */
  readonly maxRows?: number;
  /** The order; `tree` keeps that of the report. Default: `tree`. */
  readonly sort?: RegionSort;
}

const TABLE_OPTIONS: OptionChecks<RegionTableOptions> = {
  width: optional(count),
  color: optional(trueOrFalse),
  maxRows: optional(count),
  sort: optional(oneOf(...REGION_SORTS)),
};

/** Lines end with newlines and have no trailing spaces. */
export function renderRegionTable(
  report: NCUProfileRegionReport,
  options: RegionTableOptions = {},
): string {
  checkOptions("renderRegionTable", options, TABLE_OPTIONS);
  const { width = 80, color = false, maxRows = Number.POSITIVE_INFINITY, sort = "tree" } = options;
  const { dim } = picocolors.createColors(color);
  const share = shareBase(report);
  // Where there is no room for each region, the longest ones are families.
  const listed =
    sort === "tree" || report.regions.length <= maxRows ? report : withFamilies(report);
  const shown =
    sort === "tree"
      ? largestRegions(report.regions, maxRows, (region) => share.timeOf(region) ?? 0)
      : sortedRegions(listed, sort).slice(0, maxRows);
  if (shown.length === 0) return `${dim("No regions.")}\n`;
  const left = listed.regions.length - shown.length;
  return textOf([
    ...tableLines(narrowRegionTree(listed, shown, sort), { width, color }),
    ...(left > 0
      ? [
          dim(
            `${plural(left, sort === "calls" || sort === "kernels" ? "more region" : "shorter region")} not shown`,
          ),
        ]
      : []),
    ...(reportKernelWords(report) === null
      ? [dim("no GPU kernels or CPU operations were recorded")]
      : []),
    ...(share.whole === null
      ? []
      : wrapped(`100 % = ${formatMs(share.whole)} ms, ${share.label}`, width).map(dim)),
    ...payloadTable(shown.slice(0, MOST_WITH_NUMBERS), report.regions).flatMap((table) => [
      "",
      "payloads: numbers that the program gave",
      ...blockLines([table], { width, color }),
    ]),
    ...counterTable(shown.slice(0, MOST_WITH_NUMBERS), report.regions).flatMap((table) => [
      "",
      "counters while regions were open",
      ...blockLines([table], { width, color }),
    ]),
    ...ranksTable(shown, MOST_UNEVEN).flatMap((table) => [
      "",
      `${plural(report.ranks?.length ?? 0, "rank")}: wall time of each`,
      ...tableLines(table, { width, color }),
    ]),
    ...communicationTable({ ranks: report.ranks?.slice(0, MOST_WITH_NUMBERS) ?? [] }).flatMap(
      (table) => [
        "",
        "communication of ranks, and the part of it that no computation hides",
        ...tableLines(table, { width, color }),
      ],
    ),
  ]);
}

/** Maximum number of regions whose payloads and counters are listed; the reports have all. */
const MOST_WITH_NUMBERS = 20;

/** Maximum number of regions that are listed by rank; the reports have all. */
const MOST_UNEVEN = 10;

/** What takes the time, why, and what to do: the first lines of a result. Lines end with newlines. */
export const renderAnswer = (answer: Answer, page: TerminalPage): string =>
  textOf(
    answerBlocks(answer, { nameOf: ({ label }) => label, level: 3 }).flatMap((block, index) => [
      ...(index > 0 && block.type === "heading" ? [""] : []),
      ...blockLines([block], page),
    ]),
  );

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** Names of templates can be screens long; the reports have all of them. */
const MAX_KERNEL_NAME = 300;

/**
 * The `most` longest kernels; empty if none were recorded. If there are no named regions, they are the whole report.
 * Lines end with newlines.
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
