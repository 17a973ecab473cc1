import { describe, expect, it } from "vitest";
import {
  type RunSummary,
  renderRegionMarkdown,
  renderRegionTable,
  renderStakeholderSummary,
} from "../../../src/report/index.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { speedOfLight } from "../../../src/report/view/gpu-utilization.ts";
import { bundleOf, regionNamed, resnet } from "../bundles.ts";
import { dataOf, valuesOf } from "../render/page.ts";

const COMPUTE = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";

type Metrics = Readonly<Record<string, readonly [number | null, string]>>;

const bundle = bundleOf([resnet]);

const metricsOf = (metrics: Metrics) =>
  Object.fromEntries(
    Object.entries(metrics).map(([name, [value, unit]]) => [name, { value, unit }]),
  );

const region = (metrics: Metrics) => ({
  ...regionNamed(bundle, "stem"),
  metrics: metricsOf(metrics),
});

const shares = (compute: number, memory: number): Metrics => ({
  [COMPUTE]: [compute, "%"],
  [MEMORY]: [memory, "%"],
});

describe("speedOfLight", () => {
  it.each([
    [27.8, 88.4, "memory"],
    [91, 40, "compute"],
    [84, 79, "both"],
    [65, 58, "both"],
    [70.5, 60.5, "compute"],
    [60.5, 70.5, "memory"],
    [70.25, 60.5, "both"],
    [59.9, 59.9, "latency"],
    [0, 0, "latency"],
    [60, 10, "compute"],
  ] as const)("of %d %% compute and %d %% memory is limited by %s", (compute, memory, limit) => {
    expect(speedOfLight(region(shares(compute, memory)))).toEqual({ compute, memory, limit });
  });

  it("takes the labels of ncu's details page, of all its versions", () => {
    const newer = {
      "Compute (SM) Throughput": [27.8, "%"],
      "Memory Throughput": [88.4, "%"],
    } as const;
    const older = { "Compute (SM) [%]": [27.8, "%"], "Memory [%]": [88.4, "%"] } as const;
    const oldest = { "SM [%]": [27.8, "%"], "Memory [%]": [88.4, "%"] } as const;
    for (const metrics of [newer, older, oldest])
      expect(speedOfLight(region(metrics))).toEqual({
        compute: 27.8,
        memory: 88.4,
        limit: "memory",
      });
  });

  it("takes the busiest part of the memory that was measured, where ncu's own sum of them was not", () => {
    const parts = {
      [COMPUTE]: [20, "%"],
      "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": [30, "%"],
      "lts__throughput.avg.pct_of_peak_sustained_elapsed": [71, "%"],
    } as const;
    expect(speedOfLight(region(parts))).toEqual({ compute: 20, memory: 71, limit: "memory" });
  });

  it("says nothing where one of the two was not measured, or is a rate and no share", () => {
    expect(speedOfLight(region({}))).toBeNull();
    expect(speedOfLight(region({ [COMPUTE]: [20, "%"] }))).toBeNull();
    expect(speedOfLight(region({ [COMPUTE]: [20, "%"], [MEMORY]: [null, "%"] }))).toBeNull();
    const rate = { [COMPUTE]: [20, "%"], "Memory Throughput": [2.6e11, "byte/s"] } as const;
    expect(speedOfLight(region(rate))).toBeNull();
  });
});

describe("what limits a region", () => {
  const [report, ...others] = bundle.reports;
  if (report === undefined) throw new Error("no report");
  const measured = {
    ...report,
    regions: report.regions.map((each) =>
      each.name === "stem" ? { ...each, metrics: metricsOf(shares(27.8, 88.4)) } : each,
    ),
  };
  const withLimits = { ...bundle, reports: [measured, ...others] };

  it("stands in the terminal's table, where something was measured", () => {
    const text = renderRegionTable(measured, { width: 120 });
    expect(text).toMatch(/^Region .* SM % +Mem % +Limit +Share %\n/);
    expect(text).toMatch(/\n {2}stem .* 27\.8 +88\.4 +memory +25\.0\n/);
    expect(text).toMatch(/\nforward .* – +– +– +100\.0\n/);
    expect(renderRegionTable(report, { width: 120 })).not.toContain("Limit");
  });

  it("stays on a narrow terminal, without its numbers", () => {
    const text = renderRegionTable(measured, { width: 50 });
    expect(text).toMatch(/\n {2}stem .* memory +25\.0\n/);
    expect(text).not.toContain("Mem %");
  });

  it("stands in the tree of the Markdown report, with what the columns mean", () => {
    const text = renderRegionMarkdown(withLimits, { title: "t" });
    expect(text).toContain("| SM % | Memory % | Limited by | Share % |");
    expect(text).toMatch(/stem \|.* 27\.8 \| 88\.4 \| memory \| 25\.0 \|/);
    expect(text).toContain("SM % and Memory % are shares of the peak");
    expect(renderRegionMarkdown(bundle, { title: "t" })).not.toContain("Limited by");
  });

  it("is what the page's tables read, where something was measured", () => {
    const regionsOf = (of: typeof bundle) => {
      const { strings, scopes } = dataOf(renderHtmlReport(of, { title: "t" }));
      const limit = valuesOf(scopes[0], "Limited by");
      return {
        sm: valuesOf(scopes[0], "SM %"),
        memory: valuesOf(scopes[0], "Memory %"),
        limit: limit?.map((index) => (index === null ? null : strings[index])),
      };
    };
    expect(regionsOf(withLimits)).toEqual({
      sm: [null, 27.8, null, null, null],
      memory: [null, 88.4, null, null, null],
      limit: [null, "memory", null, null, null],
    });
    expect(regionsOf(bundle)).toEqual({ sm: undefined, memory: undefined, limit: undefined });
  });

  it("stands in the summary in plain language, also of a collector that another one stands before", () => {
    const section = (collector: string, of: typeof bundle) => ({
      collector,
      directory: collector,
      bundle: of,
      regionDirectories: new Map<string, string>(),
    });
    const run: RunSummary = {
      sections: [section("recorder", bundle), section("ncu", withLimits)],
      notes: [],
    };
    const text = renderStakeholderSummary(run);
    expect(text).toContain(
      "## What limits it\n\nBy the hardware counters of recorder, of the regions with the most time:\n\n- forward / stem: moving data (memory 88.4 % of its peak, arithmetic 27.8 %)\n",
    );
    expect(
      renderStakeholderSummary({ ...run, sections: [section("recorder", bundle)] }),
    ).not.toContain("What limits");
  });
});
