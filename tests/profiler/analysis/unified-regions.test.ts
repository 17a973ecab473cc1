import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import type { LabelRules } from "../../../src/profiler/analysis/labels.ts";
import type { RegionModelEntry } from "../../../src/profiler/analysis/region-model.ts";
import { runs } from "../../runs.ts";
import { aggregateOf, tree } from "./models.ts";
import { anyKernels, anyRanges, type ProcessSketch, timelineOf, wellNested } from "./timelines.ts";

/** Two of the three labels that the generators write become one. */
const rules: LabelRules = { rules: [{ pattern: "^[ab]$", replace: "x" }] };
const renamed = (name: string) => (name === "a" || name === "b" ? "x" : name);
const relabelled = ({ ranges = [], ...rest }: ProcessSketch): ProcessSketch => ({
  ...rest,
  ranges: ranges.map((range) => ({ ...range, name: renamed(range.name) })),
});

describe("regions with unified labels", () => {
  it("are those of a program that writes these labels", () => {
    fc.assert(
      fc.property(anyRanges, anyKernels, (ranges, kernels) => {
        const unified = buildRegionModel(timelineOf([{ ranges, kernels }]), { labels: rules });
        const written = buildRegionModel(timelineOf([relabelled({ ranges, kernels })]));
        const regions = ({ scopes }: typeof unified) =>
          scopes.map(({ scope, regions: all, totals }) => ({ scope, all, totals }));
        expect(regions(unified)).toEqual(regions(written));
      }),
      { numRuns: runs(200) },
    );
  });

  it("have the times and kernels of the regions that became one", () => {
    fc.assert(
      fc.property(wellNested, (sketch) => {
        const sums = new Map<string, ReturnType<typeof numbersOf>>();
        for (const region of aggregateOf(sketch).regions) {
          const path = region.path.map(renamed).join("/");
          const sum = sums.get(path) ?? [0, 0, 0, 0];
          sums.set(
            path,
            sum.map((value, index) => value + (numbersOf(region)[index] ?? 0)),
          );
        }
        const { regions } = aggregateOf(sketch, { labels: rules });
        const unified = regions.map(
          (region) => [region.path.join("/"), numbersOf(region)] as const,
        );
        expect(new Map(unified)).toEqual(sums);
      }),
      { numRuns: runs(200) },
    );
  });

  it("are as they were where no rule is given", () => {
    fc.assert(
      fc.property(anyRanges, anyKernels, (ranges, kernels) => {
        const timeline = timelineOf([{ ranges, kernels }]);
        const none = buildRegionModel(timeline, { labels: { preset: [], rules: [] } });
        expect(none).toEqual(buildRegionModel(timeline));
      }),
      { numRuns: runs(50) },
    );
  });

  it("are selected by the labels that reports show", () => {
    const sketch = {
      ranges: [
        { name: "step 1", start: 0, end: 10 },
        { name: "step 2", start: 10, end: 20 },
        { name: "load", start: 20, end: 30 },
      ],
    };
    const { regions } = aggregateOf(sketch, {
      labels: { rules: [{ pattern: " \\d+$" }] },
      selection: { include: ["step"], exclude: [] },
    });
    expect(tree(regions)).toEqual(["step"]);
    expect(regions[0]).toMatchObject({ invocations: 2, wallNs: 20 });
  });
});

const numbersOf = ({
  invocations,
  wallNs,
  kernelNs,
  kernelCount,
}: RegionModelEntry): readonly number[] => [invocations, wallNs ?? 0, kernelNs ?? 0, kernelCount];

const numbered = (count: number, label: (index: number) => string): ProcessSketch => ({
  ranges: Array.from({ length: count }, (_, index) => ({
    name: label(index),
    start: index * 10,
    end: index * 10 + 5,
  })),
});

const notesOf = (sketch: ProcessSketch, labels?: LabelRules) =>
  aggregateOf(sketch, labels && { labels }).notes.filter((note) => note.includes("label"));

describe("notes of labels", () => {
  it("tell how many labels became how many, and by which rules", () => {
    const labels = {
      rules: [{ pattern: ", op_id = \\d+" }, { pattern: "^mm$", replace: "gemm" }],
    };
    expect(
      notesOf(
        numbered(1200, (index) => `mm, op_id = ${index}`),
        labels,
      ),
    ).toEqual([
      "labels unified by 2 rules: 1,200 labels became 1 (rules: ', op_id = \\d+' => '', '^mm$' => 'gemm')",
    ]);
  });

  it("name a rule that fits no label; of ready-made ones some must", () => {
    const preset = [{ pattern: " \\d+$" }, { pattern: "not there" }];
    const steps = numbered(2, (index) => `step ${index}`);
    const [, ...others] = notesOf(steps, { preset, rules: [{ pattern: "nor this" }] });
    expect(others).toEqual(["the label rule 'nor this' => '' matches no label"]);
    const [, ...none] = notesOf(steps, { preset: [{ pattern: "not there" }] });
    expect(none).toEqual(["the ready-made label rules ('not there' => '') match no label"]);
  });

  it("tell of rules where many labels differ in little but numbers", () => {
    expect(
      notesOf(
        numbered(1200, (index) => `step ${index}`),
        { fold: null },
      ),
    ).toEqual([
      "1,200 labels would be 1 without the numbers in them, e.g. in 'step 0': label rules unify them (labels.rules; import and report: --label-rule 'REGEX=>TEXT')",
    ]);
    expect(
      notesOf(
        numbered(1200, (index) => `aten::mm, op_id = ${index}`),
        { fold: null },
      ),
    ).toEqual([
      "1,200 labels would be 1 without the numbers in them, e.g. in 'aten::mm, op_id = 0': labels=pytorch unifies the labels that PyTorch numbers (import and report: --labels pytorch)",
    ]);
  });

  it.each([
    ["few labels", 1000, (index: number) => `step ${index}`],
    [
      "labels that differ otherwise",
      1200,
      (index: number) => `l${"x".repeat(index % 300)} ${index}`,
    ],
  ])("say nothing of %s", (_, count, label) => {
    expect(notesOf(numbered(count, label), { fold: null })).toEqual([]);
  });
});
