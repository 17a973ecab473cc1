/// <reference types="node" preserve="true" />
/**
 * The region report contract, and everything that reads or writes it.
 *
 * @module hydraconf/report
 */
export { writeFileAtomic } from "../atomic-write.ts";
export { checkReportText } from "./check-text.ts";
export { contractFile } from "./contract-schema.ts";
export {
  MAX_NAME_BYTES,
  type NamedRegion,
  regionDirectoryNames,
  regionKey,
} from "./directory-name.ts";
export * from "./document.ts";
export type { ConfigLine, HtmlReportOptions } from "./html/report-page.ts";
export type { ReportIssue } from "./issue.ts";
export { renderBundleJson } from "./json-writer.ts";
export { renderKernelsMarkdown } from "./kernels-markdown.ts";
export { createRegionBundler } from "./region-bundle.ts";
export { type RegionMarkdownOptions, renderRegionMarkdown } from "./region-markdown.ts";
export { type RegionTableOptions, renderRegionTable } from "./region-table.ts";
export { renderRunMarkdown } from "./run-markdown.ts";
export type { RunSection, RunSummary } from "./run-summary.ts";
export { renderStakeholderSummary } from "./stakeholder-summary.ts";
export type { DevicePeaks, LayerWork, StaticAnalysis } from "./static-analysis.ts";
export { upgraded } from "./upgrade.ts";
export { assertValid, createReportValidator, type ReportValidator } from "./validate.ts";
export { type CommandIo, runValidateCommand } from "./validate-command.ts";
export {
  FILES_BESIDE_PAGE,
  MAX_REGION_DIRECTORIES,
  type WriteReportsOptions,
  type WrittenReports,
  writeReports,
} from "./write-reports.ts";
export { writeRunReports } from "./write-run-reports.ts";
