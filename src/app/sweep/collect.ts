import { join } from "node:path";
import { writeFileAtomicSync } from "../../atomic-write.ts";
import { type JobState, readJobState } from "./record/job-state.ts";
import { sweepFolder } from "./record/layout.ts";
import { type ManifestJob, readManifest } from "./record/manifest.ts";

/** A job in the table of a sweep; keys are those of `sweep.json`. */
export interface SweepRow {
  readonly number: number;
  /** What the job's overrides set, by key. */
  readonly swept: Readonly<Record<string, string>>;
  readonly status: JobState["status"];
  readonly attempts: number;
  /** Seconds that the last attempt took; null before its end. */
  readonly seconds: number | null;
  readonly exit_code: number | null;
  readonly error: string | null;
  /** What the task returned. */
  readonly result: unknown;
  readonly output_dir: string;
}

/** @throws ConfigError `app.sweep_record` where there is no sweep */
export function sweepRows(directory: string): readonly SweepRow[] {
  const folder = sweepFolder(directory);
  return readManifest(folder).jobs.map((job) => rowOf(job, readJobState(folder, job.number)));
}

function rowOf(job: ManifestJob, state: JobState | undefined): SweepRow {
  const last = state?.attempts.at(-1);
  return {
    number: job.number,
    swept: Object.fromEntries(job.task_overrides.map(keyAndValue)),
    status: state?.status ?? "queued",
    attempts: state?.attempts.length ?? 0,
    seconds: last?.ended ? (Date.parse(last.ended) - Date.parse(last.started)) / 1000 : null,
    exit_code: last?.exit_code ?? null,
    error: last?.error ?? null,
    result: state?.return_value ?? null,
    output_dir: job.output_dir,
  };
}

function keyAndValue(override: string): readonly [string, string] {
  const at = override.indexOf("=");
  const key = override.replace(/^[+~]+/, "");
  return at < 0 ? [key, ""] : [override.slice(0, at).replace(/^[+~]+/, ""), override.slice(at + 1)];
}

/** The table as lines of cells, the names of its columns first: a column for each key and result. */
export function sweepCells(rows: readonly SweepRow[]): readonly (readonly string[])[] {
  const keys = namesIn(rows.map(({ swept }) => swept));
  const results = namesIn(rows.map(({ result }) => fieldsOf(result)));
  const head = ["job", ...keys, "status", "attempts", "seconds", ...results, "error", "output_dir"];
  return [
    head,
    ...rows.map((row) => [
      String(row.number),
      ...keys.map((key) => row.swept[key] ?? ""),
      row.status,
      String(row.attempts),
      row.seconds === null ? "" : String(row.seconds),
      ...results.map((name) => cell(fieldsOf(row.result)[name])),
      row.error ?? "",
      row.output_dir,
    ]),
  ];
}

const namesIn = (records: readonly Readonly<Record<string, unknown>>[]): readonly string[] => [
  ...new Set(records.flatMap((record) => Object.keys(record))),
];

/** A result that is a record has a column for each of its fields. */
function fieldsOf(result: unknown): Readonly<Record<string, unknown>> {
  if (result === null) return {};
  return typeof result === "object" && !Array.isArray(result)
    ? (result as Record<string, unknown>)
    : { result };
}

const cell = (value: unknown): string =>
  value === undefined || value === null
    ? ""
    : typeof value === "string"
      ? value
      : JSON.stringify(value);

/** As RFC 4180 has it. */
export const csvText = (cells: readonly (readonly string[])[]): string =>
  cells
    .map((line) =>
      line.map((one) => (/[",\r\n]/.test(one) ? `"${one.replaceAll('"', '""')}"` : one)).join(","),
    )
    .map((line) => `${line}\n`)
    .join("");

export function markdownText(cells: readonly (readonly string[])[]): string {
  const lines = cells.map(
    (line) =>
      `| ${line.map((one) => one.replaceAll("|", "\\|").replaceAll(/\r?\n/g, " ")).join(" | ")} |\n`,
  );
  const [head = "", ...body] = lines;
  return [head, `|${"---|".repeat(cells[0]?.length ?? 0)}\n`, ...body].join("");
}

/**
 * Writes what a sweep came to into its directory: `sweep.json`, `sweep.csv`, `sweep.md`.
 *
 * @returns the names of the files
 * @throws ConfigError `app.sweep_record` where there is no sweep
 */
export function collectSweep(directory: string): readonly string[] {
  const rows = sweepRows(directory);
  const cells = sweepCells(rows);
  const files = {
    "sweep.json": `${JSON.stringify({ version: 1, jobs: rows }, null, 2)}\n`,
    "sweep.csv": csvText(cells),
    "sweep.md": markdownText(cells),
  };
  for (const [name, text] of Object.entries(files))
    writeFileAtomicSync(join(directory, name), text);
  return Object.keys(files);
}
