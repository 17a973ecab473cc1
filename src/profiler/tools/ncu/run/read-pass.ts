/** Reads the report of a pass: printed by ncu, or by our own reader. */
import { existsSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isCodedError } from "../../../../engine/values/errors.ts";
import { fileProblem, isSystemError } from "../../../../foundation/system/files.ts";
import type { ToolControl } from "../../../machine/run-tool.ts";
import type { NcuResult, ReadTables, RuleMessage, SectionTable } from "../../../model/counters.ts";
import { C_FORMAT } from "../csv/number-format.ts";
import { streamNcuCsvFile } from "../csv/read-csv.ts";
import { streamNcuReport, withoutNcuNote } from "../rep/read-report.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import {
  DETAILS,
  importPage,
  type Page,
  type PrintedPage,
  RAW,
  rawInFittingUnits,
  SECTIONS_TEXT,
} from "./import-pass.ts";

/** `stop` aborts printing. */
export interface PrintOptions extends ToolControl {
  readonly ncu: NcuCapabilities;
  /** The directory for the tables; by default the report's folder. */
  readonly directory?: string;
  /** The prefix of the files: `` for `raw.csv`, `level-1.` for `level-1.raw.csv`. */
  readonly prefix: string;
}

export interface ReadPassOptions extends PrintOptions {
  /** Whether to keep the tables. */
  readonly keepTables: boolean;
}

/** A report as tables, which can be read repeatedly. */
export interface PrintedReport {
  readonly kind: "report";
  readonly files: TableFiles;
  readonly notes: readonly string[];
}

export interface PassTables extends ReadTables {
  /** Why not all existing results were read; null if all were. */
  readonly unread: string | null;
}

export interface TableFiles {
  readonly raw: string;
  readonly details: string;
  /** Ratios with full precision; exists only if there are any. */
  readonly ratios: string;
  readonly text: string;
}

function tableFiles(directory: string, prefix: string): TableFiles {
  const file = (name: string) => join(directory, `${prefix}${name}`);
  return {
    raw: file("raw.csv"),
    details: file("details.csv"),
    ratios: file("ratios.csv"),
    text: file("sections.txt"),
  };
}

/** Prints a report through ncu: the metrics, the metrics of each section, and a text of those. */
export async function printReport(
  report: string,
  { ncu, directory = dirname(report), prefix, ...control }: PrintOptions,
): Promise<PrintedReport | Exclude<PrintedPage, { readonly kind: "printed" }>> {
  const files = tableFiles(directory, prefix);
  const print = (page: Page, file: string) => importPage(ncu, report, page, file, control);
  const raw = await print(RAW, files.raw);
  if (raw.kind !== "printed") return raw;
  const ratios = await ratioMetrics(files.raw);
  if (ratios.length > 0) await print(rawInFittingUnits(ratios), files.ratios);
  const details = await print(DETAILS, files.details);
  const text = await print(SECTIONS_TEXT, files.text);
  const notes =
    details.kind !== "printed"
      ? [`${details.why}; the reports lack only their sections`]
      : text.kind !== "printed"
        ? [text.why]
        : [];
  return { kind: "report", files, notes };
}

/**
 * Reads the tables of a report: passes each result on as it is read, after the sections, since the table of results may
 * be truncated.
 */
export async function readPrinted(
  { files, notes }: PrintedReport,
  onResult: (result: NcuResult) => void,
  onSections: (sections: SectionTable) => void = () => {},
): Promise<PassTables> {
  const tables = await readFiles(files, onResult, onSections);
  return { ...tables, notes: [...tables.notes, ...notes] };
}

/**
 * Prints a report and reads it. If that fails, our own reader takes over, since unknown units are better than a new
 * measurement. An unreadable part is reported together with the results before it; other passes count all the same.
 */
export async function readPass(
  report: string,
  onResult: (result: NcuResult) => void,
  { keepTables, ...options }: ReadPassOptions,
): Promise<PassTables> {
  let results = 0;
  let sections: SectionTable = new Map();
  const count = (result: NcuResult) => {
    onResult(result);
    results++;
  };
  const failed = (why: string): PassTables =>
    results > 0 || options.stop.aborted
      ? { results, sections, notes: [why], unread: why }
      : readWithoutNcu(report, onResult, why);
  try {
    const printed = await printReport(report, options);
    if (printed.kind === "empty")
      return { results, sections: new Map(), notes: [printed.why], unread: null };
    if (printed.kind === "failed") return failed(printed.why);
    const tables = await readPrinted(printed, count, (read) => {
      sections = read;
    });
    const { raw, details, ratios } = printed.files;
    if (!keepTables)
      await Promise.all([raw, details, ratios].map((path) => rm(path, { force: true })));
    return tables;
  } catch (error) {
    if (!isCodedError(error) && !isSystemError(error)) throw error;
    return failed(`the results of ${basename(report)} could not be read: ${fileProblem(error)}`);
  }
}

