/**
 * Runs workloads under collectors, and converts what they record to regions.
 *
 * @module deep-profile
 */

export type { Signal, StopSignal, TextStream } from "../foundation/system/platform-types.ts";
export {
  createSuspension,
  type Suspendable,
  type Suspension,
} from "../foundation/system/process-signals.ts";
export type { GlobToken, LiteralToken, WildcardToken } from "../foundation/text/glob.ts";
export {
  matchesRange,
  parseRangePattern,
  patternList,
  type RangePattern,
  type SelectionPatterns,
} from "../report/selection/range-pattern.ts";
export { MAX_DEPTH, OUTSIDE } from "./analysis/attribute.ts";
export {
  buildRegionModel,
  DEFAULT_OPERATION_DOMAINS,
  type RegionOptions,
} from "./analysis/build.ts";
export type { ActivityTotals, GpuActivity, GpuStream, GpuUse } from "./analysis/gpu-activity.ts";
export type { KernelIdentity, KernelPlace } from "./analysis/kernel-names.ts";
export type { LabelRule, LabelRules, NvtxLabel } from "./analysis/labels.ts";
export type { RegionKind } from "./analysis/path-tree.ts";
export type {
  KernelSelectionPatterns,
  MeasuredSelection,
  MetricNumber,
  RegionCpu,
  RegionInstructions,
  RegionModel,
  RegionModelEntry,
  RunSpan,
  ScopeModel,
  ScopeTotals,
  SectionMessage,
  SectionModel,
  Statistics,
} from "./analysis/region-model.ts";
export { describeSample } from "./analysis/region-model.ts";
export { NO_MATCHING_REGIONS } from "./analysis/scope.ts";
export { type ReportContext, toReportBundle } from "./analysis/to-report.ts";
export { type CommandIo, runValidateCommand } from "./cli/validate-command.ts";
export type { GpuFindings } from "./machine/doctor/gpu-checks.ts";
export type { Check, Machine, Verdict } from "./machine/doctor/machine.ts";
export type { Gpu } from "./machine/gpu.ts";
export type { MachineEnvironment } from "./machine/machine-environment.ts";
export { type NativePart, requireNative } from "./machine/native.ts";
export type { ProcessOutcome, StopRequests, Workload } from "./machine/process.ts";
export type { WithTool } from "./machine/stop-signals.ts";
export { ToolError, type ToolErrorDetails } from "./machine/tool-error.ts";
export type { ProfilerErrorCode } from "./model/error-codes.ts";
export type { HostApi, HostCall, HostCallList } from "./model/host-calls.ts";
export type { PayloadField, PayloadNumber } from "./model/payload.ts";
export type * from "./model/timeline.ts";
export type { MissingCollection } from "./run/collectors.ts";
export type {
  InputFile,
  ProfileRequest,
  ProfileResult,
  ProfileSection,
  RunInputs,
} from "./run/run.ts";
export { profile } from "./run/run.ts";
export type {
  Imported,
  Importer,
  ImportSource,
  NcuResults,
  ReadOptions,
} from "./tools/importer.ts";
export type { NumberFormat } from "./tools/ncu/csv/number-format.ts";
export type {
  InferConfig,
  ModelConfig,
  Names,
  NcuCliConfig,
  NcuConfig,
  NsysSettings,
  PipelineConfig,
  ProfileConfig,
  ReplayMode,
  WorkloadConfig,
} from "./tools/profiler-config.ts";
export type { NoInstructionsEvent } from "./tools/recorder/events.ts";
export type { GpuDevice } from "./tools/recorder/gpu-work.ts";
export {
  type RecordedProcess,
  type RecordedTimeline,
  readRecording,
} from "./tools/recorder/read.ts";
export {
  createRecorder,
  type GpuChoice,
  type RecorderOptions,
} from "./tools/recorder/recorder-collector.ts";
export {
  type RecordingProgress,
  type WatchOptions,
  watchRecording,
} from "./tools/recorder/recording-progress.ts";
export type {
  CollectionSource,
  FilesSource,
  NcuPassSource,
  NcuSource,
  NsysSource,
  RecordedSource,
  RecordingSource,
  RepeatsSource,
} from "./tools/run-types.ts";
export type {
  CollectContext,
  Collection,
  Collector,
  DoctorFacts,
  ImportFormat,
  Measured,
  MeasuredRun,
  PlanContext,
  ProfilingTool,
  Progress,
  Reread,
  RereadContext,
  SettingsRefusal,
  ToolFindings,
  ToolImport,
  ToolParts,
  ToolPlan,
  ToolRun,
  ToolSettings,
  WriteRegionFiles,
} from "./tools/tool.ts";
export { silentProgress, terminalProgress } from "./tools/tool.ts";
