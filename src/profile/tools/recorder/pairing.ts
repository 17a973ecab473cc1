import { getOrCreate } from "../../../system/get-or-create.ts";
import type {
  CategoryName,
  CounterSeries,
  MarkInstance,
  RangeHandlers,
  RangeInstance,
  ThreadCounts,
} from "../../model/timeline.ts";
import type {
  EndEvent,
  NoteCollector,
  NvtxEvent,
  PopEvent,
  PushEvent,
  RangeId,
  SampleEvent,
  StartEvent,
} from "./events.ts";

/** Everything that one process recorded, paired. */
export interface PairedEvents {
  /** By start; ids count up in that order. */
  readonly ranges: readonly RangeInstance[];
  readonly marks: readonly MarkInstance[];
  readonly counters: readonly CounterSeries[];
  /** OS thread id to the name the program gave it. */
  readonly threadNames: ReadonlyMap<number, string>;
  readonly categoryNames: readonly CategoryName[];
  /** Time of the latest event; null without any. */
  readonly lastNs: number | null;
  /** How many ranges there are, kept or not. */
  readonly count: number;
  /** Whether each thread closed its ranges in the reverse order of their opening, and no other thread did. */
  readonly isNested: boolean;
}

/** How many ranges may still be kept: of all recordings of a run together. */
export interface KeptRanges {
  left: number;
}

export interface Pairing {
  readonly add: (event: NvtxEvent) => void;
  /** Once, after all events. */
  readonly finish: () => PairedEvents;
}

type RangeDraft = { -readonly [K in keyof RangeInstance]: RangeInstance[K] };

/** A range, and what its thread had used when it was opened. */
interface Opened {
  readonly range: RangeDraft;
  readonly cpuNs: number | null;
  readonly counts: ThreadCounts | null;
}

/**
 * Makes ranges of openings and closings. A pop closes what was pushed last on its thread in its
 * domain; an end closes what was started with its id, on any thread. What finds no partner leaves a
 * note: an opening stays open, a closing is left out.
 *
 * @param kept by default all ranges are
 */
