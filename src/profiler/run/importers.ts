/** The formats that can be imported, and what to give instead of files that no importer reads. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError, isCodedError } from "../../engine/values/errors.ts";
import { firstFew } from "../../foundation/text/plural.ts";
import type { Importer, ImportSource } from "../tools/importer.ts";
import { headAsUtf8 } from "../tools/ncu/csv/rewritten.ts";
import { ZSTD_MAGIC } from "../tools/ncu/rep/compressed.ts";
import { beginsWith, inputError, openSource, readBeginning } from "../tools/source-file.ts";
import type { ImportTool } from "../tools/tool.ts";
import { IMPORT_TOOLS } from "../tools/tool-table.ts";

/** A format, its reader and its tool. */
export interface LoadedImporter extends Importer {
  readonly tool: ImportTool;
  readonly format: string;
}

/** All formats, the last tool's first, as in the help. The first importer that recognises a file reads it. */
export const loadImporters = (tools: readonly ImportTool[]): Promise<readonly LoadedImporter[]> =>
  Promise.all(
    tools
      .toReversed()
      .flatMap((tool) =>
        tool.import.formats.map(async ({ format, load }) => ({ tool, format, ...(await load()) })),
      ),
  );

/** @throws ConfigError `profile.input` if no format matches */
export function importerOf(
  source: ImportSource,
  importers: readonly LoadedImporter[],
): LoadedImporter {
  const importer = importers.find(({ matches }) => matches(source));
  if (importer !== undefined) return importer;
  const what = source.isDirectory ? "directory" : "file";
  const isEmpty = !source.isDirectory && source.bytes === 0;
  throw new ConfigError({
    code: "profile.input",
    message: isEmpty
      ? `${source.name} is empty`
      : `${source.name} is not a ${what} that can be imported`,
    available: importers.map(({ format }) => format),
    hint: remedyFor(source),
  });
}

// Files of profilers that contain too little for reports, and what to give instead.

const RAW_CSV = "ncu --import FILE.ncu-rep --csv --page raw --print-units base";
const NSYS_STATS =
  "this is a table of nsys stats, which has no times of single events; give FILE.nsys-rep, or its export (nsys export --type sqlite FILE.nsys-rep)";

const NVPROF =
  "this is from nvprof, which NVIDIA has replaced: record the program with nsys profile, or measure it with ncu";

const OTHER_EXPORT =
  "this is an nsys export in a format that is not supported; export to SQLite: nsys export --type sqlite FILE.nsys-rep";

const UNPACK = "this is compressed: unpack it first";

/** Recognised by their first bytes. */
const COMPRESSED: readonly (readonly [bytes: Uint8Array, hint: string])[] = [
  [Uint8Array.of(0x1f, 0x8b), UNPACK],
  [Buffer.from("PK\u0003\u0004"), UNPACK],
  [Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a), UNPACK],
  [ZSTD_MAGIC, `${UNPACK} (zstd -d)`],
];

/** Other formats of nsys exports: HDF5, Arrow (streams and files), Parquet. */
const EXPORTS: readonly Uint8Array[] = [
  Buffer.from("\u0089HDF\r\n\u001a\n", "latin1"),
  Uint8Array.of(0xff, 0xff, 0xff, 0xff),
  Buffer.from("ARROW1"),
  Buffer.from("PAR1"),
];

/** nsys exports these as directories with one file per table. */
const EXPORT_FILE = /\.(?:parquet|arrow)$/;

