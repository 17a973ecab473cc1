/** A comparison as a page: sortable tables, with the same frame and content security policy as the page of a report. */

import { capitalized, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Block,
  type Cell,
  code,
  paragraph,
  plainText,
  type Span,
} from "../../pages/blocks.ts";
import {
  escapeHtml,
  notesSection,
  noticeSection,
  type PageAssets,
  readPageAssets,
  renderHtml,
  renderPage,
} from "../../pages/html.ts";
import { relativeLink } from "../../pages/markdown.ts";
import { formatDelta, formatMs, formatPercent, roundedForPage } from "../../pages/numbers.ts";
import { pathLines } from "../model/region-path.ts";
import type { ComparisonPageData, PageSection, TwoTrees } from "../view/page-data.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
  mainTime,
  regionLines,
  restHint,
  timeLabel,
  VERDICTS,
  waterfallOf,
} from "./comparison.ts";
import {
  type ComparisonDocument,
  type ComparisonSection,
  comparisonDocument,
} from "./comparison-document.ts";
import { configTable } from "./comparison-tables.ts";

/** Maximum number of rows of a table: more would not fit into a page of 1 MB. */
const MAX_ROWS = 2000;

export function renderComparisonHtml(
  comparison: Comparison,
  assets: PageAssets = readPageAssets("compare"),
): string {
  const { reports } = comparison;
  const document = comparisonDocument(comparison, { layout: "page", parts: MAX_ROWS });
  const { names, gates, differences, notes } = document;
  const config = differences.config ?? [];
  const sections = [
    // Drawn above the tables.
    ...document.sections.filter(({ id }) => id !== "contributed").flatMap(pageSections),
    pageSection({
      title: "Configuration",
      table: config.length === 0 ? null : configTable(config, configValue),
      row: ["configuration value"],
      legend: null,
      footer: null,
      empty: "No known differences.",
    }),
  ];
  const data: ComparisonPageData = {
    trees: twoTrees(reports),
    sections: sections.map(({ section }) => section),
  };
  const left = [
    ...leftOut((gates?.results.length ?? 0) - MAX_ROWS, ["gate"]),
    ...sections.flatMap(({ left }) => left),
  ];
  const body = `<header class="top"><h1>Comparison</h1>
<p class="summary">A is ${sideHtml(names.a)}<br>B is ${sideHtml(names.b)}</p>
<div id="controls" class="controls"></div></header>
<noscript><p class="notice">This page needs JavaScript for its tables. deep-profile compare --markdown gives the same facts.</p></noscript>
${resultHtml(document)}
${
  gates === null
    ? ""
    : noticeSection(
        "gates",
        gates.summary,
        mostTelling(gates.results).map(
          ({ outcome, reason }) => `${outcome}: ${printableLabel(reason, 300)}`,
        ),
        { isNeutral: gates.results.every(({ outcome }) => outcome === "passed") },
      )
}
${left.length === 0 ? "" : `<p class="notice">Left out of this page: ${left.join(", ")}.</p>`}
${waterfallHtml(reports)}
${notesSection(notes)}
<main id="comparison"></main>`;
  return renderPage({ title: "Comparison", body, data }, assets);
}

// The part above the tables, which needs no script.

/** A link, or the name. */
const sideHtml = (name: Span): string =>
  typeof name !== "string" && name.kind === "link"
    ? `<a href="${escapeHtml(relativeLink(name.path))}">${escapeHtml(name.text)}</a>`
    : escapeHtml(plainText([name]));

/**
 * Maximum number of differences that are listed beside the result; a table below has all those of the configuration.
 */
const MAX_DIFFERENCES = 12;

