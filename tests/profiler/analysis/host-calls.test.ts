/** Calls of threads to CUDA and to the system count for the innermost range that their own thread has open. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { mergedCalls } from "../../../src/profiler/analysis/call-tally.ts";
import type { HostCall } from "../../../src/profiler/model/host-calls.ts";
import type { RangeKind } from "../../../src/profiler/model/timeline.ts";
import { runs } from "../../runs.ts";
import { type ProcessSketch, processOf, type RangeSketch, timelineOf } from "./timelines.ts";

const callOf = (name: string, threadId: number, startNs: number, endNs: number): HostCall => ({
  api: "os",
  name,
  threadId,
  startNs,
  endNs,
});

/** The host calls of each region by its path and kind, and of the time outside; thread 1 is the process's first. */
function callsIn(sketch: ProcessSketch, calls: readonly HostCall[]) {
  const process = {
    ...processOf({ pid: 1, endNs: 100, ...sketch }),
    hostCalls: { length: calls.length, at: (index: number) => calls[index] },
  };
  const { scopes } = buildRegionModel({ ...timelineOf([]), processes: [process] });
  return Object.fromEntries(
    (scopes[0]?.regions ?? []).flatMap(({ kind, path, hostCalls }) =>
      hostCalls === undefined
        ? []
        : [[`${path.join("/")}${kind === "start_end" ? " (started)" : ""}`, hostCalls]],
    ),
  );
}

const tally = (name: string, ...durations: readonly number[]) => ({
  api: "os" as const,
  name,
  calls: durations.length,
  ns: durations.reduce((sum, ns) => sum + ns, 0),
  minNs: Math.min(...durations),
  maxNs: Math.max(...durations),
});

