import { resolve } from "node:path";
import { writeFileAtomic } from "../atomic-write.ts";
import type { RunSection, RunSummary } from "../report/run-summary.ts";
import { writeReports } from "../report/write-reports.ts";
import { writeRunReports } from "../report/write-run-reports.ts";
import { fromObject } from "../values/from-object.ts";
import { fromCode } from "../values/origin.ts";
import { writeYaml } from "../values/writer.ts";
import type { ProfileConfig } from "./config.ts";
import { describeOutcome, succeeded } from "./machine/process.ts";
import type { ProfileResult } from "./run.ts";
import { readLayerWork } from "./static-analysis.ts";

export interface WrittenRun {
  /** Absolute paths of the reports, the one to read first in front. */
  readonly reports: readonly string[];
  /** What could not be written, a line each. */
  readonly failures: readonly string[];
}

/**
 * Writes what a run directory holds, the region reports first. What cannot be written does not keep
 * the rest from being written: it was measured already.
 */
export async function writeRun(
  result: ProfileResult,
  config: ProfileConfig,
  runDirectory: string,
): Promise<WrittenRun> {
  const inRun = (name: string) => resolve(runDirectory, name);
  const failures: string[] = [];
  const attempt = async <T>(what: string, write: () => Promise<T>): Promise<T | null> => {
    try {
      return await write();
    } catch (error) {
      failures.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  };

  const written = await attempt("region reports", () =>
    writeReports(result.bundle, inRun(result.collector)),
  );
  failures.push(...(written?.problems ?? []));
  const runReports =
    config.runner.mode === "light"
      ? []
      : await attempt("reports of the run", () =>
          writeRunReports(
            runDirectory,
            summarize(result, config, written?.regionDirectories ?? new Map()),
          ),
        );
  await attempt("env.json", () =>
    writeFileAtomic(inRun("env.json"), `${JSON.stringify(result.environment, null, 2)}\n`),
  );
  await attempt("inputs.yaml", () =>
    writeFileAtomic(
      inRun("inputs.yaml"),
      writeYaml(fromObject(result.inputs, fromCode("inputs.yaml"))),
    ),
  );

  const [overview = [], supplements = []] = split(runReports ?? [], inRun("report.md"));
  const regions = written === null ? [] : [written.json];
  const markdown = written === null || overview.length > 0 ? [] : [written.markdown];
  return { reports: [...overview, ...markdown, ...regions, ...supplements], failures };
}

function summarize(
  result: ProfileResult,
  config: ProfileConfig,
  regionDirectories: RunSection["regionDirectories"],
): RunSummary {
  const { collector, bundle, outcome, workload } = result;
  const layers = config.pipeline.static_analysis.enable ? readLayerWork(workload, outcome) : null;
  return {
    sections: [{ collector, directory: collector, bundle, regionDirectories }],
    notes: succeeded(outcome) ? [] : [describeOutcome(outcome)],
    files: ["config.yaml", "overrides.yaml", "env.json", "inputs.yaml", "run.log"],
    kernelLimit: config.runner.top_n_kernels,
    ...(layers !== null && { layers }),
  };
}

/** Those equal to one path, and the others. */
const split = (files: readonly string[], one: string) => [
  files.filter((file) => file === one),
  files.filter((file) => file !== one),
];
