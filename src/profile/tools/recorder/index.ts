export type { CategoryName } from "../../model/timeline.ts";
export { FILE_SUFFIX } from "./format.ts";
export type { GpuDevice } from "./gpu-work.ts";
export type { RecordedProcess, RecordedTimeline } from "./read.ts";
export { readRecording, readRecordingFiles, refusedRecording, withProgram } from "./read.ts";
export {
  type RecordingProgress,
  type WatchOptions,
  watchRecording,
} from "./watch.ts";
