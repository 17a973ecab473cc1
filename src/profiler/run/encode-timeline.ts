/**
 * Encodes a timeline for the page's script: rows of threads and streams, with a few bytes per event. Every row is
 * encoded separately, so that a page decodes only visible ones.
 */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { plural } from "../../foundation/text/plural.ts";
import type { EncodedTimeline, TimelineRow } from "../../report/view/page-data.ts";
import type { HostApi, HostCall, HostCallList } from "../model/host-calls.ts";
import {
  type CounterSeries,
  type KernelInstance,
  type KernelList,
  type ProcessTimeline,
  type RangeInstance,
  runInterval,
  type Timeline,
} from "../model/timeline.ts";

/** A page with more events would be too large. */
const MOST_EVENTS = 1_000_000;
/** Of calls of CUDA and of the system, which can be many more than all else, the longest. */
const MOST_CALLS = 20_000;

interface DrawnEvent {
  readonly startNs: number;
  readonly endNs: number;
  readonly name: number;
  readonly lane: number;
  /** For GPU work, the row of the thread that launched it, and the time; -1 if unknown. */
  readonly launchRow: number;
  readonly launchNs: number;
}

/** @param labelOf maps regions to their labels in reports */
export function encodeTimeline(
  timeline: Timeline,
  labelOf: (name: string) => string = (name) => name,
): EncodedTimeline {
  const names = new Map<string, number>();
  const nameOf = (name: string): number => {
    const existing = names.get(name);
    if (existing !== undefined) return existing;
    names.set(name, names.size);
    return names.size - 1;
  };
  const rows: TimelineRow[] = [];
  const pieces: Uint8Array[] = [];
  const run = runInterval(timeline);
  const originNs = run.startNs;
  let offset = 0;
  let left = MOST_EVENTS;
  let dropped = 0;
  const addRow = (
    process: string,
    label: string,
    kind: TimelineRow["kind"],
    events: Iterable<DrawnEvent>,
    counter?: TimelineRow["counter"],
  ) => {
    const { bytes, lanes, shown, count } = encoded(events, left, kind === "stream");
    dropped += count - shown;
    left -= shown;
    const place = { lanes, events: shown, offset, bytes: bytes.length };
    rows.push({ process, label, kind, ...place, ...(counter !== undefined && { counter }) });
    pieces.push(bytes);
    offset += bytes.length;
  };
  let endNs = run.endNs - originNs;
  const titleOf = titles(timeline.processes);
  for (const process of byRank(timeline.processes)) {
    const title = titleOf(process);
    const threads = new Map<number, number>();
    const end = (ns: number) => {
      endNs = Math.max(endNs, ns);
      return ns;
    };
    for (const row of threadRows(process)) {
      for (const { id } of row) threads.set(id, rows.length);
      const ranges = row.flatMap((thread) => thread.ranges);
      addRow(
        title,
        threadLabel(row),
        "thread",
        inLanes(ranges, process, originNs, (range) => nameOf(labelOf(range.name)), end),
      );
    }
    const shared = process.ranges.filter(({ kind }) => kind === "start_end");
    if (shared.length > 0)
      addRow(
        title,
        "start/end ranges",
        "thread",
        inLanes(shared, process, originNs, (range) => nameOf(labelOf(range.name)), end),
      );
    const plain = (label: string, kind: TimelineRow["kind"], events: readonly DrawnEvent[]) => {
      if (events.length > 0) addRow(title, label, kind, events);
    };
    plain(
      "marks",
      "marks",
      process.marks.map(({ timeNs, name }) => eventAt(timeNs, timeNs, nameOf(name), originNs)),
    );
    plain(
      "waits for the GPU",
      "waits",
      (process.synchronizations ?? []).map(({ startNs, endNs: until, kind }) =>
        eventAt(startNs, until, nameOf(`wait for ${kind}`), originNs),
      ),
    );
    const calls = longestCalls(process.hostCalls, MOST_CALLS / timeline.processes.length);
    dropped += calls.left;
    for (const { api, threadId, kept } of calls.rows)
      addRow(
        title,
        `${API_TITLES[api]}, ${threadName(process, threadId)}`,
        "calls",
        inLanes(kept, process, originNs, ({ name }) => nameOf(name), end),
      );
    for (const series of process.counters ?? []) {
      const owner = series.threadId === null ? "" : ` of ${threadName(process, series.threadId)}`;
      const { events, ...counter } = inSteps(series, process.endNs, originNs);
      addRow(title, `${series.name}${owner}`, "counter", events, { ...counter, unit: series.unit });
    }
    for (const [stream, kernels] of byStream(process))
      addRow(
        title,
        stream,
        "stream",
        mapped(kernels, (kernel) => ({
          ...eventAt(kernel.startNs, kernel.endNs, nameOf(kernel.name), originNs),
          launchRow:
            kernel.launchThreadId === null ? -1 : (threads.get(kernel.launchThreadId) ?? -1),
          launchNs: kernel.launchNs - originNs,
        })),
      );
  }
  return {
    endNs,
    names: [...names.keys()],
    rows,
    dropped,
    bytes: Buffer.concat(pieces).toString("base64"),
  };
}

