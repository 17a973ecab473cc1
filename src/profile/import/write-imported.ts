import { join } from "node:path";
import type { RunSection } from "../../report/run-summary.ts";
import { FILES_BESIDE_PAGE, writeReports } from "../../report/write-reports.ts";
import { writeRunReports } from "../../report/write-run-reports.ts";
import type { ImportedReport } from "./import-files.ts";

export interface WrittenImport {
  /** Absolute paths, the one to read first in front. */
  readonly reports: readonly string[];
  /** What could not be written, a line each. */
  readonly problems: readonly string[];
}

/** An import has no config; the page links to what stands beside it. */
const PAGE = { config: [], files: [...FILES_BESIDE_PAGE, "../../report.md"] };

/** Writes the reports of an import as those of a run: per collector, and over all. */
export async function writeImported(
  reports: readonly ImportedReport[],
  directory: string,
  { html }: { readonly html: boolean },
): Promise<WrittenImport> {
  const sections: RunSection[] = [];
  const bundles: string[] = [];
  const pages: string[] = [];
  const problems: string[] = [];
  for (const { collector, folder, bundle, writeRegionFiles } of reports) {
    const written = await writeReports(bundle, join(directory, folder), {
      ...(html && { html: PAGE }),
    });
    try {
      await writeRegionFiles?.(written.regionDirectories);
    } catch (error) {
      // The reports stand: what the files say once more must not cost them.
      if (!(error instanceof Error)) throw error;
      problems.push(`tables of the regions of ${collector}: ${error.message}`);
    }
    sections.push({
      collector,
      directory: folder,
      bundle,
      html: written.html !== null,
      regionDirectories: written.regionDirectories,
    });
    bundles.push(written.json);
    if (written.html !== null) pages.push(written.html);
    problems.push(...written.problems);
  }
  const overview = join(directory, "report.md");
  const ofRun = await writeRunReports(directory, { sections, notes: [] });
  return {
    reports: [overview, ...pages, ...bundles, ...ofRun.filter((file) => file !== overview)],
    problems,
  };
}
