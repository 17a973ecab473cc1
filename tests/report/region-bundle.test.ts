import { describe, expect, it } from "vitest";
import type { NCUProfileRegion, RegionReportBundle } from "../../src/report/model/document.ts";
import { createRegionBundler } from "../../src/report/write-reports.ts";
import { bundleOf, firstReport, resnet } from "./bundles.ts";

function regionOf(bundle: RegionReportBundle, name: string, kind = "push_pop"): NCUProfileRegion {
  const found = firstReport(bundle).regions.find((one) => one.name === name && one.kind === kind);
  if (found === undefined) throw new Error(`no region ${name}`);
  return found;
}

const cutOut = (bundle: RegionReportBundle, name: string, kind?: string) =>
  createRegionBundler(bundle)(regionOf(bundle, name, kind));

describe("the bundle of one region", () => {
  it("has it and what is below it, not what is beside it", () => {
    const bundle = bundleOf([resnet]);
    const { contract, reports } = cutOut(bundle, "residual");
    expect(contract).toBe(bundle.contract);
    expect(reports.map(({ scope }) => scope)).toEqual(bundle.reports.map(({ scope }) => scope));
    for (const { regions } of reports)
      expect(regions.map(({ name }) => name)).toEqual(["residual", "block.conv1", "block.conv2"]);
  });

  it("has no families: those of the whole report have members beside it", () => {
    const bundle = bundleOf([resnet]);
    expect(firstReport(bundle).families).toHaveLength(1);
    for (const report of cutOut(bundle, "residual").reports)
      expect(report).not.toHaveProperty("families");
  });

  it("counts what the region holds; nothing ran outside it", () => {
    const bundle = bundleOf([resnet]);
    const { regions, totals } = firstReport(cutOut(bundle, "residual"));
    expect(totals).toEqual({
      region_count: 3,
      invocations: regions.reduce((sum, { invocations }) => sum + invocations, 0),
      kernel_count: regions[0]?.kernel_count,
      total_ms: regions[0]?.total_ms,
      outside_ms: 0,
      outside_kernel_count: 0,
      wall_ms: null,
    });
    expect(totals.invocations).toBe(6);
    expect(totals.total_ms).toBeGreaterThan(0);
  });

  it("says of no time that it was zero where none was recorded", () => {
    const bundle = bundleOf([{ ranges: [{ name: "load", start: 0, end: 9 }] }]);
    const { totals } = firstReport(cutOut(bundle, "load"));
    expect(totals).toMatchObject({ total_ms: null, outside_ms: null, kernel_count: 0 });
  });

  it("leaves out scopes that have no such region", () => {
    const other = { pid: 7, ranges: [{ name: "elsewhere", start: 0, end: 9 }] };
    const bundle = bundleOf([resnet, other]);
    expect(cutOut(bundle, "elsewhere").reports.map(({ scope }) => scope)).toEqual([
      "aggregate",
      "process:7",
    ]);
  });

  it("contains a region of another kind only if it is inside, not next to it", () => {
    const pid = 1;
    const ranges = [
      { name: "step", start: 0, end: 100 },
      { name: "load", start: 10, end: 20 },
      { name: "step", start: 200, end: 300, kind: "start_end" as const },
    ];
    const bundle = bundleOf([{ pid, ranges }]);
    for (const kind of ["push_pop", "start_end"]) {
      const { regions } = firstReport(cutOut(bundle, "step", kind));
      expect(regions.filter(({ name }) => name === "step").map((one) => one.kind)).toEqual([kind]);
    }
  });

  it("has the kernels of a region that outlived the one around it, each once", () => {
    const bundle = bundleOf([resnet]);
    const longer = (region: NCUProfileRegion): NCUProfileRegion => ({
      ...region,
      ...(region.name === "residual" && { total_ms: 1, exclusive_ms: 1, kernel_count: 1 }),
    });
    const outlived = {
      ...bundle,
      reports: bundle.reports.map((report) => ({ ...report, regions: report.regions.map(longer) })),
    };
    const { regions, totals } = firstReport(cutOut(outlived, "residual"));
    const inside = regions.slice(1);
    expect(totals.total_ms).toBeCloseTo(
      1 + inside.reduce((sum, { exclusive_ms }) => sum + (exclusive_ms ?? 0), 0),
      9,
    );
    expect(totals.kernel_count).toBe(Math.max(...inside.map(({ kernel_count }) => kernel_count)));
  });
});
