/** A table of blocks that sorts by any column, filters, and shows a limited number of rows at first. */

import {
  type Cell,
  type Column,
  cellText,
  plainText,
  type Row,
  type Span,
  type Table,
  type Text,
} from "../blocks.ts";
import { relativeLink } from "../markdown.ts";
import { formatCount, NOT_MEASURED } from "../numbers.ts";
import { h, nameElement, on } from "./dom.ts";
import {
  nextOrder,
  type Order,
  type SortedColumn,
  sortRows,
  type TableOrder,
} from "./row-order.ts";

export interface TableOptions {
  /** Name of the table for screen readers. */
  readonly label: string;
  /** Number of rows shown initially. */
  readonly pageSize?: number;
  /** The text below the last row, independent of the filter. */
  readonly footer?: string | null;
  /** Whether narrow screens, with room for about three columns, show columns in the order of their priorities. */
  readonly isResponsive?: boolean;
  /** The initial order; null for that of the rows. */
  readonly order?: TableOrder | null;
  /** Called when the user sorts the table. */
  readonly onOrder?: (order: TableOrder | null) => void;
  /** Called with the index of a clicked row. */
  readonly onChoose?: (place: number) => void;
  readonly isChosen?: (place: number) => boolean;
  /** Whether the rows have one height, scroll in a box of their own, and only those in view are elements: for thousands. */
  readonly isVirtual?: boolean;
  /** Whether a row matches a filter; default: its texts contain it. */
  readonly matcher?: (text: string) => (place: number) => boolean;
  /** What the filter's field says while it is empty. */
  readonly filterHint?: string;
  /** Called with the indices of the rows that match, after the filter has changed. */
  readonly onFilter?: (places: readonly number[]) => void;
}

export interface ShownTable {
  readonly element: HTMLElement;
  /** Updates which rows are marked as chosen. */
  redecorate(): void;
  /** Sorts it without calling `onOrder`. */
  sortBy(order: TableOrder | null): void;
  /** Replaces the rows; filter, order and focus stay. */
  setRows(rows: Iterable<Row>): void;
}

interface PlacedRow extends Row {
  readonly place: number;
}

/** A column and its index in the cells of a row. */
interface PlacedColumn extends SortedColumn<PlacedRow> {
  readonly column: Column;
  readonly index: number;
}

const NARROW = "(max-width: 640px)";

