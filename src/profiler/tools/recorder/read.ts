/** Reads the recordings of a run into a timeline. */
import { closeSync, openSync, readdirSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isCodedError } from "../../../engine/values/errors.ts";
import {
  errorCode,
  fileProblem,
  isSystemError,
  namedFileProblem,
  requireFile,
} from "../../../foundation/system/files.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { agreeing, firstFew, grouped, plural } from "../../../foundation/text/plural.ts";
import { ToolError } from "../../machine/tool-error.ts";
import {
  type CategoryName,
  createRangeReplay,
  type ProcessTimeline,
  type RangeInstance,
  type RangeStream,
  type Timeline,
} from "../../model/timeline.ts";
import type { RecordingSource } from "../run-types.ts";
import { originsOf } from "./clocks.ts";
import {
  createNotes,
  errorName,
  type GpuEvent,
  type NoInstructionsEvent,
  type NoteCollector,
  type RecordedEvent,
} from "./events.ts";
import type { Extensions } from "./extensions.ts";
import { FILE_SUFFIX, type FileHeader, fileHeader } from "./format.ts";
import { createGpuCollection, type GpuDevice } from "./gpu-work.ts";
import { noInstructionsNotes } from "./instructions.ts";
import type { OtherInjection } from "./other-injections.ts";
import {
  createEndings,
  createPairing,
  createStreamedPairing,
  type Endings,
  type FirstEnds,
  type KeptRanges,
} from "./pairing.ts";
import { openBytes, settleStage } from "./recording-bytes.ts";
import { openRecording, replayRecording } from "./recording-cursor.ts";
import { readThreadSamples, type SamplesOf } from "./thread-samples.ts";

/** The maximum number of ranges that a run keeps in memory. */
const MOST_KEPT = 500_000;

/** The note for a program without regions: how to add some. */
const NOTHING_LOADED =
  "no process loaded the recorder, which takes a call of NVTX or CUDA; mark the program's regions with NVTX, " +
  'in Python with nvtx.annotate("step"), in C++ with nvtx3::scoped_range';

/** A timeline whose processes have facts that only the recorder knows. */
export interface RecordedTimeline extends Timeline {
  readonly processes: readonly RecordedProcess[];
  /** Present if the system refused to read a file (too many open files, a disk error) that may be undamaged. */
  readonly refused?: true;
}

/** Why a run with `refused` is incomplete. */
export const refusedRecording = (): ToolError =>
  new ToolError({
    tool: "recorder",
    code: "profile.collector",
    message: "Not all recordings could be read: what they hold is missing here",
    hint: "once the cause is gone, 'deep-profile report DIR' reads them again",
  });

/**
 * Reads all recordings of a directory: one per process that loaded the recorder, in order of their start. Time 0 is the
 * earliest start (of each clock: see `originsOf`). Files that still grow, were cut short by a crash or are damaged are
 * read as far as possible, with notes; a file that cannot be read at all also leaves only a note, so that the others
 * are still read.
 *
 * @throws ToolError `recording.not_found` without the directory
 */
export function readRecording(directory: string): RecordedTimeline {
  try {
    return readRecordingFiles(recordingFiles(directory));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { ...readRecordingFiles([]), notes: [namedFileProblem(error)], refused: true };
  }
}

/** Read and reported in a fraction of a second. */
const BEGINNING_BYTES = 300_000;

/**
 * Reads the beginning of a directory's recordings, for a run that has no time for all: each process ends with its last
 * event read.
 */
export function readBeginning(directory: string): RecordedTimeline {
  const kept = { left: Number.POSITIVE_INFINITY, bytesLeft: BEGINNING_BYTES };
  return readFiles(recordingFiles(directory), kept);
}

/** The timeline of a run without the recorder. */
export const NOTHING_RECORDED: RecordedTimeline = {
  collector: "recorder",
  clock: "CLOCK_MONOTONIC",
  originNs: 0n,
  processes: [],
  notes: [],
};

/**
 * Reads recordings that the caller chose.
 *
 * @param most how many ranges to keep, some 250 bytes each; further ones are read again when they are needed
 */
export const readRecordingFiles = (paths: readonly string[], most = MOST_KEPT): RecordedTimeline =>
  readFiles(paths, { left: most });

