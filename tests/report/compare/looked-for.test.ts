import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { lookedFor } from "../../../src/report/compare/looked-for.ts";
import type { NCUProfileRegionReport, RegionSelection } from "../../../src/report/document.ts";
import { bundleOf, firstReport } from "../bundles.ts";

const program = {
  pid: 1,
  ranges: [
    { name: "epoch", start: 0, end: 100 },
    { name: "load", start: 1, end: 30, domain: "io" },
    { name: "step", start: 31, end: 60 },
    { name: "backward", start: 41, end: 50 },
  ],
  kernels: [
    { name: "copy", launch: 2, ns: 1e6 },
    { name: "void ns::gemm<float>(float *)", launch: 32, ns: 2e6 },
    { name: "relu(float *)", launch: 42, ns: 3e6 },
  ],
};
const reportWith = (include: readonly string[], exclude: readonly string[] = []) =>
  firstReport(bundleOf([program], { selection: { include, exclude } }));
const whole = reportWith([]);
const withKernels = (
  report: NCUProfileRegionReport,
  selection: Partial<RegionSelection>,
): NCUProfileRegionReport => ({
  ...report,
  regions: report.regions.map((region) => ({
    ...region,
    kernels: region.kernels.filter(({ kernel_name }) => kernel_name !== "relu(float *)"),
    selection: { ...region.selection, ...selection },
  })),
});
const presences = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
  Object.fromEntries(
    compareReports(a, b).regions.map(({ path, presence }) => [path.at(-1), presence]),
  );
const kernelsOf = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
  Object.fromEntries(
    compareReports(a, b).kernels.map(({ kernel_name, presence }) => [kernel_name, presence]),
  );

describe("what a selection leaves out", () => {
  it.each([
    [["step"], [], { epoch: "left_out", load: "left_out", step: "both", backward: "both" }],
    [["io@*"], [], { epoch: "left_out", load: "both", step: "left_out", backward: "left_out" }],
    [[], ["step"], { epoch: "both", load: "both", step: "left_out", backward: "left_out" }],
    [["epoch"], ["l*"], { epoch: "both", load: "left_out", step: "both", backward: "both" }],
  ])("is not gone with include %j and exclude %j, nor new", (include, exclude, expected) => {
    expect(presences(whole, reportWith(include, exclude))).toEqual(expected);
    expect(presences(reportWith(include, exclude), whole)).toEqual(expected);
  });

  it("has numbers of one side and a verdict of its own", () => {
    const [epoch] = compareReports(whole, reportWith(["step"])).regions;
    expect(epoch?.changes["invocations"]).toEqual({
      ...{ a: 1, b: null, delta: null, relative: null, uncertainty: null },
      verdict: "left_out",
    });
    expect(new Set(epoch?.kernels.map(({ presence }) => presence))).toEqual(new Set(["left_out"]));
  });

  it("is not what is gone in spite of the selection, or where there is none", () => {
    const removed = firstReport(
      bundleOf([{ ...program, ranges: program.ranges.slice(0, 3) }], {
        selection: { include: ["step"], exclude: [] },
      }),
    );
    expect(presences(whole, removed)).toMatchObject({ epoch: "left_out", backward: "removed" });
    expect(presences(removed, whole)).toMatchObject({ epoch: "left_out", backward: "added" });
  });

  it("is no part of counts, nor of kernels: both are those of what both looked for", () => {
    const { totals, kernels } = compareReports(whole, reportWith(["step"]));
    expect(totals["region_count"]).toMatchObject({ a: 2, b: 2, verdict: "same" });
    expect(totals["invocations"]).toMatchObject({ a: 2, b: 2, verdict: "same" });
    expect(kernels.map(({ kernel_name, presence }) => [kernel_name, presence])).toEqual([
      ["copy", "left_out"],
      ["relu(float *)", "both"],
      ["void ns::gemm<float>(float *)", "both"],
    ]);
    expect(kernels.map(({ changes }) => changes["total_ms"]?.verdict)).toEqual([
      ...["left_out", "same", "same"],
    ]);
  });

  it.each<[string, Partial<RegionSelection>, string]>([
    [
      "a glob over function names",
      { kernel_include_patterns: ["g*", "copy"], kernel_exclude_patterns: [] },
      "left_out",
    ],
    ["an exclusion", { kernel_exclude_patterns: ["regex:^relu"] }, "left_out"],
    [
      "an exclusion of another name",
      { kernel_exclude_patterns: ["relu"], kernel_name_base: "demangled" },
      "removed",
    ],
    ["the longest of a recording", { kernel_top_names: ["gemm<float>", "copy"] }, "left_out"],
    ["those that are the longest", { kernel_top_names: ["relu(float*)"] }, "removed"],
    // Reports have no mangled names: what was looked for is not known.
    [
      "mangled names",
      { kernel_include_patterns: ["_Z4gemm"], kernel_name_base: "mangled" },
      "removed",
    ],
  ])("of kernels, by %s", (_, selection, presence) => {
    const selected = withKernels(whole, selection);
    expect(kernelsOf(whole, selected)["relu(float *)"]).toBe(presence);
    expect(kernelsOf(selected, whole)["relu(float *)"]).toBe(
      presence === "removed" ? "added" : presence,
    );
    const step = compareReports(whole, selected).regions.find(({ path }) => path.at(-1) === "step");
    expect(step?.kernels.find(({ kernel_name }) => kernel_name === "relu(float *)")?.presence).toBe(
      presence,
    );
  });

  it("is told in a note with the selection that leaves it out", () => {
    const selected = reportWith(["step"], ["x"]);
    const noteOf = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
      compareReports(a, b).notes.filter((note) => note.includes("left out"));
    expect(noteOf(whole, selected)).toEqual([
      "B did not look for 2 regions of A: its selection (include step; exclude x) leaves them out; they are called left out, not gone; kernels and counts are compared where both looked, totals of times as each has them",
    ]);
    expect(noteOf(selected, whole)).toEqual([
      "A did not look for 2 regions of B: its selection (include step; exclude x) leaves them out; they are called left out, not new; kernels and counts are compared where both looked, totals of times as each has them",
    ]);
    expect(
      noteOf(whole, withKernels(whole, { kernel_exclude_patterns: ["relu"] })).join(),
    ).toContain(
      "B did not count 1 kernel of A: its selection of kernels (exclude relu) leaves it out; it is called left out, not gone",
    );
    expect(noteOf(whole, whole)).toEqual([]);
    expect(noteOf(selected, selected)).toEqual([]);
  });

  it("is nothing where a domain is not known: what may have been looked for was", () => {
    const selection = { include_patterns: ["cuda@*"], exclude_patterns: ["io@*"] };
    const regions = whole.regions.map((region) => ({ ...region, selection }));
    const looked = lookedFor({ ...whole, regions });
    const place = { path: ["a", "b"], domain: "", kind: "push_pop" as const };
    expect(looked.region(place)).toBe(false);
    expect(looked.region({ ...place, path_domains: [null, ""] })).toBe(true);
    expect(looked.region({ ...place, path_domains: ["cuda", "io"] })).toBe(false);
  });
});
