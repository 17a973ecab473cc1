/** Reads the reports of nsys of a finished run once more. */
import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { makeTemporaryDirectory } from "../../machine/files.ts";
import type { Timeline } from "../../model/timeline.ts";
import type { CollectionSource } from "../collection.ts";
import { missingFileError } from "../source-file.ts";
import type { Reread, RereadContext } from "../tool.ts";
import { mergeCaptures } from "./collector.ts";
import { exportReport } from "./importer.ts";
import { requireNsysPath } from "./program.ts";

/** @throws ConfigError, ToolError where a report is gone, or nsys is needed and not installed */
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

/** From the export that the run made or, where it was removed, from a new one of the report. */
async function readReport(stem: string, context: RereadContext): Promise<Timeline> {
  // SQLite loads only when it has something to read.
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