function readFiles(paths: readonly string[], kept: KeptRanges): RecordedTimeline {
  const notes: string[] = [];
  const unread: string[] = [];
  const refused: string[] = [];
  const readable = <T>(path: string, read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!isCodedError(error) && !isSystemError(error)) throw error;
      if (isSystemError(error)) refused.push(path);
      unread.push(`${basename(path)} could not be read: ${fileProblem(error)}`);
      return null;
    }
  };

  const files: { readonly path: string; readonly header: FileHeader }[] = [];
  for (const path of paths) {
    const found = readable(path, () => ({ header: settledHeader(path) }));
    if (found === null) continue;
    const { header } = found;
    if (header === null)
      unread.push(`${basename(path)}: the process ended before it recorded anything`);
    else files.push({ path, header });
  }
  const clocks = originsOf(files.map(({ header }) => header));
  notes.push(...clocks.notes);
  const placed = files
    .map(({ path, header: { startNs } }, index) => {
      const originNs = clocks.origins[index] ?? startNs;
      return { path, originNs, beginNs: startNs - originNs, machine: clocks.clocks[index] };
    })
    .sort((a, b) => Number(a.beginNs - b.beginNs));
  if (paths.length === 0) notes.push(NOTHING_LOADED);
  const sampled = new Map<string, SamplesOf>();
  const processes = placed
    .map(({ path, originNs, machine }) => {
      const samplesOf = getOrCreate(sampled, dirname(path), () => readThreadSamples(dirname(path)));
      const process = readable(path, () => readProcess(path, originNs, kept, samplesOf));
      return process === null || machine === undefined ? process : { ...process, machine };
    })
    .filter((process) => process !== null);
  return {
    collector: "recorder",
    clock: "CLOCK_MONOTONIC",
    originNs: placed[0]?.originNs ?? 0n,
    processes,
    notes: [
      ...firstOf(unread),
      ...notes,
      ...otherLibraryNotes(processes),
      ...noInstructionsNotes(processes.map(({ noInstructions = [] }) => noInstructions)),
    ],
    ...(refused.length > 0 && { refused: true as const }),
  };
}

/**
 * The note about processes in which NVTX had another library; empty without any.
 *
 * @param others each process at most once
 * @param lost what is missing of them
 */
export function otherInjectionNotes(
  others: readonly OtherInjection[],
  lost: "ranges" | "everything",
): readonly string[] {
  const count = others.length;
  if (count === 0) return [];
  const libraries = [...new Set(others.map(({ library }) => library))].sort();
  const its = agreeing(count, "its", "their");
  const missing =
    lost === "ranges"
      ? `only ${its} GPU work was recorded, and ${its} ranges are missing`
      : `nothing of ${agreeing(count, "it", "them")} was recorded`;
  return [
    `${plural(count, "process", "processes")} of the run had another injection library (${firstFew(libraries, MAX_LIBRARIES)}): ${missing}. What starts ${agreeing(count, "it", "them")} (a launcher, an image, a startup file) replaces NVTX_INJECTION64_PATH, and must leave it as it is`,
  ];
}

const MAX_LIBRARIES = 3;

const otherLibraryNotes = (processes: readonly RecordedProcess[]): readonly string[] =>
  otherInjectionNotes(
    processes.flatMap(({ pid, otherLibrary }) =>
      otherLibrary === undefined ? [] : [{ pid, library: otherLibrary }],
    ),
    "ranges",
  );

/** Adds the known start and end of the program to the timeline, because the recorder is loaded later. */
export function withProgram(
  timeline: RecordedTimeline,
  { program }: RecordingSource,
): RecordedTimeline {
  if (program === undefined || timeline.processes.length === 0) return timeline;
  const since = (ns: string) => Number(BigInt(ns) - timeline.originNs);
  const span = { pid: program.pid, startNs: since(program.start_ns), endNs: since(program.end_ns) };
  return { ...timeline, span };
}

/** Limits the notes, which every report of a run has, including those of its single processes. */
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
 * @throws ToolError `recording.not_found` if it does not exist; the system's error if it cannot be read
 */
export function recordingFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(FILE_SUFFIX))
      .sort()
      .map((name) => join(directory, name));
  } catch (cause) {
    if (!isAbsent(cause)) throw cause;
    throw new ToolError({
      tool: "recorder",
      code: "recording.not_found",
      message: `There is no directory of recordings at ${directory}`,
      cause,
    });
  }
}

const isAbsent = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");

function settledHeader(path: string): FileHeader | null {
  requireFile(path);
  settleStage(path);
  return readFileHeader(path);
}

function readFileHeader(path: string): FileHeader | null {
  requireFile(path);
  const file = openBytes(path);
  try {
    return file.header();
  } finally {
    file.close();
  }
}