/** Recognised by the beginning of their text; the first match counts. */
const KNOWN: readonly (readonly [shows: RegExp, hint: string])[] = [
  [/^version https:\/\/git-lfs\./, "this is only a Git LFS pointer: git lfs pull fetches the file"],
  [
    /^\s*<(?:!doctype html|html)\b/i,
    "this is a web page: download the file itself (on GitHub: Raw)",
  ],
  [
    /^[^\n]{0,64}NVIDIA Nsight Systems Stream/,
    "this is a raw nsys recording, not yet a report: QdstrmImporter -i FILE.qdstrm (part of Nsight Systems) makes FILE.nsys-rep from it",
  ],
  [
    /^==\d+== (?:NVPROF|Profiling (?:application|result))|^"?Type"?,"?Time\(%\)"?,"?Time"?,"?Calls"?/m,
    NVPROF,
  ],
  [
    /^==(?:PROF|ERROR|WARNING)== |^ {4}Section: \S/m,
    `this is ncu's terminal output; give its report (.ncu-rep) or a CSV table of it: ${RAW_CSV}`,
  ],
  [
    /^[^\n]*\b(?:Kernel Name"?[,;\t][^\n]*Process ID|Process ID"?[,;\t][^\n]*Kernel Name|Kernel Name"?[,;\t][^\n]*Metric Name)/,
    `this is a table of ncu that another program has rewritten with other columns; give the original: ${RAW_CSV}`,
  ],
  [
    /^"?(?:Launch Settings|Session)"?\r?\n/,
    `this is ncu's session page, which has no results; give the report or a CSV table of it: ${RAW_CSV}`,
  ],
  // Every table has a column of times with their unit.
  [/^[^\n]*\b(?:Time|Start|Duration|Avg) \(ns\)/, NSYS_STATS],
  // The same after other output, and as printed by nsys on a terminal.
  [/^[^\n]*\bTotal Time \(ns\)/m, NSYS_STATS],
  // All names followed by the events, as lines of JSON or as text; and nsys's info format.
  [/^\{"Type":\d+,"\w+Event":\{/m, OTHER_EXPORT],
  [/^data: "[^\n]*\n(?:data: "|files \{)/, OTHER_EXPORT],
  [/^\s*\{\s*"VmSystemInformation"/, OTHER_EXPORT],
  [
    /^\s*(?:\{[\s\S]*?"traceEvents"\s*:|\[\s*\{[^{}]*"ph"\s*:)/,
    "this is a Chrome trace, and not one of torch.profiler: record the program with deep-profile or nsys profile",
  ],
];

/** The remedy for a known file that cannot be imported. */
function remedyFor(source: ImportSource): string | undefined {
  const { name, bytes, isDirectory, entries } = source;
  if (isDirectory) return remedyForDirectory(entries);
  if (bytes === 0)
    return /\.(?:json|gz|sqlite|nvtxrec|(?:ncu|nsys)-repz?)$/i.test(name)
      ? "it was not written or copied to its end: write or copy it again"
      : "ncu writes an empty table if no kernel matches its filters, although its exit code is 0";
  const packed = COMPRESSED.find(([begins]) => beginsWith(source, begins));
  if (packed !== undefined) return packed[1];
  if (EXPORTS.some((begins) => beginsWith(source, begins))) return OTHER_EXPORT;
  const text = new TextDecoder("latin1").decode(headAsUtf8(readBeginning(source)));
  return KNOWN.find(([shows]) => shows.test(text))?.[1];
}

function remedyForDirectory(entries: readonly string[]): string | undefined {
  if (entries.some((name) => EXPORT_FILE.test(name))) return OTHER_EXPORT;
  const members = entries.filter((name) => GIVEN.test(name));
  return members.length === 0
    ? undefined
    : `give those of its files that belong together: ${firstFew(members, MOST_NAMES)}`;
}

/** Files that people keep in folders of their own. */
const GIVEN = /\.(?:sqlite|nsys-rep|qdrep|ncu-repz?)$/;
const MOST_NAMES = 5;

/**
 * Reads a run or a report. If that fails for a file that `deep-profile import` reads, the error says so.
 *
 * @param name as typed by the user
 * @param expected what should have been given, e.g. `a run directory`
 * @param remedy what to do with the reports of an import, appended to `makes reports from it`
 */
export async function readRunOrReport<T>(
  name: string,
  cwd: string,
  { expected, remedy = "" }: { readonly expected: string; readonly remedy?: string },
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const format = isCodedError(error) ? await importableFormat(resolve(cwd, name)) : null;
    if (format === null) throw error;
    throw inputError(
      name,
      `it is not ${expected}, but a file to import (${format})`,
      `deep-profile import ${name} -o DIR makes reports from it${remedy}`,
    );
  }
}

/** E.g. `Nsight Compute report`; null for files that `deep-profile import` does not read. */
async function importableFormat(path: string): Promise<string | null> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null;
  try {
    const source = openSource(path, "/");
    const found = (await loadImporters(IMPORT_TOOLS)).find(({ matches }) => matches(source));
    // The part in brackets is about other files of the kind.
    return found?.format.replace(/ \(.*$/s, "") ?? null;
  } catch (error) {
    if (isCodedError(error)) return null;
    throw error;
  }
}