export function createPairing(
  notes: NoteCollector,
  kept: KeptRanges = { left: Number.POSITIVE_INFINITY },
): Pairing {
  const ranges: RangeDraft[] = [];
  const marks: MarkInstance[] = [];
  const threadNames = new Map<number, string>();
  const categoryNames = new Map<string, CategoryName>();
  const samples = new Map<string, SampleEvent[]>();
  /** Per stream and domain, innermost last. */
  const stacks = new Map<number, Map<string, Opened[]>>();
  const started = new Map<RangeId, Opened>();
  /** Per stream, the last that is known of its thread. */
  const used = new Map<number, PopEvent | PushEvent | StartEvent | EndEvent>();
  /** Without a start so far: the starting thread's stream may be read later. */
  const earlyEnds: { readonly event: EndEvent; readonly sequence: number }[] = [];
  let lastNs: number | null = null;
  let count = 0;
  let isNested = true;
  /** Domains of what is open, per stream, innermost last. */
  const nesting = new Map<number, string[]>();
  /** Place in the stream of events: orders what happened within one tick of the clock. */
  let sequence = 0;

  const keep = (range: RangeDraft): void => {
    count++;
    if (kept.left === 0) return;
    kept.left--;
    ranges.push(range);
  };

  const open = (event: PushEvent | StartEvent): Opened => {
    if (event.cpuNs !== null) used.set(event.stream, event);
    const range = draftOf(event, sequence, event.kind === "push" ? "push_pop" : "start_end");
    // What payloads say is read once only.
    if (event.values !== undefined) isNested = false;
    keep(range);
    return { range, cpuNs: event.cpuNs, counts: event.counts };
  };

  const close = (opened: Opened, event: PopEvent | EndEvent, at: number): void => {
    const { range } = opened;
    if (event.cpuNs !== null) used.set(event.stream, event);
    if (event.threadId === range.threadId) setUsed(opened, event);
    // Only a damaged file has a range that ends before it starts.
    range.endNs = Math.max(range.startNs, event.timeNs);
    range.endSequence = at;
    range.endThreadId = event.threadId;
    if (event.rename !== undefined) {
      isNested = false;
      range.name = event.rename;
    }
    if (event.values === undefined) return;
    isNested = false;
    range.values = range.values === undefined ? event.values : [...range.values, ...event.values];
  };

  /** False: no range with its id was started so far. */
  const end = (event: EndEvent, at: number): boolean => {
    const opened = started.get(event.rangeId);
    if (opened === undefined) return false;
    if (opened.range.endNs !== null) notes.count("ranges ended more than once");
    else close(opened, event, at);
    return true;
  };

  /** What is open on a thread has used at least what the thread had at its last event. */
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
          return;
        }
        close(opened, event, sequence);
        if (nesting.get(event.stream)?.pop() !== event.domain) isNested = false;
        return;
      }
      case "start":
        isNested = false;
        started.set(event.rangeId, open(event));
        return;
      case "end":
        if (!end(event, sequence)) earlyEnds.push({ event, sequence });
        return;
      case "mark": {
        const { kind: _, stream: __, ...mark } = event;
        marks.push(mark);
        return;
      }
      case "range": {
        const { kind: _, rangeKind, timeNs, endNs, threadId, ...rest } = event;
        const place = { id: 0, kind: rangeKind, startNs: timeNs, endNs };
        // Handed over after others that were opened later.
        isNested = false;
        keep({ ...place, threadId, endThreadId: threadId, ...rest });
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
    for (const { event, sequence: at } of earlyEnds)
      if (!end(event, at)) notes.count("ends of ranges that were never started");
    for (const stream of [...stacks.keys()]) leaveOpen(stream);
    // Stable: what a thread opened first stays first on a tie.
    ranges.sort((a, b) => a.startNs - b.startNs);
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
  // A field of every range from the start: one that came later would cost each some 40 bytes.
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

/** Processor time and counts of a thread from the opening of a range to one of its later events. */
function setUsed(
  { range, cpuNs, counts }: Opened,
  at: PopEvent | PushEvent | StartEvent | EndEvent,
) {
  // Only a damaged file has a clock that goes back.
  if (cpuNs !== null && at.cpuNs !== null) range.cpuNs = Math.max(0, at.cpuNs - cpuNs);
  const now = at.counts;
  if (counts === null || now === null) return;
  // 32 bits, which may wrap.
  const since = (which: 0 | 1 | 2 | 3) => (now[which] - counts[which]) >>> 0;
  range.counts = [since(0), since(1), since(2), since(3)];
}

/** Those that were handed over later come last. */
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
 * Pairs events that come in order of time, of threads that close their ranges in the reverse order of opening, and keeps
 * none: a handler gets each range as it opens and as it closes.
 */
export function createNestedPairing({ opens, closes }: RangeHandlers): Pick<Pairing, "add"> & {
  /** Once, after all events. */
  readonly finish: () => void;
} {
  const stacks = new Map<number, Opened[]>();
  const used = new Map<number, PopEvent | PushEvent>();
  let id = 0;
  const leaveOpen = (stream: number): void => {
    const last = used.get(stream);
    if (last !== undefined) for (const opened of stacks.get(stream) ?? []) setUsed(opened, last);
    stacks.delete(stream);
    used.delete(stream);
  };
  return {
    add(event) {
      if (event.kind === "thread") leaveOpen(event.stream);
      else if (event.kind === "push") {
        if (event.cpuNs !== null) used.set(event.stream, event);
        const range = draftOf(event, id++, "push_pop");
        let stack = stacks.get(event.stream);
        if (stack === undefined) {
          stack = [];
          stacks.set(event.stream, stack);
        }
        stack.push({ range, cpuNs: event.cpuNs, counts: event.counts });
        opens(range, null);
      } else if (event.kind === "pop") {
        const opened = stacks.get(event.stream)?.pop();
        if (opened === undefined) return;
        if (event.cpuNs !== null) used.set(event.stream, event);
        const { range } = opened;
        setUsed(opened, event);
        range.endNs = Math.max(range.startNs, event.timeNs);
        range.endThreadId = event.threadId;
        closes(range);
      }
    },
    finish() {
      for (const stream of [...stacks.keys()]) leaveOpen(stream);
    },
  };
}
