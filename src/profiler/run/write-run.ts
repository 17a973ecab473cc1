/** Writes the files of a run directory. */
import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { limitsOf } from "../../engine/values/limits.ts";
import { fromCode } from "../../engine/values/origin.ts";
import { fromObject } from "../../engine/values/plain-objects.ts";
import { writeYaml } from "../../engine/values/yaml/writer.ts";
import { always, type FileRow, writeFiles } from "../../foundation/system/file-table.ts";
import { namedFileProblem } from "../../foundation/system/files.ts";
import type { RegionReportBundle } from "../../report/model/document.ts";
import { regionsFolder } from "../../report/model/report-files.ts";
import type { ConfigLine } from "../../report/render/report-page.ts";
import type { RunSection, RunSummary } from "../../report/view/run-summary.ts";
import {
  FILES_BESIDE_PAGE,
  type WriteReportsOptions,
  type WrittenReports,
  writeReports,
  writeRunReports,
} from "../../report/write-reports.ts";
import { createLabelUnifier, foldedAs, type LabelOf, type LabelRules } from "../analysis/labels.ts";
import { whyFailed } from "../machine/process.ts";
import type { Timeline } from "../model/timeline.ts";
import type { ProfileConfig } from "../tools/profiler-config.ts";
import { renderChromeTrace } from "./chrome-trace.ts";
import { encodeTimeline } from "./encode-timeline.ts";
import type { ProfileResult, ProfileSection } from "./run.ts";
import { renderSpeedscope } from "./speedscope.ts";
import { readStaticAnalysis } from "./static-analysis.ts";

/** Where a run's files are written, and the facts about the run that reports show. */
export interface RunPlace {
  /** The existing directory for all files. */
  readonly directory: string;
  /** The final directory of Hydra's files of the run, for links in reports. Default: `directory`. */
  readonly runDirectory?: string;
  readonly configLines?: readonly ConfigLine[];
}

export interface WrittenRun {
  /** Absolute paths of the reports, the main one first. */
  readonly reports: readonly string[];
  /** Files that could not be written, one line each. */
  readonly failures: readonly string[];
}

const RUN_FILES: readonly FileRow<ProfileResult>[] = [
  ["env.json", always, ({ environment }) => [`${JSON.stringify(environment, null, 2)}\n`]],
  [
    "inputs.yaml",
    always,
    ({ inputs }) => [
      writeYaml(fromObject(inputs, fromCode("inputs.yaml")), { limits: limitsOf(process.env) }),
    ],
  ],
];

const TRACES: readonly FileRow<Timeline>[] = [
  ["trace.json", always, (timeline) => renderChromeTrace(timeline)],
  ["trace.speedscope.json", always, (timeline) => renderSpeedscope(timeline, timeline.collector)],
];

/** Beside the folder of a collector's reports. */
export const TRACE_FILES: readonly string[] = TRACES.map(([name]) => name);

/**
 * Writes the files of a run directory, the region reports first. If one cannot be written, the others are written
 * nevertheless, because the measurement is done.
 */
export async function writeRun(
  result: ProfileResult,
  config: ProfileConfig,
  place: RunPlace,
): Promise<WrittenRun> {
  const { directory } = place;
  const failures: string[] = [];
  const fail = (what: string, error: unknown): void =>
    void failures.push(`${what}: ${namedFileProblem(error)}`);
  const files = filesOf(place);
  const hasOverview = config.runner.mode !== "light";
  const page = {
    config: place.configLines ?? [],
    files: pageFiles(
      hasOverview ? ["report.md", "stakeholder_summary.md", "kernels.md", ...files] : files,
    ),
  };
  const written: WrittenSection[] = [];
  for (const section of result.sections) {
    const options = {
      beside: result.sections.flatMap((other) => (other === section ? [] : [other.bundle])),
      ...(config.pipeline.report.html && {
        html: {
          ...page,
          ...failureOf(section, join(directory, section.collector)),
          ...timelineOf(section, config),
        },
      }),
    };
    const reports = await writeSection(section, directory, options, fail);
    failures.push(...(reports?.problems ?? []));
    written.push({ section, reports });
  }
  const traces: string[] = [];
  // Nsight Compute has no timeline.
  for (const { collector, measured } of config.pipeline.report.trace ? result.sections : [])
    if (measured.kind === "timeline")
      traces.push(...(await writeTraces(measured.timeline, join(directory, collector), fail)));
  const summary = hasOverview ? summarize(result, config, written, files) : null;
  const runReports = summary === null ? [] : await writeRunReports(directory, summary, fail);
  await writeFiles(directory, RUN_FILES, result, fail);
  return { reports: inReadingOrder(written, runReports, traces, directory), failures };
}

