/** Pairs openings and closings of ranges. */
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { bytes, type Column, createColumn, doubles } from "../../model/columns.ts";
import type {
  CategoryName,
  CounterSeries,
  MarkInstance,
  RangeHandlers,
  RangeInstance,
  ThreadCounts,
} from "../../model/timeline.ts";
import {
  createNotes,
  type EndEvent,
  type NoteCollector,
  type NvtxEvent,
  type PopEvent,
  type PushEvent,
  type RangeId,
  type SampleEvent,
  type StartEvent,
} from "./events.ts";

/** The events of one process, paired. */
export interface PairedEvents {
  /** In order of start; ids count up in that order. */
  readonly ranges: readonly RangeInstance[];
  readonly marks: readonly MarkInstance[];
  readonly counters: readonly CounterSeries[];
  /** OS thread id to the name the program gave it. */
  readonly threadNames: ReadonlyMap<number, string>;
  readonly categoryNames: readonly CategoryName[];
  /** Time of the latest event; null without any. */
  readonly lastNs: number | null;
  /** The number of ranges, kept or not. */
  readonly count: number;
  /** Whether each thread closed its ranges in the reverse order of their opening, and no other thread closed one. */
  readonly isNested: boolean;
  /** Where not all ranges are kept: the deferred ones, by start. No other reading has them. */
  readonly deferred: readonly RangeInstance[];
}

/** Facts known only when a range closes, by its stream and its index among the ranges that the stream opened. */
export interface Endings {
  /** Null for a range that was never closed. */
  readonly endNs: (stream: number, place: number) => number | null;
  /** The name that its closing set. */
  readonly rename: (stream: number, place: number) => string | undefined;
}

/** Called for each range that closes. */
export type OnClose = (
  opened: Pick<Opened, "stream" | "place" | "range">,
  rename: string | undefined,
) => void;

/** The limits for all recordings of a run together. */
export interface KeptRanges {
  /** How many more ranges may be kept. */
  left: number;
  /** If only the beginning is read: how many more bytes may be read. */
  bytesLeft?: number;
}

export interface Pairing {
  readonly add: (event: NvtxEvent) => void;
  /** Once, after all events. */
  readonly finish: () => PairedEvents;
}

type RangeDraft = { -readonly [K in keyof RangeInstance]: RangeInstance[K] };

/** An open range, and the resources that its thread had used when it was opened. */
interface Opened {
  readonly range: RangeDraft;
  readonly stream: number;
  /** The index among the ranges that its stream opened. */
  readonly place: number;
  readonly cpuNs: number | null;
  readonly counts: ThreadCounts | null;
}

/**
 * Pairs openings and closings to ranges. A pop closes the last pushed range of its thread and domain; an end closes the
 * range that was started with its id, on any thread. Unpaired events leave a note: an opening stays open, a closing is
 * dropped.
 *
 * @param kept by default all ranges are kept
 */
