import { describe, expect, it } from "vitest";
import { textWidth } from "../../../src/foundation/text/text-width.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import {
  COMPARISON_CONTRACT,
  comparisonJsonPieces,
} from "../../../src/report/compare/comparison.ts";
import { renderComparisonHtml } from "../../../src/report/compare/comparison-html.ts";
import { comparisonMarkdownPieces } from "../../../src/report/compare/comparison-markdown.ts";
import { renderComparison } from "../../../src/report/compare/comparison-terminal.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import { activityFacts, counterFacts, rankFacts } from "../../../src/report/compare/gpu-facts.ts";
import type {
  KernelHardware,
  NCUProfileRegionReport,
  RegionGpuActivity,
} from "../../../src/report/model/document.ts";
import { createDocumentValidator } from "../../../src/report/validation/document-contracts.ts";
import { bundleOf, firstReport } from "../bundles.ts";
import { joined } from "../joined.ts";

const MS = 1_000_000;
const plain = firstReport(
  bundleOf([
    {
      pid: 1,
      ranges: [
        { name: "train", start: 0, end: 100 * MS },
        { name: "load", start: 0, end: 40 * MS },
      ],
      kernels: [
        { name: "gemm", launch: 50 * MS, ns: 20 * MS },
        { name: "gemm", launch: 71 * MS, ns: 20 * MS, device: 1 },
      ],
    },
  ]),
);

const withActivity = (
  activity: Readonly<Record<string, RegionGpuActivity>>,
): NCUProfileRegionReport => ({
  ...plain,
  regions: plain.regions.map(({ gpu_activity: _, ...region }) => {
    const known = activity[region.name];
    return { ...region, ...(known !== undefined && { gpu_activity: known }) };
  }),
});

const COUNTERS: KernelHardware = {
  sm_pct: 30,
  memory_pct: 20,
  limited_by: "latency",
  tensor_pct: 0,
  occupancy_pct: 24.8,
  occupancy_limit_pct: 25,
  occupancy_limited_by: ["registers"],
};
const withCounters = (...devices: readonly Partial<KernelHardware>[]): NCUProfileRegionReport => ({
  ...plain,
  regions: plain.regions.map((region) => ({
    ...region,
    kernels: region.kernels.map((kernel) => {
      const hardware = devices[Number(kernel.device.at(-1))] ?? devices[0];
      return hardware === undefined
        ? kernel
        : { ...kernel, hardware: { ...COUNTERS, ...hardware } };
    }),
  })),
});

const SERIAL = { busy_ms: 60, kernel_ms: 40, copy_ms: 20, overlap_ms: 0 };
const OVERLAPPED = { busy_ms: 42, kernel_ms: 40, copy_ms: 20, overlap_ms: 18 };
const comparisonOf = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) => ({
  names: { a: "before", b: "after" },
  reports: compareReports(a, b),
  config: null,
  gates: [],
});

describe("activityFacts", () => {
  it("tells that copies are now hidden behind kernels, and not what stayed", () => {
    const [train, ...others] = activityFacts(
      compareReports(withActivity({ train: SERIAL }), withActivity({ train: OVERLAPPED })),
    );
    expect(others).toEqual([]);
    expect(train).toEqual({
      label: "train",
      facts: [
        { name: "GPU busy %", a: "60.0", b: "42.0", change: "-18.0" },
        { name: "Both ms", a: "0.000", b: "18.000", change: "+18.000" },
      ],
    });
  });

  it("says nothing of parts that are less than a hundredth of the wall time", () => {
    const grown = { ...SERIAL, overlap_ms: 0.5 };
    const reports = compareReports(
      withActivity({ train: { ...SERIAL, overlap_ms: 0.1 } }),
      withActivity({ train: grown }),
    );
    expect(activityFacts(reports)).toEqual([]);
    expect(reports.regions[0]?.changes["gpu_overlap_ms"]).toMatchObject({ verdict: "same" });
  });

  it("says nothing where only one report knows how busy the GPU was", () => {
    const reports = compareReports(withActivity({}), withActivity({ train: SERIAL }));
    expect(activityFacts(reports)).toEqual([]);
    expect(reports.regions[0]?.changes["gpu_busy_pct"]).toMatchObject({ b: 60, verdict: "added" });
  });

  it("begins with the region in which most changed, by its path", () => {
    const reports = compareReports(
      withActivity({ train: SERIAL, load: { ...SERIAL, busy_ms: 20, kernel_ms: 0 } }),
      withActivity({
        train: { ...SERIAL, busy_ms: 65, kernel_ms: 45 },
        load: { ...SERIAL, busy_ms: 30, kernel_ms: 10 },
      }),
    );
    expect(activityFacts(reports).map(({ label }) => label)).toEqual(["train / load", "train"]);
  });
});

it("the page says in words how many of them it leaves out", () => {
  const reports = compareReports(
    withActivity({ train: SERIAL }),
    withActivity({ train: OVERLAPPED }),
  );
  const train = reports.regions.filter(({ path }) => path.join() === "train");
  const regions = Array.from({ length: 1003 }, () => train).flat();
  const html = renderComparisonHtml({
    names: { a: "a", b: "b" },
    reports: { ...reports, regions },
    config: null,
    gates: [],
  });
  expect(/Left out of this page: [^<]*/.exec(html)?.[0]).toBe(
    "Left out of this page: 6 changes of GPU use.",
  );
});

