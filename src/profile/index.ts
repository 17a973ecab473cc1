/// <reference types="node" preserve="true" />
/**
 * Runs workloads under collectors, and makes regions of what they saw.
 *
 * @module hydraconf/profile
 */
export { createSuspension, type Suspendable, type Suspension } from "../system/process-signals.ts";
export type {
  CollectContext,
  Collection,
  Collector,
  Measured,
  MeasuredRun,
  WriteRegionFiles,
} from "./collection/collector.ts";
export type { CollectorName } from "./collection/collector-names.ts";
export { type Progress, silentProgress, terminalProgress } from "./collection/progress.ts";
export type {
  CollectionSource,
  NcuPassSource,
  NcuSource,
  RecordedSource,
  RepeatsSource,
} from "./collection/source.ts";
export { createRecorder, type RecorderOptions } from "./collectors/recorder.ts";
export type { MissingCollection } from "./collectors/run-collectors.ts";
export type {
  InferConfig,
  ModelConfig,
  PipelineConfig,
  ProfileConfig,
  WorkloadConfig,
} from "./config/config.ts";
export type { Names, NcuCliConfig, NcuConfig, ReplayMode } from "./config/ncu-config.ts";
export type { NsysSettings } from "./config/nsys-settings.ts";
export type { LabelRule, LabelRules } from "./labels/label-rules.ts";
export type { NvtxLabel } from "./labels/nvtx-label.ts";
export type { MachineEnvironment } from "./machine/environment.ts";
export type { Gpu } from "./machine/gpu.ts";
export { type NativePart, requireNative } from "./machine/native.ts";
export type { ProcessOutcome, StopRequests } from "./machine/process.ts";
export {
  type CategoryName,
  type GpuDevice,
  type RecordedProcess,
  type RecordedTimeline,
  type RecordingProgress,
  readRecording,
  type WatchOptions,
  watchRecording,
} from "./recording/index.ts";
export * from "./regions/index.ts";
export type { InputFile, RunInputs } from "./run/inputs.ts";
export {
  type ProfileRequest,
  type ProfileResult,
  type ProfileSection,
  profile,
} from "./run/run.ts";
export type * from "./timeline/timeline.ts";
export type { Workload } from "./workload/workload.ts";