export function createTable(
  table: Table,
  {
    label,
    pageSize = 200,
    footer = null,
    isResponsive = false,
    order: wantedOrder = null,
    onOrder,
    onChoose,
    isChosen = () => false,
    isVirtual = false,
    matcher,
    filterHint = "Filter",
    onFilter,
  }: TableOptions,
): ShownTable {
  let rows = placedRows(table.rows);
  const all = table.columns.map(placed);
  let columns = all;
  const orderOf = (wanted: TableOrder | null): Order<PlacedRow> | null => {
    const column = all.find((each) => each.column.title === wanted?.title);
    return column === undefined || wanted === null
      ? null
      : { column, descending: wanted.descending };
  };
  let order = orderOf(wantedOrder);
  let shown = pageSize;
  let visible: readonly { readonly element: HTMLTableRowElement; readonly place: number }[] = [];
  let sorted: readonly PlacedRow[] = [];
  let flat = false;

  const frame = createFrame(label, { footer, filterHint });
  on(frame.filter, "input", () => {
    shown = pageSize;
    frame.box.scrollTop = 0;
    const matching = draw();
    onFilter?.(matching.map(({ place }) => place));
  });
  on(frame.more, "click", () => {
    shown = shown * 4;
    draw();
  });
  const sortOn = (column: PlacedColumn) => () => {
    order = nextOrder(order, column);
    draw();
    onOrder?.(order === null ? null : { title: column.column.title, descending: order.descending });
  };
  const headings = new Map(
    all.map((each) => [each, heading(each.column, sideOf(each), sortOn(each))]),
  );
  const legend = legendOf(table.columns);
  if (legend !== null) frame.element.append(legend);

  const isTree = rows.some((row) => levelOf(row) > 0);

  /** @returns the rows that match the filter */
  function draw(): readonly PlacedRow[] {
    const wanted = frame.filter.value.trim();
    const matches = wanted === "" ? undefined : matcher?.(wanted);
    const matching =
      wanted === ""
        ? rows
        : rows.filter(
            (row) => matches?.(row.place) ?? searched(row).includes(wanted.toLowerCase()),
          );
    // In a tree, a filter keeps the rows that contain a match, because it is used to find a place; a sorted list is
    // used to find the largest.
    const byOrder = isTree && matching.length < rows.length ? null : order;
    flat = byOrder !== null;
    sorted =
      byOrder === null ? inTree(withAround(rows, matching), order) : sortRows(matching, byOrder);
    drawRows();
    for (const [column, cell] of headings) cell.setAttribute("aria-sort", sortOf(column, order));
    frame.count.textContent = countText(matching.length, rows.length);
    const left = isVirtual ? 0 : sorted.length - visible.length;
    frame.more.hidden = left <= 0;
    frame.more.textContent = `Show more (${formatCount(left)} left)`;
    return matching;
  }

  function drawRows(): void {
    const [from, to] = isVirtual ? rowsInView(frame.box, rowHeight, sorted.length) : [0, shown];
    const focused = visible.find(({ element }) => element.contains(document.activeElement));
    visible = sorted
      .slice(from, to)
      .map((row) => ({ place: row.place, element: drawRow(row, flat) }));
    const elements = visible.map(({ element }) => element);
    if (isVirtual) {
      for (const [index, element] of elements.entries())
        element.setAttribute("aria-rowindex", String(from + index + 2));
      frame.table.setAttribute("aria-rowcount", String(sorted.length + 1));
      elements.unshift(gap(from * rowHeight));
      elements.push(gap(Math.max(0, sorted.length - to) * rowHeight));
    }
    frame.body.replaceChildren(...elements);
    drawnFrom = from;
    redecorate();
    if (focused === undefined) return;
    const again = visible.find(({ place }) => place === focused.place);
    again?.element.querySelector("button")?.focus({ preventScroll: true });
  }

  let rowHeight = ROW_HEIGHT;
  let drawnFrom = 0;
  if (isVirtual) {
    frame.box.classList.add("virtual");
    on(frame.box, "scroll", () => {
      const [from] = rowsInView(frame.box, rowHeight, sorted.length);
      if (Math.abs(from - drawnFrom) >= BESIDE_VIEW / 2 || (from === 0 && drawnFrom > 0)) {
        // The columns must not become narrower or wider with the rows in view.
        for (const cell of headings.values()) cell.style.minWidth = `${cell.offsetWidth}px`;
        drawRows();
      }
    });
    let width = 0;
    new ResizeObserver(([entry]) => {
      const height = visible[0]?.element.offsetHeight ?? 0;
      if (height > 0) rowHeight = height;
      const now = entry?.contentRect.width ?? 0;
      if (now === width) return;
      width = now;
      for (const cell of headings.values()) cell.style.minWidth = "";
      drawRows();
    }).observe(frame.box);
  }

  function drawRow(row: PlacedRow, flat: boolean): HTMLTableRowElement {
    const line = h(
      "tr",
      { class: row.tone === "hot" ? "hot" : null },
      ...columns.map((each) =>
        h(
          "td",
          { class: sideOf(each) },
          drawCell(row, each, { flat, isButton: onChoose !== undefined }),
        ),
      ),
    );
    if (onChoose !== undefined) on(line, "click", () => onChoose(row.place));
    return line;
  }

  function redecorate(): void {
    for (const { element, place } of visible) element.classList.toggle("selected", isChosen(place));
  }

  function arrange(isNarrow: boolean): void {
    columns = isNarrow ? [...all].sort((a, b) => priorityOf(a) - priorityOf(b)) : all;
    frame.headRow.replaceChildren(...columns.flatMap((column) => headings.get(column) ?? []));
    draw();
  }
  const narrow = matchMedia(NARROW);
  // Rotating a phone must not reset the filter.
  if (isResponsive) narrow.addEventListener("change", () => arrange(narrow.matches));
  arrange(isResponsive && narrow.matches);
  const sortBy = (wanted: TableOrder | null): void => {
    order = orderOf(wanted);
    draw();
  };
  const setRows = (next: Iterable<Row>): void => {
    rows = placedRows(next);
    draw();
  };
  return { element: frame.element, redecorate, sortBy, setRows };
}

