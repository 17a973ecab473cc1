import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { labelKey, labelsOf } from "../../../../../src/profiler/tools/ncu/run/label-survey.ts";
import {
  isExpression,
  measuredSelection,
  type NvtxRequest,
  needsLabels,
  nvtxRequest,
  planPasses,
} from "../../../../../src/profiler/tools/ncu/run/pass-plan.ts";
import { runs } from "../../../../runs.ts";
import { timelineOf } from "../../../analysis/timelines.ts";
import { cliConfig } from "./cli-config.ts";

const everything: NvtxRequest = {
  include: [],
  exclude: [],
  native: { include: [], exclude: [] },
  gating: true,
  filtering: true,
};
const nested = timelineOf([
  {
    pid: 1,
    ranges: [
      { name: "A", start: 0, end: 100 },
      { name: "A::A1", start: 10, end: 50 },
      { name: "op", start: 12, end: 20, domain: "ops" },
      { name: "B", start: 100, end: 120 },
    ],
  },
]);
const labels = labelsOf(nested, ["ops"]);

describe("planPasses", () => {
  it("runs once per level of nesting in the range modes", () => {
    for (const mode of ["range", "app-range"] as const)
      expect(
        planPasses(mode, everything, labels).passes.map(({ name, include }) => [name, include]),
      ).toEqual([
        ["level-1", ["A/", "B/"]],
        ["level-2", ["A::A1/"]],
      ]);
  });

  it("runs once for one level, and needs no level for what is not wanted", () => {
    const { passes } = planPasses("range", { ...everything, include: ["A::*"] }, labels);
    expect(passes.map(({ name, include }) => [name, include])).toEqual([["profile", ["A::A1/"]]]);
  });

  it("runs once in the kernel modes, with no filter for null", () => {
    for (const mode of ["kernel", "application"] as const) {
      expect(needsLabels(mode, everything)).toBe(false);
      expect(planPasses(mode, everything, null).passes).toMatchObject([
        { name: "profile", include: [], exclude: [] },
      ]);
      const globs = { ...everything, include: ["A*"], exclude: ["B"] };
      expect(needsLabels(mode, globs)).toBe(true);
      expect(planPasses(mode, globs, labels).passes).toMatchObject([
        { include: ["regex:^A.*$/"], exclude: ["B/"] },
      ]);
    }
  });

  it("leaves regions out by labels and by expressions, and says what comes of it", () => {
    const plan = (request: Partial<NvtxRequest>) =>
      planPasses("kernel", { ...everything, ...request }, labels);
    const native = { include: [], exclude: ["x/"] };
    expect(plan({ include: ["A"], exclude: ["B"], native })).toMatchObject({
      passes: [{ include: ["A/"], exclude: ["B/", "x/"] }],
      notes: [],
    });
    expect(plan({ exclude: ["B"] }).notes).toEqual([
      "with nvtx.exclude alone, ncu also excludes kernels outside all regions",
    ]);
    expect(plan({ include: ["A"], exclude: ["nothing"] }).notes).toEqual([
      "nvtx.exclude (nothing) matches no region: nothing is excluded",
    ]);
  });

  it("passes expressions on, beside labels, and leaves filters out where nothing is gated", () => {
    const native = { include: ["regex:^x$/"], exclude: [] };
    const request = { ...everything, include: ["B"], native };
    expect(planPasses("kernel", request, labels).notes.join()).toContain("ncu may miss ranges");
    expect(planPasses("kernel", { ...request, include: [] }, labels).notes).toEqual([]);
    expect(planPasses("kernel", request, labels).passes[0]?.include).toEqual(["B/", "regex:^x$/"]);
    expect(planPasses("range", request, labels).passes.map(({ include }) => include)).toEqual([
      ["B/"],
      ["regex:^x$/"],
    ]);
    expect(planPasses("range", { ...request, gating: false }, null).passes).toMatchObject([
      { include: [] },
    ]);
    expect(planPasses("kernel", { ...request, filtering: false }, null).passes).toMatchObject([
      { include: [] },
    ]);
  });

  it("keeps labels apart whose common filter would match other regions, too", () => {
    // A backslash needs a regular expression, and one for two domains matches each name in both.
    const several = timelineOf([
      {
        pid: 1,
        ranges: [
          { name: "a\\b", start: 0, end: 10 },
          { name: "c", start: 20, end: 30, domain: "D" },
          { name: "a\\b", start: 40, end: 50, domain: "D" },
        ],
      },
    ]);
    const found = labelsOf(several, []);
    const include = ["@a\\\\b", "D@c"];
    const { passes } = planPasses("range", { ...everything, include }, found);
    expect(passes.map((pass) => pass.include)).toEqual([["regex:^a\\\\b$/"], ["D@c/"]]);
  });

  it("keeps regions apart that follow each other without a CUDA call between them", () => {
    const plan = (waits: readonly number[], kernels = [5, 15, 25, 35]) =>
      planPasses(
        "range",
        everything,
        labelsOf(
          timelineOf([
            {
              pid: 1,
              ranges: [
                { name: "stem", start: 0, end: 9 },
                { name: "residual", start: 11, end: 19 },
                { name: "head", start: 21, end: 29 },
                { name: "stem", start: 32, end: 40 },
              ],
              kernels: kernels.map((launch) => ({ name: "k", launch, ns: 1 })),
              waits: waits.map((call) => ({ call, ns: 1 })),
            },
          ]),
          [],
        ),
      ).passes.map(({ include }) => include);
    // A wait between head and the next stem: those two may share a run.
    expect(plan([31])).toEqual([["stem/", "head/"], ["residual/"]]);
    expect(plan([])).toEqual([["stem/"], ["residual/"], ["head/"]]);
    expect(plan([10, 20, 31])).toEqual([["stem/", "residual/", "head/"]]);
    // Where no CUDA calls were recorded, nothing is known of them.
    expect(plan([], [])).toEqual([["stem/", "residual/", "head/"]]);
  });

  it("keeps the regions around the last CUDA call apart from what opens before the next", () => {
    const passes = (launch: readonly number[]) =>
      planPasses(
        "range",
        everything,
        labelsOf(
          timelineOf([
            {
              pid: 1,
              ranges: [
                { name: "A", start: 0, end: 100 },
                { name: "A::A1", start: 10, end: 90 },
                { name: "empty", start: 92, end: 94 },
                { name: "B", start: 100, end: 120 },
              ],
              kernels: launch.map((ns) => ({ name: "k", launch: ns, ns: 1 })),
            },
          ]),
          [],
        ),
      ).passes.map(({ include }) => include);
    expect(passes([20, 110])).toEqual([["A/"], ["B/", "empty/"], ["A::A1/"]]);
    expect(passes([20, 95, 110])).toEqual([["A/"], ["B/", "A::A1/"], ["empty/"]]);
  });

  it("measures recursion from the first opening to the last closing, and says so", () => {
    const recursive = timelineOf([
      {
        pid: 1,
        ranges: [
          { name: "f", start: 0, end: 10 },
          { name: "f", start: 1, end: 9 },
        ],
      },
    ]);
    const plan = planPasses("range", everything, labelsOf(recursive, []));
    expect(plan.passes).toHaveLength(1);
    expect(plan.notes.join()).toContain("open several times at once");
  });

  it("never measures two regions in one run that are open together, and leaves none out", () => {
    const range = fc
      .tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat(40), fc.integer({ min: 1, max: 20 }))
      .map(([name, start, length]) => ({ name, start, end: start + length }));
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 14 }), (unsorted) => {
        const ranges = [...unsorted].sort((x, y) => x.start - y.start);
        // Start/end ranges need not nest: any overlap can occur.
        const timeline = timelineOf([
          { pid: 1, ranges: ranges.map((each) => ({ ...each, kind: "start_end" as const })) },
        ]);
        const found = labelsOf(timeline, []);
        const { passes } = planPasses("range", everything, found);
        const measured = passes.flatMap((pass) => pass.labels ?? []).map(labelKey);
        expect(measured.toSorted()).toEqual(found.labels.map(labelKey).toSorted());
        for (const pass of passes)
          for (const one of pass.labels ?? [])
            for (const other of pass.labels ?? []) {
              if (one.name === other.name) continue;
              const together = ranges.some(
                (x) =>
                  x.name === one.name &&
                  ranges.some((y) => y.name === other.name && x.start < y.end && y.start < x.end),
              );
              expect(together, `${one.name} and ${other.name}`).toBe(false);
            }
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("nvtxRequest", () => {
  it.each([
    ["A", false],
    ["decode*", false],
    ["LLM@*", false],
    ["*", false],
    ["br[0]", false],
    ["model/forward", false],
    ["ends\\/", false],
    ["A/", true],
    ["A/*/B/", true],
    ["A]", true],
    ["[A", true],
    ["regex:^A", true],
  ])("takes %s for an expression of ncu's own: %s", (text, expected) => {
    expect(isExpression(text)).toBe(expected);
  });

  const config = {
    enable: true,
    gating_nvtx: true,
    native_nvtx: true,
    fallback: true,
    require_match: false,
    top_n_kernels: null,
    timeout_min: null,
    ncu_cli: { ...cliConfig, nvtx: { include: ["A", "B/"], exclude: "regex:x" } },
  };

  it("takes the switches beside ncu's options", () => {
    expect(nvtxRequest(config)).toMatchObject({ gating: true, filtering: true });
    expect(nvtxRequest({ ...config, gating_nvtx: false })).toMatchObject({ gating: false });
    expect(nvtxRequest({ ...config, native_nvtx: false })).toMatchObject({ filtering: false });
  });

  it("tells labels from expressions in a list", () => {
    expect(nvtxRequest(config)).toMatchObject({
      include: ["A"],
      exclude: [],
      native: { include: ["B/"], exclude: ["regex:x"] },
    });
  });
});

describe("what is measured at all", () => {
  const native = { include: ["A/"], exclude: ["B/"] };
  const none = { include: [], exclude: [] };

  it("is what the filter of a pass takes", () => {
    const request = { ...everything, include: ["A"], exclude: ["B"] };
    const measured = { patterns: { include: ["A"], exclude: ["B"] }, expressions: none };
    expect(measuredSelection("kernel", request)).toEqual(measured);
    expect(measuredSelection("kernel", { ...request, native })).toEqual({
      ...measured,
      expressions: native,
    });
    expect(measuredSelection("range", request)).toEqual(measured);
  });

  it("is everything without a filter, and in a pass for every region", () => {
    expect(measuredSelection("kernel", everything)).toBeNull();
    expect(measuredSelection("range", { ...everything, exclude: ["A"] })).toBeNull();
    for (const mode of ["kernel", "range"] as const) {
      const request = { ...everything, include: ["A"], native: { ...none, include: ["B/"] } };
      expect(measuredSelection(mode, { ...request, gating: false })).toBeNull();
      expect(measuredSelection(mode, { ...request, filtering: false })).toBeNull();
    }
  });

  it("is what expressions take in range replay, which excludes nothing", () => {
    expect(measuredSelection("range", { ...everything, exclude: ["C"], native })).toEqual({
      patterns: none,
      expressions: { include: ["A/"], exclude: [] },
    });
  });
});
