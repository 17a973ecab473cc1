export {
  matchesRange,
  parseRangePattern,
  patternList,
  type RangePattern,
  type SelectionPatterns,
} from "../../report/selection/range-pattern.ts";
export type { GlobToken, LiteralToken, WildcardToken } from "../../text/glob.ts";
export { MAX_DEPTH, OUTSIDE } from "./attribute.ts";
export { buildRegionModel, DEFAULT_OPERATION_DOMAINS, type RegionOptions } from "./build.ts";
export type { ActivityTotals, GpuActivity, GpuUse } from "./gpu-activity.ts";
export type { KernelIdentity, KernelPlace } from "./kernel-names.ts";
export type { RegionKind } from "./path-tree.ts";
export type {
  KernelSelectionPatterns,
  MeasuredSelection,
  MetricNumber,
  RegionModel,
  RegionModelEntry,
  ScopeModel,
  ScopeTotals,
  SectionMessage,
  SectionModel,
  Statistics,
} from "./region-model.ts";
export { describeSample } from "./region-model.ts";
export { NO_MATCHING_REGIONS } from "./scope.ts";
export { type ReportContext, toReportBundle } from "./to-report.ts";
