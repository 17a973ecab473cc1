/** Reads the recording of a finished run once more. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { regionReportFile } from "../../../report/model/report-files.ts";
import { type JsonText, textOfFile } from "../../../report/validation/json-text.ts";
import type { CollectionSource } from "../collection.ts";
import { missingFileError } from "../source-file.ts";
import type { Reread } from "../tool.ts";
import { readRecording, refusedRecording, withProgram } from "./read.ts";

/** @throws ConfigError where the recording is gone or damaged */
export function rereadRecording(source: CollectionSource, directory: string): Reread {
  if (source.kind !== "recording") throw new Error(`${source.kind} is no recording`);
  const folder = join(directory, source.directory);
  if (!existsSync(folder)) throw missingFileError(folder);
  const timeline = withProgram(readRecording(folder), source);
  if (timeline.refused) throw refusedRecording();
  // A program that used no NVTX leaves no file either, and then its reports know no process.
  if (timeline.processes.length === 0 && reportsKnowProcesses(directory))
    throw missingFileError(join(folder, "events-*"));
  return { measured: { kind: "timeline", timeline }, outdated: [refusedRecording().message] };
}

function reportsKnowProcesses(directory: string): boolean {
  const file = regionReportFile(directory);
  return (
    statSync(file, { throwIfNoEntry: false })?.isFile() === true &&
    hasProcessScope(textOfFile(file))
  );
}

/** Quotes inside of names are escaped, so that only a report's own scope looks like this. */
const PROCESS_SCOPE = /"scope": ?"(?:process|rank):/;
/** What is kept of the text so far: a match that a piece cuts in two has less on either side. */
const TAIL = '"scope": "process:'.length - 1;

/** Whether a report file, of any size and also a damaged one, has the report of a process. */
export function hasProcessScope(whole: JsonText): boolean {
  let tail = "";
  for (const piece of whole()) {
    const text = tail + piece;
    if (PROCESS_SCOPE.test(text)) return true;
    tail = text.slice(-TAIL);
  }
  return false;
}
