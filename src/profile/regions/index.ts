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
export type { ActivityTotals, GpuActivity } from "./gpu-activity.ts";
export type { GpuUse } from "./gpu-use.ts";
export type { KernelIdentity, KernelPlace } from "./kernel-names.ts";
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
} from "./model.ts";
export type { RegionKind } from "./path-tree.ts";
export { NO_MATCHING_REGIONS } from "./scope-entries.ts";
export { describeSample, type Statistics } from "./statistics.ts";
export { type ReportContext, toReportBundle } from "./to-report.ts";
