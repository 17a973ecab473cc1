import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import type { Changes } from "../../../src/report/compare/comparison-types.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import { selectionOf } from "../../../src/report/compare/selection-coverage.ts";
import type {
  NCUProfileRegionReport,
  RegionSelection,
  ReportSelection,
} from "../../../src/report/model/document.ts";
import { bundleOf, firstReport } from "../bundles.ts";

const MS = 1_000_000;
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
const withSelection = (
  report: NCUProfileRegionReport,
  selection: Partial<RegionSelection>,
): NCUProfileRegionReport => ({
  ...report,
  selection: { ...selectionOf(report), ...selection },
});
const withKernels = (
  report: NCUProfileRegionReport,
  selection: Partial<RegionSelection>,
): NCUProfileRegionReport => ({
  ...withSelection(report, selection),
  regions: report.regions.map((region) => ({
    ...region,
    kernels: region.kernels.filter(({ kernel_name }) => kernel_name !== "relu(float *)"),
  })),
});
/** As ncu measures it: what its filter leaves out is not there, nor in any total. */
const measured = (
  report: NCUProfileRegionReport,
  selection: Partial<ReportSelection>,
): NCUProfileRegionReport => ({
  ...report,
  regions: report.regions.filter(({ kind }) => kind !== "outside"),
  selection: { ...selectionOf(report), applies_to: "measurement", ...selection },
});
const verdictsOf = (changes: Changes) =>
  Object.fromEntries(Object.entries(changes).map(([name, { verdict }]) => [name, verdict]));
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

  it("is no operation of the CPU, whatever a selection of kernels says", () => {
    const onCpu = (ops: readonly { name: string; start: number; end: number }[]) =>
      firstReport(
        bundleOf([
          {
            pid: 1,
            ranges: [
              { name: "step", start: 0, end: 9 * MS },
              ...ops.map((op) => ({ ...op, domain: "shallow_resnet.ops" })),
            ],
          },
        ]),
      );
    const conv = { name: "conv2d", start: 0, end: MS };
    const relu = { name: "relu", start: 2 * MS, end: 3 * MS };
    const removed = withSelection(onCpu([conv]), { kernel_exclude_patterns: ["relu"] });
    expect(kernelsOf(onCpu([conv, relu]), removed)).toMatchObject({
      conv2d: "both",
      relu: "removed",
    });
  });

  it("is told in a note with the selection that leaves it out", () => {
    const selected = reportWith(["step"], ["x"]);
    const noteOf = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
      compareReports(a, b).notes.filter((note) => note.includes("left out"));
    expect(noteOf(whole, selected)).toEqual([
      "B did not look for 2 regions of A: its selection (include step; exclude x) leaves them out; they are marked left out, not gone; kernels and counts are compared only where both looked",
    ]);
    expect(noteOf(selected, whole)).toEqual([
      "A did not look for 2 regions of B: its selection (include step; exclude x) leaves them out; they are marked left out, not new; kernels and counts are compared only where both looked",
    ]);
    expect(
      noteOf(whole, withKernels(whole, { kernel_exclude_patterns: ["relu"] })).join(),
    ).toContain(
      "B did not count 1 kernel of A: its kernel selection (exclude relu) leaves it out; it is marked left out, not gone",
    );
    expect(noteOf(whole, whole)).toEqual([]);
    expect(noteOf(selected, selected)).toEqual([]);
  });
});

describe("a selection that took no region", () => {
  const nothing = reportWith(["nothing*"]);

  it("is told by the report, so that what it left out is not gone", () => {
    expect(nothing.regions.filter(({ kind }) => kind !== "outside")).toEqual([]);
    expect(nothing.selection).toEqual({
      ...{ applies_to: "report", include_patterns: ["nothing*"], exclude_patterns: [] },
    });
    const regionless = { ...nothing, regions: [] };
    expect(new Set(Object.values(presences(whole, regionless)))).toEqual(new Set(["left_out"]));
    expect(new Set(Object.values(presences(regionless, whole)))).toEqual(new Set(["left_out"]));
  });
});

