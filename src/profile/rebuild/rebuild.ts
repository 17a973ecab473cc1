import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ProfileResult, reportOn } from "../run.ts";
import { readSavedRun } from "../saved-run/read-run.ts";
import { rereadRun } from "../saved-run/reread.ts";
import { type WrittenRun, writeRun } from "../write-run.ts";
import { publish } from "./publish.ts";

export interface RebuildRequest {
  /** Absolute path of the run directory. */
  readonly runDirectory: string;
  /** Absolute path of the directory that gets the reports, which exists; null: the run's own. */
  readonly output: string | null;
  readonly cwd: string;
  /** Write pages and traces also where the run wrote none. */
  readonly html: boolean;
  readonly trace: boolean;
  readonly now: Date;
  readonly say: (line: string) => void;
}

export interface Rebuilt {
  readonly result: ProfileResult;
  readonly written: WrittenRun;
}

/** Small files that reports link to, which no report is made from. */
const LINKED = ["config.yaml", "overrides.yaml", "hydra.yaml", "run.log"];

/**
 * Makes every report of a run again. Everything is written before the first of the old reports goes.
 *
 * @throws ConfigError for a directory that is no run's, and raw files that are gone
 */
export async function rebuildReports(request: RebuildRequest): Promise<Rebuilt> {
  const { runDirectory, output, cwd, now, say } = request;
  const saved = readSavedRun(runDirectory, cwd);
  const run = await rereadRun(saved, runDirectory, say);
  const { pipeline } = run.config;
  const report = {
    ...pipeline.report,
    html: pipeline.report.html || request.html,
    trace: pipeline.report.trace || request.trace,
  };
  const config = { ...run.config, pipeline: { ...pipeline, report } };
  const result = reportOn(run, now);
  if (output !== null) {
    for (const name of LINKED)
      if (existsSync(join(runDirectory, name)))
        copyFileSync(join(runDirectory, name), join(output, name));
    return { result, written: await writeRun(result, config, output, saved.config_lines) };
  }
  // Beside the old ones: files can be moved within a file system only.
  const staging = mkdtempSync(join(runDirectory, ".report-"));
  try {
    const written = await writeRun(result, config, staging, saved.config_lines);
    const reports = publish(staging, runDirectory, written.reports);
    return { result, written: { ...written, reports } };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}
