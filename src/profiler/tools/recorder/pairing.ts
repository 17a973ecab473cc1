/** Pairs openings and closings of ranges. */
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { type Column, createColumn, doubles } from "../../model/columns.ts";
import type {
  CategoryName,
  CounterSeries,
  MarkInstance,
  RangeHandlers,
  RangeInstance,
  ThreadCounts,
} from "../../model/timeline.ts";
import type {
  DeferredRangeEvent,
  EndEvent,
  InstructionReading,
  NoteCollector,
  NvtxEvent,
  PopEvent,
  PushEvent,
  RangeId,
  SampleEvent,
  StartEvent,
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
  /** The first ends of ranges that were closed by a later one, as that was read first: to be read again with these. */
  readonly missedEnds: FirstEnds;
}

/** Facts known only when a range closes, by its stream and its index among the ranges that the stream opened. */
export interface Endings {
  /** Null for a range that was never closed. */
  readonly endNs: (stream: number, place: number) => number | null;
  /** The name that its closing set. */
  readonly rename: (stream: number, place: number) => string | undefined;
}

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
  readonly instructions: InstructionReading | null;
}

/** What becomes of ranges as they open and close. */
interface RangeSink {
  readonly opens: (opened: Opened, event: PushEvent | StartEvent) => void;
  /** @param sequence of the closing event */
  readonly closes: (opened: Opened, event: PopEvent | EndEvent, sequence: number) => void;
  /** A closing that closes nothing, and is dropped. */
  readonly drops: (what: string) => void;
}

type ThreadUsage = PopEvent | PushEvent | StartEvent | EndEvent;

/**
 * The state of pairing. A pop closes the last pushed range of its thread and domain; an end closes the range that was
 * started with its id, on any thread. Of several ends of a range the first one counts, whatever its thread.
 */
interface OpenRanges {
  readonly sink: RangeSink;
  /** Per stream and domain, innermost last. */
  readonly stacks: Map<number, Map<string, Opened[]>>;
  /** Open start/end ranges. */
  readonly started: Map<RangeId, Opened>;
  /** Ends without a start so far: the starting thread's stream may be read later. */
  readonly early: Map<RangeId, { readonly event: EndEvent; readonly sequence: number }>;
  /** When ranges ended, by id: ids count up. */
  readonly endedNs: Column;
  /** The ends that count of ranges that an earlier reading closed by a later one. */
  readonly firstEnds: FirstEnds;
  /** The earlier ends of ranges that were closed by a later one, which was read first. */
  readonly missedEnds: Map<RangeId, number>;
  /** The last known resource usage of each stream's thread. */
  readonly used: Map<number, ThreadUsage>;
  readonly places: Map<number, number>;
  /** Index of events in the order of reading: orders events within one tick of the clock. */
  sequence: number;
}

/** Times of ends, by the id of their range. */
export type FirstEnds = ReadonlyMap<RangeId, number>;

const NO_ENDS: FirstEnds = new Map();

const openRanges = (sink: RangeSink, firstEnds: FirstEnds): OpenRanges => ({
  sink,
  stacks: new Map(),
  started: new Map(),
  early: new Map(),
  endedNs: createColumn(doubles, Number.NaN),
  firstEnds,
  missedEnds: new Map(),
  used: new Map(),
  places: new Map(),
  sequence: 0,
});

/** Pairs the next event. */
function pair(state: OpenRanges, event: NvtxEvent): void {
  state.sequence++;
  switch (event.kind) {
    case "thread":
      leaveOpen(state, event.stream);
      return;
    case "push":
      stackOf(state, event.stream, event.domain).push(open(state, event));
      return;
    case "pop": {
      const opened = stackOf(state, event.stream, event.domain).pop();
      if (opened === undefined) state.sink.drops("pops without an open range");
      else close(state, opened, event, state.sequence);
      return;
    }
    case "start":
      start(state, event);
      return;
    case "end":
      end(state, event, state.sequence);
  }
}

function stackOf({ stacks }: OpenRanges, stream: number, domain: string): Opened[] {
  const domains = getOrCreate(stacks, stream, () => new Map<string, Opened[]>());
  return getOrCreate(domains, domain, () => []);
}

function open(state: OpenRanges, event: PushEvent | StartEvent): Opened {
  const { places, sequence, sink } = state;
  const { stream } = event;
  see(state, event);
  const range = draftOf(event, sequence, event.kind === "push" ? "push_pop" : "start_end");
  const place = places.get(stream) ?? 0;
  places.set(stream, place + 1);
  const { cpuNs, counts, instructions } = event;
  const opened = { range, stream, place, cpuNs, counts, instructions };
  sink.opens(opened, event);
  return opened;
}