describe("counterFacts", () => {
  it("tells what another launch configuration changed", () => {
    const reports = compareReports(
      withCounters({}),
      withCounters({
        sm_pct: 65,
        limited_by: "compute",
        tensor_pct: 40,
        occupancy_pct: 49,
        occupancy_limit_pct: 50,
        occupancy_limited_by: ["shared_memory"],
      }),
    );
    expect(counterFacts(reports)).toEqual([
      {
        label: "gemm",
        facts: [
          { name: "SM %", a: "30.0", b: "65.0", change: "+35.0" },
          { name: "Limited by", a: "latency", b: "compute", change: "" },
          { name: "Tensor %", a: "0.0", b: "40.0", change: "+40.0" },
          { name: "Occ %", a: "24.8", b: "49.0", change: "+24.2" },
          {
            name: "Occupancy limit",
            a: "25.0 %: registers",
            b: "50.0 %: shared memory",
            change: "+25.0",
          },
        ],
      },
    ]);
  });

  it("tells another limit of the same occupancy", () => {
    const reports = compareReports(
      withCounters({}),
      withCounters({ occupancy_limited_by: ["warps"] }),
    );
    expect(counterFacts(reports)[0]?.facts).toEqual([
      { name: "Occupancy limit", a: "25.0 %: registers", b: "25.0 %: warps", change: "" },
    ]);
  });

  it("does not take noise on a threshold for another limit", () => {
    const reports = compareReports(
      withCounters({ sm_pct: 59.9, limited_by: "latency" }),
      withCounters({ sm_pct: 60.1, limited_by: "compute" }),
    );
    expect(counterFacts(reports)).toEqual([]);
  });

  it("says nothing where only one report has counters", () => {
    const reports = compareReports(plain, withCounters({}));
    expect(counterFacts(reports)).toEqual([]);
    expect(reports.kernels[0]?.limits).toEqual({
      a: null,
      b: { limited_by: "latency", occupancy_limited_by: ["registers"] },
    });
  });

  it("puts the devices of a kernel together by their time", () => {
    const reports = compareReports(
      withCounters({ sm_pct: 20 }, { sm_pct: 40 }),
      withCounters({ sm_pct: 40 }, { sm_pct: 80 }),
    );
    expect(reports.kernels[0]?.changes["sm_pct"]).toMatchObject({ a: 30, b: 60, verdict: "more" });
  });
});

describe("rankFacts", () => {
  const withRanks = (walls: readonly number[], waiting: number): NCUProfileRegionReport => ({
    ...plain,
    regions: plain.regions.map((region) => {
      const max = Math.max(...walls);
      const mean = walls.reduce((sum, ms) => sum + ms, 0) / walls.length;
      const ranks = {
        wall_ms: walls,
        min_ms: Math.min(...walls),
        mean_ms: mean,
        max_ms: max,
        imbalance: max / mean,
        load_balance: mean / max,
        slowest_rank: walls.indexOf(max),
        waiting_ms: waiting,
      };
      return region.name === "load" ? { ...region, ranks } : region;
    }),
  });
  const reports = compareReports(withRanks([10, 10], 0), withRanks([10, 30], 20));

  it("are what changed of how ranks share a region", () => {
    expect(rankFacts(reports)).toEqual([
      {
        label: "train / load",
        facts: [
          { name: "Imbalance", a: "1", b: "1.5", change: "+0.5" },
          { name: "Slowest rank ms", a: "10.000", b: "30.000", change: "+20.000" },
          { name: "Waiting ms, all ranks", a: "0.000", b: "20.000", change: "+20.000" },
        ],
      },
    ]);
    expect(rankFacts(compareReports(plain, plain))).toEqual([]);
  });

  it("may be limited by conditions", () => {
    const [gate] = checkGates(parseGates("region:load.imbalance>20%"), reports);
    expect(gate).toMatchObject({ outcome: "unclear", too_few_runs: true });
  });
});

describe("in comparisons", () => {
  const both = (report: NCUProfileRegionReport, activity: RegionGpuActivity) => ({
    ...report,
    regions: report.regions.map((region) => ({ ...region, gpu_activity: activity })),
  });
  const comparison = comparisonOf(
    both(withCounters({}), SERIAL),
    both(withCounters({ occupancy_pct: 49 }), OVERLAPPED),
  );

  it.each([40, 80, 120])("a terminal of %i columns shows both, within them", (width) => {
    const text = renderComparison(comparison, { width, color: false, regions: 60, kernels: 10 });
    expect(text).toContain("GPU in regions");
    expect(text).toMatch(/GPU busy % .*60\.0 .*42\.0 .*-18\.0/);
    expect(text).toMatch(/Occ % .*24\.8 .*49\.0 .*\+24\.2/);
    for (const line of text.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(width);
  });

  it("a terminal shows as many as asked for, and says how many are left", () => {
    const text = renderComparison(comparison, { width: 80, color: false, regions: 1, kernels: 10 });
    expect(text).toContain("1 more changed: --regions 2 shows all");
  });

  it("Markdown has a table of each", () => {
    const text = joined(comparisonMarkdownPieces(comparison));
    expect(text).toContain("## GPU in regions");
    expect(text).toContain("| gemm | Occ % | 24.8 | 49.0 | +24.2 |");
  });

  it("JSON has all numbers and words, and fits its contract", async () => {
    const document: unknown = JSON.parse(joined(comparisonJsonPieces(comparison)));
    expect(createDocumentValidator().validate(document)).toEqual([]);
    expect(document).toMatchObject({
      contract: COMPARISON_CONTRACT,
      kernels: [{ changes: { occupancy_pct: { verdict: "more" } } }],
      regions: [{ changes: { gpu_overlap_ms: { a: 0, b: 18, verdict: "unclear" } } }, {}],
    });
  });

  it("conditions can be about them", () => {
    const gates = parseGates("region:train.gpu_busy_pct<-5,kernel:gemm.occupancy_pct<0");
    expect(checkGates(gates, comparison.reports).map(({ outcome }) => outcome)).toEqual([
      "unclear",
      "passed",
    ]);
  });
});
