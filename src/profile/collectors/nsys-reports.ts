import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ConfigError, isConfigError } from "../../values/errors.ts";
import type { CollectContext } from "../collection/collector.ts";
import type { ToolWork } from "../machine/attend-tool.ts";
import type { NsysTimeline } from "../nsys/read/read-export.ts";
import { exportCommand, REPORT_NAME, statsCommand } from "../nsys/run/command.ts";
import { nsysFailure } from "../nsys/run/failures.ts";
import { callNsys } from "../nsys/run/tool.ts";
import type { CommandFile } from "./command-file.ts";

/** What the reports of a recording brought. */
export interface ReadReports {
  readonly timelines: readonly NsysTimeline[];
  /** Their reports, without extension. */
  readonly read: readonly string[];
  /** How many there are, whether they could be read or not. */
  readonly reports: number;
  readonly notes: readonly string[];
  readonly problem: ConfigError | null;
}

const EXTENSION = ".nsys-rep";

/** Exports and reads every report: one, or one for each time that a capture range repeated. */
export async function readReports(
  nsys: string,
  { directory, interrupt, progress, say }: CollectContext,
  commands: CommandFile,
): Promise<ReadReports> {
  const call = async (argv: readonly string[], work: ToolWork) => {
    await commands.add(argv);
    return callNsys(argv, work, { stop: interrupt.kill, say });
  };
  // SQLite loads only when it has something to read.
  const { readNsysExport } = await import("../nsys/read/read-export.ts");
  const timelines: NsysTimeline[] = [];
  const read: string[] = [];
  const notes: string[] = [];
  let problem: ConfigError | null = null;
  const reports = readdirSync(directory).filter((name) => name.endsWith(EXTENSION));
  reports.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const name of reports) {
    const report = join(directory, name);
    const sqlite = `${report.slice(0, -EXTENSION.length)}.sqlite`;
    progress.update(`reading ${name}`);
    try {
      const exported = await call(exportCommand(nsys, report, sqlite), {
        doing: `exporting ${name} with nsys`,
        output: sqlite,
      });
      if (exported.failed)
        throw nsysFailure(`nsys could not export ${name}; the file is kept`, exported.text);
      timelines.push(readNsysExport(sqlite));
      read.push(name.slice(0, -EXTENSION.length));
    } catch (error) {
      if (!isConfigError(error)) throw error;
      problem = error;
      continue;
    }
    if (interrupt.stop.aborted) continue;
    // `run.2` of several, or `run`.
    const base = name.slice(0, -EXTENSION.length).replace(REPORT_NAME, "summary");
    const stats = await call(statsCommand(nsys, sqlite, join(directory, base)), {
      doing: `summarizing ${name} with nsys stats`,
    });
    if (stats.failed) notes.push("nsys stats failed: its summaries are incomplete");
  }
  removeEmptySummaries(directory);
  return { timelines, read, reports: reports.length, notes, problem };
}

/** nsys makes a file for a summary before it finds out that there is nothing to sum up. */
function removeEmptySummaries(directory: string): void {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    if (/^summary.*\.csv$/.test(name) && statSync(file).size === 0) rmSync(file);
  }
}
