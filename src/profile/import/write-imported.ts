import { join } from "node:path";
import type { RunSection } from "../../report/run-summary.ts";
import { writeReports } from "../../report/write-reports.ts";
import { writeRunReports } from "../../report/write-run-reports.ts";
import type { ImportedReport } from "./import-files.ts";

export interface WrittenImport {
  /** Absolute paths, the one to read first in front. */
  readonly reports: readonly string[];
  /** What could not be written, a line each. */
  readonly problems: readonly string[];
}

/** Writes the reports of an import as those of a run: per collector, and over all. */
export async function writeImported(
  reports: readonly ImportedReport[],
  directory: string,
): Promise<WrittenImport> {
  const sections: RunSection[] = [];
  const bundles: string[] = [];
  const problems: string[] = [];
  for (const { collector, folder, bundle } of reports) {
    const written = await writeReports(bundle, join(directory, folder));
    sections.push({
      collector,
      directory: folder,
      bundle,
      regionDirectories: written.regionDirectories,
    });
    bundles.push(written.json);
    problems.push(...written.problems);
  }
  const overview = join(directory, "report.md");
  const ofRun = await writeRunReports(directory, { sections, notes: [] });
  return {
    reports: [overview, ...bundles, ...ofRun.filter((file) => file !== overview)],
    problems,
  };
}