function close(
  state: OpenRanges,
  opened: Opened,
  event: PopEvent | EndEvent,
  sequence: number,
): void {
  see(state, event);
  setClosed(opened, event);
  state.sink.closes(opened, event, sequence);
}

/** An end that came before its start closes when that comes, and is not the thread's last event then. */
function see({ used }: OpenRanges, event: ThreadUsage): void {
  const isKnown = event.cpuNs !== null || event.instructions !== null;
  if (isKnown && (used.get(event.stream)?.timeNs ?? event.timeNs) <= event.timeNs)
    used.set(event.stream, event);
}

function start(state: OpenRanges, event: StartEvent): void {
  const { early, started } = state;
  started.set(event.rangeId, open(state, event));
  const ended = early.get(event.rangeId);
  if (ended === undefined) return;
  early.delete(event.rangeId);
  end(state, ended.event, ended.sequence);
}

function end(state: OpenRanges, event: EndEvent, sequence: number): void {
  const { early, endedNs, firstEnds, sink, started } = state;
  const { rangeId, timeNs } = event;
  const isLater = (firstEnds.get(rangeId) ?? timeNs) !== timeNs;
  const opened = started.get(rangeId);
  if (isLater) sink.drops(ENDED_AGAIN);
  else if (opened !== undefined) {
    started.delete(rangeId);
    if (isSmall(rangeId)) endedNs.set(rangeId, timeNs);
    close(state, opened, event, sequence);
  } else if (isSmall(rangeId) && !Number.isNaN(endedNs.get(rangeId))) {
    if (timeNs < (state.missedEnds.get(rangeId) ?? endedNs.get(rangeId)))
      state.missedEnds.set(rangeId, timeNs);
    sink.drops(ENDED_AGAIN);
  } else {
    const other = early.get(rangeId);
    if (other !== undefined) sink.drops(ENDED_AGAIN);
    if (other !== undefined && other.event.timeNs <= timeNs) return;
    see(state, event);
    early.set(rangeId, { event, sequence });
  }
}

const INTERRUPTED =
  "ranges whose instructions are missing, since the processor's counter was given to others meanwhile (perf, or kernel.nmi_watchdog)";

const ENDED_AGAIN = "ranges ended more than once";

/** Ranges that stay open have used at least the resources up to the thread's last event. */
function leaveOpen({ stacks, used }: OpenRanges, stream: number): void {
  const last = used.get(stream);
  if (last !== undefined)
    for (const stack of stacks.get(stream)?.values() ?? [])
      for (const opened of stack) setUsed(opened, last);
  stacks.delete(stream);
  used.delete(stream);
}

const leaveAllOpen = (state: OpenRanges): void => {
  for (const stream of [...state.stacks.keys()]) leaveOpen(state, stream);
};

/**
 * Pairs openings and closings to ranges, which it keeps. Unpaired events leave a note: an opening stays open, a closing
 * is dropped.
 *
 * @param kept by default all ranges are kept
 * @param firstEnds from an earlier reading (`missedEnds`)
 */
export function createPairing(
  notes: NoteCollector,
  kept: KeptRanges = { left: Number.POSITIVE_INFINITY },
  firstEnds: FirstEnds = NO_ENDS,
): Pairing {
  const ranges: RangeDraft[] = [];
  const deferred: RangeDraft[] = [];
  const others = createOthers();
  /** Domains of the open ranges, per stream, innermost last. */
  const nesting = new Map<number, string[]>();
  let lastNs: number | null = null;
  let count = 0;
  let isNested = true;

  const state = openRanges(
    {
      opens({ range }, event) {
        if (event.kind === "start") isNested = false;
        else getOrCreate(nesting, event.stream, (): string[] => []).push(event.domain);
        count++;
        if (kept.left === 0) return;
        kept.left--;
        ranges.push(range);
      },
      closes({ range, instructions }, event, sequence) {
        range.endSequence = sequence;
        if (instructions !== null && event.instructions !== null && range.instructions === null)
          if (range.endThreadId === range.threadId) notes.count(INTERRUPTED);
        if (event.rename !== undefined) isNested = false;
        if (event.kind === "pop" && nesting.get(event.stream)?.pop() !== event.domain)
          isNested = false;
      },
      drops(what) {
        isNested = false;
        notes.count(what);
      },
    },
    firstEnds,
  );

  return {
    add(event) {
      if ("timeNs" in event) lastNs = Math.max(lastNs ?? event.timeNs, event.timeNs);
      pair(state, event);
      if (event.kind === "thread") nesting.delete(event.stream);
      else if (event.kind === "range") {
        // Reported after others that were opened later.
        isNested = false;
        count++;
        deferred.push(deferredDraft(event));
      } else others.add(event);
    },
    finish() {
      for (const _ of state.early) notes.count("ends of ranges that were never started");
      leaveAllOpen(state);
      const isCut = ranges.length + deferred.length < count;
      for (const range of deferred) ranges.push(range);
      // The sort is stable: on a tie, the range that a thread opened first stays first.
      ranges.sort((a, b) => a.startNs - b.startNs);
      deferred.sort((a, b) => a.startNs - b.startNs);
      ranges.forEach((range, i) => {
        range.id = i;
      });
      return {
        ranges,
        ...others.finish(),
        lastNs,
        count,
        isNested,
        deferred: isCut ? deferred : [],
        missedEnds: state.missedEnds,
      };
    },
  };
}