function resultHtml({ sentence, overall, differences }: ComparisonDocument): string {
  const { machines, config } = differences;
  const all = [...machines, ...(config ?? [])];
  const left = all.length - MAX_DIFFERENCES;
  const sameText =
    config === null
      ? "Machines and versions are the same; the configurations are not at hand."
      : "Machines, versions and configurations are the same.";
  const beside: readonly Block[] = [
    ...(all.length === 0
      ? [paragraph(sameText)]
      : [configTable(all.slice(0, MAX_DIFFERENCES), configValue)]),
    ...(left > 0 ? [paragraph(`And ${left} more, below.`)] : []),
  ];
  return `<section class="result" aria-labelledby="result-heading"><div><h2 id="result-heading">Result</h2>
<p class="answer-line">${escapeHtml(sentence)}</p>
${overall === null ? "" : renderHtml([overall], { isStacked: true })}</div>
<div class="differs"><h2>What differs</h2>${renderHtml(beside)}</div></section>`;
}

const MAX_STEPS = 14;
const BAR_WIDTH = 1000;

/** The difference as a waterfall with one bar per region; drawn with attributes, because the policy forbids styles. */
function waterfallHtml(reports: ReportComparison): string {
  const waterfall = waterfallOf(reports, MAX_STEPS);
  if (waterfall === null) return "";
  const { a, b, parts, others, rest } = waterfall;
  const steps = [
    ...parts.map(({ label, ms, uncertainty, verdict }) => ({
      label,
      ms,
      text: `${formatDelta(ms, uncertainty)} ms, ${VERDICTS[verdict]}`,
      isClear: verdict !== "unclear" && verdict !== "same",
    })),
    ...(others === null
      ? []
      : [{ ...unnamed(others.ms), label: plural(others.count, "other region") }]),
    ...(rest === null ? [] : [{ ...unnamed(rest.ms), label: rest.label }]),
  ];
  const levels = [a];
  for (const { ms } of steps) levels.push((levels.at(-1) ?? 0) + ms);
  const [least, greatest] = [Math.min(b, ...levels), Math.max(b, ...levels)];
  // The axis for a small change of a long time does not start at zero.
  const from = greatest - least < greatest / 4 ? Math.max(0, least - (greatest - least)) : 0;
  const x = (ms: number) => {
    const share = (ms - from) / (greatest - from || 1);
    // The sum of extreme times may be no finite number.
    return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) * BAR_WIDTH : 0;
  };
  const row = (label: string, text: string, bar: string) =>
    `<tr><th scope="row">${escapeHtml(label)}</th><td><svg viewBox="0 0 ${BAR_WIDTH} 20" preserveAspectRatio="none" aria-hidden="true">${bar}</svg></td><td>${escapeHtml(text)}</td></tr>`;
  const rect = (className: string, left: number, right: number) =>
    `<rect class="${className}" x="${Math.min(left, right).toFixed(1)}" y="2" width="${Math.max(2, Math.abs(right - left)).toFixed(1)}" height="16"/>`;
  const whole = (name: string, ms: number) =>
    row(name, `${formatMs(ms)} ms`, rect("step-whole", 0, x(ms)));
  const rows = [
    whole("A", a),
    ...steps.map(({ label, ms, text, isClear }, index) => {
      const start = levels[index] ?? 0;
      const kind = ms > 0 ? "step-more" : "step-less";
      return row(
        label,
        text,
        rect(`${kind}${isClear ? "" : " step-unclear"}`, x(start), x(start + ms)),
      );
    }),
    whole("B", b),
  ];
  const axis = from === 0 ? "" : ` The bars begin at ${formatMs(from)} ms.`;
  return `<section aria-labelledby="waterfall-heading"><h2 id="waterfall-heading">What contributed</h2>
<p class="hint">${capitalized(timeLabel(reports, mainTime(reports)))} of each region without the regions inside it, from A to B.${axis} Pale: unclear or the same.${rest === null ? "" : ` ${restHint(mainTime(reports))}`}</p>
<div class="scroll" tabindex="0" role="group" aria-labelledby="waterfall-heading"><table class="waterfall"><tbody>${rows.join("")}</tbody></table></div></section>`;
}

const unnamed = (ms: number) => ({ ms, text: `${formatDelta(ms)} ms`, isClear: false });

