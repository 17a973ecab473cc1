/** `hydraconf/profile`: runs workloads under collectors, and makes regions of what they saw. */
export type {
  CollectContext,
  Collection,
  Collector,
  CollectorName,
  Measured,
} from "./collectors/collector.ts";
export { createRecorder, type RecorderOptions } from "./collectors/recorder.ts";
export type { ProfileConfig } from "./config.ts";
export type { ProcessOutcome } from "./machine/process.ts";
export { type NativePart, requireNative } from "./native.ts";
export { type Progress, silentProgress, terminalProgress } from "./progress.ts";
export { type RecordedTimeline, readRecording, watchRecording } from "./recording/index.ts";
export * from "./regions/index.ts";
export {
  type ProfileRequest,
  type ProfileResult,
  type ProfileSection,
  profile,
} from "./run.ts";
export type * from "./timeline.ts";
export type { Workload } from "./workload/workload.ts";
