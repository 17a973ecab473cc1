/// <reference types="node" preserve="true" />
/**
 * Runs workloads under collectors, and makes regions of what they saw.
 *
 * @module deep-profile
 */
export { createSuspension, type Suspendable, type Suspension } from "../system/process-signals.ts";
export * from "./analysis/index.ts";
export type { LabelRule, LabelRules, NvtxLabel } from "./analysis/labels.ts";
export type { RegionCpu, RunSpan } from "./analysis/region-model.ts";
export type { GpuFindings } from "./machine/doctor/gpu.ts";
export type { Check, Machine, Verdict } from "./machine/doctor/machine.ts";
export type { MachineEnvironment } from "./machine/environment.ts";
export type { Gpu } from "./machine/gpu.ts";
export type { WithTool } from "./machine/interrupt.ts";
export { type NativePart, requireNative } from "./machine/native.ts";
export type { ProcessOutcome, StopRequests, Workload } from "./machine/process.ts";
export { ToolError, type ToolErrorDetails } from "./machine/tool-error.ts";
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
  CollectionSource,
  FilesSource,
  NcuPassSource,
  NcuSource,
  RecordedSource,
  RecordingSource,
  RepeatsSource,
} from "./tools/collection.ts";
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
} from "./tools/config.ts";
export type {
  Imported,
  Importer,
  ImportSource,
  NcuResults,
  ReadOptions,
} from "./tools/importer.ts";
export { createRecorder, type RecorderOptions } from "./tools/recorder/collector.ts";
export {
  type CategoryName,
  type GpuDevice,
  type RecordedProcess,
  type RecordedTimeline,
  type RecordingProgress,
  readRecording,
  type WatchOptions,
  watchRecording,
} from "./tools/recorder/index.ts";
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
