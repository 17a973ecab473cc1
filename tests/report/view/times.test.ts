import { describe, expect, it } from "vitest";
import { renderCsv } from "../../../src/pages/csv.ts";
import { toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import {
  assertValid,
  createReportValidator,
  type RegionReportBundle,
  renderKernelsMarkdown,
  renderRegionMarkdown,
  renderRegionTable,
  renderStakeholderSummary,
} from "../../../src/report/index.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { knownKernelCount } from "../../../src/report/view/region-columns.ts";
import { kernelRecords, regionRecords } from "../../../src/report/view/region-records.ts";
import {
  exclusiveMs,
  kernelMs,
  meanMs,
  reportKernelWords,
  totalMs,
  wholeMs,
  wordsOfKinds,
} from "../../../src/report/view/times.ts";
import { assembleNcu } from "../../profiler/tools/ncu/assemble/assemble-all.ts";
import { type ResultSketch, resultsOf } from "../../profiler/tools/ncu/results.ts";
import { bundleOf as bundleOfSketches, context, firstReport } from "../bundles.ts";
import { dataOf, valuesOf } from "../render/page.ts";

const metrics = { "dram__bytes.sum": [64, "byte"] } as const;
const bundleOf = (...sketches: readonly ResultSketch[]): RegionReportBundle =>
  toReportBundle(assembleNcu(resultsOf(...sketches)), context);
const runOf = (bundle: RegionReportBundle) => ({
  sections: [{ collector: "ncu", directory: "ncu", bundle, regionDirectories: new Map() }],
  notes: [],
});

/** What people read of a report. */
const shown = (bundle: RegionReportBundle): readonly string[] => [
  renderRegionTable(firstReport(bundle), { width: 200 }),
  renderRegionMarkdown(bundle, { title: "NCU Region Reports" }),
  renderKernelsMarkdown(runOf(bundle)),
  renderStakeholderSummary(runOf(bundle)),
];

const csvRows = (lines: Iterable<string>): readonly (readonly string[])[] =>
  [...lines].map((line) => line.trimEnd().split(","));

describe("kernels without a time", () => {
  const untimed = bundleOf(
    { in: ["a", "b"], kernel: "gemm", metrics },
    { in: ["a"], kernel: "copy", metrics },
  );

  it("have none in any report for people, and zeros in the JSON as its contract wants", async () => {
    assertValid(createReportValidator(), untimed);
    for (const text of shown(untimed)) expect(text).not.toMatch(/\b0\.0|\b0 ms/);
    expect(renderStakeholderSummary(runOf(untimed))).toContain("counted, not timed");
    const one = bundleOf({ in: ["a"], kernel: "gemm", metrics });
    expect(renderKernelsMarkdown(runOf(one))).toContain("1 GPU kernel, not timed.");
    const [, region] = csvRows(renderCsv(regionRecords(untimed)));
    expect(region?.slice(10, 14)).toEqual(["", "", "", ""]);
    const [, kernel] = csvRows(renderCsv(kernelRecords(untimed)));
    expect(kernel?.slice(5)).toEqual(["1", "", ""]);
  });

  it("have none in the page", () => {
    const [scope] = dataOf(renderHtmlReport(untimed, { title: "t" })).scopes;
    expect(valuesOf(scope, "Total ms")).toBeUndefined();
    expect(scope?.kernels.flatMap(({ total }) => total)).toEqual([null, null, null, null, null]);
    expect(scope?.measures.map(({ name }) => name)).toEqual(["wall"]);
  });

  it("are not compared by their time", () => {
    const report = firstReport(untimed);
    const { totals, regions, kernels } = compareReports(report, report);
    for (const { changes } of [{ changes: totals }, ...regions, ...kernels])
      expect(changes).not.toHaveProperty("total_ms");
  });

  it("are not new, nor gone, where the other report has their time", () => {
    const timed = bundleOf({ in: ["a"], kernel: "gemm", ns: 2_000_000, metrics });
    const counted = bundleOf({ in: ["a"], kernel: "gemm", metrics });
    for (const [a, b] of [
      [timed, counted],
      [counted, timed],
    ] as const) {
      const [kernel] = compareReports(firstReport(a), firstReport(b)).kernels;
      expect(kernel?.presence).toBe("both");
      expect(Object.keys(kernel?.changes ?? {})).toEqual(["calls"]);
    }
  });

  it("stand beside others that have one", () => {
    const some = bundleOf(
      { in: ["a"], kernel: "gemm", ns: 2_000_000 },
      { in: ["a"], kernel: "copy", metrics },
    );
    expect(renderKernelsMarkdown(runOf(some))).toMatch(/copy.*\| 1 \| – \| – \| – \|/);
    expect(renderRegionTable(firstReport(some), { width: 200 })).toContain("2.000");
    const apart = bundleOf(
      { in: ["timed"], kernel: "gemm", ns: 2_000_000 },
      { in: ["counted"], kernel: "copy", metrics },
    );
    expect(renderRegionTable(firstReport(apart), { width: 200 })).toMatch(
      /\ncounted +– +– +– +– +1 +–\n/,
    );
  });
});

it("ranges without a time have none", async () => {
  const untimed = bundleOf({ kind: "range", in: ["a"], metrics });
  assertValid(createReportValidator(), untimed);
  const { totals, regions } = firstReport(untimed);
  expect([totals.total_ms, totals.outside_ms, regions[0]?.total_ms]).toEqual([null, null, null]);
  for (const text of shown(untimed)) {
    expect(text).not.toMatch(/\b0\.0|\b0 ms/);
    expect(text).not.toContain("only wall times are known");
  }
});

it("CPU operations that took no time took none: their zero is a measurement", () => {
  const ranges = [
    { name: "step", start: 0, end: 10 },
    { name: "view", start: 5, end: 5, domain: "ops" },
  ];
  const report = firstReport(bundleOfSketches([{ ranges }], { operationDomains: ["ops"] }));
  const [region] = report.regions;
  const [operation] = region?.kernels ?? [];
  expect(operation).toMatchObject({ kind: "cpu_operation", calls: 1 });
  expect(operation && [kernelMs(operation), meanMs(operation)]).toEqual([0, 0]);
  expect(region && [totalMs(region), exclusiveMs(region)]).toEqual([0, 0]);
  expect(wholeMs(report)).toBe(0);
});

describe("shares", () => {
  const untimed = bundleOf({ in: ["A"], metrics });
  const timed = bundleOf({ in: ["A"], ns: 5 });

  it("are told of no whole where neither kernels nor ranges have a time", () => {
    for (const text of shown(untimed)) expect(text).not.toContain("wall time covered");
    expect(renderRegionMarkdown(untimed, { title: "t" })).not.toContain("Share is of");
    expect(renderRegionMarkdown(timed, { title: "t" })).toContain(
      "Share is of total GPU time of kernels.",
    );
    const whole = (bundle: RegionReportBundle) =>
      dataOf(renderHtmlReport(bundle, { title: "t" })).scopes[0]?.measures[0];
    expect(whole(untimed)).toMatchObject({ wholeMs: null, wholeLabel: null });
    expect(whole(timed)).toMatchObject({ wholeLabel: "total GPU time of kernels" });
  });
});

it("no kernels are none where nothing ran, and not counted where time passed without them", () => {
  const shown = (kernel_count: number, total_ms: number | null) =>
    knownKernelCount({ kernel_count, total_ms });
  expect([shown(0, null), shown(0, 0), shown(0, 5), shown(3, 5)]).toEqual([0, 0, null, 3]);
});

it("where time passed on a GPU without kernels, it was that of ranges measured as a whole", () => {
  const report = firstReport(bundleOfSketches([{ ranges: [{ name: "a", start: 0, end: 5 }] }]));
  const time = (kernel_clock: typeof report.collector.kernel_clock, total_ms: number | null) =>
    reportKernelWords({
      ...report,
      collector: { ...report.collector, kernel_clock },
      regions: report.regions.map((region) => ({ ...region, total_ms })),
    })?.time;
  expect(time("ncu", 5)).toBe("GPU time of ranges");
  expect(time("ncu", 0)).toBe("GPU time of kernels");
  expect(time("cpu", 0)).toBe("time of CPU operations");
  expect(time(null, null)).toBeUndefined();
});

it("kernels and operations are called what they are, and each kind by name where both were recorded", () => {
  const many = (...kinds: Parameters<typeof wordsOfKinds>[0]) => wordsOfKinds(kinds)?.plural;
  expect(many("gpu_kernel", "gpu_kernel")).toBe("GPU kernels");
  expect(many("cpu_operation")).toBe("CPU operations");
  expect(many("gpu_kernel", "cpu_operation")).toBe("GPU kernels and CPU operations");
  expect(many()).toBeUndefined();
});
