/** The events of a process in the order of time, whatever the order in which a collector delivers them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ReplayedEvents,
  type ReplayHandlers,
  replay,
  replayStream,
} from "../../../src/profiler/analysis/replay.ts";
import type { HostCall } from "../../../src/profiler/model/host-calls.ts";
import {
  createRangeReplay,
  type KernelInstance,
  type RangeInstance,
  type SynchronizationInstance,
  type ThreadSample,
} from "../../../src/profiler/model/timeline.ts";
import { processOf, type RangeSketch } from "./timelines.ts";

const LAST = 40;

/** What is told, each with its time; of an opening also the end that is foreseen. */
function logged(play: (handlers: ReplayHandlers) => void): readonly string[] {
  const log: string[] = [];
  const tell = (text: string) => void log.push(text);
  play({
    rangeOpens: ({ name, startNs }, endNs) => tell(`${startNs} opens ${name} until ${endNs}`),
    rangeCloses: ({ name, endNs }) => tell(`${endNs} closes ${name}`),
    hostIsCalled: ({ name, startNs }) => tell(`${startNs} call ${name}`),
    threadIsSampled: ({ timeNs, threadId }) => tell(`${timeNs} sample ${threadId}`),
    kernelIsLaunched: ({ launchNs, name }) => tell(`${launchNs} launch ${name}`),
    threadWaits: ({ callNs, threadId }) => tell(`${callNs} wait ${threadId}`),
  });
  return log;
}

const kernel = (launchNs: number, place: number): KernelInstance => ({
  name: `k${place}`,
  device: 0,
  stream: null,
  launchThreadId: 1,
  launchNs,
  startNs: launchNs,
  endNs: launchNs + 1,
});
const wait = (callNs: number, place: number): SynchronizationInstance => ({
  kind: "context",
  threadId: place,
  callNs,
  startNs: callNs,
  endNs: callNs + 1,
  stream: null,
});
const sample = (timeNs: number, place: number): ThreadSample => ({
  threadId: place,
  timeNs,
  sinceNs: timeNs,
  state: "running",
  queuedNs: 0,
  slices: 0,
  systemNs: 0,
  minorFaults: 0,
  majorFaults: 0,
  childrenNs: 0,
});
const call = (startNs: number, place: number): HostCall => ({
  api: "os",
  name: `c${place}`,
  threadId: 1,
  startNs,
  endNs: startNs + 1,
});

interface Times {
  readonly launches: readonly number[];
  readonly waits: readonly number[];
  readonly samples: readonly number[];
  readonly calls: readonly number[];
}

const eventsOf = ({ launches, waits, samples, calls }: Times): Omit<ReplayedEvents, "ranges"> => ({
  kernels: launches.map(kernel),
  waits: waits.map(wait),
  samples: samples.map(sample),
  // Which a collector delivers in order.
  hostCalls: calls.toSorted((a, b) => a - b).map(call),
});

/** As it is defined: by time, then closings, openings and what happens, each kind in the order of its delivery. */
function expected(ranges: readonly RangeInstance[], times: Times): readonly string[] {
  const { kernels, waits, samples } = eventsOf(times);
  const all: { readonly at: number; readonly rank: number; readonly text: string }[] = [];
  const opened = ranges.toSorted((a, b) => a.startNs - b.startNs);
  for (const { name, startNs, endNs } of opened.toReversed())
    if (endNs !== null && endNs > startNs)
      all.push({ at: endNs, rank: 0, text: `${endNs} closes ${name}` });
  for (const { name, startNs, endNs } of opened) {
    const until = Math.max(startNs, endNs ?? LAST);
    all.push({ at: startNs, rank: 1, text: `${startNs} opens ${name} until ${until}` });
  }
  for (const [place, at] of times.calls.toSorted((a, b) => a - b).entries())
    all.push({ at, rank: 2, text: `${at} call c${place}` });
  for (const { timeNs: at, threadId } of samples)
    all.push({ at, rank: 3, text: `${at} sample ${threadId}` });
  for (const { launchNs: at, name } of kernels)
    all.push({ at, rank: 4, text: `${at} launch ${name}` });
  for (const { callNs: at, threadId } of waits)
    all.push({ at, rank: 5, text: `${at} wait ${threadId}` });
  return all.sort((a, b) => a.at - b.at || a.rank - b.rank).map(({ text }) => text);
}

const some = fc.array(fc.nat(30), { maxLength: 6 });
const times: fc.Arbitrary<Times> = fc.record({
  launches: some,
  waits: some,
  samples: some,
  calls: some,
});
const sketches: fc.Arbitrary<readonly RangeSketch[]> = fc
  .array(fc.record({ start: fc.nat(30), length: fc.option(fc.nat(6), { freq: 5, nil: null }) }), {
    maxLength: 8,
  })
  .map((all) =>
    all.map(({ start, length }, place) => ({
      ...{ name: `r${place}`, start, end: length === null ? null : start + length },
    })),
  );

