/** The details of the selected region. */

import { cellText, tableOf } from "../../pages/blocks.ts";
import { h, on } from "../../pages/client/dom.ts";
import { createTable } from "../../pages/client/table.ts";
import { formatCount, formatNumber, formatShare, NOT_MEASURED } from "../../pages/numbers.ts";
import { type RankedNcuRule, rankedNcuRules } from "../view/ncu-rules.ts";
import type { MetricColumn, RegionColumnData } from "../view/page-data.ts";
import { cellAt, type Region, type Scope, type Store } from "./state.ts";

export function createDetails(store: Store): HTMLElement {
  const heading = h("h2", { id: "details-heading" });
  const body = h("div");
  const clear = on(h("button", { type: "button" }, "Show all regions"), "click", () =>
    store.set({ selected: null, zoomed: null }),
  );
  const section = h(
    "section",
    { "aria-labelledby": "details-heading", class: "details" },
    heading,
    clear,
    body,
  );
  store.watch(({ scope, selected }, previous) => {
    if (previous !== null && previous.scope === scope && previous.selected === selected) return;
    section.hidden = selected === null;
    if (selected === null) return;
    heading.textContent = selected.path;
    body.replaceChildren(...draw(scope, selected));
  });
  return section;
}

function draw(scope: Scope, region: Region): readonly Node[] {
  const { regions, notes, sections } = scope.data;
  const { row } = region;
  const facts = regions.facts.flatMap(({ title, texts, columns }) => {
    const values = columns.map((column) => valueText(scope, regions.columns[column], row));
    const [first = null] = values;
    const shown = texts.map(
      (text, index) => `${text}${index < values.length ? (values[index] ?? NOT_MEASURED) : ""}`,
    );
    return first === null ? [] : [[title, shown.join("")] as const];
  });
  const metrics = drawMetricTable(scope, region);
  const ownNotes = notes[row] ?? [];
  const rules = rankedNcuRules({ sections: sections[row] ?? {} });
  return [
    h(
      "dl",
      { class: "facts-list" },
      ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    ),
    ...(ownNotes.length === 0
      ? []
      : [h("ul", { class: "notice" }, ...ownNotes.map((note) => h("li", {}, note)))]),
    ...(rules.length === 0
      ? []
      : [
          h("h3", {}, "What Nsight Compute advises"),
          h("ol", { class: "rules" }, ...rules.map(drawRule)),
        ]),
    ...(metrics === null ? [] : [h("h3", {}, "Metrics"), metrics]),
    ...Object.entries(sections[row] ?? {}).map(([name, section]) =>
      h(
        "details",
        {},
        h("summary", {}, name),
        scrolling(name, drawValue(withoutMessages(section))),
      ),
    ),
  ];
}

/** The most promising message first; unranked ones last. */
function drawRule({
  title,
  section,
  speedup,
  isGlobal,
  text,
  kernels,
}: RankedNcuRule): HTMLElement {
  const estimate =
    speedup === null
      ? null
      : `estimated ${formatShare(speedup, 100)} % less ${isGlobal ? "kernel time" : "of one part of the hardware"}`;
  return h(
    "li",
    {},
    h("strong", {}, title),
    ` (${section}${kernels > 1 ? `, of ${formatCount(kernels)} kernels` : ""})${estimate === null ? "" : ": "}`,
    estimate === null ? null : h("em", {}, estimate),
    h("div", {}, text),
  );
}

/** Null if not measured. */
function valueText(scope: Scope, column: RegionColumnData | undefined, row: number): string | null {
  const cell = column === undefined ? null : cellAt(scope, column, row);
  if (column === undefined || cell === null) return null;
  return typeof cell === "number" && column.format === "count"
    ? formatCount(cell)
    : cellText(cell, column);
}

/** A wide table scrolls horizontally, with the keyboard, too. */
const scrolling = (name: string, content: Node): HTMLElement =>
  h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, content);

/** A section without its rule messages, which are listed above in order. */
function withoutMessages(section: unknown): unknown {
  if (typeof section !== "object" || section === null || !("messages" in section)) return section;
  const { messages: _, ...rest } = section;
  return rest;
}

// The shape of sections depends on their collector: arbitrary objects and lists.

/** Nested values are placed below their name, since a phone has no room beside it. */
function drawValue(value: unknown): HTMLElement {
  const text = textOf(value);
  if (text !== null) return h("span", {}, text);
  const entries = Object.entries(value as object);
  if (entries.length === 0) return h("span", {}, "none");
  if (Array.isArray(value))
    return h("ol", {}, ...value.map((item) => h("li", {}, drawValue(item))));
  const simple = entries.flatMap(([name, item]) => {
    const text = textOf(item);
    return text === null ? [] : [[name, text] as const];
  });
  return h(
    "div",
    {},
    ...(simple.length === 0 ? [] : [pairs(simple)]),
    ...entries.flatMap(([name, item]) =>
      textOf(item) === null ? [h("h4", {}, name), drawValue(item)] : [],
    ),
  );
}

/** Rows of names and values. */
const pairs = (rows: readonly (readonly [string, string])[]): HTMLElement =>
  h(
    "table",
    { class: "facts pairs" },
    h(
      "tbody",
      {},
      ...rows.map(([name, value]) =>
        h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)),
      ),
    ),
  );

/** Null if it does not fit on one line. */
function textOf(value: unknown): string | null {
  if (typeof value === "number") return formatNumber(value);
  if (typeof value !== "object" || value === null) return String(value);
  return isMetric(value) ? `${formatNumber(value.value)} ${value.unit}` : null;
}

const isMetric = (value: object): value is { value: number | null; unit: string } =>
  "unit" in value &&
  typeof value.unit === "string" &&
  "value" in value &&
  (value.value === null || typeof value.value === "number");

// The metrics of the selected region. ncu's full set has hundreds, so the table has a filter.

/** Null if the region has no metrics. */
function drawMetricTable(scope: Scope, { row }: Region): HTMLElement | null {
  const measured = scope.data.metrics.filter(({ values }) => (values[row] ?? null) !== null);
  if (measured.length === 0) return null;
  const table = tableOf<MetricColumn>(
    [
      { title: "Metric", cell: ({ name }) => name },
      { title: "Value", format: "number", cell: ({ values }) => values[row] ?? null },
      { title: "Unit", cell: ({ unit }) => unit },
    ],
    measured,
  );
  return createTable(table, { label: "Metrics", pageSize: 25 }).element;
}
