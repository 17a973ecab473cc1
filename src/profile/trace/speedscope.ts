/**
 * A timeline in speedscope's file format: one evented profile per thread (its push/pop ranges) and
 * one per stream of a GPU (what ran on it). Start/end ranges belong to no thread's stack and have no
 * place in it.
 */
import type { KernelInstance, ProcessTimeline, RangeInstance, Timeline } from "../timeline.ts";

interface Interval {
  readonly name: string;
  readonly startNs: number;
  readonly endNs: number;
}

interface Track {
  readonly name: string;
  readonly intervals: readonly Interval[];
}

/** Pieces of the file: the whole may be too large for one string. */
export function* renderSpeedscope(timeline: Timeline, name: string): Generator<string> {
  const frames = new Map<string, number>();
  yield `{"$schema":"https://www.speedscope.app/file-format-schema.json","name":${JSON.stringify(name)},"exporter":"hydraconf","profiles":[`;
  let separator = "\n";
  for (const track of tracks(timeline)) {
    yield `${separator}${JSON.stringify(profileOf(track, frames))}`;
    separator = ",\n";
  }
  const shared = { frames: [...frames.keys()].map((frame) => ({ name: frame })) };
  yield `\n],"shared":${JSON.stringify(shared)}}\n`;
}

function* tracks({ processes }: Timeline): Generator<Track> {
  const streams = new Map<string, KernelInstance[]>();
  for (const process of processes) {
    for (const [threadId, ranges] of byThread(process.ranges))
      yield {
        name: `process ${process.pid} thread ${threadId}`,
        intervals: ranges.map((range) => ({
          name: range.domain === "" ? range.name : `${range.domain}: ${range.name}`,
          startNs: range.startNs,
          endNs: endOf(range, process),
        })),
      };
    for (const kernel of process.kernels) {
      const stream = `cuda:${kernel.device} stream ${kernel.stream ?? 0}, process ${process.pid}`;
      const known = streams.get(stream);
      if (known === undefined) streams.set(stream, [kernel]);
      else known.push(kernel);
    }
  }
  for (const [name, intervals] of streams) yield { name, intervals };
}

function byThread(ranges: readonly RangeInstance[]): ReadonlyMap<number, readonly RangeInstance[]> {
  const threads = new Map<number, RangeInstance[]>();
  for (const range of ranges) {
    if (range.kind !== "push_pop") continue;
    const thread = threads.get(range.threadId);
    if (thread === undefined) threads.set(range.threadId, [range]);
    else thread.push(range);
  }
  return threads;
}

const endOf = (range: RangeInstance, { endNs }: ProcessTimeline): number =>
  Math.max(range.endNs ?? endNs, range.startNs);

/**
 * speedscope wants opens and closes in order, properly nested. What outlives the interval around it
 * (kernels of a stream that overlap, an unclosed range) is cut at that one's end.
 */
function profileOf({ name, intervals }: Track, frames: Map<string, number>) {
  const events: { type: "O" | "C"; frame: number; at: number }[] = [];
  const open: { frame: number; endNs: number }[] = [];
  const closeUntil = (at: number) => {
    for (let top = open.at(-1); top !== undefined && top.endNs <= at; top = open.at(-1)) {
      events.push({ type: "C", frame: top.frame, at: top.endNs });
      open.pop();
    }
  };
  const sorted = [...intervals].sort((a, b) => a.startNs - b.startNs || b.endNs - a.endNs);
  for (const interval of sorted) {
    closeUntil(interval.startNs);
    const frame = frameOf(interval.name, frames);
    const limit = open.at(-1)?.endNs ?? Number.POSITIVE_INFINITY;
    open.push({ frame, endNs: Math.min(interval.endNs, limit) });
    events.push({ type: "O", frame, at: interval.startNs });
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return {
    type: "evented",
    name,
    unit: "nanoseconds",
    startValue: sorted[0]?.startNs ?? 0,
    endValue: sorted.reduce((last, { endNs }) => Math.max(last, endNs), 0),
    events,
  };
}

function frameOf(name: string, frames: Map<string, number>): number {
  const known = frames.get(name);
  if (known !== undefined) return known;
  frames.set(name, frames.size);
  return frames.size - 1;
}
