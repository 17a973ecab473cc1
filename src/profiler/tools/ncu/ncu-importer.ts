/** The ncu formats of `deep-profile import`: its CSV tables, and its reports. */

import { ConfigError, isCodedError } from "../../../engine/values/errors.ts";
import { findNsightTool } from "../../machine/find-tools.ts";
import type { Importer, ImportSource, NcuResults, ReadOptions } from "../importer.ts";
import { beginsWith, readBeginning, unchangedSource } from "../source-file.ts";
import { HEADER_START, SUMMARY_HEADERS } from "./csv/ncu-columns.ts";
import { streamNcuCsvFile } from "./csv/read-csv.ts";
import { headAsUtf8, isRewritten } from "./csv/rewritten.ts";
import { withoutMark } from "./csv/split-rows.ts";
import { COMPRESSED_EXTENSION, ZSTD_MAGIC } from "./rep/compressed.ts";
import { REPORT_MAGIC } from "./rep/file-blocks.ts";
import { reportVersion, streamNcuReport, withoutNcuNote } from "./rep/read-report.ts";
import { probeNcu } from "./run/capabilities.ts";
import { printReport, readPrinted } from "./run/read-pass.ts";

const STARTS = [HEADER_START, ...SUMMARY_HEADERS];

/** Tables of `ncu --csv`, after any output of the program. */
export const ncuCsvImporter: Importer = {
  matches: (source) => {
    if (source.isDirectory) return false;
    const text = withoutMark(headAsUtf8(readBeginning(source)));
    if (isRewritten(text)) return true;
    return STARTS.some((start) => {
      const index = text.indexOf(start);
      return index === 0 || (index > 0 && text[index - 1] === NEWLINE);
    });
  },
  read: async (source, { numberFormat }) => ({
    kind: "ncu",
    source: unchangedSource(source, {
      toolVersion: null,
      stream: (onResult) =>
        streamNcuCsvFile(source.path, onResult, {
          name: source.name,
          ...(numberFormat !== null && { format: numberFormat }),
        }),
    }),
  }),
};

const NEWLINE = 0x0a;

/** Report files, read through ncu or by our own reader. */
export const ncuReportImporter: Importer = {
  matches: (source) =>
    beginsWith(source, REPORT_MAGIC) ||
    (beginsWith(source, ZSTD_MAGIC) && source.path.endsWith(COMPRESSED_EXTENSION)),
  read: async (source, options) => ({ kind: "ncu", source: await openReport(source, options) }),
};

async function openReport(source: ImportSource, options: ReadOptions): Promise<NcuResults> {
  const path = options.reader === "own" ? null : findNsightTool("ncu");
  if (options.reader === "ncu" && path === null)
    throw new ConfigError({
      code: "profile.input",
      message: `${source.name}: ncu (Nsight Compute) was not found`,
      hint: "use --reader own, which needs no ncu; or put ncu on PATH, or set HYDRACONF_NSIGHT to its directory",
    });
  // ncu's tables lack the ranges of other threads.
  if (path === null || (options.allThreads && options.reader === "auto")) return ownReader(source);
  const printed = await options.withTool((stop) => print(path, source, { ...options, stop }));
  if (printed.kind === "report")
    return {
      toolVersion: versionIn(source.path),
      stream: (onResult) => readPrinted(printed, onResult),
    };
  if (options.reader === "ncu")
    throw new ConfigError({
      code: "profile.input",
      message: `${source.name}: ${printed.why}`,
      hint: "use an ncu at least as new as the one that wrote the report, or --reader own, which needs no ncu",
    });
  options.say(`${printed.why}; reading it without ncu`);
  return ownReader(source);
}

/** Null also if only ncu can read the file. */
function versionIn(report: string): string | null {
  try {
    return reportVersion(report);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return null;
  }
}

async function print(
  path: string,
  { path: report, name }: ImportSource,
  { directory, prefix, say, stop }: ReadOptions & { readonly stop: AbortSignal },
) {
  say(`printing ${name} with ncu`);
  try {
    const ncu = await probeNcu(path);
    return await printReport(report, { ncu, directory, prefix, say, stop });
  } catch (error) {
    // Even if ncu does not start, our own reader can read the report.
    if (!isCodedError(error)) throw error;
    return { kind: "failed", why: error.message } as const;
  }
}

const ownReader = ({ path, name }: ImportSource): NcuResults =>
  unchangedSource(
    { path, name },
    {
      toolVersion: reportVersion(path),
      stream: async (onResult) => {
        const { results: _, notes, ...tables } = streamNcuReport(path, onResult);
        return { ...tables, notes: [...notes, withoutNcuNote(name)] };
      },
    },
  );
