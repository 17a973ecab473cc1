/** A table that sorts by any column, filters, and shows a limited number of rows at first. */

import { formatCount } from "../view/numbers.ts";
import { h, on } from "./dom.ts";
import { nextOrder, type Order, type SortedColumn, sortRows } from "./row-order.ts";

export interface Column<Row> extends SortedColumn<Row> {
  readonly heading: string;
  /** What it means, if the heading does not say it. */
  readonly hint?: string;
  /** @param flat whether the rows are sorted or filtered */
  readonly cell: (row: Row, flat: boolean) => string | Node;
}

export interface TableOptions<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** The text that the filter searches. */
  readonly text: (row: Row) => string;
  /** Rows shown at first. */
  readonly pageSize: number;
  /** Called for row elements before they are shown. */
  readonly decorate?: (element: HTMLTableRowElement, row: Row) => void;
  readonly onActivate?: (row: Row) => void;
  /** Shown below the last row, whatever the filter. */
  readonly footer?: string | null;
}

export interface Table<Row> {
  readonly element: HTMLElement;
  setRows(rows: readonly Row[], footer?: string | null): void;
  /** The same columns in another order; sorting and filter are kept. */
  arrange(columns: readonly Column<Row>[]): void;
  /** Calls `decorate` again for the rows shown. */
  redecorate(): void;
}

export function createTable<Row>(options: TableOptions<Row>): Table<Row> {
  const { pageSize } = options;
  let { columns } = options;
  let rows: readonly Row[] = [];
  let footer = options.footer ?? null;
  let order: Order<Row> | null = null;
  let shown = pageSize;
  let visible: readonly { readonly element: HTMLTableRowElement; readonly row: Row }[] = [];

  const frame = createFrame(options.label);
  on(frame.filter, "input", () => {
    shown = pageSize;
    draw();
  });
  on(frame.more, "click", () => {
    shown = shown * 4;
    draw();
  });
  const sortBy = (column: Column<Row>) => () => {
    order = nextOrder(order, column);
    draw();
  };
  const headings = new Map(columns.map((column) => [column, heading(column, sortBy(column))]));
  frame.headRow.append(...headings.values());
  const legend = legendOf(columns);
  if (legend !== null) frame.element.append(legend);

  function draw(): void {
    const wanted = frame.filter.value.trim().toLowerCase();
    const matching =
      wanted === "" ? rows : rows.filter((row) => options.text(row).toLowerCase().includes(wanted));
    const sorted = order === null ? matching : sortRows(matching, order);
    const flat = order !== null || wanted !== "";
    visible = sorted.slice(0, shown).map((row) => ({ row, element: drawRow(row, flat) }));
    frame.body.replaceChildren(...visible.map(({ element }) => element));
    for (const [column, cell] of headings) cell.setAttribute("aria-sort", sortOf(column, order));
    frame.count.textContent = countText(matching.length, rows.length);
    const left = sorted.length - visible.length;
    frame.more.hidden = left <= 0;
    frame.more.textContent = `Show more (${formatCount(left)} left)`;
    frame.foot.hidden = footer === null;
    frame.foot.textContent = footer ?? "";
  }

  function drawRow(row: Row, flat: boolean): HTMLTableRowElement {
    const line = h(
      "tr",
      {},
      ...columns.map((column) => h("td", { class: column.align ?? null }, column.cell(row, flat))),
    );
    options.decorate?.(line, row);
    const { onActivate } = options;
    if (onActivate !== undefined) on(line, "click", () => onActivate(row));
    return line;
  }

  return {
    element: frame.element,
    setRows(next, nextFooter = null) {
      rows = next;
      footer = nextFooter;
      shown = pageSize;
      draw();
    },
    arrange(next) {
      columns = next;
      frame.headRow.replaceChildren(...columns.flatMap((column) => headings.get(column) ?? []));
      draw();
    },
    redecorate() {
      for (const { element, row } of visible) options.decorate?.(element, row);
    },
  };
}

/** The frame around the rows. */
function createFrame(label: string) {
  const filter = h("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": `Filter ${label}`,
  });
  const count = h("span", { class: "count", role: "status" });
  const headRow = h("tr");
  const body = h("tbody");
  const more = h("button", { type: "button", class: "more" });
  const foot = h("p", { class: "table-foot" });
  const element = h(
    "div",
    { class: "table" },
    h("div", { class: "table-bar" }, filter, count),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
      h("table", {}, h("thead", {}, headRow), body),
    ),
    more,
    foot,
  );
  return { element, filter, count, headRow, body, more, foot };
}

/** The hints of the headings, for readers without a mouse. Null without hints. */
function legendOf<Row>(columns: readonly Column<Row>[]): HTMLElement | null {
  const terms = columns.flatMap(({ heading, hint }) =>
    hint === undefined ? [] : [h("dt", {}, heading), h("dd", {}, hint)],
  );
  if (terms.length === 0) return null;
  return h(
    "details",
    { class: "legend" },
    h("summary", {}, "What the columns mean"),
    h("dl", {}, ...terms),
  );
}

function heading<Row>(column: Column<Row>, sort: () => void): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "sort", title: column.hint ?? null },
    column.heading,
  );
  return h("th", { scope: "col", class: column.align ?? null }, on(button, "click", sort));
}

function sortOf<Row>(column: Column<Row>, order: Order<Row> | null): string {
  if (order?.column !== column) return "none";
  return order.descending ? "descending" : "ascending";
}

function countText(matching: number, all: number): string {
  const rows = `${formatCount(all)} ${all === 1 ? "row" : "rows"}`;
  return matching === all ? rows : `${formatCount(matching)} of ${rows}`;
}
