import { closeSync, openSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { errorCode, isSystemError, requireFile } from "../../system/files.ts";
import { agreeing, plural } from "../../text/plural.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { readView } from "./chunk-scan.ts";
import { originsOf } from "./clock-bases.ts";
import { type FileHeader, parseFileHeader } from "./file-header.ts";
import { FILE_HEADER_BYTES, FILE_SUFFIX } from "./format.ts";
import { type RecordedProcess, readProcess } from "./process.ts";

/** What a program without regions is told: how it gets some. */
const NOTHING_LOADED =
  "no process loaded the recorder, since none called NVTX or CUDA; mark the program's regions with NVTX, " +
  'in Python with nvtx.annotate("step"), in C++ with nvtx3::scoped_range';

/** A timeline whose processes carry what only the recorder knows. */
export interface RecordedTimeline extends Timeline {
  readonly processes: readonly RecordedProcess[];
  /** Present where the system did not let a file be read (too many open files, an error of the disk): it is whole for all we know. */
  readonly refused?: true;
}

/** Why a run is not all that was asked for where `refused` is present. */
export const refusedRecording = (): ConfigError =>
  new ConfigError({
    code: "profile.collector",
    message: "Not all recordings could be read: what they hold is missing here",
    hint: "once the cause is gone, 'deep-profile report DIR' reads them again",
  });

/**
 * Reads all recordings of a directory: one per process that loaded the recorder, in order of their
 * start. Time 0 is the earliest start (of each clock: see `originsOf`). Files that still grow, were cut short by a crash or have
 * damaged places are read as far as they go, with notes; a file that cannot be read at all leaves a
 * note, too: it must not take the others with it.
 *
 * @throws ConfigError `recording.not_found` without the directory
 */
export function readRecording(directory: string): RecordedTimeline {
  try {
    return readRecordingFiles(recordingFiles(directory));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { ...readRecordingFiles([]), notes: [error.message], refused: true };
  }
}

/** The same of files chosen by the caller. */
export function readRecordingFiles(paths: readonly string[]): RecordedTimeline {
  const notes: string[] = [];
  const unread: string[] = [];
  const refused: string[] = [];
  const readable = <T>(path: string, read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!isConfigError(error) && !isSystemError(error)) throw error;
      if (isSystemError(error)) refused.push(path);
      unread.push(`${basename(path)} could not be read: ${error.message}`);
      return null;
    }
  };

  const files: { readonly path: string; readonly header: FileHeader }[] = [];
  for (const path of paths) {
    const found = readable(path, () => ({ header: readFileHeader(path) }));
    if (found === null) continue;
    const { header } = found;
    if (header === null)
      unread.push(`${basename(path)}: the process ended before it recorded anything`);
    else files.push({ path, header });
  }
  const clocks = originsOf(files.map(({ header }) => header));
  notes.push(...clocks.notes);
  const placed = files
    .map(({ path, header: { startNs } }, at) => {
      const originNs = clocks.origins[at] ?? startNs;
      return { path, originNs, beginNs: startNs - originNs, machine: clocks.clocks[at] };
    })
    .sort((a, b) => Number(a.beginNs - b.beginNs));
  if (paths.length === 0) notes.push(NOTHING_LOADED);
  const processes = placed
    .map(({ path, originNs, machine }) => {
      const process = readable(path, () => readProcess(path, originNs));
      return process === null || machine === undefined ? process : { ...process, machine };
    })
    .filter((process) => process !== null);
  return {
    collector: "recorder",
    clock: "CLOCK_MONOTONIC",
    originNs: placed[0]?.originNs ?? 0n,
    processes,
    notes: [...firstOf(unread), ...notes],
    ...(refused.length > 0 && { refused: true as const }),
  };
}

/** Every report of a run has them, also those of its single processes. */
const MAX_UNREAD = 16;

const firstOf = (unread: readonly string[]): readonly string[] =>
  unread.length <= MAX_UNREAD
    ? unread
    : [
        ...unread.slice(0, MAX_UNREAD),
        `${plural(unread.length - MAX_UNREAD, "more recording")} could not be read, or ${agreeing(unread.length - MAX_UNREAD, "is", "are")} empty`,
      ];

/**
 * Paths of the recordings in a directory, by name.
 *
 * @throws ConfigError `recording.not_found` where there is none; the system's error where it cannot be read
 */
export function recordingFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(FILE_SUFFIX))
      .sort()
      .map((name) => join(directory, name));
  } catch (cause) {
    if (!isAbsent(cause)) throw cause;
    throw new ConfigError({
      code: "recording.not_found",
      message: `There is no directory of recordings at ${directory}`,
      cause,
    });
  }
}

const isAbsent = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");

function readFileHeader(path: string): FileHeader | null {
  requireFile(path);
  const descriptor = openSync(path, "r");
  try {
    const view = readView(descriptor, 0, FILE_HEADER_BYTES);
    const bytes = new Uint8Array(view.buffer, 0, view.byteLength);
    return parseFileHeader(bytes, path);
  } finally {
    closeSync(descriptor);
  }
}
