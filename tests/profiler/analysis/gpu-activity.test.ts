import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { coveredNs, createUnion, unionOf } from "../../../src/profiler/analysis/interval-union.ts";
import type { RegionModelEntry } from "../../../src/profiler/analysis/region-model.ts";
import { toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import { createReportValidator } from "../../../src/report/index.ts";
import { context } from "../../report/bundles.ts";
import { runs } from "../../runs.ts";
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

const IDLE = { busyNs: 0, kernelNs: 0, copyNs: 0 };

const usesOf = (process: ProcessSketch, scope: string) =>
  Object.fromEntries(
    buildRegionModel(timelineOf([process]))
      .scopes.find((each) => each.scope === scope)
      ?.regions.map(({ path, gpuUse }) => [path.join("/"), gpuUse]) ?? [],
  );

describe("what GPUs did while ranges were open", () => {
  it("counts whoever launched it, and overlaps once", () => {
    expect(usesOf(sketch, "aggregate")).toEqual({
      launch: IDLE,
      step: { busyNs: 700, kernelNs: 600, copyNs: 200 },
      "step/inner": { busyNs: 100, kernelNs: 100, copyNs: 100 },
      late: IDLE,
      "(outside)": IDLE,
    });
  });

  it("is of one device in its report", () => {
    expect(usesOf(sketch, "device:cuda:1")).toEqual({
      "(outside)": IDLE,
    });
    expect(
      usesOf({ ...sketch, kernels: sketch.kernels?.slice(0, 2) ?? [] }, "device:cuda:0"),
    ).toEqual({ launch: IDLE, "(outside)": IDLE });
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
    const validator = createReportValidator();
    fc.assert(
      fc.property(anyRanges, anyKernels, (ranges, kernels) => {
        const model = buildRegionModel(timelineOf([{ ranges, kernels }]));
        expect(validator.validate(toReportBundle(model, context))).toEqual([]);
      }),
      { numRuns: runs(3000) },
    );
  });
});

const sketchOfGpuActivity: ProcessSketch = {
  ranges: [
    { name: "outer", start: 0, end: 100 },
    { name: "inner", start: 20, end: 60 },
    { name: "other thread", start: 0, end: 100, thread: 2 },
  ],
  kernels: [
    { name: "k", launch: 30, ns: 1000 },
    { name: "copy", launch: 10, ns: 5, kind: "memcpy", bytes: 100 },
    { name: "copy", launch: 40, ns: 7, kind: "memcpy", bytes: 200, device: 1 },
    { name: "set", launch: 50, ns: 3, kind: "memset", bytes: 64 },
    { name: "copy", launch: 200, ns: 9, kind: "memcpy", bytes: 1 },
  ],
  waits: [
    { call: 25, ns: 11 },
    { call: 90, ns: 13 },
  ],
};

const scopesOf = (process: ProcessSketch) =>
  new Map(
    buildRegionModel(timelineOf([process])).scopes.map((scope) => [scope.scope as string, scope]),
  );

const activities = (regions: readonly RegionModelEntry[] | undefined) =>
  Object.fromEntries(
    (regions ?? []).map(({ path, activities: all }) => [
      path.join("/"),
      Object.fromEntries(all ?? []),
    ]),
  );

describe("copies, sets and waits", () => {
  it("count for all ranges open at the call, and never as kernels", () => {
    const aggregate = scopesOf(sketchOfGpuActivity).get("aggregate");
    expect(activities(aggregate?.regions)).toEqual({
      outer: {
        memcpy: { calls: 2, ns: 12, bytes: 300, pageableNs: 0, knownNs: 0, streams: new Map() },
        memset: { calls: 1, ns: 3, bytes: 64, pageableNs: 0, knownNs: 0, streams: new Map() },
        synchronization: {
          calls: 2,
          ns: 24,
          bytes: 0,
          pageableNs: 0,
          knownNs: 0,
          streams: new Map(),
        },
      },
      "outer/inner": {
        memcpy: { calls: 1, ns: 7, bytes: 200, pageableNs: 0, knownNs: 0, streams: new Map() },
        memset: { calls: 1, ns: 3, bytes: 64, pageableNs: 0, knownNs: 0, streams: new Map() },
        synchronization: {
          calls: 1,
          ns: 11,
          bytes: 0,
          pageableNs: 0,
          knownNs: 0,
          streams: new Map(),
        },
      },
      "other thread": {},
      "(outside)": {
        memcpy: { calls: 1, ns: 9, bytes: 1, pageableNs: 0, knownNs: 0, streams: new Map() },
      },
    });
    expect(aggregate?.totals).toMatchObject({ kernelCount: 1, kernelNs: 1000, outsideNs: 0 });
  });

  it("are distinguished by device; waits belong to none", () => {
    const scopes = scopesOf(sketchOfGpuActivity);
    expect([...scopes.keys()]).toEqual([
      "aggregate",
      "process:100",
      "device:cuda:0",
      "device:cuda:1",
    ]);
    expect(activities(scopes.get("device:cuda:1")?.regions)).toEqual({
      outer: {
        memcpy: { calls: 1, ns: 7, bytes: 200, pageableNs: 0, knownNs: 0, streams: new Map() },
      },
      "outer/inner": {
        memcpy: { calls: 1, ns: 7, bytes: 200, pageableNs: 0, knownNs: 0, streams: new Map() },
      },
    });
  });

  it("stand in the report as metrics with units", () => {
    const model = buildRegionModel(timelineOf([sketchOfGpuActivity]));
    const { reports } = toReportBundle(model, {
      generatedAt: "2026-01-02T03:04:05Z",
      configFingerprint: "sha256:0",
      collectorVersion: "1",
      environment: {
        hostname: "h",
        os: "o",
        cpu: "c",
        gpus: [],
        command: [],
        device: null,
        hydraconf_version: "1",
      },
    });
    const metrics = reports[0]?.regions.map((region) => [region.name, region.metrics]);
    expect(metrics).toEqual([
      [
        "outer",
        {
          memory_copy_time: { value: 12e-6, unit: "ms" },
          memory_copy_bytes: { value: 300, unit: "byte" },
          memory_set_time: { value: 3e-6, unit: "ms" },
          synchronization_time: { value: 24e-6, unit: "ms" },
        },
      ],
      [
        "inner",
        {
          memory_copy_time: { value: 7e-6, unit: "ms" },
          memory_copy_bytes: { value: 200, unit: "byte" },
          memory_set_time: { value: 3e-6, unit: "ms" },
          synchronization_time: { value: 11e-6, unit: "ms" },
        },
      ],
      ["other thread", {}],
      [
        "(outside)",
        {
          memory_copy_time: { value: 9e-6, unit: "ms" },
          memory_copy_bytes: { value: 1, unit: "byte" },
        },
      ],
    ]);
  });

  it("of copies know their streams, by context, and what these are for", () => {
    const copy = { name: "copy", kind: "memcpy" as const, bytes: 1, ns: 5 };
    const [region] =
      scopesOf({
        ranges: [{ name: "step", start: 0, end: 100 }],
        kernels: [
          { name: "k", launch: 1, ns: 9, stream: 7, context: 1 },
          { ...copy, launch: 2, stream: 7, context: 1 },
          { ...copy, launch: 3, stream: 7, context: 1, isPageable: true },
          { ...copy, launch: 4, ns: 8, stream: 7, context: 2, isPageable: false },
          { ...copy, launch: 5, stream: 3, context: 1 },
          { ...copy, launch: 6 },
          { ...copy, launch: 7, stream: 9, context: 1, kind: "memset" },
        ],
        defaultStreams: [
          { context: 1, stream: 7 },
          { context: 2, stream: 0 },
        ],
      }).get("aggregate")?.regions ?? [];
    const copies = region?.activities?.get("memcpy");
    expect([...(copies?.streams ?? [])]).toEqual([
      [{ number: 7, isDefault: true, runsKernels: true }, 10],
      [{ number: 7, isDefault: false, runsKernels: false }, 8],
      [{ number: 3, isDefault: false, runsKernels: false }, 5],
    ]);
    expect(copies).toMatchObject({ calls: 5, ns: 28, pageableNs: 5, knownNs: 13 });
    expect(region?.activities?.get("memset")?.streams).toEqual(new Map());
  });

  it("of which streams are the default ones is not known unless it was recorded", () => {
    const [region] =
      scopesOf({
        ranges: [{ name: "step", start: 0, end: 100 }],
        kernels: [{ name: "copy", launch: 2, ns: 5, kind: "memcpy", stream: 7, context: 1 }],
      }).get("aggregate")?.regions ?? [];
    expect([...(region?.activities?.get("memcpy")?.streams.keys() ?? [])]).toEqual([
      { number: 7, isDefault: null, runsKernels: false },
    ]);
  });

  it("of labels that became one are added up", () => {
    const [scope] = buildRegionModel(
      timelineOf([
        {
          ranges: [1, 2, 3].map((at) => ({ name: `s ${at}`, start: 10 * at, end: 10 * at + 9 })),
          kernels: [1, 2, 2, 3].map((at) => ({
            ...{ name: "copy", launch: 10 * at + 1, ns: at, kind: "memcpy" as const, bytes: 10 },
          })),
        },
      ]),
      { labels: { fold: 2 } },
    ).scopes;
    expect(scope?.regions[0]?.path).toEqual(["s #"]);
    expect(scope?.regions[0]?.activities?.get("memcpy")).toMatchObject({
      ...{ calls: 4, ns: 8, bytes: 40 },
    });
  });

  it("alone do not hide CPU operations", () => {
    const aggregate = scopesOf({
      ranges: [{ name: "conv", start: 0, end: 10, domain: "shallow_resnet.ops" }],
      kernels: [{ name: "copy", launch: 20, ns: 5, kind: "memcpy", bytes: 1 }],
    }).get("aggregate");
    expect(aggregate?.totals.kernelKinds).toEqual(["cpu_operation"]);
  });

  it("change nothing about kernels and wall times", () => {
    const numbers = (process: ProcessSketch) =>
      scopesOf(process)
        .get("aggregate")
        ?.regions.filter(({ kernelCount, invocations }) => kernelCount + invocations > 0)
        .map(
          ({
            path,
            domain,
            path_domains,
            kind,
            kernelNs,
            exclusiveKernelNs,
            wallNs,
            exclusiveWallNs,
            kernels,
            invocations,
          }) => ({
            place: `${path} @${domain} ${path_domains} ${kind}`,
            kernelNs,
            exclusiveKernelNs,
            wallNs,
            exclusiveWallNs,
            kernels,
            invocations,
          }),
        )
        // A place first seen by a copy comes earlier.
        .sort((a, b) => (a.place < b.place ? -1 : 1));
    fc.assert(
      fc.property(anyRanges, anyKernels, anyKernels, (ranges, kernels, others) => {
        const copies = others.map((one) => ({ ...one, kind: "memcpy" as const, bytes: 1 }));
        const waits = others.map(({ launch, ns }) => ({ call: launch, ns }));
        const with_ = numbers({ ranges, kernels: [...copies, ...kernels], waits, endNs: 60 });
        expect(with_).toEqual(numbers({ ranges, kernels, endNs: 60 }));
      }),
      { numRuns: runs(200) },
    );
  });
});
