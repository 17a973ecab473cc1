/** A part of a timeline as a list of events, for those who ask for it in words instead of looking at it. */
import type { ProcessTimeline, Timeline } from "../model/timeline.ts";

export interface SliceRequest {
  /** Milliseconds since the start of the run; null: its start, its end. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Most events, of those that began first. */
  readonly limit: number;
}

/** Times are milliseconds since the start of the run. */
export interface SliceEvent {
  /** `range`, `mark`, `wait` (of the host for a GPU), or what a GPU did: `kernel`, `memcpy`, `memset`. */
  readonly kind: string;
  readonly name: string;
  /** The thread or the stream: `process 4711, thread 4712`, `cuda:0, stream 7`. */
  readonly row: string;
  readonly start_ms: number;
  /** Of what never ended: when its process did. */
  readonly end_ms: number;
}

export interface Slice {
  /** In order of their starts. */
  readonly events: readonly SliceEvent[];
  /** How many there are between the two times. */
  readonly total: number;
  /** How long the run took, as far as it was seen. */
  readonly spanMs: number;
}

const MS = 1e6;

/** What was going on between two times: also what began before, and what ended after. */
export function timelineSlice(timeline: Timeline, { fromMs, toMs, limit }: SliceRequest): Slice {
  const { processes, span } = timeline;
  const starts = [...processes.map(({ startNs }) => startNs), ...(span ? [span.startNs] : [])];
  const ends = [...processes.map(({ endNs }) => endNs), ...(span ? [span.endNs] : [])];
  const originNs = starts.length === 0 ? 0 : Math.min(...starts);
  const spanNs = ends.length === 0 ? 0 : Math.max(...ends) - originNs;
  const least = originNs + (fromMs ?? 0) * MS;
  const most = toMs === null ? Number.POSITIVE_INFINITY : originNs + toMs * MS;
  const found: Event[] = [];
  for (const process of processes)
    for (const event of eventsOf(process))
      if (event.endNs >= least && event.startNs <= most) found.push(event);
  const first = found.sort((a, b) => a.startNs - b.startNs).slice(0, limit);
  return {
    events: first.map(({ kind, name, row, startNs, endNs }) => ({
      kind,
      name,
      row,
      start_ms: (startNs - originNs) / MS,
      end_ms: (endNs - originNs) / MS,
    })),
    total: found.length,
    spanMs: spanNs / MS,
  };
}

interface Event extends Pick<SliceEvent, "kind" | "name" | "row"> {
  readonly startNs: number;
  readonly endNs: number;
}

function* eventsOf(process: ProcessTimeline): Generator<Event> {
  const thread = (id: number) => {
    const name = process.threadNames?.get(id);
    return `process ${process.pid}, thread ${id}${name === undefined ? "" : ` (${name})`}`;
  };
  for (const { name, threadId, startNs, endNs } of process.ranges)
    yield { kind: "range", name, row: thread(threadId), startNs, endNs: endNs ?? process.endNs };
  for (const { name, threadId, timeNs } of process.marks)
    yield { kind: "mark", name, row: thread(threadId), startNs: timeNs, endNs: timeNs };
  for (const { kind = "kernel", name, device, stream, startNs, endNs } of process.kernels)
    yield { kind, name, row: `cuda:${device}, stream ${stream ?? "?"}`, startNs, endNs };
  for (const { kind, threadId, startNs, endNs } of process.synchronizations ?? [])
    yield { kind: "wait", name: `wait for a ${kind}`, row: thread(threadId), startNs, endNs };
}
