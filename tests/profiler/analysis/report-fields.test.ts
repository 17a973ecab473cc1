/** Each number of the model has its place in the document, and what was not measured has none. */
import { describe, expect, it } from "vitest";
import type { RegionModel, RegionModelEntry } from "../../../src/profiler/analysis/region-model.ts";
import { type ReportContext, toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import type { NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { context } from "../../report/bundles.ts";

const MS = 1e6;
const statistics = (ms: number) => ({
  min: ms * MS,
  median: (ms + 1) * MS,
  max: (ms + 3) * MS,
  p95: (ms + 2) * MS,
});
const inMs = (ms: number) => ({ min: ms, median: ms + 1, max: ms + 3, p95: ms + 2 });

const bare: RegionModelEntry = {
  path: ["step", "load"],
  domain: "io",
  kind: "push_pop",
  device: null,
  processId: null,
  invocations: 2,
  kernelNs: null,
  exclusiveKernelNs: null,
  wallNs: 5 * MS,
  exclusiveWallNs: 4 * MS,
  invocationWallNs: null,
  kernelCount: 0,
  kernels: [],
  notes: [],
};

const kernel = {
  kernel_name: "gemm",
  kind: "gpu_kernel",
  total_ms: 1,
  calls: 1,
  mean_ms: 1,
  device: "cuda:0",
} as const;
const ranks = {
  wall_ms: [1, 2],
  min_ms: 1,
  mean_ms: 1.5,
  max_ms: 2,
  imbalance: 0.3,
  load_balance: 0.75,
  slowest_rank: 1,
};
const repeats = { runs: 3, total_ms: null, wall_ms: null };
const payload = { name: "size", unit: "byte", count: 2, mean: 1, min: 0, max: 2 };
const counter = { name: "loss", domain: "", unit: "", samples: 1, min: 1, mean: 1, max: 1 };
const message = {
  rule: "r",
  type: "optimization",
  text: "t",
  speedup: 3,
  speedup_type: "local" as const,
  results: 1,
};
const gpuUse = { busyNs: 7 * MS, kernelNs: 6 * MS, copyNs: 4 * MS };
const GPU_USE = { busy_ms: 7, kernel_ms: 6, copy_ms: 4, overlap_ms: 3 };

const NO_STREAMS = { streams: new Map() };

const full: RegionModelEntry = {
  ...bare,
  path: ["step_1", "load"],
  path_domains: ["", "io"],
  members: 4,
  device: "cuda:0",
  processId: 7,
  kernelNs: 3 * MS,
  exclusiveKernelNs: 2 * MS,
  invocationWallNs: { ...statistics(1), first: 9 * MS },
  cpu: { ns: 8 * MS, exclusiveNs: 6 * MS, invocationNs: statistics(2) },
  counts: [1, 2, 3, 4],
  unclosed: 1,
  kernelCount: 1,
  kernels: [kernel],
  repeats,
  ranks,
  categories: ["io"],
  payloads: [payload],
  counters: [counter],
  metrics: new Map([["sm__cycles", { value: 5, unit: "cycle" }]]),
  sections: [
    {
      name: "SpeedOfLight",
      metrics: new Map([["sm__throughput", { value: null, unit: "%" }]]),
      messages: [message],
    },
  ],
  activities: new Map([
    ["memcpy", { calls: 1, ns: 2 * MS, bytes: 64, pageableNs: MS, knownNs: 2 * MS, ...NO_STREAMS }],
    ["memset", { calls: 1, ns: 3 * MS, bytes: 8, pageableNs: 0, knownNs: 0, ...NO_STREAMS }],
    [
      "synchronization",
      { calls: 1, ns: 4 * MS, bytes: 0, pageableNs: 0, knownNs: 0, ...NO_STREAMS },
    ],
  ]),
  hostCalls: [
    {
      api: "cuda",
      name: "cudaMalloc",
      calls: 3,
      ns: 6 * MS,
      minNs: MS,
      maxNs: 3 * MS,
      alone: { calls: 1, ns: 2 * MS },
    },
    { api: "os", name: "read", calls: 1, ns: MS, minNs: MS, maxNs: MS },
  ],
  samples: {
    states: new Map([
      ["lock", 2],
      ["running", 1],
    ]),
    countedNs: 10 * MS,
    queuedNs: 9 * MS,
    slices: 8,
    systemNs: 7 * MS,
    minorFaults: 6,
    majorFaults: 5,
    childrenNs: 4 * MS,
  },
  gpuUse,
  notes: ["late"],
};

const outside: RegionModelEntry = { ...bare, path: ["(outside)"], domain: "", kind: "outside" };

function modelOf(
  regions: readonly RegionModelEntry[],
  more: Partial<RegionModel["scopes"][number]> = {},
  of: Partial<RegionModel> = {},
): RegionModel {
  const totals = {
    kernelCount: 0,
    kernelNs: null,
    outsideNs: null,
    outsideKernelCount: 0,
    wallNs: null,
    kernelKinds: [],
  };
  return {
    collector: "recorder",
    clock: "CLOCK_MONOTONIC",
    selection: { include: ["**"], exclude: ["x"] },
    scopes: [{ scope: "aggregate", regions, totals, notes: [], ...more }],
    ...of,
  };
}

function reportOf(model: RegionModel, more: Partial<ReportContext> = {}): NCUProfileRegionReport {
  const { reports } = toReportBundle(model, { ...context, ...more });
  const [report] = reports;
  if (report === undefined) throw new Error("a model with a scope has a report");
  return report;
}

const SELECTION = { include_patterns: ["**"], exclude_patterns: ["x"] };

describe("a region in the report", () => {
  it("has nothing of what was not measured", () => {
    expect(reportOf(modelOf([bare])).regions).toStrictEqual([
      {
        name: "load",
        path: ["step", "load"],
        parent: "step",
        depth: 1,
        domain: "io",
        kind: "push_pop",
        device: null,
        process_id: null,
        invocations: 2,
        total_ms: null,
        exclusive_ms: null,
        wall_ms: 5,
        wall_exclusive_ms: 4,
        invocation_wall_ms: null,
        kernel_count: 0,
        metrics: {},
        sections: {},
        kernels: [],
        selection: SELECTION,
        notes: [],
      },
    ]);
  });

  it("has every number that was measured, in milliseconds", () => {
    expect(reportOf(modelOf([full])).regions).toStrictEqual([
      {
        name: "load",
        path: ["step_1", "load"],
        parent: "step_1",
        depth: 1,
        domain: "io",
        path_domains: ["", "io"],
        family: ["step_#", "load"],
        members: 4,
        kind: "push_pop",
        device: "cuda:0",
        process_id: 7,
        invocations: 2,
        total_ms: 3,
        exclusive_ms: 2,
        wall_ms: 5,
        wall_exclusive_ms: 4,
        invocation_wall_ms: { ...inMs(1), first: 9 },
        cpu_ms: 8,
        cpu_exclusive_ms: 6,
        invocation_cpu_ms: inMs(2),
        unclosed: 1,
        kernel_count: 1,
        gpu_activity: GPU_USE,
        thread_samples: {
          states: { running: 1, lock: 2 },
          counted_ms: 10,
          queued_ms: 9,
          slices: 8,
          system_ms: 7,
          minor_page_faults: 6,
          major_page_faults: 5,
          children_cpu_ms: 4,
        },
        host_calls: [
          {
            api: "cuda",
            name: "cudaMalloc",
            calls: 3,
            total_ms: 6,
            min_ms: 1,
            max_ms: 3,
            first_thread: { calls: 1, total_ms: 2 },
          },
          { api: "os", name: "read", calls: 1, total_ms: 1, min_ms: 1, max_ms: 1 },
        ],
        metrics: {
          minor_page_faults: { value: 1, unit: "" },
          major_page_faults: { value: 2, unit: "" },
          voluntary_context_switches: { value: 3, unit: "" },
          involuntary_context_switches: { value: 4, unit: "" },
          memory_copy_time: { value: 2, unit: "ms" },
          memory_copy_bytes: { value: 64, unit: "byte" },
          memory_copy_pageable_time: { value: 1, unit: "ms" },
          memory_set_time: { value: 3, unit: "ms" },
          synchronization_time: { value: 4, unit: "ms" },
          sm__cycles: { value: 5, unit: "cycle" },
        },
        sections: {
          SpeedOfLight: {
            metrics: { sm__throughput: { value: null, unit: "%" } },
            messages: [message],
          },
        },
        kernels: [kernel],
        repeats,
        ranks,
        categories: ["io"],
        payloads: [payload],
        counters: [counter],
        selection: SELECTION,
        notes: ["late"],
      },
    ]);
  });

  it("does not say how much of its copies was pageable where that is unknown", () => {
    const copies = { calls: 1, ns: MS, bytes: 1, pageableNs: 0, knownNs: 0, ...NO_STREAMS };
    const [region] = reportOf(
      modelOf([{ ...bare, activities: new Map([["memcpy", copies]]) }]),
    ).regions;
    expect(Object.keys(region?.metrics ?? {})).toEqual(["memory_copy_time", "memory_copy_bytes"]);
  });

  it("has its instructions where they are known", () => {
    const instructions = { count: 70, exclusive: 30 };
    const [region] = reportOf(modelOf([{ ...bare, instructions }])).regions;
    expect(region).toMatchObject({ instructions: 70, instructions_exclusive: 30 });
  });

  it("has as many counts as were read, by their names", () => {
    const namesOf = (counts: readonly number[]) =>
      Object.entries(reportOf(modelOf([{ ...bare, counts }])).regions[0]?.metrics ?? {}).map(
        ([name, { value }]) => [name, value],
      );
    expect(namesOf([])).toEqual([]);
    expect(namesOf([5, 6])).toEqual([
      ["minor_page_faults", 5],
      ["major_page_faults", 6],
    ]);
  });

  it("has the four streams of its copies that took the longest, of all processes and devices", () => {
    const stream = (number: number, isDefault: boolean | null, runsKernels: boolean) => ({
      ...{ number, isDefault, runsKernels },
    });
    const streamsOf = (...streams: readonly (readonly [ReturnType<typeof stream>, number])[]) => {
      const copies = { ...{ calls: 1, ns: MS, bytes: 1, pageableNs: 0, knownNs: 0 } };
      const activities = new Map([["memcpy" as const, { ...copies, streams: new Map(streams) }]]);
      return reportOf(modelOf([{ ...bare, activities }])).regions[0]?.copy_streams;
    };
    expect(streamsOf()).toBeUndefined();
    expect(
      streamsOf(
        [stream(7, true, true), 2 * MS],
        [stream(13, null, false), 9 * MS],
        // The same in another process.
        [stream(7, true, true), 4 * MS],
        [stream(7, false, true), 5 * MS],
        [stream(7, true, false), 3 * MS],
        [stream(14, false, false), MS],
      ),
    ).toEqual([
      { stream: 13, runs_kernels: false, total_ms: 9 },
      { stream: 7, is_default: true, runs_kernels: true, total_ms: 6 },
      { stream: 7, is_default: false, runs_kernels: true, total_ms: 5 },
      { stream: 7, is_default: true, runs_kernels: false, total_ms: 3 },
    ]);
  });

  it("has no overlap where copies and kernels took turns", () => {
    const [region] = reportOf(
      modelOf([{ ...bare, gpuUse: { busyNs: 3 * MS, kernelNs: MS, copyNs: MS } }]),
    ).regions;
    expect(region?.gpu_activity?.overlap_ms).toBe(0);
  });
});

describe("a scope in the report", () => {
  it("has nothing of what was not measured, and what is outside is none of its regions", () => {
    const { environment, generated_at, config_fingerprint, regions, ...report } = reportOf(
      modelOf([bare, full, outside]),
    );
    expect(regions.map(({ kind }) => kind)).toEqual(["push_pop", "push_pop", "outside"]);
    expect([environment, generated_at, config_fingerprint]).toEqual([
      context.environment,
      context.generatedAt,
      context.configFingerprint,
    ]);
    expect(report).toStrictEqual({
      scope: "aggregate",
      totals: {
        region_count: 2,
        invocations: 4,
        kernel_count: 0,
        total_ms: null,
        outside_ms: null,
        outside_kernel_count: 0,
        wall_ms: null,
      },
      collector: {
        name: "recorder",
        version: context.collectorVersion,
        wall_clock: null,
        kernel_clock: null,
      },
      selection: { applies_to: "report", ...SELECTION },
      notes: ["1 region has its own notes in the reports: step_1 @default / load @io"],
    });
  });

  it("has every total that was measured, and why the run ended early", () => {
    const rank = { rank: 0, host: "a", local_rank: null, process_ids: [1] };
    const kernelRepeats = {
      kernel_name: "gemm",
      kind: "gpu_kernel" as const,
      runs: 2,
      total_ms: { mean: 1, std: 0, ci95_low: 1, ci95_high: 1, stable: true },
    };
    const run = {
      wallNs: 9 * MS,
      processNs: 8 * MS,
      processCount: 2,
      inRangesNs: 5 * MS,
      beforeRangesNs: MS,
      afterRangesNs: 3 * MS,
      gpu: gpuUse,
      gpuInRanges: { busyNs: MS, kernelNs: MS, copyNs: 0 },
    };
    const model = modelOf([bare], {
      families: [full],
      ranks: [rank],
      kernelRepeats: [kernelRepeats],
      totals: {
        kernelCount: 3,
        kernelNs: 4 * MS,
        outsideNs: 2 * MS,
        outsideKernelCount: 1,
        wallNs: 6 * MS,
        cpuNs: 5 * MS,
        kernelKinds: ["gpu_kernel"],
        run,
      },
      notes: ["twice", "own"],
    });
    const report = reportOf(model, { failure: "exit code 3", notes: ["first", "twice"] });
    expect(report).toMatchObject({ ranks: [rank], kernel_repeats: [kernelRepeats] });
    expect(report.families).toMatchObject([{ path: ["step_1", "load"], members: 4 }]);
    expect(report.totals).toStrictEqual({
      region_count: 1,
      invocations: 2,
      kernel_count: 3,
      total_ms: 4,
      outside_ms: 2,
      outside_kernel_count: 1,
      wall_ms: 6,
      cpu_ms: 5,
      run: {
        wall_ms: 9,
        process_ms: 8,
        process_count: 2,
        in_ranges_ms: 5,
        before_ranges_ms: 1,
        after_ranges_ms: 3,
        gpu_activity: GPU_USE,
        gpu_activity_in_ranges: { busy_ms: 1, kernel_ms: 1, copy_ms: 0, overlap_ms: 0 },
      },
    });
    expect(report.collector).toMatchObject({ wall_clock: "CLOCK_MONOTONIC", kernel_clock: "gpu" });
    expect(report.failure).toBe("exit code 3");
    expect(report.notes.slice(0, 3)).toEqual(["first", "twice", "own"]);
  });

  it.each([
    [["gpu_kernel", "cpu_operation"] as const, "gpu"],
    [["cpu_operation"] as const, "cpu"],
  ])("times %o by the clock of the %s", (kernelKinds, clock) => {
    const { totals } = modelOf([]).scopes[0] ?? {};
    if (totals === undefined) throw new Error("a scope has totals");
    const report = reportOf(modelOf([bare], { totals: { ...totals, kernelKinds } }));
    expect(report.collector.kernel_clock).toBe(clock);
  });
});

describe("what a report tells of numbers that are absent", () => {
  const GPU = {
    ...{ kernelCount: 3, kernelNs: MS, outsideNs: 0, outsideKernelCount: 0 },
    wallNs: MS,
  };
  const notesOf = (
    regions: readonly RegionModelEntry[],
    totals: Partial<RegionModel["scopes"][number]["totals"]>,
    collector = "recorder",
  ) =>
    reportOf(modelOf(regions, { totals: { ...GPU, kernelKinds: [], ...totals } }, { collector }))
      .notes;
  const named = (name: string, more: Partial<RegionModelEntry> = {}): RegionModelEntry => ({
    ...{ ...bare, domain: "", path: [name], kernelCount: 1 },
    ...more,
  });
  const [ran, idle] = [named("ran"), named("idle", { kernelCount: 0 })];
  const outsideIdle: RegionModelEntry = { ...outside, kernelCount: 0, notes: ["late"] };
  const UNLOCKED = expect.stringMatching(/^GPU clocks are not locked by this collector: /);

  it.each([
    [["gpu_kernel"] as const, "GPU kernel", [UNLOCKED]],
    [
      ["cpu_operation"] as const,
      "CPU operation",
      ["no kernels were recorded on a GPU: the kernel lists hold CPU operations instead"],
    ],
    [
      ["gpu_kernel", "cpu_operation"] as const,
      "GPU kernel or CPU operation",
      ["the kernel lists hold GPU kernels and CPU operations; each record has its kind", UNLOCKED],
    ],
  ])("names the regions without any where there are %o", (kernelKinds, what, others) => {
    expect(notesOf([ran, idle, outsideIdle], { kernelKinds })).toEqual([
      ...others,
      `no ${what} ran in 1 of 2 regions: idle`,
    ]);
    expect(notesOf([ran, outsideIdle], { kernelKinds })).toEqual(others);
  });

  it("says nothing of regions and clocks where no kernel was counted", () => {
    expect(notesOf([idle], { kernelCount: 0, kernelKinds: ["gpu_kernel"] })).toEqual([]);
    expect(notesOf([idle], { kernelCount: 0 })).toEqual([]);
  });

  it("names regions without a counter only where counters were read, and nothing of clocks then", () => {
    const counted = named("counted", { metrics: new Map([["x", { value: 1, unit: "" }]]) });
    const empty = named("empty", { metrics: new Map() });
    const kernelKinds = ["gpu_kernel"] as const;
    expect(notesOf([counted, empty, ran, outsideIdle], { kernelKinds }, "ncu")).toEqual([
      "no hardware counter has a value in 2 of 3 regions: empty, ran",
    ]);
    expect(notesOf([counted], { kernelKinds }, "ncu")).toEqual([]);
    expect(notesOf([ran], {}, "nsys")).toEqual([]);
  });

  it("names regions that have something to say, by the ends of their paths where these are long", () => {
    const long = ["x".repeat(40), "y".repeat(40)];
    const noted = [named("a", { notes: ["late"] }), named("b", { path: long, notes: ["late"] })];
    expect(notesOf([...noted, ran], {})).toEqual([
      `2 regions have their own notes in the reports: a, …${"x".repeat(17)} / ${"y".repeat(40)}`,
    ]);
    expect(notesOf(noted.slice(0, 1), {})).toEqual([
      "1 region has its own notes in the reports: a",
    ]);
  });

  it("says each thing once, in the order of the run, the scope and the numbers", () => {
    const model = modelOf([named("a", { notes: ["late"] })], { notes: ["of all", "of all"] });
    expect(reportOf(model, { notes: ["of all", "of the run"] }).notes).toEqual([
      "of all",
      "of the run",
      "1 region has its own notes in the reports: a",
    ]);
  });

  it("has the instructions of all ranges where they are known", () => {
    const { totals } = reportOf(
      modelOf([ran], { totals: { ...GPU, kernelKinds: [], instructions: 7 } }),
    );
    expect(totals).toMatchObject({ instructions: 7 });
    expect(totals).not.toHaveProperty("cpu_ms");
  });

  it("has the activity of GPUs of a run only where there was some", () => {
    const run = {
      ...{ wallNs: MS, processNs: MS, processCount: 1, inRangesNs: 0 },
      ...{ beforeRangesNs: null, afterRangesNs: null, gpu: null, gpuInRanges: null },
    };
    const { totals } = reportOf(modelOf([ran], { totals: { ...GPU, kernelKinds: [], run } }));
    expect(totals.run).toStrictEqual({
      ...{ wall_ms: 1, process_ms: 1, process_count: 1, in_ranges_ms: 0 },
      ...{ before_ranges_ms: null, after_ranges_ms: null },
    });
  });
});

describe("the selection in the report", () => {
  const kernelSelection = { include: ["gemm"], exclude: ["copy"], nameBase: "function" } as const;

  it("names the kernels that counted, and the longest only if they were asked for", () => {
    const KERNELS = {
      kernel_include_patterns: ["gemm"],
      kernel_exclude_patterns: ["copy"],
      kernel_name_base: "function",
    };
    const report = reportOf(modelOf([bare], {}, { kernelSelection }));
    expect(report.selection).toStrictEqual({ applies_to: "report", ...SELECTION, ...KERNELS });
    expect(report.regions[0]?.selection).toStrictEqual({ ...SELECTION, ...KERNELS });
    for (const top of [null, ["gemm"]])
      expect(
        reportOf(modelOf([bare], {}, { kernelSelection: { ...kernelSelection, top } })).selection,
      ).toStrictEqual({
        applies_to: "report",
        ...SELECTION,
        ...KERNELS,
        ...(top !== null && { kernel_top_names: top }),
      });
  });

  it.each([
    [{ include: [], exclude: [] }, {}],
    [{ include: ["a/"], exclude: [] }, { ncu_include_expressions: ["a/"] }],
    [{ include: [], exclude: ["b/"] }, { ncu_exclude_expressions: ["b/"] }],
  ])("of a measurement is what ncu filtered by: %o", (expressions, written) => {
    const patterns = { include: ["a"], exclude: [] };
    const model = modelOf([bare], {}, { measuredSelection: { patterns, expressions } });
    const report = reportOf(model);
    expect(report.selection).toStrictEqual({
      applies_to: "measurement",
      include_patterns: ["a"],
      exclude_patterns: [],
      ...written,
    });
    expect(report.regions[0]?.selection).toStrictEqual(SELECTION);
  });
});