export function createPairing(
  notes: NoteCollector,
  kept: KeptRanges = { left: Number.POSITIVE_INFINITY },
  onClose: OnClose = () => {},
): Pairing {
  const ranges: RangeDraft[] = [];
  const marks: MarkInstance[] = [];
  const threadNames = new Map<number, string>();
  const categoryNames = new Map<string, CategoryName>();
  const samples = new Map<string, SampleEvent[]>();
  /** Per stream and domain, innermost last. */
  const stacks = new Map<number, Map<string, Opened[]>>();
  /** Open start/end ranges. */
  const started = new Map<RangeId, Opened>();
  /** Ids of ended ranges: they count up, so that a column takes a byte for each. */
  const ended = createColumn(bytes);
  /** The last known resource usage of each stream's thread. */
  const used = new Map<number, PopEvent | PushEvent | StartEvent | EndEvent>();
  /** Ends without a start so far: the starting thread's stream may be read later. */
  const earlyEnds = new Map<RangeId, { readonly event: EndEvent; readonly sequence: number }>();
  const places = new Map<number, number>();
  let lastNs: number | null = null;
  let count = 0;
  let isNested = true;
  const deferred: RangeDraft[] = [];
  /** Domains of the open ranges, per stream, innermost last. */
  const nesting = new Map<number, string[]>();
  /** Index of events in the stream: orders events within one tick of the clock. */
  let sequence = 0;

  const keep = (range: RangeDraft): void => {
    count++;
    if (kept.left === 0) return;
    kept.left--;
    ranges.push(range);
  };

  const see = (event: PopEvent | PushEvent | StartEvent | EndEvent): void => {
    // An end that came before its start closes when that comes, and is not the last then.
    if (event.cpuNs !== null && (used.get(event.stream)?.timeNs ?? event.timeNs) <= event.timeNs)
      used.set(event.stream, event);
  };

  const open = (event: PushEvent | StartEvent): Opened => {
    see(event);
    const range = draftOf(event, sequence, event.kind === "push" ? "push_pop" : "start_end");
    keep(range);
    const place = places.get(event.stream) ?? 0;
    places.set(event.stream, place + 1);
    return { range, stream: event.stream, place, cpuNs: event.cpuNs, counts: event.counts };
  };

  const close = (opened: Opened, event: PopEvent | EndEvent, at: number): void => {
    see(event);
    if (event.rename !== undefined) isNested = false;
    opened.range.endSequence = at;
    setClosed(opened, event);
    onClose(opened, event.rename);
  };

  const end = (event: EndEvent, at: number): void => {
    const { rangeId } = event;
    const opened = started.get(rangeId);
    if (opened !== undefined) {
      started.delete(rangeId);
      if (isSmall(rangeId)) ended.set(rangeId, 1);
      close(opened, event, at);
    } else if (earlyEnds.has(rangeId) || (isSmall(rangeId) && ended.get(rangeId) === 1))
      notes.count("ranges ended more than once");
    else {
      see(event);
      earlyEnds.set(rangeId, { event, sequence: at });
    }
  };

  const start = (event: StartEvent): void => {
    isNested = false;
    started.set(event.rangeId, open(event));
    const early = earlyEnds.get(event.rangeId);
    if (early === undefined) return;
    earlyEnds.delete(event.rangeId);
    end(early.event, early.sequence);
  };

  /** Ranges that stay open have used at least the resources up to the thread's last event. */
  const leaveOpen = (stream: number): void => {
    const last = used.get(stream);
    for (const stack of stacks.get(stream)?.values() ?? [])
      for (const opened of stack) if (last !== undefined) setUsed(opened, last);
    stacks.delete(stream);
    used.delete(stream);
    nesting.delete(stream);
  };

  const stackOf = (stream: number, domain: string): Opened[] => {
    const domains = getOrCreate(stacks, stream, () => new Map<string, Opened[]>());
    return getOrCreate(domains, domain, () => []);
  };

  const add = (event: NvtxEvent): void => {
    sequence++;
    if ("timeNs" in event) lastNs = Math.max(lastNs ?? event.timeNs, event.timeNs);
    switch (event.kind) {
      case "thread":
        leaveOpen(event.stream);
        return;
      case "push":
        getOrCreate(nesting, event.stream, (): string[] => []).push(event.domain);
        stackOf(event.stream, event.domain).push(open(event));
        return;
      case "pop": {
        const opened = stackOf(event.stream, event.domain).pop();
        if (opened === undefined) {
          notes.count("pops without an open range");
          isNested = false;
          return;
        }
        close(opened, event, sequence);
        if (nesting.get(event.stream)?.pop() !== event.domain) isNested = false;
        return;
      }
      case "start":
        start(event);
        return;
      case "end":
        end(event, sequence);
        return;
      case "mark": {
        const { kind: _, stream: __, ...mark } = event;
        marks.push(mark);
        return;
      }
      case "range": {
        const { kind: _, rangeKind, timeNs, endNs, threadId, ...rest } = event;
        const place = { id: 0, kind: rangeKind, startNs: timeNs, endNs };
        // Reported after others that were opened later.
        isNested = false;
        count++;
        deferred.push({ ...place, threadId, endThreadId: threadId, ...rest });
        return;
      }
      case "sample":
        getOrCreate(
          samples,
          JSON.stringify([event.domain, event.name, event.unit, event.threadId]),
          (): SampleEvent[] => [],
        ).push(event);
        return;
      case "thread_name":
        threadNames.set(event.threadId, event.name);
        return;
      case "category_name": {
        const { domain, category, name } = event;
        categoryNames.set(JSON.stringify([domain, category]), { domain, category, name });
      }
    }
  };

  const finish = (): PairedEvents => {
    for (const _ of earlyEnds) notes.count("ends of ranges that were never started");
    for (const stream of [...stacks.keys()]) leaveOpen(stream);
    const isCut = ranges.length + deferred.length < count;
    for (const range of deferred) ranges.push(range);
    // The sort is stable: on a tie, the range that a thread opened first stays first.
    ranges.sort((a, b) => a.startNs - b.startNs);
    deferred.sort((a, b) => a.startNs - b.startNs);
    marks.sort((a, b) => a.timeNs - b.timeNs);
    ranges.forEach((range, i) => {
      range.id = i;
    });
    return {
      ranges,
      marks,
      counters: [...samples.values()].map(seriesOf),
      threadNames,
      categoryNames: [...categoryNames.values()],
      lastNs,
      count,
      isNested,
      deferred: isCut ? deferred : [],
    };
  };

  return { add, finish };
}