function deferredDraft(event: DeferredRangeEvent): RangeDraft {
  const { kind: _, rangeKind, timeNs, endNs, threadId, ...rest } = event;
  const place = { id: 0, kind: rangeKind, startNs: timeNs, endNs };
  return { ...place, threadId, endThreadId: threadId, ...rest };
}

type OtherEvents = Pick<PairedEvents, "categoryNames" | "counters" | "marks" | "threadNames">;

/** Keeps the events that are no part of a range. */
function createOthers(): {
  readonly add: (event: NvtxEvent) => void;
  readonly finish: () => OtherEvents;
} {
  const marks: MarkInstance[] = [];
  const threadNames = new Map<number, string>();
  const categoryNames = new Map<string, CategoryName>();
  const samples = new Map<string, SampleEvent[]>();
  return {
    add(event) {
      switch (event.kind) {
        case "mark": {
          const { kind: _, stream: __, ...mark } = event;
          marks.push(mark);
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
    },
    finish: () => ({
      marks: marks.sort((a, b) => a.timeNs - b.timeNs),
      counters: [...samples.values()].map(seriesOf),
      threadNames,
      categoryNames: [...categoryNames.values()],
    }),
  };
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
  instructions: null,
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

/** Sets processor time, counts and instructions of a thread from the opening of a range to one of its later events. */
function setUsed(
  { range, cpuNs, counts, instructions }: Opened,
  event: PopEvent | PushEvent | StartEvent | EndEvent,
) {
  // Only in a damaged file does the clock go back.
  if (cpuNs !== null && event.cpuNs !== null) range.cpuNs = Math.max(0, event.cpuNs - cpuNs);
  if (instructions !== null && event.instructions?.interruptions === instructions.interruptions)
    range.instructions = Math.max(0, event.instructions.count - instructions.count);
  const now = event.counts;
  if (counts === null || now === null) return;
  // 32-bit counters may wrap.
  range.counts = counts.map((count, which) => ((now[which] ?? count) - count) >>> 0);
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

/**
 * Pairs events only to determine when ranges end: 8 bytes for each.
 *
 * @param firstEnds from an earlier reading (`missedEnds`)
 */
export function createEndings(
  firstEnds: FirstEnds,
): Endings & { readonly add: (event: NvtxEvent) => void } {
  const ends = new Map<number, Column>();
  const names = new Map<number, Map<number, string>>();
  const state = openRanges(
    {
      opens: () => {},
      closes({ place, range, stream }, { rename }) {
        getOrCreate(ends, stream, () => createColumn(doubles, Number.NaN)).set(
          place,
          range.endNs ?? Number.NaN,
        );
        if (rename !== undefined)
          getOrCreate(names, stream, () => new Map<number, string>()).set(place, rename);
      },
      drops: () => {},
    },
    firstEnds,
  );
  return {
    add: (event) => pair(state, event),
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
  const state = openRanges(
    {
      opens({ place, range, stream }) {
        range.name = endings?.rename(stream, place) ?? range.name;
        opens(range, endings && (endings.endNs(stream, place) ?? Number.POSITIVE_INFINITY));
      },
      closes: ({ range }) => closes(range),
      drops: () => {},
    },
    NO_ENDS,
  );
  return { add: (event) => pair(state, event), finish: () => leaveAllOpen(state) };
}
