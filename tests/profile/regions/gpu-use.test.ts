import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coveredNs, createUnion, unionOf } from "../../../src/profile/regions/busy-time.ts";
import { buildRegionModel, toReportBundle } from "../../../src/profile/regions/index.ts";
import { createReportValidator } from "../../../src/report/index.ts";
import { context } from "../../report/bundles.ts";
import { anyKernels, anyRanges, type ProcessSketch, timelineOf } from "./timelines.ts";

const MOST = 40;
type Interval = readonly [start: number, length: number];

const intervals: fc.Arbitrary<Interval[]> = fc.array(
  fc.tuple(fc.integer({ min: 0, max: MOST }), fc.integer({ min: 0, max: 10 })),
  { maxLength: 20 },
);

const unionOfIntervals = (all: readonly Interval[]) => {
  const union = createUnion();
  for (const [start, length] of all) union.add(start, start + length);
  return union.finish();
};

/** Nanosecond by nanosecond. */
const counted = (all: readonly Interval[], from: number, to: number): number =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at).filter((time) =>
    all.some(([start, length]) => start <= time && time < start + length),
  ).length;

const times = fc.tuple(
  fc.integer({ min: -5, max: MOST + 15 }),
  fc.integer({ min: -5, max: MOST + 15 }),
);

describe("a union of intervals", () => {
  it("covers what any of them does, whatever their order", () => {
    fc.assert(
      fc.property(intervals, times, (all, [from, to]) => {
        expect(coveredNs(unionOfIntervals(all), from, to)).toBe(counted(all, from, to));
      }),
    );
  });

  it.each([
    ["in order", (at: number) => at],
    ["in no order", (at: number) => (at * 617) % 1000],
  ])("of a thousand intervals %s covers any part of them", (_, place) => {
    const all = Array.from({ length: 1000 }, (_, at): Interval => [place(at) * 10, 4]);
    const union = unionOfIntervals(all);
    expect(union).toHaveLength(1000);
    for (let from = 0; from < 10_000; from += 531)
      for (const length of [1, 12, 160, 5000]) {
        const covered = [from, from + length].map((time) => {
          const whole = Math.min(Math.floor(time / 10), 1000);
          return whole * 4 + (whole === 1000 ? 0 : Math.min(4, time % 10));
        });
        expect(coveredNs(union, from, from + length)).toBe((covered[1] ?? 0) - (covered[0] ?? 0));
      }
  });

  it("of unions is that of all their intervals", () => {
    fc.assert(
      fc.property(fc.array(intervals, { maxLength: 4 }), times, (lists, [from, to]) => {
        const union = unionOf(lists.map(unionOfIntervals));
        expect(coveredNs(union, from, to)).toBe(counted(lists.flat(), from, to));
        for (let at = 1; at < union.length; at++)
          expect(union.starts.get(at)).toBeGreaterThan(union.ends.get(at - 1));
      }),
    );
  });
});

/** Kernels begin 1,000 ns after their launch. */
const sketch: ProcessSketch = {
  ranges: [
    { name: "launch", start: 0, end: 500 },
    { name: "step", start: 1000, end: 2000 },
    { name: "inner", start: 1500, end: 1600 },
    { name: "late", start: 3000, end: 3100 },
  ],
  kernels: [
    { name: "k", launch: 100, ns: 300 },
    { name: "k", launch: 300, ns: 300 },
    { name: "copy", launch: 500, ns: 200, kind: "memcpy", bytes: 1 },
    { name: "other", launch: 700, ns: 100, device: 1 },
  ],
};

const usesOf = (process: ProcessSketch, scope: string) =>
  Object.fromEntries(
    buildRegionModel(timelineOf([process]))
      .scopes.find((each) => each.scope === scope)
      ?.regions.map(({ path, gpuUse }) => [path.join("/"), gpuUse]) ?? [],
  );

describe("what GPUs did while ranges were open", () => {
  it("counts whoever launched it, and overlaps once", () => {
    expect(usesOf(sketch, "aggregate")).toEqual({
      launch: { busyNs: 0, kernelNs: 0, copyNs: 0 },
      step: { busyNs: 700, kernelNs: 600, copyNs: 200 },
      "step/inner": { busyNs: 100, kernelNs: 100, copyNs: 100 },
      late: { busyNs: 0, kernelNs: 0, copyNs: 0 },
    });
  });

  it("is of one device in its report", () => {
    expect(usesOf(sketch, "device:cuda:1")).toEqual({
      "(outside)": undefined,
    });
    expect(
      usesOf({ ...sketch, kernels: sketch.kernels?.slice(0, 2) ?? [] }, "device:cuda:0"),
    ).toEqual({ launch: { busyNs: 0, kernelNs: 0, copyNs: 0 } });
  });

  it("counts devices that are busy at once once in all reports but their own", () => {
    const two: ProcessSketch = {
      ranges: [{ name: "step", start: 0, end: 2000 }],
      kernels: [
        { name: "k", launch: 100, ns: 300 },
        { name: "k", launch: 200, ns: 300, device: 1 },
      ],
    };
    expect(usesOf(two, "aggregate")["step"]?.busyNs).toBe(400);
    expect(usesOf(two, "device:cuda:0")["step"]?.busyNs).toBe(300);
    expect(usesOf(two, "device:cuda:1")["step"]?.busyNs).toBe(300);
  });

  it("is not said of a run in which no GPU was seen", () => {
    expect(usesOf({ ...sketch, kernels: [] }, "aggregate")["step"]).toBeUndefined();
  });

  it("is a part of the wall time, whatever overlaps, and fits the contract", async () => {
    const validator = await createReportValidator();
    fc.assert(
      fc.property(anyRanges, anyKernels, (ranges, kernels) => {
        const model = buildRegionModel(timelineOf([{ ranges, kernels }]));
        expect(validator.validate(toReportBundle(model, context))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