const placedRows = (rows: Iterable<Row>): readonly PlacedRow[] =>
  [...rows].map((row, place): PlacedRow => ({ ...row, place }));

/** Of a virtual table until one is laid out, in pixels. */
const ROW_HEIGHT = 31;
/** The rows above and below those in view that are drawn, too, so that quick scrolling shows no gap. */
const BESIDE_VIEW = 12;
/** The height of a box until it is laid out, in pixels. */
const BOX_HEIGHT = 600;

function rowsInView(box: HTMLElement, rowHeight: number, count: number): readonly [number, number] {
  const first = Math.floor(box.scrollTop / rowHeight) - BESIDE_VIEW;
  const inView = Math.ceil((box.clientHeight || BOX_HEIGHT) / rowHeight) + 2 * BESIDE_VIEW;
  const from = Math.max(0, Math.min(first, count - inView));
  return [from, Math.min(count, from + inView)];
}

/** Stands for rows that are not elements. */
function gap(height: number): HTMLTableRowElement {
  const row = h("tr", { "aria-hidden": "true", class: "gap" });
  row.style.height = `${height}px`;
  return row;
}

/** Rows of a tree together with the rows that contain them. */
function withAround(
  rows: readonly PlacedRow[],
  matching: readonly PlacedRow[],
): readonly PlacedRow[] {
  if (matching.length === rows.length) return rows;
  const kept = new Set<PlacedRow>();
  for (const row of matching) {
    kept.add(row);
    let level = levelOf(row);
    for (let index = row.place - 1; index >= 0 && level > 0; index--) {
      const ancestor = rows[index];
      if (ancestor === undefined || levelOf(ancestor) >= level) continue;
      level = levelOf(ancestor);
      kept.add(ancestor);
    }
  }
  return rows.filter((row) => kept.has(row));
}

/** Sorts siblings by the best row of each subtree. */
function inTree(rows: readonly PlacedRow[], order: Order<PlacedRow> | null): readonly PlacedRow[] {
  if (order === null) return rows;
  const ranks = new Map(sortRows(rows, order).map((row, rank) => [row, rank]));
  const arranged = (from: number, to: number): readonly PlacedRow[] => {
    const groups: { readonly best: number; readonly rows: readonly PlacedRow[] }[] = [];
    for (let index = from; index < to; ) {
      const [top, start] = [rows[index], index];
      if (top === undefined) break;
      for (index += 1; index < to && levelOf(rows[index] ?? top) > levelOf(top); ) index += 1;
      const best = Math.min(...rows.slice(start, index).map((row) => ranks.get(row) ?? 0));
      groups.push({ best, rows: [top, ...arranged(start + 1, index)] });
    }
    return groups.sort((a, b) => a.best - b.best).flatMap((group) => group.rows);
  };
  return arranged(0, rows.length);
}

function levelOf({ cells: [first = null] }: Row): number {
  const isLabel = typeof first === "object" && first !== null && "kind" in first;
  return isLabel && first.kind === "label" ? first.level : 0;
}

const placed = (column: Column, index: number): PlacedColumn => ({
  column,
  index,
  ...((column.align === "right" || column.format !== undefined) && { align: "right" }),
  key: ({ cells }) => keyOf(cells[index] ?? null, column),
});

const sideOf = ({ align }: PlacedColumn): string | null => align ?? null;
const priorityOf = ({ column }: PlacedColumn): number => column.priority ?? 0;

/** The sort key of a cell; changes are sorted by size, whatever their direction. */
function keyOf(cell: Cell, { format }: Column): number | string | null {
  if (cell === null || typeof cell === "number") return cell;
  if (isText(cell)) return plainText(cell);
  if (cell.kind === "label") return cell.path ?? cell.text;
  if (cell.kind !== "measured") return cell.text;
  return cell.value !== null && format === "change_ms" ? Math.abs(cell.value) : cell.value;
}

