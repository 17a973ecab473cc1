/** A comparison as a page: sortable tables, the same frame and policy as a report's page. */

import { plural } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { escapeHtml } from "../render/html.ts";
import {
  noticeList,
  noticeSection,
  type PageAssets,
  readPageAssets,
  renderPage,
} from "../render/html-page.ts";
import { type Cell, code, type Table } from "../view/blocks.ts";
import { formatDelta, formatMs, formatPercent, roundedForPage } from "../view/numbers.ts";
import type { ComparisonPageData, PageSection } from "../view/page-data.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
  gateSummary,
  kernelHeading,
  kernelWord,
  mainTime,
  TIME_LABELS,
  VERDICTS,
} from "./comparison.ts";
import {
  type ChangeRow,
  changeTable,
  configTable,
  factTable,
  kernelRows,
  regionRows,
  totalRow,
} from "./comparison-tables.ts";
import {
  ACTIVITY_HEADING,
  activityFacts,
  COUNTERS_HEADING,
  counterFacts,
  type GpuFacts,
  RANKS_HEADING,
  rankFacts,
} from "./gpu-facts.ts";

/** Rows of each table: more would not fit into a page of 1 MB. */
const MAX_ROWS = 2000;

export function renderComparisonHtml(
  comparison: Comparison,
  assets: PageAssets = readPageAssets("compare"),
): string {
  const { names, reports, config, gates } = comparison;
  const kernel = kernelHeading(reports);
  const [activity, counters] = [activityFacts(reports), counterFacts(reports)];
  const kernels = kernelRows(reports.kernels.slice(0, MAX_ROWS), reports, 160);
  const data: ComparisonPageData = {
    sections: [
      changeSection(reports, "Regions", [...regionRows(reports)], totalText(reports)),
      changeSection(reports, `${kernel}s`, kernels, null),
      ...factSection(RANKS_HEADING, rankFacts(reports)),
      ...factSection(ACTIVITY_HEADING, activity),
      ...factSection(COUNTERS_HEADING, counters),
      pageSection("Configuration", configTable(config ?? [], configValue), {
        empty: "No known differences.",
      }),
    ],
  };
  const rows: readonly (readonly [count: number, one: string, many?: string])[] = [
    [gates.length, "gate"],
    [reports.regions.length, "region"],
    [reports.kernels.length, kernelWord(reports)],
    [factsIn(activity), "change of GPU use", "changes of GPU use"],
    [factsIn(counters), "change of counters", "changes of counters"],
    [config?.length ?? 0, "configuration value"],
  ];
  const left = rows.flatMap(([count, one, many]) =>
    count > MAX_ROWS ? [plural(count - MAX_ROWS, one, many)] : [],
  );
  const body = `<header class="top"><h1>Comparison</h1>
<p class="summary">A is ${escapeHtml(printableLabel(names.a, 300))}<br>B is ${escapeHtml(printableLabel(names.b, 300))}</p>
<div id="controls" class="controls"></div></header>
<noscript><p class="notice">This page needs JavaScript for its tables. deep-profile compare --markdown gives the same facts.</p></noscript>
${noticeSection(
  "gates",
  gateSummary(gates),
  mostTelling(gates).map(({ outcome, reason }) => `${outcome}: ${printableLabel(reason, 300)}`),
)}
${noticeList(reports.notes)}
${left.length === 0 ? "" : `<p class="notice">Left out of this page: ${left.join(", ")}.</p>`}
<main id="comparison"></main>`;
  return renderPage({ title: "Comparison", body, data }, assets);
}

const pageSection = (
  title: string,
  { columns, rows }: Table,
  {
    hint = null,
    footer = null,
    empty = `No ${title.toLowerCase()}.`,
  }: Partial<Pick<PageSection, "hint" | "footer" | "empty">> = {},
): PageSection => {
  const shown = [...rows].slice(0, MAX_ROWS).map(({ cells, ...row }) => ({
    ...row,
    cells: cells.map(roundedCell),
  }));
  const table = shown.length === 0 ? null : { columns, rows: shown };
  return { title, hint, footer, empty, table };
};

/** The data of a page need no more digits than the page shows. */
function roundedCell(cell: Cell): Cell {
  if (typeof cell === "number") return roundedForPage(cell);
  if (cell === null || typeof cell === "string" || !("kind" in cell)) return cell;
  if (cell.kind !== "measured") return cell;
  const [value, uncertainty] = [roundedForPage(cell.value), roundedForPage(cell.uncertainty)];
  return { ...cell, value, uncertainty };
}

const changeSection = (
  reports: ReportComparison,
  title: string,
  rows: readonly ChangeRow[],
  footer: string | null,
): PageSection =>
  pageSection(
    title,
    changeTable("Name", rows, "page", { withCounts: rows.some(({ counts }) => counts !== "") }),
    { hint: `${TIME_LABELS[mainTime(reports)]}; ± is the 95 % interval.`, footer },
  );

/** Regions overlap, so their sum cannot give this total. */
function totalText(reports: ReportComparison): string {
  const { change } = totalRow(reports);
  const { a = null, b = null, delta = null, uncertainty = null, relative = null } = change ?? {};
  return `all: ${formatMs(a)} ms before, ${formatMs(b)} ms after: ${formatDelta(delta, uncertainty)} ms (${formatPercent(relative)} %), ${VERDICTS[change?.verdict ?? "same"]}`;
}

const factSection = (title: string, all: readonly GpuFacts[]): readonly PageSection[] =>
  all.length === 0
    ? []
    : [pageSection(title, factTable({ name: "Name", what: "What", repeats: true }, all))];

const factsIn = (all: readonly GpuFacts[]): number =>
  all.reduce((sum, { facts }) => sum + facts.length, 0);

const configValue = (value: string | null): Cell => [
  code(value === null ? "(none)" : printableLabel(value, 160)),
];

/** A glob can make a gate of every region: those that pass need no line each. */
const mostTelling = (gates: Comparison["gates"]): Comparison["gates"] =>
  gates.length <= MAX_ROWS
    ? gates
    : (["breached", "unclear", "unchecked", "passed"] as const)
        .flatMap((wanted) => gates.filter(({ outcome }) => outcome === wanted))
        .slice(0, MAX_ROWS);
