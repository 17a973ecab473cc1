import { basename } from "node:path";
import { getSystemErrorName } from "node:util";
import { plural } from "../../text/plural.ts";
import type { ProcessTimeline } from "../timeline/timeline.ts";
import { openRecording } from "./cursor.ts";
import type { GpuEvent, RecordedEvent } from "./events.ts";
import type { FileHeader } from "./file-header.ts";
import { createGpuCollection, type GpuDevice } from "./gpu-work.ts";
import { createNotes, type NoteCollector } from "./notes.ts";
import { type CategoryName, createPairing } from "./pairing.ts";

/** A process's timeline, the names that NVTX gave to threads and categories, and its devices. */
export interface RecordedProcess extends ProcessTimeline {
  readonly threadNames: ReadonlyMap<number, string>;
  readonly categoryNames: readonly CategoryName[];
  readonly devices: readonly GpuDevice[];
}

/**
 * Reads one recording file.
 *
 * @param originNs CLOCK_MONOTONIC time that becomes 0
 * @returns null when the file has no header yet
 * @throws ConfigError `recording.invalid`
 */
export function readProcess(path: string, originNs: bigint): RecordedProcess | null {
  const notes = createNotes();
  const pairing = createPairing(notes);
  const gpu = createGpuCollection(notes);
  let lastCallNs = Number.NEGATIVE_INFINITY;
  const sink = (event: RecordedEvent): void => {
    if (event.kind === "launch") lastCallNs = Math.max(lastCallNs, event.timeNs);
    if (isGpuEvent(event)) gpu.add(event);
    else pairing.add(event);
  };
  const header = openRecording(path, sink, notes, originNs).advance();
  if (header === null) return null;
  const events = pairing.finish();
  const work = gpu.finish(header.finishedNs !== null, Number(header.unwrittenWork));

  const startNs = Number(header.startNs - originNs);
  const finishedNs = header.finishedNs === null ? startNs : Number(header.finishedNs - originNs);
  addHeaderNotes(header, notes);
  return {
    pid: header.pid,
    parentPid: header.parentPid === 0 ? null : header.parentPid,
    executable: header.executable,
    startNs,
    endNs: Math.max(startNs, finishedNs, events.lastNs ?? startNs, lastCallNs),
    finished: header.finishedNs !== null,
    ranges: events.ranges,
    marks: events.marks,
    kernels: work.kernels,
    synchronizations: work.synchronizations,
    threadNames: events.threadNames,
    categoryNames: events.categoryNames,
    devices: work.devices,
    notes: notes.list().map((note) => `${describe(header)}: ${note}`),
  };
}

const gpuEventKinds: ReadonlySet<RecordedEvent["kind"]> = new Set<GpuEvent["kind"]>([
  "launch",
  "gpu_work",
  "wait",
  "device",
  "clock",
  "gpu_state",
  "loss",
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

function errorName(errno: number): string {
  return errno > 0 && errno < 4096 ? getSystemErrorName(-errno) : `error ${errno}`;
}
