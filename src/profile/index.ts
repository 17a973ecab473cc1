/// <reference types="node" preserve="true" />
/**
 * Runs workloads under collectors, and makes regions of what they saw.
 *
 * @module hydraconf/profile
 */
export { createSuspension, type Suspendable, type Suspension } from "../system/suspension.ts";
export type {
  CollectContext,
  Collection,
  Collector,
  Measured,
  MeasuredRun,
  WriteRegionFiles,
} from "./collectors/collector.ts";
export type { CollectorName } from "./collectors/collector-names.ts";
export { createRecorder, type RecorderOptions } from "./collectors/recorder.ts";
export type { MissingCollection } from "./collectors/run-collectors.ts";
export type {
  CollectionSource,
  NcuPassSource,
  NcuSource,
  RecordedSource,
  RepeatsSource,
} from "./collectors/source.ts";
export type {
  InferConfig,
  ModelConfig,
  PipelineConfig,
  ProfileConfig,
  WorkloadConfig,
} from "./config.ts";
export type { InputFile, RunInputs } from "./inputs.ts";
export type { LabelRule, LabelRules } from "./labels/label-rules.ts";
export type { MachineEnvironment } from "./machine/environment.ts";
export type { Gpu } from "./machine/gpu.ts";
export type { ProcessOutcome, StopRequests } from "./machine/process.ts";
export { type NativePart, requireNative } from "./native.ts";
export type { NvtxLabel } from "./ncu/run/filters.ts";
export type { Names, NcuCliConfig, NcuConfig } from "./ncu/run/ncu-config.ts";
export type { ReplayMode } from "./ncu/run/pass-plan.ts";
export type { NsysSettings } from "./nsys/run/command.ts";
export { type Progress, silentProgress, terminalProgress } from "./progress.ts";
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
export {
  type ProfileRequest,
  type ProfileResult,
  type ProfileSection,
  profile,
} from "./run.ts";
export type * from "./timeline.ts";
export type { Workload } from "./workload/workload.ts";
