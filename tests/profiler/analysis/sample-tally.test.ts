import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { mergedSamples } from "../../../src/profiler/analysis/sample-tally.ts";
import type { ThreadSample, ThreadState } from "../../../src/profiler/model/timeline.ts";
import { processOf, type RangeSketch, timelineOf } from "./timelines.ts";

const MS = 1e6;

/** A look at a thread each 10 ms, from 5 ms on, with a page fault for each. */
const looks = (threadId: number, states: readonly ThreadState[]): readonly ThreadSample[] =>
  states.map((state, at) => ({
    threadId,
    timeNs: (at * 10 + 5) * MS,
    sinceNs: (Math.max(0, at - 1) * 10 + 5) * MS,
    state,
    queuedNs: 0,
    slices: 0,
    systemNs: 0,
    minorFaults: at === 0 ? 0 : 1,
    majorFaults: 0,
    childrenNs: 0,
  }));

function samplesOf(ranges: readonly RangeSketch[], threadSamples: readonly ThreadSample[]) {
  const timeline = timelineOf([]);
  const process = {
    ...processOf({
      pid: 1,
      ranges: ranges.map((range) => ({
        ...range,
        start: range.start * MS,
        end: (range.end ?? 0) * MS,
      })),
      endNs: 200 * MS,
    }),
    threadSamples,
  };
  const model = buildRegionModel({ ...timeline, processes: [process] });
  return Object.fromEntries(
    (model.scopes[0]?.regions ?? []).map(({ path, samples }) => [
      path.join("/"),
      samples && { ...Object.fromEntries(samples.states), faults: samples.minorFaults },
    ]),
  );
}

describe("samples of threads", () => {
  it("count for the innermost range of their own thread", () => {
    const found = samplesOf(
      [
        { name: "outer", start: 0, end: 50 },
        { name: "inner", start: 20, end: 40 },
        { name: "other", start: 0, end: 50, thread: 2 },
      ],
      [
        ...looks(1, ["running", "lock", "sleep", "sleep", "lock"]),
        ...looks(2, ["file", "file", "file", "file", "file"]),
      ],
    );
    expect(found).toMatchObject({
      outer: { running: 1, lock: 2 },
      "outer/inner": { sleep: 2 },
      other: { file: 5 },
    });
  });

  it("of the first thread count for the time outside, while no range is open at all", () => {
    const found = samplesOf(
      [{ name: "step", start: 20, end: 40, thread: 2 }],
      [...looks(1, ["sleep", "sleep", "join", "join", "sleep"]), ...looks(3, ["poll", "poll"])],
    );
    expect(found).toMatchObject({ "(outside)": { sleep: 3 } });
    expect(found["step"]).toBeUndefined();
  });

  it("of other threads, and of a first thread while others have ranges open, count for nothing outside", () => {
    expect(samplesOf([], looks(2, ["lock", "lock", "lock"]))).toEqual({});
    const other = { name: "other", start: 0, end: 50, thread: 2 };
    const idle = looks(1, ["lock", "lock", "lock"]);
    expect(samplesOf([other], idle)["(outside)"]).toBeUndefined();
    // A range that another thread started is none of the first thread's own.
    const shared = samplesOf([{ ...other, kind: "start_end" }], idle);
    expect(shared).toMatchObject({ other: undefined });
    expect(shared["(outside)"]).toBeUndefined();
  });

  it("count what the system counted where nothing else can have caused it", () => {
    const long = [
      { name: "a", start: 0, end: 50 },
      { name: "b", start: 50, end: 100 },
    ];
    const all = looks(
      1,
      Array.from({ length: 10 }, () => "running"),
    );
    expect(samplesOf(long, all)).toMatchObject({ a: { faults: 4 }, b: { faults: 4 } });
    // Ranges of 2 ms in turn: what happened between two looks may be of either.
    const short = Array.from({ length: 50 }, (_, at) => ({
      name: at % 2 === 0 ? "a" : "b",
      start: at * 2,
      end: at * 2 + 2,
    }));
    const found = samplesOf(short, all);
    expect((found["a"]?.faults ?? 0) + (found["b"]?.faults ?? 0)).toBe(0);
    // The same range again and again: it is of that one.
    const again = short.map((range) => ({ ...range, name: "a" }));
    expect(samplesOf(again, all)).toMatchObject({ a: { faults: 9 } });
  });

  it("count where threads stay for nine of ten looks, also what happened from one range to the next", () => {
    // A range of 10 ms around each look: each look is in a new one.
    const ranges = (names: readonly string[]) =>
      names.map((name, at) => ({ name, start: at * 10, end: at * 10 + 10 }));
    const faultsOf = (names: readonly string[]) =>
      samplesOf(
        ranges(names),
        looks(
          1,
          names.map(() => "running" as const),
        ),
      )["a"]?.faults;
    const times = (count: number, name = "a") => Array.from({ length: count }, () => name);
    // Nine times it stayed, once it left.
    expect(faultsOf([...times(10), "b"])).toBe(9);
    expect(faultsOf([...times(9), "b"])).toBe(0);
  });

  it("of several processes are added up, each count of its own", () => {
    const tally = (factor: number, state: ThreadState) => ({
      states: new Map([
        [state, factor],
        ["lock" as const, 1],
      ]),
      countedNs: factor,
      queuedNs: 2 * factor,
      slices: 3 * factor,
      systemNs: 4 * factor,
      minorFaults: 5 * factor,
      majorFaults: 6 * factor,
      childrenNs: 7 * factor,
    });
    const one = tally(1, "poll");
    expect(mergedSamples([])).toBeUndefined();
    expect(mergedSamples([one])).toEqual(one);
    expect(mergedSamples([one, tally(10, "poll"), tally(100, "file")])).toEqual({
      ...tally(111, "file"),
      states: new Map([
        ["poll", 11],
        ["lock", 3],
        ["file", 100],
      ]),
    });
    expect(one).toEqual(tally(1, "poll"));
  });
});
