import { basename, join } from "node:path";
import { execa } from "execa";
import { ConfigError } from "../../values/errors.ts";
import { findNsightTool } from "../machine/nsight-tools.ts";
import { streamNcuCsvFile } from "../ncu/csv/read-csv.ts";
import { REPORT_MAGIC } from "../ncu/rep/blocks.ts";
import { reportVersion, streamNcuReport } from "../ncu/rep/read-report.ts";
import type { NcuResult, RuleMessage, SectionTable } from "../ncu/results.ts";
import type { Importer, ImportSource, NcuSource, ReadOptions } from "./importer.ts";
import { beginsWith } from "./open-source.ts";

/** Report files, through ncu or by our own reader. */
export const ncuReportImporter: Importer = {
  collector: "ncu",
  format: "report of Nsight Compute (*.ncu-rep; ncu itself is not needed)",
  matches: (source) => beginsWith(source, REPORT_MAGIC),
  read: async (source, options) => ({ kind: "ncu", source: await openReport(source, options) }),
};

async function openReport(source: ImportSource, options: ReadOptions): Promise<NcuSource> {
  const ncu = options.reader === "own" ? null : findNsightTool("ncu");
  if (options.reader === "ncu" && ncu === null)
    throw new ConfigError({
      code: "profile.input",
      message: `${source.name}: ncu (Nsight Compute) was not found`,
      hint: "--reader own needs no ncu; or put ncu on PATH, or its folder into HYDRACONF_NSIGHT",
    });
  // ncu's tables know nothing of other threads.
  if (ncu === null || (options.allThreads && options.reader === "auto")) return ownReader(source);
  const pages = await printPages(ncu, source, options);
  if ("tables" in pages) return tablesOf(source, pages.tables);
  if (options.reader === "ncu")
    throw new ConfigError({
      code: "profile.input",
      message: `${source.name}: ncu cannot read it: ${pages.problem}`,
      hint: "a report needs an ncu as new as the one that wrote it; --reader own reads it without ncu",
    });
  options.say(`ncu cannot read ${source.name} (${pages.problem}): read without it`);
  return ownReader(source);
}

const ownReader = ({ path, name }: ImportSource): NcuSource => ({
  toolVersion: reportVersion(path),
  stream: async (onResult) => {
    const { sections, notes } = streamNcuReport(path, onResult);
    return {
      sections,
      notes: [
        ...notes,
        `${name} was read without ncu: units are told from the names of metrics, and some are not known`,
      ],
    };
  },
});

interface Tables {
  readonly raw: string;
  /** Null where ncu could not print it. */
  readonly details: string | null;
}

/** Explicit in all that would make a table unreadable; ncu's own defaults differ by version. */
const PAGES = {
  raw: ["--csv", "--page", "raw", "--print-units", "base"],
  details: [
    ...["--csv", "--page", "details", "--print-units", "base"],
    ...["--print-metric-name", "name"],
  ],
} as const;

async function printPages(
  ncu: string,
  { path, name }: ImportSource,
  { directory, say }: ReadOptions,
): Promise<{ readonly tables: Tables } | { readonly problem: string }> {
  say(`printing ${name} with ncu`);
  const stem = basename(path).replace(/\.ncu-repz?$/, "");
  const print = (page: keyof typeof PAGES) => {
    const file = join(directory, `${stem}.${page}.csv`);
    return printPage(ncu, path, PAGES[page], file);
  };
  const raw = await print("raw");
  if ("problem" in raw) return raw;
  const details = await print("details");
  return { tables: { raw: raw.file, details: "file" in details ? details.file : null } };
}

async function printPage(
  ncu: string,
  report: string,
  args: readonly string[],
  file: string,
): Promise<{ readonly file: string } | { readonly problem: string }> {
  const result = await execa(ncu, ["--import", report, ...args], {
    env: { LC_ALL: "C.UTF-8", NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT: "1" },
    stdin: "ignore",
    stdout: { file },
    buffer: { stdout: false },
    reject: false,
  });
  if (result.exitCode === 0) return { file };
  const said = String(result.stderr ?? "").trim();
  return { problem: said === "" ? (result.shortMessage ?? "unknown reason") : said };
}

const tablesOf = ({ path, name }: ImportSource, { raw, details }: Tables): NcuSource => ({
  toolVersion: reportVersion(path),
  stream: async (onResult) => {
    const options = { locale: "C", name } as const;
    const { sections, rules, notes } =
      details === null
        ? { ...NO_DETAILS, notes: [`${name}: ncu could not print its sections`] }
        : await readDetails(details, name);
    const summary = await streamNcuCsvFile(
      raw,
      (result) => {
        const own = rules.get(resultKey(result));
        onResult(own === undefined ? result : { ...result, rules: own });
      },
      options,
    );
    return { sections, notes: [...summary.notes, ...notes] };
  },
});

interface Details {
  readonly sections: SectionTable;
  readonly rules: ReadonlyMap<string, readonly RuleMessage[]>;
  readonly notes: readonly string[];
}

const NO_DETAILS: Details = { sections: new Map(), rules: new Map(), notes: [] };

/** Rules say much the same of every launch; of very many, the first ones are enough. */
const MAX_RULED_RESULTS = 20_000;

async function readDetails(file: string, name: string): Promise<Details> {
  const rules = new Map<string, readonly RuleMessage[]>();
  const { sections, notes } = await streamNcuCsvFile(
    file,
    (result) => {
      if (result.rules !== undefined && rules.size < MAX_RULED_RESULTS)
        rules.set(resultKey(result), result.rules);
    },
    { locale: "C", name: `sections of ${name}` },
  );
  return { sections, rules, notes };
}

const resultKey = ({ processId, id }: NcuResult): string => `${processId} ${id}`;
