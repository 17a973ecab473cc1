/** The table of jobs, and all that is known of the chosen one. */

import { type Cell, type Field, link, type Row, tableOf } from "../../../pages/blocks.ts";
import { h, on, section } from "../../../pages/client/dom.ts";
import { createTable, type ShownTable } from "../../../pages/client/table.ts";
import { relativeLink } from "../../../pages/markdown.ts";
import { formatNumber } from "../../../pages/numbers.ts";
import type { BetterWhen, PageColumn, PageLinks, SweepPageData } from "../page/sweep-page-data.ts";
import { filterOf } from "./filter.ts";
import { cellOf, jobName, type Metric, shownCell } from "./jobs.ts";

export interface JobsOptions {
  readonly data: () => SweepPageData;
  readonly metric: () => Metric;
  readonly direction: () => BetterWhen;
  readonly chosen: () => number | null;
  readonly choose: (row: number | null) => void;
  readonly onFilter: (rows: readonly number[]) => void;
}

const LINKS: readonly (readonly [keyof PageLinks, string])[] = [
  ["files", "Files"],
  ["log", "Log"],
  ["report", "Report"],
];

export function createJobs({ data, chosen, choose, onFilter }: JobsOptions) {
  let titles = "";
  let table: ShownTable | undefined;
  let matching: readonly number[] = [...data().number.keys()];
  const place = h("div");
  const details = h("aside", { class: "job-details", "aria-label": "Chosen job" });

  const draw = (): void => {
    const fields = fieldsOf(data());
    const now = fields.map(({ title }) => title).join("\n");
    if (now === titles) {
      table?.redecorate();
      return;
    }
    titles = now;
    table = createTable(tableOf(fields, rowsOf(data())), {
      label: "Jobs",
      isVirtual: true,
      filterHint: "lr<0.1 status=failed",
      matcher: (text) => filterOf(text, filteredColumns(data())),
      onFilter(rows) {
        matching = rows;
        onFilter(rows);
      },
      onChoose: choose,
      isChosen: (row) => row === chosen(),
    });
    place.replaceChildren(table.element);
  };

  return {
    part: {
      element: section(
        "Jobs",
        h(
          "p",
          { class: "hint" },
          "The filter compares columns (lr<0.1, model=b, status!=completed) or looks for words in all of them; all parts must hold. Charts show what it lets through.",
        ),
        place,
      ),
      draw,
    },
    details,
    /** Shows data that have changed. @returns the rows that the filter lets through */
    update(): readonly number[] {
      const titlesBefore = titles;
      draw();
      if (titles !== titlesBefore) {
        matching = [...data().number.keys()];
        return matching;
      }
      const text = place.querySelector("input")?.value.trim() ?? "";
      const all = [...data().number.keys()];
      matching = text === "" ? all : all.filter(filterOf(text, filteredColumns(data())));
      table?.setRows(tableOf(fieldsOf(data()), rowsOf(data())).rows as Iterable<Row>);
      return matching;
    },
    drawDetails(): void {
      const row = chosen();
      details.hidden = row === null;
      if (row === null) details.replaceChildren();
      else details.replaceChildren(...detailsOf(data(), row, () => choose(null)));
    },
  };
}

const rowsOf = ({ number }: SweepPageData): Iterable<number> => number.keys();

/** Each title once: a parameter with the name of another column is `swept.NAME`. */
function titled(data: SweepPageData) {
  const taken = new Set(["job", "sweep", "continues", "status", "attempts", "seconds", "error"]);
  const each = (columns: readonly PageColumn[], prefix: string) =>
    columns.map((column) => {
      let { title } = column;
      while (taken.has(title)) title = `${prefix}${title}`;
      taken.add(title);
      return { ...column, title };
    });
  return { parameters: each(data.parameters, "swept."), results: each(data.results, "result.") };
}