describe("a filter in ncu's own grammar", () => {
  const filtered = (expression: string) =>
    measured(
      { ...whole, regions: whole.regions.filter(({ path }) => path.includes("load")) },
      { ncu_include_expressions: [expression] },
    );

  it("may have left out whatever is missing, unless it was the same", () => {
    expect(presences(whole, filtered("load/"))).toEqual({
      ...{ epoch: "left_out", load: "both", step: "left_out", backward: "left_out" },
    });
    const everything = measured(whole, { ncu_include_expressions: ["load/"] });
    expect(presences(everything, filtered("load/"))).toMatchObject({ step: "removed" });
    expect(presences(everything, filtered("regex:load/"))).toMatchObject({ step: "left_out" });
  });

  it("took what labels beside it name, and nothing that an excluding one may take", () => {
    const beside = { ncu_include_expressions: ["load/"], include_patterns: ["step"] };
    expect(presences(whole, { ...filtered("load/"), ...measured(filtered("x"), beside) })).toEqual({
      ...{ epoch: "left_out", load: "both", step: "removed", backward: "removed" },
    });
    const excluding = { ncu_exclude_expressions: ["x/"], include_patterns: ["step"] };
    expect(presences(whole, measured(filtered("x"), excluding))).toMatchObject({
      step: "left_out",
    });
  });

  it("leaves nothing to compare of kernels in regions that both have", () => {
    const { regions, kernels } = compareReports(
      whole,
      measured(whole, {
        ncu_include_expressions: ["step/"],
      }),
    );
    const step = regions.find(({ path }) => path.at(-1) === "step");
    expect(step?.presence).toBe("both");
    expect(verdictsOf(step?.changes ?? {})).toMatchObject({
      ...{ total_ms: "left_out", exclusive_ms: "left_out", kernel_count: "left_out" },
      ...{ wall_ms: "same", invocations: "same" },
    });
    expect(new Set(kernels.map(({ presence }) => presence))).toEqual(new Set(["left_out"]));
  });
});

describe("totals of two selections", () => {
  const gate = (a: NCUProfileRegionReport, b: NCUProfileRegionReport, text: string) =>
    checkGates(parseGates(text), compareReports(a, b));

  it("are of the same work where the selections only chose what is shown", () => {
    const selected = reportWith(["step"], ["backward"]);
    expect(verdictsOf(compareReports(whole, selected).totals)).toMatchObject({
      ...{ total_ms: "same", outside_ms: "same", kernel_count: "same", wall_ms: "same" },
    });
    expect(gate(whole, selected, "total_ms>5%")).toMatchObject([{ outcome: "passed" }]);
  });

  it.each<[string, NCUProfileRegionReport, string, string]>([
    ["ncu measured only some regions", measured(reportWith(["step"]), {}), "include step", ""],
    [
      "some kernels were not counted",
      withKernels(whole, { kernel_exclude_patterns: ["relu"] }),
      "kernels: exclude relu",
      ", and those of 3 regions around it",
    ],
  ])("are not held against a limit where %s", (_, selected, words, around) => {
    const { totals, notes } = compareReports(whole, selected);
    expect(verdictsOf(totals)).toMatchObject({
      ...{ total_ms: "left_out", outside_ms: "left_out", kernel_count: "left_out" },
      wall_ms: "same",
    });
    expect(notes.join("\n")).toContain(
      `measured or counted different work (A: everything; B: ${words}): kernel totals${around} are shown side by side`,
    );
    expect(() => gate(whole, selected, "total_ms>5%")).toThrow(
      "--fail-on: 'total_ms>5%': total_ms cannot be compared: the reports differ in selection or unit",
    );
    expect(gate(whole, selected, "wall_ms>5%")).toMatchObject([{ outcome: "passed" }]);
    expect(gate(selected, selected, "total_ms>5%")).toMatchObject([{ outcome: "passed" }]);
  });

  it("nor are regions around what ncu was told to exclude, or with kernels that do not count", () => {
    const excluded = measured(reportWith(["epoch", "step"], ["backward"]), {});
    expect(() => gate(whole, excluded, "region:step.total_ms>5%")).toThrow(
      "the reports differ in selection or unit",
    );
    expect(gate(whole, excluded, "region:load.total_ms>5%")).toMatchObject([{ outcome: "passed" }]);
    const reasons = gate(whole, excluded, "region:*.total_ms>5%").map(({ reason }) => reason);
    expect(reasons).toContain(
      "total_ms of region epoch / step: 5 -> 5: the values are of different work or in different units",
    );
    const uncounted = withKernels(whole, { kernel_exclude_patterns: ["relu"] });
    expect(() => gate(whole, uncounted, "region:step.total_ms>5%")).toThrow(
      "the reports differ in selection or unit",
    );
    expect(gate(whole, uncounted, "region:load.total_ms>5%")).toMatchObject([
      { outcome: "passed" },
    ]);
  });

  it("do not differ by the order of patterns", () => {
    const some = measured(reportWith(["step", "load"]), {});
    expect(gate(some, measured(reportWith(["load", "step"]), {}), "total_ms>5%")).toMatchObject([
      { outcome: "passed" },
    ]);
  });

  it("do not hold what ran outside of regions where ncu was told of regions only", () => {
    const a = firstReport(
      bundleOf([{ ...program, kernels: [{ name: "k", launch: 200, ns: 1e6 }] }]),
    );
    const b = measured({ ...a }, { include_patterns: ["step"] });
    const outside = compareReports(a, b).regions.find(({ kind }) => kind === "outside");
    expect(outside?.presence).toBe("left_out");
  });
});
