/// <reference types="node" preserve="true" />
/**
 * The region report contract, and everything that reads or writes it.
 *
 * @module hydraconf/report
 */
export { writeFileAtomic } from "../system/atomic-write.ts";
export type { DevicePeaks, LayerWork, StaticAnalysis } from "./conclusions/static-analysis.ts";
export {
  MAX_NAME_BYTES,
  type NamedRegion,
  regionDirectoryNames,
  regionKey,
} from "./directory-name.ts";
export * from "./document.ts";
export type { ConfigLine, HtmlReportOptions } from "./html/report-page.ts";
export { renderBundleJson } from "./json/json-writer.ts";
export { renderKernelsMarkdown } from "./markdown/kernels-markdown.ts";
export { type RegionMarkdownOptions, renderRegionMarkdown } from "./markdown/region-markdown.ts";
export { renderRunMarkdown } from "./markdown/run-markdown.ts";
export { renderStakeholderSummary } from "./markdown/stakeholder-summary.ts";
export { createRegionBundler } from "./region-bundle.ts";
export type { RunSection, RunSummary } from "./run-summary.ts";
export { type RegionTableOptions, renderRegionTable } from "./terminal/region-table.ts";
export { checkReportText } from "./validation/check-text.ts";
export { contractFile } from "./validation/contract-schema.ts";
export type { ReportIssue } from "./validation/issue.ts";
export { upgraded } from "./validation/upgrade.ts";
export { assertValid, createReportValidator, type ReportValidator } from "./validation/validate.ts";
export { type CommandIo, runValidateCommand } from "./validation/validate-command.ts";
export {
  FILES_BESIDE_PAGE,
  MAX_REGION_DIRECTORIES,
  type WriteReportsOptions,
  type WrittenReports,
  writeReports,
} from "./write-reports.ts";
export { writeRunReports } from "./write-run-reports.ts";
