/** The Markdown files of a run and of a collector. */
import {
  anything,
  checkOptions,
  count,
  type OptionChecks,
  optional,
  text,
  trueOrFalse,
} from "../../engine/values/check-options.ts";
import { markdownPieces, renderMarkdown } from "../../pages/markdown.ts";
import type { RegionReportBundle } from "../model/document.ts";
import { type RegionMarkdownOptions, regionReport } from "../view/region-report.ts";
import { kernelsReport, runReport } from "../view/run-report.ts";
import { checkRun, type RunSummary } from "../view/run-summary.ts";
import { stakeholderSummary } from "../view/stakeholder-summary.ts";

const MARKDOWN_OPTIONS: OptionChecks<RegionMarkdownOptions> = {
  title: text,
  kernelRows: optional(count),
  regionSections: optional(count),
  directories: anything,
  beside: anything,
  hasAnswer: optional(trueOrFalse),
};

const EXAMPLE = 'renderRegionMarkdown(bundle, { title: "My run" })';

/**
 * `report.md` of a collector or of one region: the first report in full, of the others the tree.
 *
 * @throws RangeError if that exceeds the longest string (512 MB): see `regionMarkdownPieces`
 */
export function renderRegionMarkdown(
  bundle: RegionReportBundle,
  options: RegionMarkdownOptions,
): string {
  checkOptions("renderRegionMarkdown", options, MARKDOWN_OPTIONS, EXAMPLE);
  return renderMarkdown(regionReport(bundle, options));
}

/** The same text in pieces: a report can have tens of thousands of regions, each with a thousand metrics. */
export const regionMarkdownPieces = (
  bundle: RegionReportBundle,
  options: RegionMarkdownOptions,
): Iterable<string> => markdownPieces(regionReport(bundle, options));

/** `report.md` of a run: the results of each collector, and links to everything else. */
export function renderRunMarkdown(run: RunSummary): string {
  checkRun("renderRunMarkdown", run);
  return renderMarkdown(runReport(run));
}

/** `kernels.md`: all kernels of the run, longest first, each with the region that has most of its time. */
export function renderKernelsMarkdown(run: RunSummary): string {
  checkRun("renderKernelsMarkdown", run);
  return renderMarkdown(kernelsReport(run));
}

/** `stakeholder_summary.md`: where the time goes, in plain words. */
export function renderStakeholderSummary(run: RunSummary): string {
  checkRun("renderStakeholderSummary", run);
  return renderMarkdown(stakeholderSummary(run));
}
