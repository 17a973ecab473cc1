import { join } from "node:path";
import { buildSweepReport } from "../../report/sweep/build.ts";
import type { SweepReport } from "../../report/sweep/document.ts";
import { renderSweepHtml } from "../../report/sweep/html.ts";
import {
  renderSweepCsv,
  renderSweepMarkdown,
  sweepJsonPieces,
} from "../../report/sweep/writers.ts";
import { createReportValidator } from "../../report/validation/validate.ts";
import { writeFileAtomic } from "../../system/atomic-write.ts";
import { loadSweep } from "./load-sweep.ts";

export interface SweepRequest {
  /** Absolute path of the sweep's directory. */
  readonly directory: string;
  readonly jobs: readonly string[];
  readonly output: string;
  readonly collector: string | null;
  readonly now: Date;
}

export interface SweepReported {
  readonly report: SweepReport;
  /** Absolute paths. */
  readonly files: readonly string[];
}

/**
 * Writes `sweep-report.{md,html,json,csv}` from the reports of the jobs.
 *
 * @throws ConfigError where no job has a report
 */
export async function reportSweep(request: SweepRequest): Promise<SweepReported> {
  const { directory, jobs, output, collector, now } = request;
  const loaded = loadSweep(directory, jobs, await createReportValidator(), collector);
  const report = buildSweepReport(loaded.jobs, { collector: loaded.collector, generatedAt: now });
  const texts: readonly (readonly [string, string | Iterable<string>])[] = [
    ["md", renderSweepMarkdown(report)],
    ["html", renderSweepHtml(report)],
    ["json", sweepJsonPieces(report)],
    ["csv", renderSweepCsv(report)],
  ];
  const files: string[] = [];
  for (const [extension, text] of texts) {
    const file = join(output, `sweep-report.${extension}`);
    await writeFileAtomic(file, text);
    files.push(file);
  }
  return { report, files };
}
