/**
 * The region report contract, and everything that reads or writes it.
 *
 * @module deep-profile/report
 */
export { writeFileAtomic } from "../foundation/system/atomic-write.ts";
export { contractFile, wholeBundle } from "./model/contract.ts";
export * from "./model/document.ts";
export type { ReportErrorCode } from "./model/error-codes.ts";
export {
  MAX_NAME_BYTES,
  type NamedRegion,
  regionDirectoryNames,
  regionKey,
} from "./model/report-files.ts";
export { renderBundleJson } from "./render/json.ts";
export type { ConfigLine, HtmlReportOptions } from "./render/report-page.ts";
export {
  renderKernelsMarkdown,
  renderRegionMarkdown,
  renderRunMarkdown,
  renderStakeholderSummary,
} from "./render/run-reports.ts";
export { type RegionTableOptions, renderRegionTable } from "./render/terminal.ts";
export { checkReportText } from "./validation/check-text.ts";
export type { ReportIssue } from "./validation/report-rules.ts";
export { assertValid, createReportValidator, type ReportValidator } from "./validation/validate.ts";
export type { DevicePeaks, LayerWork, StaticAnalysis } from "./view/layer-work.ts";
export type { EncodedTimeline, TimelineRow } from "./view/page-data.ts";
export type { RegionMarkdownOptions } from "./view/region-report.ts";
export type { RunSection, RunSummary } from "./view/run-summary.ts";
export type { WriteReportsOptions, WrittenReports } from "./write-reports.ts";
export {
  createRegionBundler,
  FILES_BESIDE_PAGE,
  MAX_REGION_DIRECTORIES,
  writeReports,
  writeRunReports,
} from "./write-reports.ts";