/** @param why why ncu did not print it */
function readWithoutNcu(
  report: string,
  onResult: (result: NcuResult) => void,
  why: string,
): PassTables {
  try {
    const { results, sections, notes } = streamNcuReport(report, onResult);
    const taken = results > 0 ? [withoutNcuNote(basename(report))] : [];
    const unread = results > 0 ? null : why;
    return { results, sections, notes: [why, ...notes, ...taken], unread };
  } catch (error) {
    if (!isCodedError(error) && !isSystemError(error)) throw error;
    return { results: 0, sections: new Map(), notes: [why, error.message], unread: why };
  }
}

/** Reads the tables that a pass left, without ncu; null if there are none. */
export async function readKeptTables(
  directory: string,
  prefix: string,
  onResult: (result: NcuResult) => void,
): Promise<PassTables | null> {
  const files = tableFiles(directory, prefix);
  return existsSync(files.raw) ? readFiles(files, onResult) : null;
}

async function readFiles(
  { raw, details, ratios }: TableFiles,
  onResult: (result: NcuResult) => void,
  onSections: (sections: SectionTable) => void = () => {},
): Promise<PassTables> {
  const exact = existsSync(ratios) ? await readRatios(ratios) : null;
  const { sections, rules } = existsSync(details) ? await readDetails(details) : NO_DETAILS;
  onSections(sections);
  let place = 0;
  const { results, notes } = await streamNcuCsvFile(
    raw,
    (result) => {
      const sharp = exact === null ? result : exact(result, place);
      place++;
      const messages = rules.get(resultKey(result));
      onResult(messages === undefined ? sharp : { ...sharp, rules: messages });
    },
    { format: C_FORMAT, name: basename(raw) },
  );
  return { results, sections, notes, unread: null };
}

interface Details {
  readonly sections: SectionTable;
  /** Messages of ncu's rules about a result, by `resultKey`. */
  readonly rules: ReadonlyMap<string, readonly RuleMessage[]>;
}

const NO_DETAILS: Details = { sections: new Map(), rules: new Map() };

/** Rules give similar messages for every launch; if there are very many, the first ones are sufficient. */
const MAX_RULED_RESULTS = 20_000;

async function readDetails(file: string): Promise<Details> {
  const rules = new Map<string, readonly RuleMessage[]>();
  const { sections } = await streamNcuCsvFile(
    file,
    (result) => {
      if (result.rules !== undefined && rules.size < MAX_RULED_RESULTS)
        rules.set(resultKey(result), result.rules);
    },
    { format: C_FORMAT, name: basename(file) },
  );
  return { sections, rules };
}

const resultKey = ({ processId, id }: NcuResult): string => `${processId} ${id}`;

// Ratios with full precision, from a second table of a report: the raw table rounds to two decimals.

/** Replaces values of results by those of a second table, whose fractions have full precision. */
type Sharpen = (result: NcuResult, place: number) => NcuResult;

async function readRatios(file: string): Promise<Sharpen> {
  const rows: NcuResult[] = [];
  await streamNcuCsvFile(file, (result) => rows.push(result), {
    format: C_FORMAT,
    name: basename(file),
  });
  return (result, place) => {
    const row = rows[place];
    if (row === undefined || row.id !== result.id || row.processId !== result.processId)
      return result;
    const values = Float64Array.from(result.values);
    for (const [metric, from] of row.columns.index) {
      const to = result.columns.index.get(metric);
      if (to === undefined) continue;
      const exact = row.values[from] ?? Number.NaN;
      // Only if it is the same number with more digits; another unit may round it differently.
      if (Math.abs(exact - (values[to] ?? Number.NaN)) <= ROUNDING) values[to] = exact;
    }
    return { ...result, values };
  };
}

/** Half a unit of the second decimal, plus the error of binary fractions. */
const ROUNDING = 0.005 + 1e-9;

/** Percentages, pure ratios, and counts per cycle and similar: scaling does not change their unit. */
const isRatioUnit = (unit: string): boolean =>
  unit === "%" || unit === "" || (unit.includes("/") && !/\/s(econd)?$/.test(unit));

/** Above this size, ratios are read from the base table, with two decimals. */
const MAX_EXACT_BYTES = 64e6;

/** The metrics of a raw table whose fractions are rounded. */
async function ratioMetrics(raw: string): Promise<readonly string[]> {
  const handle = await open(raw);
  try {
    const { size } = await handle.stat();
    if (size > MAX_EXACT_BYTES) return [];
    const head = Buffer.alloc(Math.min(size, 1 << 20));
    await handle.read(head, 0, head.length, 0);
    const [names, units] = head
      .toString("utf8")
      .split("\n")
      .filter((line) => line.startsWith('"'))
      .map((line) => line.trim().slice(1, -1).split('","'));
    if (names?.[0] !== "ID" || units === undefined) return [];
    return names.filter((name, column) => name.includes("__") && isRatioUnit(units[column] ?? "x"));
  } finally {
    await handle.close();
  }
}
