/** Reads the tables of `ncu --csv` as a stream, one result at a time. */
import { createReadStream } from "node:fs";
import { ConfigError } from "../../../../engine/values/errors.ts";
import { agreeing, plural } from "../../../../foundation/text/plural.ts";
import type { NcuResult, ReadTables } from "../../../model/counters.ts";
import { cellText } from "./cells.ts";
import { lackingError, type TableLayout } from "./ncu-columns.ts";
import {
  C_FORMAT,
  type CountedCells,
  createFormatEvidence,
  createNumberReader,
  type NumberFormat,
  type NumberReader,
} from "./number-format.ts";
import { createDetailsReader, createRawReader, type PageReader } from "./pages.ts";
import { asUtf8, rewritingOf } from "./rewritten.ts";
import { createRecordSplitter } from "./split-records.ts";
import {
  createRowSplitter,
  type RowHandlers,
  type RowSplitter,
  type SplitSummary,
} from "./split-rows.ts";

export interface CsvOptions {
  /** How numbers are written; by default determined from the file. */
  readonly format?: NumberFormat;
  /** The name of the file in messages. */
  readonly name?: string;
}

/**
 * Reads a CSV in UTF-8 or UTF-16, as ncu printed it or as another program saved it. Memory does not grow with the file,
 * unless the caller keeps the results.
 *
 * @throws ConfigError `profile.input` if the file has no table of results; damaged rows and unreadable numbers become
 * notes
 */
export async function streamNcuCsv(
  input: AsyncIterable<Uint8Array>,
  onResult: (result: NcuResult) => void,
  { format, name = "the CSV" }: CsvOptions = {},
): Promise<ReadTables> {
  const sections = new Map<string, string[]>();
  let numbers = createNumberReader(C_FORMAT);
  let page: PageReader | null = null;
  let results = 0;
  let lacksUnits = false;
  const endPage = () => {
    page?.end();
    lacksUnits ||= page?.lacksUnits() ?? false;
  };
  const count = (result: NcuResult) => {
    results++;
    onResult(result);
  };
  const handlers: RowHandlers = {
    table: (layout: TableLayout) => {
      endPage();
      page =
        layout.page === "raw"
          ? createRawReader(layout, numbers, count)
          : createDetailsReader(layout, numbers, sections, count);
    },
    row: (bytes, places) => page?.row(bytes, places),
  };
  const begin = (head: Buffer): RowSplitter => {
    const rewriting = rewritingOf(head);
    const split = (to: RowHandlers) =>
      rewriting === null ? createRowSplitter(to) : createRecordSplitter(rewriting, name, to);
    numbers = createNumberReader(format ?? detectFormat(head, split));
    const begun = split(handlers);
    begun.push(head);
    return begun;
  };

  let splitter: RowSplitter | null = null;
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of asUtf8(input)) {
    if (splitter !== null) {
      splitter.push(chunk);
      continue;
    }
    // The chunk's memory may be reused.
    waiting.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes < EVIDENCE_BYTES) continue;
    splitter = begin(Buffer.concat(waiting));
    waiting = [];
  }
  splitter ??= begin(Buffer.concat(waiting));
  const summary = splitter.end();
  endPage();
  refuseWithoutTable(summary, name);
  return {
    sections,
    results,
    isIncomplete: summary.damagedRows > 0 || numbers.refused().count > 0,
    notes: [
      ...notesOf(summary, numbers, name),
      ...(lacksUnits
        ? [
            `${name}: the table has no units: only those of percentages are known, and times are assumed to be in nanoseconds`,
          ]
        : []),
      ...(results === 0 && summary.damagedRows === 0
        ? [
            `${name}: the table has no results: no kernel or range was measured, or the file is cut short`,
          ]
        : []),
    ],
  };
}

/** @throws ConfigError as `streamNcuCsv`; the system's error if the file cannot be read */
export const streamNcuCsvFile = (
  file: string,
  onResult: (result: NcuResult) => void,
  options: CsvOptions = {},
): Promise<ReadTables> =>
  streamNcuCsv(createReadStream(file, { highWaterMark: CHUNK_BYTES }), onResult, {
    name: file,
    ...options,
  });

const CHUNK_BYTES = 1 << 18;

function refuseWithoutTable({ tables, sawSummaryPage, lacking }: SplitSummary, name: string): void {
  if (tables > 0) return;
  if (lacking.length > 0) throw lackingError(name, lacking);
  throw new ConfigError({
    code: "profile.input",
    message: sawSummaryPage
      ? `${name} is a summary page of ncu: it has averages over launches, but not the launches`
      : `${name} holds no table of ncu's results`,
    hint: sawSummaryPage
      ? "export it without --print-summary: ncu --import FILE.ncu-rep --csv --page raw --print-units base"
      : "ncu writes an empty file if its filters match nothing, and a message if a report has no results; after a run with -o, print the rows with: ncu --import FILE.ncu-rep --csv --page raw --print-units base",
  });
}

function notesOf(summary: SplitSummary, numbers: NumberReader, name: string): readonly string[] {
  const notes: string[] = [];
  if (summary.damagedRows > 0)
    notes.push(
      `${name}: ${plural(summary.damagedRows, "damaged row was", "damaged rows were")} left out`,
    );
  if (summary.sawSummaryPage) notes.push(`${name}: a summary page was skipped`);
  const add = (cells: CountedCells, text: (count: number) => string) => {
    if (cells.first !== null)
      notes.push(
        `${name}: ${text(cells.count)}; ${cells.count === 1 ? "it is" : "the first is"} ${cells.first}`,
      );
  };
  add(
    numbers.ambiguous(),
    (count) =>
      `${plural(count, "number like 1.234 was", "numbers like 1.234 were")} left out: whether ${agreeing(count, "it is grouped or has", "they are grouped or have")} decimals depends on the locale of the ncu that printed them (--locale)`,
  );
  add(
    numbers.unreadable(),
    (count) =>
      `${plural(count, "number")} could not be read, and ${agreeing(count, "is", "are")} missing`,
  );
  add(
    numbers.refused(),
    (count) =>
      `${plural(count, "time")} cannot be true, and ${agreeing(count, "is", "are")} missing: no time is negative`,
  );
  return notes;
}

/** How much of a file is examined: hundreds of numbers even in a table with many columns. */
const EVIDENCE_BYTES = 1 << 20;

/**
 * Determines the number format from the metrics at the beginning of a file.
 *
 * @param split makes the row splitter for such a file
 */
function detectFormat(head: Buffer, split: (handlers: RowHandlers) => RowSplitter): NumberFormat {
  const evidence = createFormatEvidence();
  const current: { layout: TableLayout | null } = { layout: null };
  const splitter = split({
    table: (next) => {
      current.layout = next;
    },
    row: (bytes, places) => {
      // Rows follow the header of their table.
      if (current.layout === null) return;
      const { page, columns, firstMetric } = current.layout;
      const from = page === "raw" ? firstMetric : columns.metricValue;
      const to = page === "raw" ? places.count : from + 1;
      for (let column = from; column < to; column++) evidence.add(cellText(bytes, places, column));
    },
  });
  splitter.push(head);
  splitter.end();
  return evidence.format();
}
