import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { appendFile, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { streamNcuCsvFile } from "../csv/read-csv.ts";
import type { NcuResult, SectionTable } from "../results.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import { DETAILS, importPage, RAW, rawInFittingUnits, SECTIONS_TEXT } from "./import-pass.ts";

export interface ReadPassOptions {
  readonly ncu: NcuCapabilities;
  /** Where the tables go; the report's folder where absent. */
  readonly directory?: string;
  /** Names the files: `` for `raw.csv`, `level-1.` for `level-1.raw.csv`. */
  readonly prefix: string;
  /** Whether the tables stay. */
  readonly keepTables: boolean;
  /** Given up when it is aborted. */
  readonly stop: AbortSignal;
}

export interface PassTables {
  /** How many results there were. */
  readonly results: number;
  readonly sections: SectionTable;
  readonly notes: readonly string[];
}

/** Above this, ratios are read as they stand in the base table: with two decimals. */
const MAX_EXACT_BYTES = 64e6;

interface TableFiles {
  readonly raw: string;
  readonly details: string;
  /** Percentages with all their digits; there only where there are any. */
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

/**
 * Reads a report through ncu: the metrics of every result, which are told as they come, and what
 * stands in which section. The tables lie beside the report.
 */
export async function readPass(
  report: string,
  onResult: (result: NcuResult) => void,
  { ncu, directory = dirname(report), prefix, keepTables, stop }: ReadPassOptions,
): Promise<PassTables> {
  const files = tableFiles(directory, prefix);
  const problem = await importPage(ncu, report, RAW, files.raw, stop);
  if (problem !== null) return { results: 0, sections: new Map(), notes: [problem] };
  const ratios = await ratioMetrics(files.raw);
  if (ratios.length > 0)
    await importPage(ncu, report, rawInFittingUnits(ratios), files.ratios, stop);
  const noDetails = await importPage(ncu, report, DETAILS, files.details, stop);
  const noText = await importPage(ncu, report, SECTIONS_TEXT, files.text, stop);
  const tables = await readFiles(files, onResult);
  if (!keepTables)
    await Promise.all(
      [files.raw, files.details, files.ratios].map((path) => rm(path, { force: true })),
    );
  return {
    ...tables,
    notes: [
      ...tables.notes,
      ...(noDetails === null
        ? []
        : [`${noDetails}; the reports are complete but for their sections`]),
      ...(noText !== null && noDetails === null ? [noText] : []),
    ],
  };
}

/** Reads the tables that a pass left, without ncu; null where it left none. */
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
): Promise<PassTables> {
  const exact = existsSync(ratios) ? await readRatios(ratios) : null;
  let place = 0;
  const { results, notes } = await streamNcuCsvFile(
    raw,
    (result) => {
      onResult(exact === null ? result : exact(result, place));
      place++;
    },
    { locale: "C", name: basename(raw) },
  );
  const { sections } = existsSync(details)
    ? await streamNcuCsvFile(details, () => {}, { locale: "C", name: basename(details) })
    : { sections: new Map() as SectionTable };
  return { results, sections, notes };
}

/** Tables of several passes as one file each, one table below the other. */
export async function joinTables(directory: string, prefixes: readonly string[]): Promise<void> {
  for (const name of ["raw.csv", "details.csv", "sections.txt"]) {
    const parts = prefixes
      .map((prefix) => join(directory, `${prefix}${name}`))
      .filter((file) => existsSync(file));
    if (parts.length === 0) continue;
    const target = join(directory, name);
    const partial = `${target}.part`;
    for (const [index, part] of parts.entries()) {
      if (index > 0) await appendFile(partial, "\n");
      await pipeline(
        createReadStream(part),
        createWriteStream(partial, { flags: index > 0 ? "a" : "w" }),
      );
    }
    await rename(partial, target);
  }
}

/** Puts the values of a second table, in which fractions have all their digits, into results. */
type Sharpen = (result: NcuResult, place: number) => NcuResult;

async function readRatios(file: string): Promise<Sharpen> {
  const rows: NcuResult[] = [];
  await streamNcuCsvFile(file, (result) => rows.push(result), {
    locale: "C",
    name: basename(file),
  });
  return (result, place) => {
    const row = rows[place];
    if (row === undefined || row.id !== result.id || row.processId !== result.processId)
      return result;
    const values = Float64Array.from(result.values);
    for (const [metric, from] of row.columns.index) {
      const to = result.columns.index.get(metric);
      const value = row.values[from];
      if (to !== undefined && value !== undefined && !Number.isNaN(value)) values[to] = value;
    }
    return { ...result, values };
  };
}

/** The metrics of a raw table that are percentages, whose unit is the same however it is scaled. */
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
    return names.filter((_, column) => units[column] === "%");
  } finally {
    await handle.close();
  }
}