/**
 * Records when the parent saw the end of a process that did not report it, so that its open ranges last until then. If
 * several recordings have its number (exec replaced the program), in the last one.
 *
 * @param endNs on CLOCK_MONOTONIC
 */
export function noteEnd(directory: string, pid: number, endNs: bigint): void {
  try {
    const files = recordingFiles(directory).filter((path) =>
      basename(path).startsWith(`events-${pid}-`),
    );
    for (const path of files) settleStage(path, true);
    const last = files
      .map((path) => ({ path, header: readFileHeader(path) }))
      .sort((a, b) => Number((a.header?.startNs ?? 0n) - (b.header?.startNs ?? 0n)))
      .at(-1);
    if (last === undefined || last.header === null || last.header.finishedNs !== null) return;
    const bytes = Buffer.alloc(8);
    if (last.header.littleEndian) bytes.writeBigUInt64LE(endNs);
    else bytes.writeBigUInt64BE(endNs);
    const descriptor = openSync(last.path, "r+");
    try {
      writeSync(descriptor, bytes, 0, bytes.length, fileHeader.seenEndNs);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    // Without it, the ranges last until the process's last event; a file that cannot be read is reported by its reader.
    if (!isCodedError(error) && !isSystemError(error)) throw error;
  }
}

/** A process's timeline, the names that the program gave to threads, by NVTX or else by the system, those of categories, and its devices. */
export interface RecordedProcess extends ProcessTimeline {
  readonly threadNames: ReadonlyMap<number, string>;
  readonly categoryNames: readonly CategoryName[];
  readonly devices: readonly GpuDevice[];
  /** The NVTX library that the process had in place of the recorder; absent if there is none. */
  readonly otherLibrary?: string;
  /** Why instructions were not counted; absent if they were, or were not wanted. */
  readonly noInstructions?: readonly NoInstructionsEvent[];
}

/**
 * Reads one recording file.
 *
 * @param originNs CLOCK_MONOTONIC time that becomes 0
 * @returns null when the file has no header yet
 * @throws ToolError `recording.invalid`
 */
function readProcess(
  path: string,
  originNs: bigint,
  kept: KeptRanges,
  samplesOf: SamplesOf,
): RecordedProcess | null {
  const initial = { ...kept };
  const first = readOnce(path, originNs, kept, samplesOf, new Map());
  if (first.missedEnds.size === 0) return first.process;
  Object.assign(kept, initial);
  return readOnce(path, originNs, kept, samplesOf, first.missedEnds).process;
}

/** @param firstEnds the ends that count, of ranges where a later one was read first */
function readOnce(
  path: string,
  originNs: bigint,
  kept: KeptRanges,
  samplesOf: SamplesOf,
  firstEnds: FirstEnds,
): { readonly process: RecordedProcess | null; readonly missedEnds: FirstEnds } {
  const notes = createNotes();
  const pairing = createPairing(notes, kept, firstEnds);
  const gpu = createGpuCollection(notes);
  let lastCallNs = Number.NEGATIVE_INFINITY;
  let otherLibrary: string | null = null;
  const noInstructions: NoInstructionsEvent[] = [];
  const sink = (event: RecordedEvent): void => {
    if (event.kind === "other_injection") otherLibrary = event.library;
    if (event.kind === "no_instructions") noInstructions.push(event);
    if (event.kind === "launch") lastCallNs = Math.max(lastCallNs, event.timeNs);
    if (isGpuEvent(event)) gpu.add(event);
    else pairing.add(event);
  };
  const recording = openRecording(path, sink, notes, originNs);
  const { bytesLeft } = kept;
  const isPartly = bytesLeft !== undefined;
  const header = bytesLeft === 0 ? null : recording.advance(bytesLeft);
  if (header === null) return { process: null, missedEnds: new Map() };
  if (isPartly) kept.bytesLeft = Math.max(0, bytesLeft - header.claimedBytes);
  recording.finish();
  const events = pairing.finish();
  const isCut = events.ranges.length < events.count;
  if (isCut)
    notes.add(
      `timelines and traces have the first ${grouped(String(events.ranges.length))} of ${plural(events.count, "range")}; reports have all`,
    );
  const startNs = Number(header.startNs - originNs);
  const work = gpu.finish(header.finishedNs !== null, Number(header.unwrittenWork), startNs);
  const saidNs = isPartly ? null : (header.finishedNs ?? header.seenEndNs);
  const finishedNs = saidNs === null ? startNs : Number(saidNs - originNs);
  if (!isPartly) addHeaderNotes(header, notes);
  const { names, samples: threadSamples } = samplesOf(header, originNs);
  const process: RecordedProcess = {
    pid: header.pid,
    parentPid: header.parentPid === 0 ? null : header.parentPid,
    ...(header.rank !== null && { rank: header.rank }),
    executable: header.executable,
    startNs,
    endNs: Math.max(startNs, finishedNs, events.lastNs ?? startNs, lastCallNs),
    finished: isPartly || header.finishedNs !== null,
    ranges: events.ranges,
    ...(isCut && {
      allRanges: rangeStream(path, originNs, {
        count: events.count,
        endings: events.isNested ? null : readEndings(path, originNs, firstEnds),
        extensions: recording.extensions(),
        deferred: events.deferred,
      }),
    }),
    marks: events.marks,
    ...(events.counters.length > 0 && { counters: events.counters }),
    kernels: work.kernels,
    synchronizations: work.synchronizations,
    ...(threadSamples.length > 0 && { threadSamples }),
    threadNames: new Map([...names, ...events.threadNames]),
    categoryNames: events.categoryNames,
    devices: work.devices,
    ...(otherLibrary !== null && { otherLibrary }),
    ...(noInstructions.length > 0 && { noInstructions }),
    notes: notes.list().map((note) => `${describe(header)}: ${note}`),
  };
  return { process, missedEnds: events.missedEnds };
}

/** Ranges that do not close in the reverse order of their opening can be ordered only if their ends are known. */
function readEndings(path: string, originNs: bigint, firstEnds: FirstEnds): Endings {
  const endings = createEndings(firstEnds);
  const sink = (event: RecordedEvent) => {
    if (!isGpuEvent(event)) endings.add(event);
  };
  const recording = openRecording(path, sink, createNotes(), originNs);
  // Of what is handed over later the end is known.
  recording.advance();
  return endings;
}

interface StreamedRanges {
  readonly count: number;
  readonly endings: Endings | null;
  /** The descriptions of payloads, by all threads. */
  readonly extensions: Extensions | null;
  /** Those that were handed over when they were over, by start. */
  readonly deferred: readonly RangeInstance[];
}

const rangeStream = (
  path: string,
  originNs: bigint,
  { count, endings, extensions, deferred }: StreamedRanges,
): RangeStream => ({
  count,
  replay(handlers) {
    const others = createRangeReplay(deferred.length, (place) => deferred[place], handlers);
    const pairing = createStreamedPairing(
      {
        opens(range, endNs) {
          others.until(range.startNs);
          handlers.opens(range, endNs);
        },
        closes(range) {
          others.until(range.endNs ?? range.startNs);
          handlers.closes(range);
        },
      },
      endings,
    );
    replayRecording(path, originNs, extensions, pairing.add);
    pairing.finish();
    others.until(Number.POSITIVE_INFINITY);
  },
});

const gpuEventKinds: ReadonlySet<RecordedEvent["kind"]> = new Set<GpuEvent["kind"]>([
  "launch",
  "gpu_work",
  "wait",
  "device",
  "clock",
  "gpu_state",
  "loss",
  "program_profiler",
  "unwatched_calls",
  "counter_range",
  "counter_session",
  "counter_session_end",
  "counter_failure",
  "counter_tally",
  "sampling",
]);

const isGpuEvent = (event: RecordedEvent): event is GpuEvent => gpuEventKinds.has(event.kind);

function describe(header: FileHeader): string {
  const name = header.executable === "" ? "" : ` (${basename(header.executable)})`;
  return `process ${header.pid}${name}`;
}

function addHeaderNotes(header: FileHeader, notes: NoteCollector): void {
  if (header.stopped !== null) {
    const seconds = (Number(header.stopped.atNs - header.startNs) / 1e9).toFixed(3);
    const why = errorName(header.stopped.errno);
    notes.add(`recording stopped after ${seconds} s (${why}); later events are missing`);
  }
  if (header.droppedEvents > 0n)
    notes.add(`${plural(Number(header.droppedEvents), "event")} could not be recorded`);
  if (header.unrecordedChildren !== null) {
    const { count, errno } = header.unrecordedChildren;
    notes.add(
      `${plural(count, "forked child", "forked children")} could not be recorded (${errorName(errno)})`,
    );
  }
  if (header.finishedNs === null) {
    notes.add(
      "ended without finishing its recording: it crashed, was killed, called _exit or exec, or is still running",
    );
  }
}