const rangesOf = (all: readonly RangeSketch[]) => processOf({ ranges: all }).ranges;

describe("events", () => {
  it("come in the order of time, and at one time closings, openings and then what happens", () => {
    fc.assert(
      fc.property(sketches, times, fc.boolean(), (all, when, isReversed) => {
        const ordered = rangesOf(all);
        // A collector may deliver ranges in any order; those of one time stay in theirs.
        const ranges = isReversed ? ordered.toReversed() : ordered;
        const got = logged((handlers) => replay({ ...eventsOf(when), ranges }, LAST, handlers));
        expect(got).toEqual(expected(ranges, when));
      }),
    );
  });

  it("of a list that says that it is ordered are taken as they come", () => {
    const kernels = Object.assign([kernel(9, 0), kernel(3, 1)], { isOrdered: true as const });
    const events = { ...eventsOf({ launches: [], waits: [], samples: [], calls: [] }), ranges: [] };
    expect(logged((handlers) => replay({ ...events, kernels }, LAST, handlers))).toEqual([
      "9 launch k0",
      "3 launch k1",
    ]);
  });

  it("of a stream of ranges come in the same order", () => {
    fc.assert(
      fc.property(sketches, times, (all, when) => {
        const ranges = rangesOf(all);
        const stream = {
          count: ranges.length,
          replay: (handlers: Parameters<typeof createRangeReplay>[2]) =>
            createRangeReplay(ranges.length, (place) => ranges[place], handlers).until(
              Number.POSITIVE_INFINITY,
            ),
        };
        const got = logged((handlers) => replayStream(stream, eventsOf(when), LAST, handlers));
        // A stream tells of all closings, also at the time of the opening.
        const later = new Set(
          ranges.flatMap(({ name, startNs, endNs }) =>
            endNs !== null && endNs <= startNs ? [`${endNs} closes ${name}`] : [],
          ),
        );
        // Which of two ranges closes first that end together is the reader's.
        const byTime = (log: readonly string[]) =>
          log.filter((line) => !later.has(line)).map((line) => line.replace(/closes .*/, "closes"));
        expect(byTime(got)).toEqual(byTime(expected(ranges, when)));
        expect(got.filter((line) => later.has(line))).toHaveLength(later.size);
      }),
    );
  });
});

describe("ranges that open and close at one time", () => {
  const order = (all: readonly RangeSketch[]) =>
    logged((handlers) =>
      replay(
        {
          ...eventsOf({ launches: [10], waits: [], samples: [], calls: [] }),
          ranges: rangesOf(all),
        },
        LAST,
        handlers,
      ),
    ).map((line) => line.replace(/^\d+ | until .*/g, ""));

  it("follow the recorded sequence, if there is one", () => {
    const outer = { name: "a", start: 0, end: 10, startSequence: 1 };
    const next = { name: "b", start: 10, end: 20, endSequence: 9 };
    const after = ["opens a", "opens b", "closes a", "launch k0", "closes b"];
    const before = ["opens a", "closes a", "opens b", "launch k0", "closes b"];
    expect(
      order([
        { ...outer, endSequence: 5 },
        { ...next, startSequence: 4 },
      ]),
    ).toEqual(after);
    expect(
      order([
        { ...outer, endSequence: 4 },
        { ...next, startSequence: 5 },
      ]),
    ).toEqual(before);
    expect(order([outer, { ...next, startSequence: 4 }])).toEqual(before);
    expect(order([{ ...outer, endSequence: 5 }, next])).toEqual(before);
  });

  it("without a duration stay open for what the sequence has between", () => {
    const instant = { name: "a", start: 10, end: 10, startSequence: 1 };
    expect(order([instant])).toEqual(["opens a", "launch k0"]);
    expect(
      order([
        { ...instant, endSequence: 4 },
        { name: "b", start: 10, end: 10, startSequence: 2, endSequence: 3 },
      ]),
    ).toEqual(["opens a", "opens b", "closes b", "closes a", "launch k0"]);
  });

  it("close by their sequence where they end together, else the one opened last", () => {
    const [a, b] = [
      { name: "a", start: 0, end: 10 },
      { name: "b", start: 1, end: 10 },
    ];
    const closings = (all: readonly RangeSketch[]) =>
      order(all).filter((line) => line.startsWith("closes"));
    expect(closings([a, b])).toEqual(["closes b", "closes a"]);
    expect(
      closings([
        { ...a, endSequence: 3 },
        { ...b, endSequence: 4 },
      ]),
    ).toEqual(["closes a", "closes b"]);
  });
});