function fieldsOf(data: SweepPageData): readonly Field<number>[] {
  const { attempts, continues, error, links, number, seconds, status, sweep, sweeps, texts } = data;
  const { parameters, results } = titled(data);
  const valued = (column: PageColumn): Field<number> => ({
    title: column.title,
    ...(column.numbers !== undefined && { format: "number" as const }),
    cell: (row): Cell => cellOf(column, row, texts),
  });
  return [
    { title: "job", cell: (row) => `#${number[row]}` },
    ...(sweep === undefined
      ? []
      : [{ title: "sweep", cell: (row: number) => sweeps[sweep[row] ?? 0] ?? "" }]),
    ...(continues === undefined
      ? []
      : [{ title: "continues", cell: (row: number) => earlierJob(data, row) }]),
    ...parameters.map(valued),
    { title: "status", cell: (row) => status[row] ?? "", isMark: true },
    ...results.map(valued),
    ...(attempts.some((count) => count > 1)
      ? [{ title: "attempts", format: "count" as const, cell: (row: number) => attempts[row] ?? 0 }]
      : []),
    { title: "seconds", format: "number", cell: (row) => seconds[row] ?? null },
    ...LINKS.filter(([name]) => links?.[name].some((index) => index >= 0)).map(
      ([name, title]): Field<number> => ({
        title,
        cell: (row) => {
          const path = texts[links?.[name][row] ?? -1];
          return path === undefined ? "" : [link(path.split("/").at(-1) ?? path, path)];
        },
      }),
    ),
    ...(error.some((index) => index >= 0)
      ? [{ title: "error", cell: (row: number) => texts[error[row] ?? -1] ?? "" }]
      : []),
  ];
}

/** The job that another one continues, as a link to its directory. */
function earlierJob({ continues, links, number, sweep, texts }: SweepPageData, row: number): Cell {
  const job = continues?.[row] ?? -1;
  if (job < 0) return "";
  const index = number.findIndex(
    (jobNumber, other) => jobNumber === job && sweep?.[other] === sweep?.[row],
  );
  const path = texts[links?.files[index] ?? -1];
  return path === undefined ? `#${job}` : [link(`#${job}`, path)];
}

const filteredColumns = (data: SweepPageData) => {
  const { parameters, results } = titled(data);
  const { continues, error, number, seconds, status, sweep, sweeps, texts } = data;
  return [
    { title: "job", getValue: (row: number) => number[row] ?? null },
    { title: "sweep", getValue: (row: number) => (sweep && sweeps[sweep[row] ?? 0]) ?? null },
    {
      title: "continues",
      getValue: (row: number) => ((continues?.[row] ?? -1) < 0 ? null : (continues?.[row] ?? null)),
    },
    { title: "status", getValue: (row: number) => status[row] ?? null },
    { title: "seconds", getValue: (row: number) => seconds[row] ?? null },
    { title: "error", getValue: (row: number) => texts[error[row] ?? -1] ?? null },
    ...[...parameters, ...results].map((column) => ({
      title: column.title,
      getValue: (row: number) => cellOf(column, row, texts),
    })),
  ];
};

function detailsOf(data: SweepPageData, row: number, close: () => void): readonly Node[] {
  const { attempts, continues, error, links, seconds, started, status, texts } = data;
  const { parameters, results } = titled(data);
  const time = started[row] ?? null;
  const facts: readonly (readonly [string, string])[] = [
    ["status", status[row] ?? ""],
    ...((continues?.[row] ?? -1) < 0 ? [] : [["continues", `#${continues?.[row]}`] as const]),
    ...[...parameters, ...results].flatMap((column): readonly (readonly [string, string])[] => {
      const cell = cellOf(column, row, texts);
      return cell === null ? [] : [[column.title, shownCell(cell)]];
    }),
    ...(time === null ? [] : [["started", new Date(time).toLocaleString("en-GB")] as const]),
    ["seconds", formatNumber(seconds[row] ?? null)],
    ["attempts", String(attempts[row] ?? 0)],
  ];
  const why = texts[error[row] ?? -1];
  return [
    h(
      "p",
      { class: "table-bar" },
      h("strong", {}, jobName(data, row)),
      ...LINKS.flatMap(([name, title]) => {
        const path = texts[links?.[name][row] ?? -1];
        return path === undefined ? [] : [h("a", { href: relativeLink(path) }, title)];
      }),
      on(h("button", { type: "button", "aria-label": "Close" }, "×"), "click", close),
    ),
    h(
      "dl",
      { class: "facts-list" },
      ...facts.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text))),
    ),
    ...(why === undefined ? [] : [h("p", { class: "verdict worse" }, why)]),
  ];
}