/** Null if fewer than two regions have the compared time. */
function twoTrees(reports: ReportComparison): TwoTrees | null {
  const time = mainTime(reports);
  const lineOf = pathLines(reports.regions);
  const lines = regionLines(
    reports.regions.filter(({ kind }) => time === "total_ms" || kind !== "outside"),
    reports.regions,
  ).slice(0, MAX_ROWS);
  const open: number[] = [];
  const rows = lines.map(({ region, level, label }, index) => {
    open.length = level;
    const parent = open.at(-1) ?? -1;
    open.push(index);
    const change = region.changes[time];
    const { a = null, b = null, delta = null, relative = null } = change ?? {};
    const verdict = change?.verdict ?? "same";
    const by = delta === null ? "" : `, ${formatDelta(delta)} ms (${formatPercent(relative)} %)`;
    return {
      parent,
      label: printableLabel(label, 160),
      path: printableLabel(lineOf(region), 240),
      a: roundedForPage(a),
      b: roundedForPage(b),
      verdict,
      change: `${VERDICTS[verdict]}${by}`,
    };
  });
  if (rows.filter(({ a, b }) => (a ?? b ?? 0) > 0).length < 2) return null;
  return {
    parent: rows.map(({ parent }) => parent),
    label: rows.map(({ label }) => label),
    path: rows.map(({ path }) => path),
    a: rows.map(({ a }) => a),
    b: rows.map(({ b }) => b),
    verdict: rows.map(({ verdict }) => verdict),
    change: rows.map(({ change }) => change),
  };
}

interface SectionOfPage {
  readonly section: PageSection;
  /** What it leaves out, in words. */
  readonly left: readonly string[];
}

type ShownSection = Pick<
  ComparisonSection,
  "title" | "table" | "row" | "legend" | "footer" | "empty"
>;

const pageSections = (section: ComparisonSection): readonly SectionOfPage[] =>
  section.table === null && section.empty === null ? [] : [pageSection(section)];

function pageSection({ title, table, row, legend, footer, empty }: ShownSection): SectionOfPage {
  const rows = table === null ? [] : [...table.rows];
  const shown = rows.slice(0, MAX_ROWS).map(({ cells, ...rest }) => ({
    ...rest,
    cells: cells.map(roundedCell),
  }));
  return {
    section: {
      title,
      hint: shown.length === 0 ? null : legend,
      footer,
      empty: empty ?? "",
      table: table === null || shown.length === 0 ? null : { columns: table.columns, rows: shown },
    },
    left: leftOut(rows.length - MAX_ROWS, row),
  };
}

const leftOut = (count: number, [singular, many]: ComparisonSection["row"]): readonly string[] =>
  count > 0 ? [plural(count, singular, many)] : [];

/** The data of a page need only the digits that the page shows. */
function roundedCell(cell: Cell): Cell {
  if (typeof cell === "number") return roundedForPage(cell);
  if (cell === null || typeof cell === "string" || !("kind" in cell)) return cell;
  if (cell.kind !== "measured") return cell;
  const { interval } = cell;
  const [value, uncertainty] = [roundedForPage(cell.value), roundedForPage(cell.uncertainty)];
  if (interval === undefined) return { ...cell, value, uncertainty };
  const [low, high] = [roundedForPage(interval.low), roundedForPage(interval.high)];
  return { ...cell, value, uncertainty, interval: { low: low ?? 0, high: high ?? 0 } };
}

const configValue = (value: string | null): Cell => [
  code(value === null ? "(none)" : printableLabel(value, 160)),
];

/** A glob can make a gate of every region; those that passed are not listed one by one. */
const mostTelling = (gates: Comparison["gates"]): Comparison["gates"] =>
  gates.length <= MAX_ROWS
    ? gates
    : (["breached", "unclear", "unchecked", "passed"] as const)
        .flatMap((wanted) => gates.filter(({ outcome }) => outcome === wanted))
        .slice(0, MAX_ROWS);
