import { describe, expect, it } from "vitest";
import { upgradeBundle } from "../../../src/report/model/contract.ts";
import { CONTRACT, type RegionReportBundle } from "../../../src/report/model/document.ts";
import { treeRows } from "../../../src/report/view/tree-rows.ts";
import { twoLibraries } from "../../profiler/analysis/timelines.ts";
import { asOlder, bundleOf, firstReport, resnet } from "../bundles.ts";

const domainsOf = (bundle: RegionReportBundle) =>
  firstReport(upgradeBundle(bundle)).regions.map(({ path_domains }) => path_domains);

describe("a report of an older contract", () => {
  it("gets the domains that its own regions tell", () => {
    const bundle = bundleOf([
      {
        ranges: [
          { name: "step", start: 0, end: 100 },
          { name: "load", start: 10, end: 90, domain: "io" },
          { name: "read", start: 20, end: 80, domain: "io" },
        ],
      },
    ]);
    const older = asOlder(bundle);
    expect(upgradeBundle(older)).toEqual(bundle);
    expect(upgradeBundle(older).contract).toBe(CONTRACT);
    expect(treeRows(firstReport(upgradeBundle(older)).regions).map(({ level }) => level)).toEqual([
      0, 1, 2,
    ]);
  });

  it("does not tell a domain where two ranges may be meant, or none is shown", () => {
    expect(domainsOf(asOlder(bundleOf([twoLibraries])))).toEqual([
      undefined,
      undefined,
      [null, "io"],
    ]);
    const selection = { include: ["load"], exclude: [] };
    expect(domainsOf(asOlder(bundleOf([twoLibraries], { selection })))).toEqual([[null, "io"]]);
  });

  it("gets the selection of its regions, and one of ncu is taken for its filter", () => {
    const bundle = bundleOf([resnet], { selection: { include: ["forward"], exclude: [] } });
    const before = (collector: string): RegionReportBundle => ({
      contract: "hydraconf.region-report/1.2",
      reports: bundle.reports.map(({ selection: _, ...report }) => ({
        ...report,
        collector: { ...report.collector, name: collector },
      })),
    });
    const selectionOf = (collector: string) =>
      firstReport(upgradeBundle(before(collector))).selection;
    const patterns = { include_patterns: ["forward"], exclude_patterns: [] };
    expect(selectionOf("recorder")).toEqual({ applies_to: "report", ...patterns });
    expect(selectionOf("ncu")).toEqual({ applies_to: "measurement", ...patterns });
  });

  it("is the same but for the version where all is of one domain", () => {
    const bundle = bundleOf([resnet], { operationDomains: ["shallow_resnet.ops"] });
    expect(upgradeBundle({ ...bundle, contract: "hydraconf.region-report/1.0" })).toEqual(bundle);
    expect(upgradeBundle(bundle)).toBe(bundle);
  });
});