const draftOf = (
  event: PushEvent | StartEvent,
  sequence: number,
  kind: RangeInstance["kind"],
): RangeDraft => ({
  id: 0,
  kind,
  domain: event.domain,
  name: event.name,
  threadId: event.threadId,
  startNs: event.timeNs,
  startSequence: sequence,
  // Present in every range from the start: adding the field later would cost some 40 bytes per range.
  endSequence: undefined,
  endNs: null,
  endThreadId: null,
  cpuNs: null,
  counts: null,
  category: event.category,
  color: event.color,
  payload: event.payload,
  values: event.values,
});

/** Whether an id may be a row of a column: not negative, and not so large that the column would be mostly empty. */
const isSmall = (id: RangeId): id is number => typeof id === "number" && id < 2 ** 28;

function setClosed(opened: Opened, event: PopEvent | EndEvent): void {
  const { range } = opened;
  if (event.threadId === range.threadId) setUsed(opened, event);
  // Only in a damaged file does a range end before it starts.
  range.endNs = Math.max(range.startNs, event.timeNs);
  range.endThreadId = event.threadId;
  if (event.rename !== undefined) range.name = event.rename;
  if (event.values === undefined) return;
  range.values = range.values === undefined ? event.values : [...range.values, ...event.values];
}

/** Sets processor time and counts of a thread from the opening of a range to one of its later events. */
function setUsed(
  { range, cpuNs, counts }: Opened,
  at: PopEvent | PushEvent | StartEvent | EndEvent,
) {
  // Only in a damaged file does the clock go back.
  if (cpuNs !== null && at.cpuNs !== null) range.cpuNs = Math.max(0, at.cpuNs - cpuNs);
  const now = at.counts;
  if (counts === null || now === null) return;
  // 32-bit counters may wrap.
  const since = (which: 0 | 1 | 2 | 3) => (now[which] - counts[which]) >>> 0;
  range.counts = [since(0), since(1), since(2), since(3)];
}

/** Sorts samples by time, because some are reported later. */
function seriesOf(samples: readonly SampleEvent[]): CounterSeries {
  const ordered = samples.toSorted((a, b) => a.timeNs - b.timeNs);
  const [{ domain, name, unit, threadId, holds } = NO_SAMPLE] = ordered;
  const timesNs = Float64Array.from(ordered, ({ timeNs }) => timeNs);
  return {
    domain,
    name,
    unit,
    threadId,
    holds,
    timesNs,
    values: Float64Array.from(ordered, ({ value }) => value),
  };
}

