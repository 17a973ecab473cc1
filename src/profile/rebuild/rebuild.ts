import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { ConfigLine } from "../../report/html/report-page.ts";
import { fileProblem, isSystemError, readablePath } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";
import type { LabelRules } from "../labels/label-rules.ts";
import type { WithTool } from "../machine/interrupt.ts";
import { type ProfileResult, reportOn } from "../run/run.ts";
import { type WrittenRun, writeRun } from "../run/write-run.ts";
import { readSavedRun } from "../saved-run/read-run.ts";
import { rereadRun } from "../saved-run/reread.ts";
import { publish, removeStale } from "./publish.ts";
import { openStaging } from "./staging.ts";

export interface RebuildRequest {
  /** Absolute path of the run directory. */
  readonly runDirectory: string;
  /** Absolute path of an empty directory that gets the reports; null: the run's own, in place of the old ones. */
  readonly output: string | null;
  readonly cwd: string;
  /** Write pages and traces also where the run wrote none. */
  readonly html: boolean;
  readonly trace: boolean;
  /** In the place of the label rules in the run's config; null: those. */
  readonly labels: LabelRules | null;
  readonly now: Date;
  readonly withTool: WithTool;
  readonly say: (line: string) => void;
}

export interface Rebuilt {
  readonly result: ProfileResult;
  readonly written: WrittenRun;
}

/** Small files that reports link to, which no report is made from. */
const LINKED = ["config.yaml", "overrides.yaml", "hydra.yaml", "run.log"];

/**
 * Makes every report of a run again. Everything is written before the first of the old reports goes,
 * and where something could not be written, none goes that has no successor.
 *
 * @throws ConfigError for a directory that is no run's, raw files that are gone, and a directory that
 *   may not be written
 */
export async function rebuildReports(request: RebuildRequest): Promise<Rebuilt> {
  const { runDirectory, output, cwd, now, withTool, say } = request;
  const saved = readSavedRun(runDirectory, cwd);
  const { labels } = request;
  const run = await rereadRun(saved, { runDirectory, withTool, say, labels });
  const { pipeline } = run.config;
  const report = {
    ...pipeline.report,
    html: pipeline.report.html || request.html,
    trace: pipeline.report.trace || request.trace,
  };
  const config = { ...run.config, pipeline: { ...pipeline, report } };
  const result = reportOn(run, now);
  const configLines =
    request.labels === null ? saved.config_lines : withLabels(saved.config_lines, request.labels);
  if (output !== null) {
    orRefuse(output, "choose another directory with --output DIR", () => {
      for (const name of LINKED)
        if (existsSync(join(runDirectory, name)))
          copyFileSync(join(runDirectory, name), join(output, name));
    });
    return { result, written: await writeRun(result, config, { directory: output, configLines }) };
  }
  const write = <T>(step: () => T): T =>
    orRefuse(readablePath(runDirectory, cwd), "choose another directory with --output DIR", step);
  // Beside the old ones: files can be moved within a file system only.
  const { directory, remove } = write(() => openStaging(runDirectory));
  try {
    const place = { directory, runDirectory, configLines };
    const { reports, failures } = await writeRun(result, config, place);
    const published = write(() => {
      if (failures.length === 0) removeStale(directory, runDirectory);
      return publish(directory, runDirectory, reports);
    });
    // Nobody knows the folder beside.
    const named = failures.map((failure) => failure.replaceAll(directory, runDirectory));
    return { result, written: { reports: published, failures: named } };
  } finally {
    remove();
  }
}

/** What the page tells of the config, with the rules that its labels were made by. */
const withLabels = (lines: readonly ConfigLine[], labels: LabelRules): readonly ConfigLine[] => [
  ...lines.filter(({ key }) => !/^labels(?:$|[.[])/.test(key)),
  { key: "labels", value: JSON.stringify(labels), origin: "options of deep-profile report" },
];

/** A step with files; what the system refuses is told with the directory and the way out. */
function orRefuse<T>(directory: string, hint: string, step: () => T): T {
  try {
    return step();
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    throw new ConfigError({
      code: "app.run_directory",
      message: `Cannot write the reports to '${directory}': ${fileProblem(cause)}`,
      hint,
      cause,
    });
  }
}
