/** A comparison as a page: sortable tables, the same frame and policy as a report's page. */

import { plural } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { pathLines } from "../model/region-path.ts";
import { escapeHtml } from "../render/html.ts";
import {
  noticeList,
  noticeSection,
  type PageAssets,
  readPageAssets,
  renderPage,
} from "../render/html-page.ts";
import { roundedForPage } from "../view/numbers.ts";
import type { ComparisonFact, ComparisonPageData, ComparisonRow } from "../view/page-data.ts";
import type { Changes } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
  countNotes,
  gateSummary,
  kernelHeading,
  kernelWord,
  mainTime,
  regionLines,
  TIME_LABELS,
  VERDICTS,
} from "./comparison.ts";
import {
  ACTIVITY_HEADING,
  activityFacts,
  COUNTERS_HEADING,
  counterFacts,
  type GpuFacts,
} from "./gpu-facts.ts";

/** Rows of each table: more would not fit into a page of 1 MB. */
const MAX_ROWS = 2000;

export function renderComparisonHtml(
  comparison: Comparison,
  assets: PageAssets = readPageAssets("compare"),
): string {
  const { names, reports, config, gates } = comparison;
  const time = mainTime(reports);
  const lineOf = pathLines(reports.regions);
  const [activity, counters] = [factRows(activityFacts(reports)), factRows(counterFacts(reports))];
  const data: ComparisonPageData = {
    time: TIME_LABELS[time],
    regions: regionLines(reports.regions)
      .slice(0, MAX_ROWS)
      .map(({ region, level, label }) => ({
        ...rowOf(label, region.changes, time, reports),
        level,
        path: level === 0 ? null : printableLabel(lineOf(region), 240),
      })),
    total: rowOf("all", reports.totals, time, reports),
    kernelHeading: kernelHeading(reports),
    kernels: reports.kernels
      .slice(0, MAX_ROWS)
      .map(({ kernel_name, changes }) =>
        rowOf(printableLabel(kernel_name, 160), changes, "total_ms", reports),
      ),
    activityHeading: ACTIVITY_HEADING,
    activity: activity.slice(0, MAX_ROWS),
    countersHeading: COUNTERS_HEADING,
    counters: counters.slice(0, MAX_ROWS),
    config: (config ?? []).slice(0, MAX_ROWS).map(({ key, a, b }) => ({
      key: printableLabel(key),
      a: a === null ? null : printableLabel(a, 160),
      b: b === null ? null : printableLabel(b, 160),
    })),
  };
  const rows: readonly (readonly [count: number, one: string, many?: string])[] = [
    [gates.length, "gate"],
    [reports.regions.length, "region"],
    [reports.kernels.length, kernelWord(reports)],
    [activity.length, "change of GPU use", "changes of GPU use"],
    [counters.length, "change of counters", "changes of counters"],
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

const factRows = (all: readonly GpuFacts[]): readonly ComparisonFact[] =>
  all.flatMap(({ label, facts }) =>
    facts.map((fact) => ({ label: printableLabel(label, 240), ...fact })),
  );

/** A glob can make a gate of every region: those that pass need no line each. */
const mostTelling = (gates: Comparison["gates"]): Comparison["gates"] =>
  gates.length <= MAX_ROWS
    ? gates
    : (["breached", "unclear", "unchecked", "passed"] as const)
        .flatMap((wanted) => gates.filter(({ outcome }) => outcome === wanted))
        .slice(0, MAX_ROWS);

function rowOf(
  label: string,
  changes: Changes,
  time: string,
  reports: ReportComparison,
): ComparisonRow {
  const change = changes[time];
  const { a = null, b = null, delta = null, relative = null, uncertainty = null } = change ?? {};
  return {
    label,
    level: 0,
    path: null,
    a: roundedForPage(a),
    b: roundedForPage(b),
    delta: roundedForPage(delta),
    relative: roundedForPage(relative),
    uncertainty: roundedForPage(uncertainty),
    verdict: VERDICTS[change?.verdict ?? "same"],
    counts: countNotes(changes, reports),
  };
}
