/** The jobs of a sweep as a short table, shown at its end. */

import { valueText } from "../../foundation/text/csv-records.ts";
import { capitalized } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { fitText } from "../../foundation/text/text-width.ts";
import { tableOf } from "../../pages/blocks.ts";
import { formatMs } from "../../pages/numbers.ts";
import { tableLines } from "../../report/render/terminal.ts";
import { basisInWords } from "../../report/sweep/tables.ts";
import { concurrentJobsNote } from "../../report/view/notes.ts";
import { isJobSummary, type JobSummary } from "./job-summary.ts";

/** A job in the record of its sweep. */
export interface SweptJob {
  readonly number: number;
  readonly swept: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly result: unknown;
}

export interface JobsTablePage {
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  /** Shortens a path for display. */
  readonly readable: (path: string) => string;
  /** The numbers of jobs that ran on the same machine at the same time as another one. */
  readonly concurrentJobs: readonly number[];
}

/** Further rows are only in the files of the sweep. */
const MOST_ROWS = 40;
const MOST_VALUE = 40;

/**
 * One row per job with its swept values, its time and the path of its report; then how to see more. Undefined without jobs.
 *
 * @see buildSweepReport which compares the same times
 */
export function jobsTable(
  jobs: readonly SweptJob[],
  { directory, readable, concurrentJobs }: JobsTablePage,
): string | undefined {
  if (jobs.length === 0) return undefined;
  const results = jobs.map(({ result }) => (isJobSummary(result) ? result : undefined));
  const measured = results.filter((result) => result !== undefined);
  const basis = measured.every(({ total_ms }) => total_ms !== null) ? "total_ms" : "wall_ms";
  const timeOf = (result: JobSummary | undefined) => result?.[basis] ?? null;
  const keys = sweptKeys(jobs);
  const shown = jobs.slice(0, MOST_ROWS).map((job, index) => ({ ...job, result: results[index] }));
  const valueField = (title: string, textOf: (job: (typeof shown)[number]) => string) => ({
    title: printable(title),
    cell: (job: (typeof shown)[number]) => printable(fitText(textOf(job), MOST_VALUE)),
  });
  const table = tableOf(
    [
      valueField("Job", ({ number }) => `#${number}`),
      ...keys.map((key) => valueField(key, ({ swept }) => valueText(swept[key]))),
      {
        title: "ms",
        align: "right",
        cell: ({ status, result }) =>
          status === "completed" ? formatMs(timeOf(result)) : printable(status),
      },
      {
        title: "Report",
        cell: ({ result }) => (result === undefined ? "" : printable(readable(result.report))),
      },
    ],
    shown,
  );
  const timed = jobs.flatMap(({ number, status }, index) =>
    timeOf(results[index]) === null || status !== "completed" ? [] : [number],
  );
  const collectors = [...new Set(measured.map(({ collector }) => collector))].join(", ");
  return [
    "",
    `Jobs of the sweep${collectors === "" ? "" : `, by ${collectors}; ms: ${basisInWords({ basis })}`}`,
    // Paths are not cut, so that they can be copied, even if lines are wider than the terminal.
    ...tableLines(table, { width: Number.POSITIVE_INFINITY, color: false }),
    ...(jobs.length > shown.length ? [`and ${jobs.length - shown.length} more`] : []),
    ...concurrentJobsNote(
      concurrentJobs.filter((number) => timed.includes(number)).map((number) => `#${number}`),
    ).map(capitalized),
    ...(measured.length < 2
      ? []
      : [
          `Regions by jobs, the best job if each ran repeatedly, and how they scale: deep-profile report ${shellQuote(readable(directory))}`,
        ]),
    "",
  ].join("\n");
}

/** The keys whose values differ between jobs. */
function sweptKeys(jobs: readonly SweptJob[]): readonly string[] {
  const keys = [...new Set(jobs.flatMap(({ swept }) => Object.keys(swept)))];
  return keys.filter((key) => new Set(jobs.map(({ swept }) => valueText(swept[key]))).size > 1);
}