/** Processes in the order of their ranks, followed by those without one. */
const byRank = (processes: readonly ProcessTimeline[]): readonly ProcessTimeline[] =>
  processes.toSorted(
    (a, b) =>
      (a.rank?.rank ?? Number.POSITIVE_INFINITY) - (b.rank?.rank ?? Number.POSITIVE_INFINITY) || 0,
  );

/** The titles of processes in rows: the rank, if no other process has the same. Empty for a single process. */
function titles(processes: readonly ProcessTimeline[]): (process: ProcessTimeline) => string {
  const ranks = new Map<number, number>();
  for (const { rank } of processes)
    if (rank !== undefined) ranks.set(rank.rank, (ranks.get(rank.rank) ?? 0) + 1);
  return ({ pid, rank }) => {
    if (processes.length < 2) return "";
    if (rank === undefined || ranks.size < 2) return `process ${pid}`;
    return (ranks.get(rank.rank) ?? 0) > 1
      ? `rank ${rank.rank}, process ${pid}`
      : `rank ${rank.rank}`;
  };
}

const API_TITLES: Readonly<Record<HostApi, string>> = { cuda: "CUDA API", os: "OS runtime" };

const threadName = ({ threadNames }: ProcessTimeline, id: number): string =>
  threadNames?.get(id) ?? `thread ${id}`;

interface CallRow extends Pick<HostCall, "api" | "threadId"> {
  /** In order of their start. */
  readonly kept: HostCall[];
  ns: number;
}

/** The longest calls, by API and thread, of the threads that spend most time in them, and the number of others. */
function longestCalls(calls: HostCallList | undefined, most: number) {
  const rows = new Map<string, CallRow>();
  if (calls === undefined) return { rows: [], left: 0 };
  const lengths = Float64Array.from({ length: calls.length }, (_, place) => {
    const call = calls.at(place);
    return call === undefined ? 0 : call.endNs - call.startNs;
  });
  const shortest = calls.length <= most ? 0 : (lengths.toSorted().at(-Math.floor(most)) ?? 0);
  let room = Math.floor(most);
  for (const [place, ns] of lengths.entries()) {
    const call = ns < shortest || room === 0 ? undefined : calls.at(place);
    if (call === undefined) continue;
    room--;
    const { api, threadId } = call;
    const row = getOrCreate(rows, `${api} ${threadId}`, () => ({ api, threadId, kept: [], ns: 0 }));
    row.kept.push(call);
    row.ns += ns;
  }
  const longest = [...rows.values()].sort((a, b) => b.ns - a.ns);
  const shown = (["cuda", "os"] as const).flatMap((wanted) =>
    longest.filter(({ api }) => api === wanted).slice(0, MOST_OWN_ROWS),
  );
  return {
    rows: shown,
    left: shown.reduce((count, { kept }) => count - kept.length, calls.length),
  };
}

const STEPS = 1000;

/** A counter as bars from each value to its end, or to the next. */
function inSteps({ timesNs, values, endsNs }: CounterSeries, endNs: number, originNs: number) {
  const min = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const max = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const events = Array.from(timesNs, (timeNs, index): DrawnEvent => {
    const share = max > min ? ((values[index] ?? min) - min) / (max - min) : 1;
    const until = endsNs?.[index] ?? timesNs[index + 1] ?? Math.max(endNs, timeNs);
    return eventAt(timeNs, until, Math.round(share * STEPS), originNs);
  });
  return { events, min, max };
}

const eventAt = (startNs: number, endNs: number, name: number, originNs: number): DrawnEvent => ({
  // Deferred events may have happened before the recording began.
  startNs: Math.max(startNs - originNs, 0),
  endNs: Math.max(startNs - originNs, endNs - originNs, 0),
  name,
  lane: 0,
  launchRow: -1,
  launchNs: 0,
});

/** Up to this many threads of a process have a row each. */
const MOST_OWN_ROWS = 16;

interface Thread {
  /** OS thread id. */
  readonly id: number;
  /** Empty if the program gives none. */
  readonly name: string;
  /** In order of their start. */
  readonly ranges: RangeInstance[];
  /** Of its first range or launch to the end of its last. */
  startNs: number;
  endNs: number;
}

/**
 * Threads by row. In a process with many, threads of the same name that ran one after another share a row: a program
 * that starts a thread per task would otherwise have thousands of rows.
 */
function threadRows(process: ProcessTimeline): readonly (readonly Thread[])[] {
  const threads = threadsOf(process);
  if (threads.size <= MOST_OWN_ROWS) return [...threads.values()].map((thread) => [thread]);
  for (const { launchThreadId, launchNs } of process.kernels) {
    const thread = launchThreadId === null ? undefined : threads.get(launchThreadId);
    if (thread === undefined) continue;
    thread.startNs = Math.min(thread.startNs, launchNs);
    thread.endNs = Math.max(thread.endNs, launchNs + 1);
  }
  const rows: Thread[][] = [];
  const byName = new Map<string, Thread[][]>();
  for (const thread of [...threads.values()].sort((a, b) => a.startNs - b.startNs)) {
    const ofName = getOrCreate(byName, thread.name, () => []);
    const free = ofName.find((row) => (row.at(-1)?.endNs ?? 0) <= thread.startNs);
    if (free !== undefined) {
      free.push(thread);
      continue;
    }
    const row = [thread];
    ofName.push(row);
    rows.push(row);
  }
  return rows;
}