/** The last output of a program that failed, and the file with all of it. */
function failureOf(section: ProfileSection, directory: string) {
  if (whyFailed(section) === null) return {};
  const { stderrTail: end, stderrFile } = section.outcome;
  const file = relative(regionsFolder(directory), stderrFile).replaceAll(sep, "/");
  return { output: { end, file } };
}

/** The timeline for the page; ncu has none. */
function timelineOf({ measured, bundle }: Partial<ProfileSection>, { labels }: ProfileConfig) {
  if (measured?.kind !== "timeline" || bundle === undefined) return {};
  return { timeline: encodeTimeline(measured.timeline, labelsShown(bundle, labels)) };
}

/** Maps regions to their labels in a report. */
export function labelsShown(
  { reports: [whole] }: RegionReportBundle,
  labels: LabelRules | undefined,
): LabelOf {
  const folded = foldedAs(new Set(whole?.regions.map(({ name }) => name)));
  const unifier = createLabelUnifier(labels);
  return unifier === null ? folded : (label) => folded(unifier.labelOf(label));
}

/** The main files of a run directory. Those of Hydra may be elsewhere, or switched off. */
const filesOf = ({ directory, runDirectory = directory }: RunPlace): readonly string[] => {
  const ofHydra = (file: string) => (existsSync(join(runDirectory, file)) ? [file] : []);
  return [
    ...ofHydra("config.yaml"),
    ...ofHydra("overrides.yaml"),
    "env.json",
    "inputs.yaml",
    ...ofHydra("run.log"),
  ];
};

type Fail = (what: string, error: unknown) => void;

/** Null if the reports could not be written. */
async function writeSection(
  { collector, bundle, writeRegionFiles }: ProfileSection,
  runDirectory: string,
  options: WriteReportsOptions,
  fail: Fail,
): Promise<WrittenReports | null> {
  const directory = join(runDirectory, collector);
  let reports: WrittenReports | null = null;
  try {
    reports = await writeReports(bundle, directory, options);
  } catch (error) {
    fail(`region reports of ${collector}`, error);
    return null;
  }
  try {
    await writeRegionFiles?.(regionsFolder(directory), reports.regionDirectories);
  } catch (error) {
    fail(`tables of the regions of ${collector}`, error);
  }
  return reports;
}

/** The report of the run is first, or else those of its collectors. */
function inReadingOrder(
  written: readonly WrittenSection[],
  runReports: readonly string[],
  traces: readonly string[],
  runDirectory: string,
): readonly string[] {
  const [overview = [], supplements = []] = split(runReports, join(runDirectory, "report.md"));
  const ofRegions = written.flatMap(({ reports }) => (reports === null ? [] : [reports]));
  const markdown = overview.length > 0 ? [] : ofRegions.map((reports) => reports.markdown);
  const pages = ofRegions.flatMap(({ html }) => (html === null ? [] : [html]));
  const json = ofRegions.map((reports) => reports.json);
  return [...overview, ...markdown, ...pages, ...json, ...supplements, ...traces];
}

interface WrittenSection {
  readonly section: ProfileSection;
  /** Null if they could not be written. */
  readonly reports: WrittenReports | null;
}

/** The files that a collector's page links to, relative to the page. */
const pageFiles = (ofRun: readonly string[]): readonly string[] => [
  ...FILES_BESIDE_PAGE,
  ...ofRun.map((file) => `../../${file}`),
];

function summarize(
  { workload, environment, sections, missing }: ProfileResult,
  config: ProfileConfig,
  written: readonly WrittenSection[],
  files: readonly string[],
): RunSummary {
  const [first] = sections;
  const { analysis, problem } =
    config.pipeline.static_analysis.enable && first !== undefined
      ? readStaticAnalysis(workload, first, environment.peaks)
      : {};
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
    notes: [
      ...sections.flatMap((section) => whyFailed(section) ?? []),
      ...missing.map(({ error }) => error.message),
      ...(problem === undefined ? [] : [problem]),
    ],
    files,
    kernelLimit: config.runner.top_n_kernels,
    ...(analysis !== undefined && { staticAnalysis: analysis }),
  };
}

/** Splits off the files that are equal to a path. */
const split = (files: readonly string[], name: string) => [
  files.filter((file) => file === name),
  files.filter((file) => file !== name),
];

/**
 * Writes a timeline for trace viewers into a collector's directory; returns the files' paths.
 *
 * @param onProblem called for each that cannot be written. Default: that is thrown.
 */
export const writeTraces = (
  timeline: Timeline,
  directory: string,
  onProblem?: Fail,
): Promise<readonly string[]> => writeFiles(directory, TRACES, timeline, onProblem);
