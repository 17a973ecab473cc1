import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../../src/pages/markdown.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { regionLines } from "../../../src/report/compare/comparison.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import { renderRegionMarkdown, renderRegionTable } from "../../../src/report/index.ts";
import { regionTree } from "../../../src/report/view/report-tables.ts";
import { treeRows } from "../../../src/report/view/tree-rows.ts";
import { bundleOf, firstReport } from "../bundles.ts";

/** One name, opened by start/end and by push/pop: two regions of one place, and one inside. */
const bundle = bundleOf([
  {
    ranges: [
      { name: "step", start: 0, end: 10, kind: "start_end" },
      { name: "step", start: 20, end: 50 },
      { name: "load", start: 25, end: 30 },
    ],
    kernels: [
      { name: "k", launch: 1, ns: 1 },
      { name: "k", launch: 26, ns: 2 },
    ],
  },
]);
const report = firstReport(bundle);
const BOTH = ["step (start/end)", "step (push/pop)"];

describe("two regions that differ in their kind alone", () => {
  it("have it behind their names in trees", () => {
    expect(treeRows(report.regions).map(({ label }) => label)).toEqual([...BOTH, "load"]);
    for (const text of [renderRegionTable(report), renderMarkdown(regionTree(report))])
      for (const name of BOTH) expect(text).toContain(name);
    const compared = regionLines(compareReports(report, report).regions);
    expect(compared.map(({ label }) => label)).toEqual([...BOTH, "load"]);
  });

  it("are chosen by gates together, or each by its kind", () => {
    const compared = compareReports(report, report);
    const inA = compared.regions.map((region) => ({ ...region, domain: "A" }));
    const chosen = (pattern: string) =>
      checkGates(parseGates(`region:${pattern}.wall_ms>5%`), { ...compared, regions: inA }).length;
    expect(["step", "step @A", "step (push/pop)"].map(chosen)).toEqual([2, 2, 1]);
  });

  it("have it where one of them stands alone", () => {
    const [, other] = report.regions;
    if (other === undefined) throw new Error("there are two");
    expect(treeRows([other], { among: report.regions })[0]?.label).toBe(BOTH[1]);
    const markdown = renderRegionMarkdown(bundle, { title: "Steps" });
    for (const name of BOTH) expect(markdown).toContain(`### ${name}`);
  });
});
