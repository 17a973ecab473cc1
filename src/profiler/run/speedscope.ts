/**
 * A timeline in speedscope's file format: one evented profile per thread (its push/pop ranges) and one per stream of a
 * GPU (the work on it). Start/end ranges belong to no stack of a thread, so they are left out.
 */
import { createNameNumbers, type NameNumbers } from "../../foundation/text/name-numbers.ts";
import { createColumn, doubles, words } from "../model/columns.ts";
import type { ProcessTimeline, RangeInstance, Timeline } from "../model/timeline.ts";
import { copiesOf, type ProcessCopy, shownCopy } from "./chrome-trace.ts";

/** The pieces of the file: the whole, and even a single profile, may exceed the longest string. */
export function* renderSpeedscope(timeline: Timeline, name: string): Generator<string> {
  const names: string[] = [];
  const numbers = createNameNumbers(
    (text) => names.push(text) - 1,
    (number) => names[number] ?? "",
  );
  const frames = createFrames();
  yield `{"$schema":"https://www.speedscope.app/file-format-schema.json","name":${JSON.stringify(name)},"exporter":"hydraconf","profiles":[`;
  let separator = "\n";
  for (const track of tracks(timeline, numbers)) {
    yield separator;
    yield* profile(track, frames);
    separator = ",\n";
  }
  yield '\n],"shared":{"frames":[';
  for (const [frame, number] of frames.inOrder.entries())
    yield `${frame === 0 ? "" : ","}{"name":${JSON.stringify(names[number] ?? "")}}`;
  yield "]}}\n";
}

function* tracks({ processes }: Timeline, names: NameNumbers): Generator<Track> {
  const streams = new Map<string, Track>();
  for (const each of copiesOf(processes)) {
    const { process } = each;
    yield* threadTracks(each, names);
    for (const { device, stream, name, startNs, endNs } of process.kernels)
      trackOf(streams, `cuda:${device} stream ${stream ?? 0}, ${processName(each)}`, String).add(
        names.numberOf(name),
        startNs,
        // Times converted from another clock may end before they begin, which viewers reject.
        Math.max(endNs, startNs),
      );
  }
  yield* streams.values();
}

function threadTracks(each: ProcessCopy, names: NameNumbers): Iterable<Track> {
  const { process } = each;
  const threads = new Map<number, Track>();
  const nameOf = (id: number) => `${processName(each)} ${threadName(process, id)}`;
  for (const range of process.ranges) {
    const { kind, domain, name, threadId, startNs } = range;
    if (kind !== "push_pop") continue;
    const shown = domain === "" ? name : `${domain}: ${name}`;
    trackOf(threads, threadId, nameOf).add(names.numberOf(shown), startNs, endOf(range, process));
  }
  return threads.values();
}

function threadName({ threadNames }: ProcessTimeline, id: number): string {
  const name = threadNames?.get(id) ?? "";
  return name === "" ? `thread ${id}` : `thread ${id} (${name})`;
}

const processName = ({ process, copy }: ProcessCopy): string =>
  `process ${process.pid}${shownCopy(copy)}`;

/** Names are made once per track: a program may give its threads long ones. */
function trackOf<Key>(tracks: Map<Key, Track>, key: Key, nameOf: (key: Key) => string): Track {
  let track = tracks.get(key);
  if (track === undefined) {
    track = createTrack(nameOf(key));
    tracks.set(key, track);
  }
  return track;
}

const endOf = (range: RangeInstance, { endNs }: ProcessTimeline): number =>
  Math.max(range.endNs ?? endNs, range.startNs);

function* profile(track: Track, frames: Frames): Generator<string> {
  const intervals = track.inOrder();
  const start = intervals.length === 0 ? 0 : intervals.startNs(0);
  yield `{"type":"evented","name":${JSON.stringify(track.name)},"unit":"nanoseconds","startValue":${start},"endValue":${track.lastNs()},"events":[`;
  let separator = "";
  for (const event of events(intervals, frames)) {
    yield `${separator}${event}`;
    separator = ",";
  }
  yield "]}";
}

/**
 * speedscope requires opens and closes in order and properly nested. An interval that outlasts the enclosing one
 * (overlapping kernels of a stream, an unclosed range) is cut at its end.
 */
function* events(intervals: IntervalOrder, frames: Frames): Generator<string> {
  const open: { readonly frame: number; readonly endNs: number }[] = [];
  for (let place = 0; place < intervals.length; place++) {
    const startNs = intervals.startNs(place);
    yield* closeUntil(open, startNs);
    const frame = frames.frameOf(intervals.name(place));
    const limit = open.at(-1)?.endNs ?? Number.POSITIVE_INFINITY;
    open.push({ frame, endNs: Math.min(intervals.endNs(place), limit) });
    yield `{"type":"O","frame":${frame},"at":${startNs}}`;
  }
  yield* closeUntil(open, Number.POSITIVE_INFINITY);
}

function* closeUntil(
  open: { readonly frame: number; readonly endNs: number }[],
  timeNs: number,
): Generator<string> {
  for (let top = open.at(-1); top !== undefined && top.endNs <= timeNs; top = open.at(-1)) {
    yield `{"type":"C","frame":${top.frame},"at":${top.endNs}}`;
    open.pop();
  }
}

/** Names in the order in which the profiles use them. */
interface Frames {
  readonly frameOf: (name: number) => number;
  /** The numbers of the names. */
  readonly inOrder: readonly number[];
}

function createFrames(): Frames {
  const inOrder: number[] = [];
  const byName: (number | undefined)[] = [];
  return {
    inOrder,
    frameOf(name) {
      let frame = byName[name];
      if (frame === undefined) {
        frame = inOrder.push(name) - 1;
        byName[name] = frame;
      }
      return frame;
    },
  };
}

/** The intervals of a thread or a stream, in columns, since there can be millions. */
interface Track {
  readonly name: string;
  /** @param name the number of the interval's name */
  readonly add: (name: number, startNs: number, endNs: number) => void;
  /** The latest end; 0 without intervals. */
  readonly lastNs: () => number;
  readonly inOrder: () => IntervalOrder;
}

/** Sorted by start; of intervals with the same start, the longest first. Positions count from 0. */
interface IntervalOrder {
  readonly length: number;
  readonly name: (place: number) => number;
  readonly startNs: (place: number) => number;
  readonly endNs: (place: number) => number;
}

function createTrack(name: string): Track {
  const names = createColumn(words);
  const starts = createColumn(doubles);
  const ends = createColumn(doubles);
  let length = 0;
  let lastNs = 0;
  const compare = (a: number, b: number): number =>
    starts.get(a) - starts.get(b) || ends.get(b) - ends.get(a);
  const isInOrder = (): boolean => {
    for (let row = 1; row < length; row++) if (compare(row - 1, row) > 0) return false;
    return true;
  };
  return {
    name,
    add(number, startNs, endNs) {
      const row = length++;
      names.set(row, number);
      starts.set(row, startNs);
      ends.set(row, endNs);
      lastNs = Math.max(lastNs, endNs);
    },
    lastNs: () => lastNs,
    inOrder() {
      if (isInOrder()) return { length, name: names.get, startNs: starts.get, endNs: ends.get };
      // Not a typed array, whose sort does not take advantage of rows that are nearly in order.
      const rows = Array.from({ length }, (_, row) => row).sort(compare);
      const rowAt = (place: number): number => rows[place] ?? 0;
      return {
        length,
        name: (place) => names.get(rowAt(place)),
        startNs: (place) => starts.get(rowAt(place)),
        endNs: (place) => ends.get(rowAt(place)),
      };
    },
  };
}
