import { join } from "node:path";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { renderKernelsMarkdown } from "./markdown/kernels-markdown.ts";
import { renderRunMarkdown } from "./markdown/run-markdown.ts";
import { renderStakeholderSummary } from "./markdown/stakeholder-summary.ts";
import type { RunSummary } from "./run-summary.ts";
import { checkRun } from "./run-summary.ts";

interface RunReport {
  readonly name: string;
  readonly render: (run: RunSummary) => string;
}

const RUN_REPORTS: readonly RunReport[] = [
  { name: "kernels.md", render: renderKernelsMarkdown },
  { name: "report.md", render: renderRunMarkdown },
  { name: "stakeholder_summary.md", render: (run) => renderStakeholderSummary(run) },
];

/** Writes the reports of a whole run into its directory; returns their paths. */
export async function writeRunReports(
  directory: string,
  run: RunSummary,
): Promise<readonly string[]> {
  checkRun("writeRunReports", run);
  const files: string[] = [];
  for (const { name, render } of RUN_REPORTS) {
    const file = join(directory, name);
    await writeFileAtomic(file, render(run));
    files.push(file);
  }
  return files;
}
