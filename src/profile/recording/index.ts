export { FILE_SUFFIX } from "./format.ts";
export type { GpuDevice } from "./gpu-work.ts";
export type { CategoryName } from "./pairing.ts";
export type { RecordedProcess } from "./process.ts";
export {
  type RecordedTimeline,
  readRecording,
  readRecordingFiles,
  refusedRecording,
} from "./read.ts";
export {
  type RecordingProgress,
  type WatchOptions,
  watchRecording,
} from "./watch.ts";
