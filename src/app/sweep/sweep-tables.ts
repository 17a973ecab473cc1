/** The table of a sweep as files: for people, for spreadsheets, for programs. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { csvRecord, valueText } from "../../foundation/text/csv-records.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import type { SweepRow } from "../job/options.ts";
import { SWEEP_FOLDER, sweepFolder } from "../record/layout.ts";
import { shareFile } from "../record/rights.ts";
import { writeCurves } from "./learning-curves.ts";
import { fieldsOf, shownStatus } from "./page/build-page-data.ts";

/**
 * Writes the table of a sweep into a directory, as `sweep.json`, `sweep.csv` and `sweep.md`, and the learning curves of its jobs.
 *
 * @returns the names of the files
 * @throws ConfigError `app.sweep_damaged` if the tables that are there know more about a job with a damaged record
 */
export function writeSweepTables(into: string, rows: readonly SweepRow[]): readonly string[] {
  refuseLoss(into, rows);
  const cells = sweepCells(rows);
  const texts = {
    "sweep.md": markdownText(cells),
    "sweep.csv": csvText(cells),
    "sweep.json": `${JSON.stringify({ version: 1, jobs: rows }, null, 2)}\n`,
  };
  const record = basename(into) === SWEEP_FOLDER ? into : sweepFolder(into);
  for (const [name, text] of Object.entries(texts)) {
    writeFileAtomicSync(join(into, name), text);
    shareFile(record, join(into, name));
  }
  const curves = writeCurves(into, rows);
  for (const name of curves) shareFile(record, join(into, name));
  return [...Object.keys(texts), ...curves];
}

/** The row of a job whose record is damaged may be all that is left of its result. */
function refuseLoss(into: string, rows: readonly SweepRow[]): void {
  const damaged = new Set(rows.filter(({ status }) => status === "damaged").map(rowNumber));
  if (damaged.size === 0) return;
  const file = join(into, "sweep.json");
  const lost = knownRows(file).find(
    (row) => damaged.has(rowNumber(row)) && row.status !== "damaged",
  );
  if (lost === undefined) return;
  throw new ConfigError({
    code: "app.sweep_damaged",
    message: `The tables in '${into}' stay as they are: ${file} has job #${lost.number} as ${lost.status}, and its record is damaged`,
    hint: "go on with the sweep by --resume DIR, or move the tables elsewhere",
  });
}

const rowNumber = ({ number }: Pick<SweepRow, "number">): number => number;

/** Of tables that were written before; none if there are none. */
function knownRows(file: string): readonly Pick<SweepRow, "number" | "status">[] {
  try {
    const { jobs } = JSON.parse(readFileSync(file, "utf8")) as { readonly jobs: SweepRow[] };
    return jobs.filter(({ number, status }) => number >= 0 && status !== undefined);
  } catch {
    return [];
  }
}

const BEFORE = ["status", "attempts", "seconds"];
const AFTER = ["error", "output_dir"];

/**
 * The table as lines of cells, column names first: a column for each key and each result. Names are distinct: a key
 * `seconds` becomes `swept.seconds`, a result with the name of a key `result.KEY`; if that name exists, too, the prefix
 * is repeated.
 */
export function sweepCells(rows: readonly SweepRow[]): readonly (readonly string[])[] {
  const keys = namesIn(rows.map(({ swept }) => new Map(Object.entries(swept))));
  const fields = rows.map(({ result }) => new Map(fieldsOf(result, { splitsLists: false })));
  const results = namesIn(fields);
  const taken = new Set(["job", ...BEFORE, ...AFTER]);
  const head = [
    "job",
    ...distinctNames(keys, "swept.", taken),
    ...BEFORE,
    ...distinctNames(results, "result.", taken),
    ...AFTER,
  ];
  return [
    head,
    ...rows.map((row, index) => [
      String(row.number),
      ...keys.map((key) => valueText(row.swept[key])),
      shownStatus(row),
      String(row.attempts),
      row.seconds === null ? "" : String(row.seconds),
      ...results.map((name) => valueText(fields[index]?.get(name))),
      row.error ?? "",
      row.output_dir,
    ]),
  ];
}

/** Keeps names that are free and prefixes the others. Adds all to `taken`. */
function distinctNames(
  names: readonly string[],
  prefix: string,
  taken: Set<string>,
): readonly string[] {
  const earlierNames = new Set(taken);
  for (const name of names) taken.add(name);
  return names.map((name) => {
    if (!earlierNames.has(name)) return name;
    let other = `${prefix}${name}`;
    while (taken.has(other)) other = `${prefix}${other}`;
    taken.add(other);
    return other;
  });
}

const namesIn = (records: readonly ReadonlyMap<string, unknown>[]): readonly string[] => [
  ...new Set(records.flatMap((record) => [...record.keys()])),
];

export const csvText = (cells: readonly (readonly string[])[]): string =>
  cells.map((line) => `${csvRecord(line)}\n`).join("");

/** A wider table is unreadable. */
const MOST_COLUMNS = 24;
/** The last columns, which are always shown: the error and the directory. */
const LAST_COLUMNS = 2;

export function markdownText(cells: readonly (readonly string[])[]): string {
  const width = cells[0]?.length ?? 0;
  const left = Math.max(0, width - MOST_COLUMNS);
  const shown = (line: readonly string[]): readonly string[] =>
    left === 0
      ? line
      : [...line.slice(0, MOST_COLUMNS - LAST_COLUMNS), ...line.slice(-LAST_COLUMNS)];
  const lines = cells.map((line) => `| ${shown(line).map(markdownCell).join(" | ")} |\n`);
  const [head = "", ...body] = lines;
  const rule = `|${"---|".repeat(width - left)}\n`;
  const note =
    left === 0
      ? ""
      : `\n${plural(left, "more column is", "more columns are")} in sweep.csv and sweep.json.\n`;
  return [head, rule, ...body, note].join("");
}

/** Results and errors may hold anything, including escape sequences for a terminal that shows the file. */
const markdownCell = (text: string): string =>
  printable(text.replaceAll(/\r?\n/g, " ")).replaceAll(/[\\|]/g, "\\$&");