const isText = (cell: Exclude<Cell, number | null>): cell is Text =>
  typeof cell === "string" || !("kind" in cell);

/** The text that the filter searches; numbers are found by sorting. */
const searched = ({ cells }: Row): string =>
  cells
    .flatMap((cell) => {
      const key = typeof cell === "number" ? null : keyOf(cell, { title: "" });
      return typeof key === "string" ? [key] : [];
    })
    .join(" ")
    .toLowerCase();

interface CellPage {
  /** Whether the rows are sorted or filtered, so that the rows above do not show where a region is. */
  readonly flat: boolean;
  /** Whether the first cell is a button that chooses its row. */
  readonly isButton: boolean;
}

function drawCell(
  { cells, tone }: PlacedRow,
  { index, column }: PlacedColumn,
  { flat, isButton }: CellPage,
): string | Node {
  const cell = cells[index] ?? null;
  if (typeof cell === "number" && column.format === "count") return formatCount(cell);
  const text = cellText(cell, column);
  if (column.isMark && text !== NOT_MEASURED)
    return h("span", { class: `mark mark-${text}` }, text);
  if (column.tinted) return h("span", { class: `verdict ${tone ?? ""}` }, text);
  if (column.prose) return h("span", { class: "prose" }, text);
  const tag = isButton && index === 0 ? "button" : "code";
  if (cell !== null && typeof cell === "object" && "kind" in cell && cell.kind === "label") {
    const { level, path = text } = cell;
    return nameElement(tag, flat ? path : text, { path, level: flat ? 0 : level });
  }
  const spans: readonly Span[] = Array.isArray(cell) ? cell : [];
  for (const span of spans)
    if (typeof span !== "string" && span.kind === "link")
      return h("a", { href: relativeLink(span.path) }, text);
  const isName =
    index === 0 ||
    (Array.isArray(cell) && cell.some((span) => typeof span !== "string" && span.kind === "code"));
  return isName ? nameElement(tag, text) : text;
}

/** The frame around the rows. */
function createFrame(
  label: string,
  { footer, filterHint }: { readonly footer: string | null; readonly filterHint: string },
) {
  const filter = h("input", {
    type: "search",
    placeholder: filterHint,
    "aria-label": `Filter ${label}`,
  });
  const count = h("span", { class: "count", role: "status" });
  const headRow = h("tr");
  const body = h("tbody");
  const more = h("button", { type: "button", class: "more" });
  const foot = h("p", { class: "table-foot" }, footer);
  foot.hidden = footer === null;
  const cutOff = h(
    "p",
    { class: "hint cut-off" },
    "More columns on the right: the table scrolls. →",
  );
  const table = h("table", {}, h("thead", {}, headRow), body);
  const box = h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    table,
  );
  new ResizeObserver(() => {
    cutOff.hidden = box.scrollWidth <= box.clientWidth + 1;
  }).observe(box);
  const element = h(
    "div",
    { class: "table" },
    h("div", { class: "table-bar" }, filter, count),
    cutOff,
    box,
    more,
    foot,
  );
  return { element, filter, count, headRow, body, more, box, table };
}

/** The hints of the headings, for users without a mouse. Null without hints. */
function legendOf(columns: readonly Column[]): HTMLElement | null {
  const terms = columns.flatMap(({ title, hint }) =>
    hint === undefined ? [] : [h("dt", {}, title), h("dd", {}, hint)],
  );
  if (terms.length === 0) return null;
  return h(
    "details",
    { class: "legend" },
    h("summary", {}, "What the columns mean"),
    h("dl", {}, ...terms),
  );
}

function heading(column: Column, side: string | null, sort: () => void): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "sort", title: column.hint ?? null },
    column.title,
  );
  return h("th", { scope: "col", class: side }, on(button, "click", sort));
}

function sortOf(column: PlacedColumn, order: Order<PlacedRow> | null): string {
  if (order?.column !== column) return "none";
  return order.descending ? "descending" : "ascending";
}

function countText(matching: number, all: number): string {
  const rows = `${formatCount(all)} ${all === 1 ? "row" : "rows"}`;
  return matching === all ? rows : `${formatCount(matching)} of ${rows}`;
}
