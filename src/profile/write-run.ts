import { join, resolve } from "node:path";
import { writeFileAtomic } from "../atomic-write.ts";
import type { ConfigLine } from "../report/html/report-page.ts";
import type { RunSection, RunSummary } from "../report/run-summary.ts";
import { type WrittenReports, writeReports } from "../report/write-reports.ts";
import { writeRunReports } from "../report/write-run-reports.ts";
import { fromObject } from "../values/from-object.ts";
import { fromCode } from "../values/origin.ts";
import { writeYaml } from "../values/writer.ts";
import type { ProfileConfig } from "./config.ts";
import { describeOutcome, succeeded } from "./machine/process.ts";
import type { ProfileResult, ProfileSection } from "./run.ts";
import { readStaticAnalysis } from "./static-analysis.ts";
import { writeTraces } from "./trace/write-traces.ts";

/** Files of a run worth opening, in its directory. */
const RUN_FILES = ["config.yaml", "overrides.yaml", "env.json", "inputs.yaml", "run.log"];

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
  configLines: readonly ConfigLine[] = [],
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

  const written: WrittenSection[] = [];
  for (const section of result.sections) {
    const reports = await attempt(`region reports of ${section.collector}`, () =>
      writeReports(section.bundle, inRun(section.collector), {
        ...(config.pipeline.report.html && { html: { config: configLines, files: PAGE_FILES } }),
      }),
    );
    failures.push(...(reports?.problems ?? []));
    if (reports !== null)
      await attempt(`tables of the regions of ${section.collector}`, async () =>
        section.writeRegionFiles?.(
          join(inRun(section.collector), "regions"),
          reports.regionDirectories,
        ),
      );
    written.push({ section, reports });
  }
  const traces = config.pipeline.report.trace
    ? await attempt("traces", () => writeSectionTraces(result.sections, inRun))
    : null;
  const runReports =
    config.runner.mode === "light"
      ? []
      : await attempt("reports of the run", () =>
          writeRunReports(runDirectory, summarize(result, config, written)),
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
  const ofRegions = written.flatMap(({ reports }) => (reports === null ? [] : [reports]));
  const markdown = overview.length > 0 ? [] : ofRegions.map((reports) => reports.markdown);
  const json = ofRegions.map((reports) => reports.json);
  const pages = ofRegions.flatMap(({ html }) => (html === null ? [] : [html]));
  return {
    reports: [...overview, ...markdown, ...pages, ...json, ...supplements, ...(traces ?? [])],
    failures,
  };
}

/** Of collectors that saw when things happened; Nsight Compute does not. */
async function writeSectionTraces(
  sections: readonly ProfileSection[],
  inRun: (name: string) => string,
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const { collector, measured } of sections)
    if (measured.kind === "timeline")
      files.push(...(await writeTraces(measured.timeline, inRun(collector))));
  return files;
}

interface WrittenSection {
  readonly section: ProfileSection;
  /** Null where they could not be written. */
  readonly reports: WrittenReports | null;
}

/** What the page of a collector links to, relative to where it stands. */
const PAGE_FILES: readonly string[] = [
  "report.json",
  "report.md",
  ...["report.md", ...RUN_FILES].map((file) => `../../${file}`),
];

function summarize(
  { workload, sections, missing }: ProfileResult,
  config: ProfileConfig,
  written: readonly WrittenSection[],
): RunSummary {
  const [first] = sections;
  const staticAnalysis =
    config.pipeline.static_analysis.enable && first !== undefined
      ? readStaticAnalysis(workload, first)
      : null;
  return {
    sections: written.map(
      ({ section: { collector, bundle }, reports }): RunSection => ({
        collector,
        directory: collector,
        bundle,
        html: reports?.html != null,
        regionDirectories: reports?.regionDirectories ?? new Map(),
      }),
    ),
    notes: [...sections.flatMap(notesOf), ...missing.map(({ error }) => error.message)],
    files: RUN_FILES,
    kernelLimit: config.runner.top_n_kernels,
    ...(staticAnalysis !== null && { staticAnalysis }),
  };
}

/** What the run's own reports say of a collector that did not end well. */
function notesOf({ outcome, problem }: ProfileSection): readonly string[] {
  if (problem !== undefined) return [problem.message];
  return succeeded(outcome) ? [] : [describeOutcome(outcome)];
}

/** Those equal to one path, and the others. */
const split = (files: readonly string[], one: string) => [
  files.filter((file) => file === one),
  files.filter((file) => file !== one),
];
