/** Entry point of the comparison page's script. */
import { formatDelta, formatPercent } from "../compare/change.ts";
import { formatMs } from "../view/numbers.ts";
import type { ComparisonFact, ComparisonPageData, ComparisonRow } from "../view/page-data.ts";
import { themeButton } from "./controls.ts";
import { h, nameElement, section } from "./dom.ts";
import { type Column, createTable } from "./table.ts";

const page = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as ComparisonPageData;

/** Usually there is nothing to show. */
const COUNTS = {
  heading: "Counts",
  key: ({ counts }: ComparisonRow) => counts,
  cell: ({ counts }: ComparisonRow) => h("span", { class: "counts" }, counts),
};

document.getElementById("controls")?.append(themeButton());
/** A phone shows about three columns: what changed, and how, comes before the values. */
const narrow = matchMedia("(max-width: 640px)");
document
  .getElementById("comparison")
  ?.append(
    changes("Regions", page.regions, totalText(page.total)),
    changes(`${page.kernelHeading}s`, page.kernels, null),
    ...gpuUse(page.activityHeading, page.activity),
    ...gpuUse(page.countersHeading, page.counters),
    configuration(page.config),
  );

function changes(
  title: string,
  rows: readonly ComparisonRow[],
  footer: string | null,
): HTMLElement {
  if (rows.length === 0) return section(title, h("p", {}, `No ${title.toLowerCase()}.`));
  const number = (heading: string, of: (row: ComparisonRow) => number | null) => ({
    heading,
    align: "right" as const,
    key: of,
    cell: (row: ComparisonRow) => formatMs(of(row)),
  });
  const name: Column<ComparisonRow> = {
    heading: "Name",
    key: ({ label }) => label,
    cell: ({ label, level, path }, flat) =>
      flat && path !== null
        ? nameElement("code", path)
        : nameElement("code", label, { level: flat ? 0 : level }),
  };
  const times = [number("A ms", ({ a }) => a), number("B ms", ({ b }) => b)];
  const change: Column<ComparisonRow> = {
    heading: "Change ms",
    align: "right",
    // The largest change first, whatever its direction.
    key: ({ delta }) => (delta === null ? null : Math.abs(delta)),
    cell: formatDelta,
  };
  const percent: Column<ComparisonRow> = {
    heading: "%",
    align: "right",
    key: ({ relative }) => relative,
    cell: ({ relative }) => formatPercent(relative),
  };
  const verdict: Column<ComparisonRow> = {
    heading: "Verdict",
    key: (row) => row.verdict,
    cell: (row) => h("span", { class: `verdict ${row.verdict.replace(" ", "-")}` }, row.verdict),
  };
  const counts = rows.some((row) => row.counts !== "") ? [COUNTS] : [];
  const columns = () => [
    name,
    ...(narrow.matches
      ? [percent, verdict, change, ...times]
      : [...times, change, percent, verdict]),
    ...counts,
  ];
  const table = createTable<ComparisonRow>({
    label: title,
    columns: columns(),
    text: ({ label, path, verdict }) => `${path ?? label} ${verdict}`,
    pageSize: 200,
  });
  table.setRows(rows, footer);
  // Rotating a phone must not lose the filter.
  narrow.addEventListener("change", () => table.arrange(columns()));
  return section(
    title,
    h("p", { class: "hint" }, `${page.time}; ± is the 95 % interval.`),
    table.element,
  );
}

function gpuUse(title: string, rows: readonly ComparisonFact[]): readonly HTMLElement[] {
  if (rows.length === 0) return [];
  const column = (
    heading: string,
    of: (row: ComparisonFact) => string,
  ): Column<ComparisonFact> => ({ heading, align: "right", key: of, cell: of });
  const table = createTable<ComparisonFact>({
    label: title,
    columns: [
      {
        heading: "Name",
        key: ({ label }) => label,
        cell: ({ label }) => nameElement("code", label),
      },
      { heading: "What", key: ({ name }) => name, cell: ({ name }) => name },
      column("A", ({ a }) => a),
      column("B", ({ b }) => b),
      column("Change", ({ change }) => change),
    ],
    text: ({ label, name, a, b }) => `${label} ${name} ${a} ${b}`,
    pageSize: 200,
  });
  table.setRows(rows);
  return [section(title, table.element)];
}

function configuration(rows: ComparisonPageData["config"]): HTMLElement {
  if (rows.length === 0) return section("Configuration", h("p", {}, "No known differences."));
  const table = createTable<ComparisonPageData["config"][number]>({
    label: "Configuration",
    columns: [
      { heading: "Key", key: ({ key }) => key, cell: ({ key }) => nameElement("code", key) },
      { heading: "A", key: ({ a }) => a, cell: ({ a }) => nameElement("code", a ?? "(none)") },
      { heading: "B", key: ({ b }) => b, cell: ({ b }) => nameElement("code", b ?? "(none)") },
    ],
    text: ({ key, a, b }) => `${key} ${a ?? ""} ${b ?? ""}`,
    pageSize: 200,
  });
  table.setRows(rows);
  return section("Configuration", table.element);
}

/** Regions overlap, so their sum cannot give this total. */
function totalText(total: ComparisonRow): string {
  const percent = formatPercent(total.relative);
  return `all: ${formatMs(total.a)} ms before, ${formatMs(total.b)} ms after: ${formatDelta(total)} ms (${percent} %), ${total.verdict}`;
}