describe("host calls", () => {
  it("count for the innermost open range of their thread, by name, the longest first", () => {
    const ranges: readonly RangeSketch[] = [
      { name: "outer", start: 0, end: 60 },
      { name: "inner", start: 10, end: 30 },
      { name: "shared", start: 40, end: 60, kind: "start_end", thread: 2 },
    ];
    const calls = [
      callOf("open", 1, 5, 6),
      callOf("read", 1, 12, 15),
      callOf("read", 1, 16, 23),
      callOf("open", 1, 24, 25),
      // The range that another thread started is none of its own.
      callOf("read", 1, 45, 47),
      callOf("read", 2, 46, 49),
    ];
    expect(callsIn({ ranges }, calls)).toEqual({
      outer: [tally("read", 2), tally("open", 1)],
      "outer/inner": [tally("read", 3, 7), tally("open", 1)],
      "shared (started)": [tally("read", 3)],
    });
  });

  it("of the first thread outside of ranges say how long no thread had a range open", () => {
    const ranges: readonly RangeSketch[] = [{ name: "work", start: 20, end: 40, thread: 2 }];
    const calls = [
      callOf("poll", 1, 10, 25),
      callOf("poll", 3, 11, 12),
      callOf("poll", 1, 30, 35),
      callOf("poll", 1, 38, 50),
    ];
    expect(callsIn({ ranges }, calls)).toEqual({
      "(outside)": [{ ...tally("poll", 15, 1, 5, 12), alone: { calls: 2, ns: 10 + 10 } }],
    });
  });

  it("outside of their thread's ranges are told where other threads' ranges last all the time", () => {
    const ranges: readonly RangeSketch[] = [{ name: "work", start: 0, end: 100, thread: 2 }];
    expect(callsIn({ ranges }, [callOf("poll", 1, 10, 25)])).toEqual({
      "(outside)": [tally("poll", 15)],
    });
  });

  it("are no calls of a device", () => {
    const calls = [callOf("poll", 1, 10, 25), callOf("poll", 2, 10, 25)];
    const process = {
      ...processOf({
        ranges: [{ name: "work", start: 0, end: 90 }],
        kernels: [{ name: "k", launch: 5, ns: 5 }],
      }),
      hostCalls: { length: calls.length, at: (index: number) => calls[index] },
    };
    const { scopes } = buildRegionModel({ ...timelineOf([]), processes: [process] });
    const called = scopes.map(({ scope, regions }) => [
      scope,
      regions.map(({ path, hostCalls }) => [path.join(), hostCalls?.length]),
    ]);
    const all = [
      ["work", 1],
      ["(outside)", 1],
    ];
    expect(Object.fromEntries(called)).toEqual({
      aggregate: all,
      "process:100": all,
      "device:cuda:0": [["work", undefined]],
    });
  });

  it("that outlast their range are not outside of ranges", () => {
    const ranges: readonly RangeSketch[] = [{ name: "work", start: 20, end: 40 }];
    const calls = [callOf("poll", 1, 30, 90), callOf("poll", 1, 92, 95)];
    expect(callsIn({ ranges }, calls)).toEqual({
      work: [tally("poll", 60)],
      "(outside)": [{ ...tally("poll", 3), alone: { calls: 1, ns: 3 } }],
    });
  });

  it("of several threads outside and in ranges are told apart one by one", () => {
    const ranges: readonly RangeSketch[] = [{ name: "work", start: 20, end: 40 }];
    const calls = [
      callOf("poll", 3, 1, 2),
      callOf("poll", 1, 3, 6),
      callOf("poll", 3, 7, 8),
      callOf("poll", 1, 30, 90),
      callOf("poll", 1, 92, 95),
    ];
    expect(callsIn({ ranges }, calls)).toEqual({
      work: [tally("poll", 60)],
      "(outside)": [{ ...tally("poll", 1, 3, 1, 3), alone: { calls: 2, ns: 6 } }],
    });
  });

  it("are where their definition says, whatever ranges overlap", () => {
    const range = fc
      .record({
        name: fc.constantFrom("a", "b"),
        start: fc.integer({ min: 0, max: 20 }),
        length: fc.integer({ min: 1, max: 12 }),
        thread: fc.integer({ min: 1, max: 3 }),
        kind: fc.constantFrom<RangeKind>("push_pop", "start_end"),
      })
      .map(({ start, length, ...rest }) => ({ ...rest, start, end: start + length }));
    const call = fc
      .record({
        name: fc.constantFrom("read", "poll"),
        thread: fc.integer({ min: 1, max: 4 }),
        start: fc.integer({ min: 0, max: 35 }),
        length: fc.integer({ min: 0, max: 10 }),
      })
      // Between the times at which ranges begin and end.
      .map(({ name, thread, start, length }) =>
        callOf(name, thread, start + 0.5, start + 0.5 + length),
      );
    fc.assert(
      fc.property(
        fc.array(range, { maxLength: 6 }),
        fc.array(call, { maxLength: 8 }),
        (ranges, unordered) => {
          const calls = unordered.toSorted((a, b) => a.startNs - b.startNs);
          const found = callsIn({ ranges }, calls);
          const isOutside = ({ startNs, threadId }: HostCall) =>
            !ranges.some(
              ({ start, end, thread }) => thread === threadId && start < startNs && startNs < end,
            );
          const sum = (tallies: readonly { calls: number; ns: number }[]) =>
            tallies.reduce(
              (all, { calls, ns }) => ({ calls: all.calls + calls, ns: all.ns + ns }),
              {
                calls: 0,
                ns: 0,
              },
            );
          const durations = (some: readonly HostCall[]) =>
            sum(some.map(({ startNs, endNs }) => ({ calls: 1, ns: endNs - startNs })));
          expect(sum(Object.values(found).flat())).toEqual(durations(calls));
          const outside = found["(outside)"] ?? [];
          expect(sum(outside)).toEqual(durations(calls.filter(isOutside)));
          // Unit by unit: how long the first thread's calls outside had no range of any thread around them.
          const aloneIn = ({ startNs, endNs }: HostCall) =>
            Array.from(
              { length: (endNs - startNs) * 2 },
              (_, half) => startNs + half / 2 + 0.25,
            ).filter((time) => !ranges.some(({ start, end }) => start < time && time < end))
              .length / 2;
          const alone = calls
            .filter((one) => one.threadId === 1 && isOutside(one) && aloneIn(one) > 0)
            .map((one) => ({ calls: 1, ns: aloneIn(one) }));
          expect(sum(outside.flatMap((one) => one.alone ?? []))).toEqual(sum(alone));
        },
      ),
      { numRuns: runs(150) },
    );
  });

  it("of several processes are added up by name", () => {
    const one = new Map([["os read", { ...tally("read", 1, 5), alone: { calls: 1, ns: 1 } }]]);
    const other = new Map([
      ["os read", tally("read", 3)],
      ["os poll", tally("poll", 20)],
    ]);
    const expected = [tally("poll", 20), { ...tally("read", 1, 5, 3), alone: { calls: 1, ns: 1 } }];
    expect(mergedCalls([one, other])).toEqual(expected);
    expect(mergedCalls([other, one])).toEqual(expected);
    expect(mergedCalls([one, one])[0]?.alone).toEqual({ calls: 2, ns: 2 });
    expect(mergedCalls([])).toEqual([]);
  });
});
