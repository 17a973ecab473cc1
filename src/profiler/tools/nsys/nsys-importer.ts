/** Imports reports and exports of Nsight Systems. */
import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { makeTemporaryDirectory } from "../../machine/run-files.ts";
import type { Timeline } from "../../model/timeline.ts";
import type { Imported, Importer, ReadOptions } from "../importer.ts";
import type { CollectionSource } from "../run-types.ts";
import { beginsWith, missingFileError } from "../source-file.ts";
import type { Reread, RereadContext } from "../tool.ts";
import { exportCommand } from "./command.ts";
import { mergeCaptures } from "./nsys-collector.ts";
import { callNsys, nsysFailure, requireNsysPath } from "./program.ts";
import { isSqliteFile, journalOf } from "./read/sqlite-file.ts";

/** SQLite files of `nsys export --type sqlite` and `nsys stats`; read without nsys. */
export const nsysExportImporter: Importer = {
  matches: ({ head }) => isSqliteFile(head),
  read: async ({ path }) => readTimeline(path),
};

const REPORT_MAGIC = new TextEncoder().encode("NVIDIA Tegra Profiler Report");

/** A native report of Nsight Systems, whose format only nsys can read. */
export const nsysReportImporter: Importer = {
  matches: (source) =>
    !source.isDirectory && (beginsWith(source, REPORT_MAGIC) || source.path.endsWith(".nsys-rep")),
  read: async ({ name, path, head }, { directory, prefix, withTool, say }) => {
    const nsys = requireNsysPath(`${name} can only be read by nsys`);
    const version = recorderVersion(head);
    const sqlite = join(directory, `${prefix}run.sqlite`);
    const origin = version === null ? "" : `, a report from Nsight Systems ${version}`;
    say(`exporting ${name} with nsys`);
    try {
      await exportReport({ nsys, report: path, sqlite, name, origin }, { withTool, say });
    } catch (error) {
      for (const file of [sqlite, journalOf(sqlite)]) rmSync(file, { force: true });
      throw error;
    }
    const imported = await readTimeline(sqlite);
    return version === null ? imported : { ...imported, toolVersion: version };
  },
};

interface ReportExport {
  /** Paths of nsys, of the report, and of the export to write. */
  readonly nsys: string;
  readonly report: string;
  readonly sqlite: string;
  /** The report's name in messages, and further words about it. */
  readonly name: string;
  readonly origin?: string;
}

/** @throws ToolError `nsys.failed` */
export async function exportReport(
  { nsys, report, sqlite, name, origin = "" }: ReportExport,
  { withTool, say }: Pick<ReadOptions, "withTool" | "say">,
): Promise<void> {
  const work = { doing: `exporting ${name} with nsys`, output: sqlite };
  const { failed, text } = await withTool((stop) =>
    callNsys(exportCommand(nsys, report, sqlite), work, { stop, say }),
  );
  if (failed) throw nsysFailure(`nsys could not export ${name}${origin}`, text);
}

/** The version of the nsys that recorded; the export has that of the exporting nsys. */
function recorderVersion(head: Uint8Array): string | null {
  const text = Buffer.from(head.subarray(0, 120)).toString("latin1");
  const [, version] = /^NVIDIA Tegra Profiler Report (\d+(?:@\d+)+)/.exec(text) ?? [];
  return version?.replaceAll("@", ".") ?? null;
}

/** Loads SQLite only if there is something to read. */
async function readTimeline(
  path: string,
): Promise<Extract<Imported, { readonly kind: "timeline" }>> {
  const { readNsysExport } = await import("./read/read-export.ts");
  const timeline = readNsysExport(path);
  const { toolVersion, machine } = timeline;
  return { kind: "timeline", timeline, toolVersion, machine };
}

// Reads the nsys reports of a finished run again.

/** @throws ConfigError, ToolError if a report is gone, or nsys is needed and not installed */
export async function rereadNsys(
  source: CollectionSource,
  directory: string,
  context: RereadContext,
): Promise<Reread> {
  if (source.kind !== "nsys") throw new Error(`${source.kind} is no report of nsys`);
  const timelines: Timeline[] = [];
  for (const name of source.reports)
    timelines.push(await readReport(join(directory, source.directory, name), context));
  return { measured: { kind: "timeline", timeline: mergeCaptures(timelines) } };
}

/** Reads the export of the run or, if that was removed, a new export of the report. */
async function readReport(stem: string, context: RereadContext): Promise<Timeline> {
  // Loads SQLite only if there is something to read.
  const { readNsysExport } = await import("./read/read-export.ts");
  const kept = `${stem}.sqlite`;
  if (existsSync(kept)) return readNsysExport(kept);
  const report = `${stem}.nsys-rep`;
  if (!existsSync(report)) throw missingFileError(kept);
  const name = basename(report);
  const nsys = requireNsysPath(`${name} can only be read by nsys`);
  const scratch = makeTemporaryDirectory("deep-profile-report-");
  try {
    const sqlite = join(scratch, "run.sqlite");
    await exportReport({ nsys, report, sqlite, name }, context);
    return readNsysExport(sqlite);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