const NO_SAMPLE = { domain: "", name: "", unit: "", threadId: null, holds: false };

/** Pairs events only to determine when ranges end: 8 bytes for each. */
export function createEndings(): Endings & Pick<Pairing, "add" | "finish"> {
  const ends = new Map<number, Column>();
  const names = new Map<number, Map<number, string>>();
  const pairing = createPairing(createNotes(), { left: 0 }, ({ stream, place, range }, rename) => {
    getOrCreate(ends, stream, () => createColumn(doubles, Number.NaN)).set(
      place,
      range.endNs ?? Number.NaN,
    );
    if (rename !== undefined)
      getOrCreate(names, stream, () => new Map<number, string>()).set(place, rename);
  });
  return {
    add: pairing.add,
    finish: pairing.finish,
    endNs(stream, place) {
      const ns = ends.get(stream)?.get(place) ?? Number.NaN;
      return Number.isNaN(ns) ? null : ns;
    },
    rename: (stream, place) => names.get(stream)?.get(place),
  };
}

/**
 * Pairs events that come in order of time without keeping ranges: handlers get each as it opens and closes.
 *
 * @param endings null if each thread closes its ranges in the reverse order of opening, which needs no lookahead
 */
export function createStreamedPairing(
  { opens, closes }: RangeHandlers,
  endings: Endings | null,
): Pick<Pairing, "add"> & {
  /** Once, after all events. */
  readonly finish: () => void;
} {
  const stacks = new Map<number, Map<string, Opened[]>>();
  const started = new Map<RangeId, Opened>();
  /** Ends that come before their start: another thread's, at the same time. */
  const early = new Map<RangeId, EndEvent>();
  const used = new Map<number, PopEvent | PushEvent | StartEvent | EndEvent>();
  const places = new Map<number, number>();
  let id = 0;
  const leaveOpen = (stream: number): void => {
    const last = used.get(stream);
    if (last !== undefined)
      for (const stack of stacks.get(stream)?.values() ?? [])
        for (const opened of stack) setUsed(opened, last);
    stacks.delete(stream);
    used.delete(stream);
  };
  const stackOf = (stream: number, domain: string): Opened[] => {
    const domains = getOrCreate(stacks, stream, () => new Map<string, Opened[]>());
    // If all ranges are nested, the innermost one overall is also that of its domain.
    return getOrCreate(domains, endings === null ? "" : domain, () => []);
  };
  const open = (event: PushEvent | StartEvent): Opened => {
    const { stream } = event;
    if (event.cpuNs !== null) used.set(stream, event);
    const range = draftOf(event, id++, event.kind === "push" ? "push_pop" : "start_end");
    const place = places.get(stream) ?? 0;
    places.set(stream, place + 1);
    range.name = endings?.rename(stream, place) ?? range.name;
    opens(range, endings && (endings.endNs(stream, place) ?? Number.POSITIVE_INFINITY));
    return { range, stream, place, cpuNs: event.cpuNs, counts: event.counts };
  };
  const close = (opened: Opened, event: PopEvent | EndEvent): void => {
    if (event.cpuNs !== null) used.set(event.stream, event);
    setClosed(opened, event);
    closes(opened.range);
  };
  return {
    add(event) {
      switch (event.kind) {
        case "thread":
          leaveOpen(event.stream);
          return;
        case "push":
          stackOf(event.stream, event.domain).push(open(event));
          return;
        case "pop": {
          const opened = stackOf(event.stream, event.domain).pop();
          if (opened !== undefined) close(opened, event);
          return;
        }
        case "start": {
          const opened = open(event);
          const end = early.get(event.rangeId);
          if (end === undefined) started.set(event.rangeId, opened);
          else close(opened, end);
          early.delete(event.rangeId);
          return;
        }
        case "end": {
          const opened = started.get(event.rangeId);
          started.delete(event.rangeId);
          if (opened === undefined) early.set(event.rangeId, event);
          else close(opened, event);
        }
      }
    },
    finish() {
      for (const stream of [...stacks.keys()]) leaveOpen(stream);
    },
  };
}
