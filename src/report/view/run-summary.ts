/** The input of the reports of a whole run. */

import {
  anything,
  checkOptions,
  count,
  listOf,
  type OptionChecks,
  optional,
  shape,
  text,
  trueOrFalse,
  withMethods,
} from "../../engine/values/check-options.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../model/document.ts";
import type { StaticAnalysis } from "./layer-work.ts";

/** A run for its overview: one section per collector. */
export interface RunSummary {
  /** One per collector that ran, in reading order. */
  readonly sections: readonly RunSection[];
  /** Notes about the run itself: how the workload ended, what was interrupted. Plain text. */
  readonly notes: readonly string[];
  /** Files of the run worth opening, relative to the run directory. */
  readonly files?: readonly string[];
  /** Maximum number of rows of `kernels.md`. Default: all kernels that matter. */
  readonly kernelLimit?: number;
  /** The work of the built-in model, computed from its shapes, if static analysis is on. */
  readonly staticAnalysis?: StaticAnalysis;
}

/** The report of one collector, and the places of its files. */
export interface RunSection {
  readonly collector: string;
  /** The collector's directory, relative to the run directory, with `/`. */
  readonly directory: string;
  readonly bundle: RegionReportBundle;
  /** Whether it has an HTML page in addition to Markdown and JSON. */
  readonly html?: boolean;
  /** The result of `writeReports`. */
  readonly regionDirectories: ReadonlyMap<string, string>;
}

const RUN_SECTION = shape<RunSection>({
  collector: text,
  directory: text,
  bundle: anything,
  html: optional(trueOrFalse),
  regionDirectories: withMethods(["get", "has"], "a Map", "writeReports() gives it"),
});

const RUN_SUMMARY: OptionChecks<RunSummary> = {
  sections: listOf("sections", RUN_SECTION),
  notes: listOf("strings", text, '["interrupted"]'),
  files: optional(listOf("strings", text, '["run.log"]')),
  kernelLimit: optional(count),
  staticAnalysis: anything,
};

/**
 * @param by the name of the called function
 * @throws ConfigError `value.wrong_type`
 */
export const checkRun = (by: string, run: RunSummary): void => checkOptions(by, run, RUN_SUMMARY);

/** The report that represents a bundle: the aggregate, or the first scope if that is switched off. */
export const mainReport = ({ bundle }: RunSection): NCUProfileRegionReport | undefined =>
  bundle.reports[0];

/**
 * The section that answers where the time went, from the collector that saw most of the run: nsys sees more than the
 * recorder, ncu only kernels.
 */
export const answeringSection = <Section extends { readonly bundle: RegionReportBundle }>(
  sections: readonly Section[],
): Section | undefined => {
  const timed = sections.filter(({ bundle }) => bundle.reports[0]?.totals.run !== undefined);
  const seesGpu = ({ bundle }: Section) =>
    bundle.reports[0]?.totals.run?.gpu_activity !== undefined;
  return timed.find(seesGpu) ?? timed[0] ?? sections[0];
};

/** The section with the best times: the first with kernel times, else the first with any region. */
export function timedSection(sections: readonly RunSection[]): RunSection | undefined {
  const withKernels = sections.find((section) => mainReport(section)?.totals.total_ms != null);
  const withRegions = sections.find((section) => (mainReport(section)?.regions.length ?? 0) > 0);
  return withKernels ?? withRegions ?? sections[0];
}

/** A region's exclusive time in milliseconds, on the clock that the report's shares refer to. */
export const ownTime = (report: NCUProfileRegionReport, region: NCUProfileRegion): number | null =>
  report.totals.run !== undefined || report.totals.total_ms === null
    ? region.wall_exclusive_ms
    : region.exclusive_ms;