function threadsOf(process: ProcessTimeline): ReadonlyMap<number, Thread> {
  const threads = new Map<number, Thread>();
  for (const range of process.ranges) {
    if (range.kind !== "push_pop") continue;
    const { threadId: id, startNs } = range;
    let thread = threads.get(id);
    if (thread === undefined) {
      const name = process.threadNames?.get(id) ?? "";
      thread = { id, name, ranges: [], startNs, endNs: startNs };
      threads.set(id, thread);
    }
    thread.ranges.push(range);
    thread.endNs = Math.max(thread.endNs, range.endNs ?? process.endNs);
  }
  return threads;
}

function threadLabel(row: readonly Thread[]): string {
  const [first] = row;
  if (first === undefined) return "";
  const { id, name } = first;
  if (row.length === 1) return name === "" ? `thread ${id}` : name;
  return name === ""
    ? `thread ${id} and ${plural(row.length - 1, "other")}, one after another`
    : `${name} (${plural(row.length, "thread")}, one after another)`;
}

/** In order of their start. Iterates over millions of kernels with one object at a time. */
function byStream({ kernels }: ProcessTimeline): ReadonlyMap<string, Iterable<KernelInstance>> {
  const starts = new Float64Array(kernels.length);
  const streams = new Map<string, { readonly places: number[]; isOrdered: boolean }>();
  let place = 0;
  for (const { device, stream, startNs } of kernels) {
    starts[place] = startNs;
    const name = `cuda:${device}${stream === null ? "" : ` stream ${stream}`}`;
    const calls = getOrCreate(streams, name, () => ({ places: [], isOrdered: true }));
    calls.isOrdered &&= (starts[calls.places.at(-1) ?? place] ?? 0) <= startNs;
    calls.places.push(place++);
  }
  const startAt = (call: number) => starts[call] ?? 0;
  return new Map(
    [...streams].map(([name, { places, isOrdered }]) => {
      if (!isOrdered) places.sort((a, b) => startAt(a) - startAt(b));
      return [name, kernelsAt(kernels, places)];
    }),
  );
}

function* kernelsAt(kernels: KernelList, places: readonly number[]): Generator<KernelInstance> {
  for (const place of places) {
    const kernel = kernels.at(place);
    if (kernel !== undefined) yield kernel;
  }
}

function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Generator<U> {
  for (const item of items) yield change(item);
}

/**
 * Chooses the first lane whose last range has ended, so that nested ranges are below each other and none is covered.
 */
function* inLanes<T extends Pick<RangeInstance, "startNs" | "endNs">>(
  ranges: readonly T[],
  process: ProcessTimeline,
  originNs: number,
  nameOf: (range: T) => number,
  seen: (ns: number) => number,
): Generator<DrawnEvent> {
  const open: number[] = [];
  for (const range of ranges) {
    const end = Math.max(range.startNs, range.endNs ?? process.endNs);
    while (open.length > 0 && (open.at(-1) ?? 0) <= range.startNs) open.pop();
    const lane = open.length;
    open.push(end);
    seen(end - originNs);
    yield { ...eventAt(range.startNs, end, nameOf(range), originNs), lane };
  }
}

interface EncodedEvents {
  readonly bytes: Uint8Array;
  readonly lanes: number;
  /** The number of encoded events, and of all events. */
  readonly shown: number;
  readonly count: number;
}

/**
 * Encodes differences from the previous event as numbers with seven bits per byte.
 * @param most maximum number of encoded events; the first ones are kept
 */
function encoded(events: Iterable<DrawnEvent>, most: number, isLaunched: boolean): EncodedEvents {
  let bytes = new Uint8Array(64);
  let length = 0;
  const put = (value: number) => {
    if (length + 10 > bytes.length) {
      const larger = new Uint8Array(bytes.length * 2);
      larger.set(bytes);
      bytes = larger;
    }
    let rest = Math.max(0, Math.round(value));
    while (rest >= 128) {
      bytes[length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    bytes[length++] = rest;
  };
  let previous = 0;
  let count = 0;
  let lanes = 1;
  for (const { startNs, endNs, name, lane, launchRow, launchNs } of events) {
    if (count++ >= most) continue;
    lanes = Math.max(lanes, lane + 1);
    put(startNs - previous);
    previous = startNs;
    put(endNs - startNs);
    put(name);
    if (!isLaunched) {
      put(lane);
      continue;
    }
    put(launchRow + 1);
    if (launchRow >= 0) put(Math.max(0, startNs - launchNs));
  }
  return { bytes: bytes.slice(0, length), lanes, shown: Math.min(count, most), count };
}
