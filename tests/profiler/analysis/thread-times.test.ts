/** The calls of regions by thread, against sums that are made here of the ranges themselves. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import type { RegionThreads } from "../../../src/report/model/document.ts";
import { runs } from "../../runs.ts";
import { type RangeSketch, timelineOf } from "./timelines.ts";

const MS = 1e6;

const range = (thread: number, startMs: number, lengthMs: number, more = {}): RangeSketch => ({
  name: "work",
  thread,
  start: startMs * MS,
  end: (startMs + lengthMs) * MS,
  ...more,
});

const threadsOf = (
  ranges: readonly RangeSketch[],
  ...others: readonly (readonly RangeSketch[])[]
): RegionThreads | undefined =>
  buildRegionModel(
    timelineOf([ranges, ...others].map((all, at) => ({ pid: 100 + at, ranges: all }))),
  ).scopes[0]?.regions[0]?.threads;

describe("the threads of a region", () => {
  it("are there with their calls, processor times and names, the longest first", () => {
    const [scope] = buildRegionModel(
      timelineOf([
        {
          pid: 100,
          threadNames: new Map([[102, "loader"]]),
          ranges: [
            range(101, 0, 1, { cpu: MS / 2 }),
            range(102, 0, 4, { cpu: MS }),
            range(101, 2, 2, { cpu: MS / 2 }),
          ],
        },
      ]),
    ).scopes;
    expect(scope?.regions[0]?.threads).toEqual({
      count: 2,
      listed: [
        {
          process_id: 100,
          thread_id: 102,
          name: "loader",
          invocations: 1,
          wall_ms: 4,
          cpu_ms: 1,
          invocation_wall_ms: { min: 4, median: 4, max: 4 },
        },
        {
          process_id: 100,
          thread_id: 101,
          invocations: 2,
          wall_ms: 3,
          cpu_ms: 1,
          invocation_wall_ms: { min: 1, median: 1.5, max: 2 },
        },
      ],
      median_wall_ms: 3.5,
      median_invocation_ms: 2.75,
    });
  });

  it("are absent of one thread, and of start/end ranges, which belong to none", () => {
    expect(threadsOf([range(101, 0, 1), range(101, 2, 1)])).toBeUndefined();
    const shared = [101, 102].map((thread) => range(thread, thread, 1, { kind: "start_end" }));
    expect(threadsOf(shared)).toBeUndefined();
  });

  it("are those of all processes, also if each has one", () => {
    const threads = threadsOf([range(100, 0, 1)], [range(101, 0, 2)]);
    expect(threads?.listed).toMatchObject([
      { process_id: 101, thread_id: 101, wall_ms: 2 },
      { process_id: 100, thread_id: 100, wall_ms: 1 },
    ]);
  });

  it("have a processor time only if it is known of every call", () => {
    const threads = threadsOf([
      range(101, 0, 3, { cpu: MS }),
      range(101, 4, 3),
      range(102, 0, 1, { cpu: MS }),
    ]);
    expect(threads?.listed.map(({ cpu_ms }) => cpu_ms)).toEqual([undefined, 1]);
  });

  it("are listed with the one that has the longest calls, however many there are", () => {
    const many = Array.from({ length: 20 }, (_, at) => [
      range(101 + at, 0, 5),
      range(101 + at, 5, 5),
    ]);
    const threads = threadsOf([...many.flat(), range(200, 0, 7)]);
    expect(threads?.count).toBe(21);
    expect(threads?.listed).toHaveLength(16);
    expect(threads?.listed.at(-1)).toMatchObject({ thread_id: 200, wall_ms: 7 });
    expect(threads?.others).toEqual({ count: 5, invocations: 10, wall_ms: 50 });
    expect(threads?.median_invocation_ms).toBe(5);
  });

  it("are added up beyond those that are told apart", () => {
    const threads = threadsOf(
      Array.from({ length: 100 }, (_, at) => [range(101 + at, 0, 1), range(101 + at, 2, 1)]).flat(),
    );
    expect(threads?.count).toBe(100);
    expect(threads?.others).toEqual({ count: 84, invocations: 168, wall_ms: 168 });
  });

  it("are each counted once for a family whose members tell other ones apart", () => {
    const calls = (name: string, startMs: number, threads: readonly number[]) =>
      threads.map((thread, index) => range(thread, startMs + index, 1, { name }));
    const threads = Array.from({ length: 100 }, (_, index) => 101 + index);
    const ranges = [...calls("step 1", 0, threads), ...calls("step 2", 200, threads.toReversed())];
    const [scope] = buildRegionModel(timelineOf([{ pid: 100, ranges }]), {
      labels: { rules: [], fold: 1 },
    }).scopes;
    const [family] = [...(scope?.families ?? []), ...(scope?.regions ?? [])];
    expect(family?.invocations).toBe(200);
    expect(family?.threads?.count).toBe(100);
    expect(family?.threads?.others?.count).toBe(84);
  });

  it("add up to the region, whatever is folded and however ranges nest", () => {
    const anyRange = fc.record({
      name: fc.constantFrom("work", "step 1", "step 2", "step 3"),
      thread: fc.integer({ min: 101, max: 104 }),
      start: fc.integer({ min: 0, max: 50 }),
      length: fc.integer({ min: 1, max: 20 }),
      cpu: fc.option(fc.integer({ min: 0, max: 20 })),
      process: fc.nat({ max: 1 }),
    });
    fc.assert(
      fc.property(
        fc.array(anyRange, { maxLength: 30 }),
        fc.constantFrom(1, null),
        (sketches, fold) => {
          const processes = [0, 1].map((process) => ({
            pid: 100 + process,
            ranges: sketches
              .filter((one) => one.process === process)
              .map(
                ({ name, thread, start, length, cpu }): RangeSketch => ({
                  name,
                  thread,
                  start,
                  end: start + length,
                  ...(cpu !== null && { cpu }),
                }),
              ),
          }));
          const { scopes } = buildRegionModel(timelineOf(processes), {
            labels: { rules: [], fold },
          });
          for (const { regions, families = [] } of scopes)
            for (const { threads, invocations, wallNs, invocationWallNs } of [
              ...regions,
              ...families,
            ]) {
              if (threads === undefined) continue;
              const { listed } = threads;
              expect(threads.count).toBe(listed.length);
              const ids = listed.map(({ process_id, thread_id }) => `${process_id} ${thread_id}`);
              expect(new Set(ids).size).toBe(listed.length);
              const sum = (of: (thread: (typeof listed)[number]) => number) =>
                listed.reduce((total, thread) => total + of(thread), 0);
              expect(sum((thread) => thread.invocations)).toBe(invocations);
              expect(sum(({ wall_ms }) => wall_ms)).toBeCloseTo((wallNs ?? 0) / MS, 9);
              const longest = Math.max(...listed.map(({ invocation_wall_ms: { max } }) => max));
              expect(longest).toBeCloseTo((invocationWallNs?.max ?? 0) / MS, 9);
            }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("change nothing about the calls of all of them together", () => {
    const lengths = (count: number) =>
      Array.from({ length: count }, (_, at) => 1 + ((at * 7919) % 997));
    const callsOver = (threads: number, count: number) => {
      const ranges = lengths(count).map((length, at) =>
        range(101 + (at % threads), Math.floor(at / threads) * 1000, length, { cpu: length }),
      );
      const region = buildRegionModel(timelineOf([{ pid: 100, ranges }])).scopes[0]?.regions[0];
      const { invocations, wallNs, exclusiveWallNs, invocationWallNs, cpu } = region ?? {};
      return { invocations, wallNs, exclusiveWallNs, invocationWallNs, cpu };
    };
    // Few calls are kept one by one, and many counted; so are the threads, some of them together.
    for (const count of [9, 9_000, 11_000])
      for (const threads of [2, 70]) expect(callsOver(threads, count)).toEqual(callsOver(1, count));
  });
});
