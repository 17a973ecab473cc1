import { ConfigError } from "../../values/errors.ts";
import { MAGIC } from "../recording/format.ts";
import { FILE_SUFFIX, readRecording, readRecordingFiles } from "../recording/index.ts";
import { FORMATS } from "./formats.ts";
import type { Importer } from "./importer.ts";
import { beginsWith } from "./open-source.ts";

/** Files of our own recorder: one of them, or the directory of a run. */
export const recordingImporter: Importer = {
  collector: "recorder",
  format: FORMATS.recording,
  matches: (source) =>
    source.isDirectory
      ? source.entries.some((name) => name.endsWith(FILE_SUFFIX))
      : beginsWith(source, MAGIC),
  read: async ({ name, path, isDirectory }) => {
    const timeline = isDirectory ? readRecording(path) : readRecordingFiles([path]);
    if (timeline.processes.length === 0)
      throw new ConfigError({
        code: "recording.invalid",
        // The notes of files name them.
        message: isDirectory ? `${name}: ${timeline.notes.join("; ")}` : timeline.notes.join("; "),
      });
    return { kind: "timeline", timeline, toolVersion: null, machine: null };
  },
};
