import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildRegionModel } from "../../../../../src/profiler/analysis/build.ts";
import type { RegionModelEntry } from "../../../../../src/profiler/analysis/region-model.ts";
import { toReportBundle } from "../../../../../src/profiler/analysis/to-report.ts";
import { GRAPH_NAME } from "../../../../../src/profiler/model/counters.ts";
import { createReportValidator } from "../../../../../src/report/validation/validate.ts";
import { runs } from "../../../../runs.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { timelineOf, wellNested } from "../../../analysis/timelines.ts";
import { readNcuCsv } from "../csv/whole-csv.ts";
import { type ResultSketch, resultsOf } from "../results.ts";
import { assembleNcu } from "./assemble-all.ts";

const CONTEXT = {
  generatedAt: "2026-01-31T12:00:00.000Z",
  configFingerprint: `sha256:${"0".repeat(64)}`,
  collectorVersion: "2024.1.1",
  environment: {
    hostname: "h",
    os: "o",
    cpu: "c",
    gpus: [],
    command: [],
    device: null,
    hydraconf_version: "0",
  },
};

const label = ({ path }: RegionModelEntry) => path.join(" > ");
/** Inclusive count and time, exclusive time, of each region of the first scope. */
const numbers = (sketches: readonly ResultSketch[], options = {}) =>
  Object.fromEntries(
    assembleNcu(resultsOf(...sketches), options).scopes[0]?.regions.map((entry) => [
      label(entry),
      [entry.kernelCount, entry.kernelNs, entry.exclusiveKernelNs],
    ]) ?? [],
  );
const notesOf = (sketches: readonly ResultSketch[], options = {}) =>
  assembleNcu(resultsOf(...sketches), options).scopes[0]?.notes.join("\n") ?? "";

describe("kernels by region", () => {
  test("count for every range of their stack, and exclusively for the innermost", () => {
    expect(
      numbers([
        { in: ["A"], ns: 10 },
        { in: ["A", "B"], ns: 20 },
        { in: ["A", "A::A1"], ns: 30 },
        { in: ["C"], ns: 5 },
        { ns: 7 },
      ]),
    ).toEqual({
      A: [3, 60, 10],
      "A > B": [1, 20, 20],
      "A > A::A1": [1, 30, 30],
      C: [1, 5, 5],
      "(outside)": [1, 7, 7],
    });
  });

  test("count once for each path under recursion", () => {
    expect(
      numbers([
        { in: ["A", "A"], ns: 10 },
        { in: ["A"], ns: 1 },
      ]),
    ).toEqual({
      A: [2, 11, 1],
      "A > A": [1, 10, 10],
    });
  });

  test("are told apart by the domains of the ranges around them", () => {
    const [scope] = assembleNcu(
      resultsOf(
        { in: ["A@step", "io@load"], ns: 10 },
        { in: ["B@step", "io@load"], ns: 500 },
        { in: ["B@step"], ns: 1 },
      ),
    ).scopes;
    expect(
      scope?.regions.map(({ path, domain, path_domains, kernelNs, exclusiveKernelNs }) => [
        path.join("/"),
        domain,
        path_domains,
        kernelNs,
        exclusiveKernelNs,
      ]),
    ).toEqual([
      ["step", "A", undefined, 10, 0],
      ["step/load", "io", ["A", "io"], 10, 10],
      ["step", "B", undefined, 501, 1],
      ["step/load", "io", ["B", "io"], 500, 500],
    ]);
  });

  test("are told apart by process and device, and merged in the aggregate", () => {
    const model = assembleNcu(
      resultsOf(
        { in: ["f"], process: 100, device: "cuda:0", ns: 1 },
        { in: ["f"], process: 100, device: "cuda:1", ns: 2 },
        { in: ["f"], process: 200, device: "cuda:1", ns: 4 },
      ),
    );
    expect(
      model.scopes.map(({ scope, totals, regions }) => [
        scope,
        totals.kernelNs,
        regions[0]?.processId,
        regions[0]?.device,
      ]),
    ).toEqual([
      ["aggregate", 7, null, null],
      ["process:100", 3, 100, null],
      ["process:200", 4, 200, "cuda:1"],
      ["device:cuda:0", 1, 100, "cuda:0"],
      ["device:cuda:1", 6, null, "cuda:1"],
    ]);
    const without = assembleNcu(resultsOf({ ns: 1 }), { aggregate: false });
    expect(without.scopes[0]?.scope).toBe("process:1");
  });

  test("say that their time is that of a replay", () => {
    expect(notesOf([{ in: ["A"], ns: 1 }])).toContain("a run without ncu has other times");
  });

  test("without a duration count, and say so", () => {
    const [scope] = assembleNcu(resultsOf({ in: ["A"] }, { in: ["A"], ns: 5 })).scopes;
    expect(scope?.regions[0]).toMatchObject({ kernelCount: 2, kernelNs: 5 });
    expect(scope?.regions[0]?.notes.join()).toContain("1 kernel has no gpu__time_duration");
    const note = "no result has gpu__time_duration";
    expect(scope?.notes.join()).not.toContain(note);
    expect(notesOf([{ in: ["A"] }, {}])).toContain(note);
    expect(notesOf([{ in: ["A"] }])).toContain("collect that metric");
    expect(notesOf([])).not.toContain(note);
  });

  test.each([
    "gpu__time_duration.sum",
    "gpu__time_duration.max",
    // Before Volta metrics had no rollups.
    "gpu__time_duration",
    "Duration",
  ])("have their time from %s", (metric) => {
    const sketch: ResultSketch = { in: ["A"], metrics: { [metric]: [40, "ns"] } };
    expect(numbers([sketch, sketch])).toMatchObject({ A: [2, 80, 80] });
  });

  test("of tables with different weights have plain means, and say so", () => {
    const rate = "dram__bytes.sum.per_second";
    const of = (value: number) => ({ in: ["A"], metrics: { [rate]: [value, "byte/s"] } }) as const;
    const notes = (...sketches: readonly ResultSketch[]) =>
      assembleNcu(resultsOf(...sketches)).scopes[0]?.regions[0]?.notes.join();
    expect(notes({ ...of(10), ns: 5 }, of(20))).toContain(
      `1 metric is a plain mean, not weighted by time, since some tables lack gpu__time_duration: ${rate}`,
    );
    expect(notes({ ...of(10), ns: 5 }, { ...of(20), ns: 6 })).not.toContain("plain mean");
  });

  test("stand beside CUDA graphs that were measured as a whole, which is said", () => {
    const sketches = [
      { in: ["A"], ns: 10 },
      { in: ["A"], kernel: GRAPH_NAME, ns: 30 },
    ];
    expect(numbers(sketches)).toEqual({ A: [2, 40, 40] });
    expect(notesOf(sketches)).toContain("1 CUDA graph launch was measured as a whole and counts");
    expect(notesOf(sketches.slice(0, 1))).not.toContain("graph");
  });

  test("are left out by a selection of kernels, with a note", () => {
    const kernels = {
      keep: ({ kernelName }: { kernelName: string }) => kernelName !== "memset",
      notes: () => ["chosen by hand"],
    };
    const sketches = [
      { in: ["A"], kernel: "gemm", ns: 1 },
      { in: ["A"], kernel: "memset", ns: 2 },
    ];
    expect(numbers(sketches, { kernels })).toEqual({ A: [1, 1, 1] });
    expect(notesOf(sketches, { kernels })).toMatch(
      /kernel selection leaves out 1 launch\nchosen by hand/,
    );
  });

  test("follow a selection of regions without a change of numbers", () => {
    const sketches = [
      { in: ["A", "B"], ns: 3 },
      { in: ["A"], ns: 1 },
    ];
    expect(numbers(sketches, { selection: { include: ["B"], exclude: [] } })).toEqual({
      "A > B": [1, 3, 3],
    });
    expect(notesOf(sketches, { selection: { include: ["nope"], exclude: [] } })).toContain(
      "no matching regions",
    );
  });

  test("take the order of domains and kinds from a recording", () => {
    const sketch = { in: ["A", "dom@B"], startEnd: ["S"], ns: 1 };
    expect(Object.keys(numbers([sketch]))).toEqual(["S", "S > A", "S > A > B"]);
    expect(notesOf([sketch])).toContain("ncu does not report their order");
    const at = (id: number, name: string, domain: string, kind: "push_pop" | "start_end") => ({
      id,
      kind,
      domain,
      name,
      threadId: 1,
      startNs: id,
      endNs: 100 - id,
      endThreadId: 1,
      category: null,
      color: null,
      payload: null,
    });
    const recorded = buildRegionModel({
      collector: "recorder",
      clock: "CLOCK_MONOTONIC",
      originNs: 0n,
      notes: [],
      processes: [
        {
          pid: 9,
          parentPid: null,
          executable: "p",
          startNs: 0,
          endNs: 100,
          finished: true,
          ranges: [
            at(1, "B", "dom", "push_pop"),
            at(2, "S", "", "start_end"),
            at(3, "A", "", "push_pop"),
          ],
          marks: [],
          kernels: [],
          notes: [],
        },
      ],
    });
    expect(Object.keys(numbers([sketch], { recorded }))).toEqual(["B", "B > S", "B > S > A"]);
    expect(notesOf([sketch], { recorded })).not.toContain("ncu does not report their order");
  });

  test("stand as ncu lists them where a recording has them in both orders", () => {
    const recorded = buildRegionModel(
      timelineOf([
        {
          ranges: [
            { name: "x", start: 0, end: 40, domain: "B" },
            { name: "y", start: 10, end: 30, domain: "A" },
            { name: "y", start: 50, end: 90, domain: "A" },
            { name: "x", start: 60, end: 80, domain: "B" },
          ],
        },
      ]),
    );
    for (const [listed, paths] of [
      [
        ["B@x", "A@y"],
        ["x", "x > y"],
      ],
      [
        ["A@y", "B@x"],
        ["y", "y > x"],
      ],
    ] as const) {
      const sketches = [{ in: [...listed], ns: 1 }];
      expect(Object.keys(numbers(sketches, { recorded }))).toEqual(paths);
      expect(notesOf(sketches, { recorded })).toContain(
        "the recording does not show the order of ranges of several domains or kinds for 1 result either",
      );
    }
  });

  test("are not called guessed where ncu lists ranges of one domain alone, recorded or not", () => {
    const recorded = buildRegionModel(timelineOf([{ ranges: [{ name: "z", start: 0, end: 1 }] }]));
    const note = "ranges of several domains or kinds";
    expect(notesOf([{ in: ["x", "y"], ns: 1 }], { recorded })).not.toContain(note);
    expect(notesOf([{ in: ["x", "B@y"], ns: 1 }], { recorded })).toContain(note);
  });

  test("take the order of ranges of one name from a recording, by their domains", () => {
    const inner = { name: "step", start: 10, end: 90 };
    const recorded = buildRegionModel(
      timelineOf([
        {
          ranges: [
            { name: "step", start: 0, end: 100, domain: "B" },
            { ...inner, domain: "A" },
            { name: "step", start: 200, end: 300, domain: "A" },
            { ...inner, start: 210, end: 290, domain: "C" },
          ],
        },
      ]),
    );
    const orderOf = (...stack: readonly string[]) =>
      assembleNcu(resultsOf({ in: stack, ns: 1 }), { recorded }).scopes[0]?.regions.map(
        ({ domain }) => domain,
      );
    expect(orderOf("A@step", "B@step")).toEqual(["B", "A"]);
    expect(orderOf("C@step", "A@step")).toEqual(["A", "C"]);
  });

  test("agree with a naive count on random results", () => {
    const name = fc.constantFrom("A", "B", "C");
    const sketch = fc.record({
      in: fc.array(name, { maxLength: 4 }),
      kernel: fc.constantFrom("k", "l"),
      process: fc.constantFrom(1, 2),
      device: fc.constantFrom("cuda:0", "cuda:1"),
      ns: fc.nat(1000),
    });
    fc.assert(
      fc.property(fc.array(sketch, { minLength: 1, maxLength: 30 }), (sketches) => {
        const model = assembleNcu(resultsOf(...sketches));
        for (const { scope, regions, totals } of model.scopes) {
          const [kind, id] = scope.split(/:(.*)/);
          const own = sketches.filter(
            ({ process, device }) =>
              kind === "aggregate" || (kind === "process" ? `${process}` : device) === id,
          );
          expect(totals.kernelCount).toBe(own.length);
          expect(totals.kernelNs).toBe(own.reduce((sum, { ns }) => sum + ns, 0));
          for (const { path, kind: region, kernelCount, kernelNs, exclusiveKernelNs } of regions) {
            const matching = own.filter(({ in: stack }) =>
              region === "outside"
                ? stack.length === 0
                : path.every((part, level) => stack[level] === part),
            );
            const exact = matching.filter(
              ({ in: stack }) => region === "outside" || stack.length === path.length,
            );
            const sum = (some: typeof own) => some.reduce((total, { ns }) => total + ns, 0);
            expect([kernelCount, kernelNs, exclusiveKernelNs]).toEqual([
              matching.length,
              sum(matching),
              sum(exact),
            ]);
          }
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("ranges", () => {
  const sketches: readonly ResultSketch[] = [
    { kind: "range", in: ["A"], ns: 100 },
    { kind: "range", in: ["A"], ns: 50 },
    { kind: "range", in: ["A", "A::A1"], ns: 30 },
  ];

  test("have times and calls, and never kernels", () => {
    const [scope] = assembleNcu(resultsOf(...sketches)).scopes;
    expect(
      scope?.regions.map((entry) => [
        label(entry),
        entry.invocations,
        entry.kernelNs,
        entry.exclusiveKernelNs,
        entry.kernelCount,
        entry.kernels,
      ]),
    ).toEqual([
      ["A", 2, 150, null, 0, []],
      ["A > A::A1", 1, 30, null, 0, []],
    ]);
    // The inner range is part of the outer one, which was measured, too.
    expect(scope?.totals).toMatchObject({ kernelNs: 150, kernelCount: 0 });
    expect(scope?.notes.join()).toContain("neither names nor a count");
  });

  test("have the wall times of a recording of as many calls alone", () => {
    const recorded = buildRegionModel(
      timelineOf([
        {
          ranges: [
            { name: "A", start: 0, end: 100 },
            { name: "A", start: 200, end: 400 },
            { name: "B", start: 500, end: 600 },
            { name: "B", start: 700, end: 800 },
          ],
        },
      ]),
    );
    const measured: readonly ResultSketch[] = [
      { kind: "range", in: ["A"], ns: 10 },
      { kind: "range", in: ["A"], ns: 20 },
      // Of the other call nothing was measured: it launches nothing, or a filter left it out.
      { kind: "range", in: ["B"], ns: 30 },
    ];
    const model = assembleNcu(resultsOf(...measured), { recorded });
    expect(
      model.scopes[0]?.regions.map((entry) => [label(entry), entry.invocations, entry.wallNs]),
    ).toEqual([
      ["A", 2, 300],
      ["B", 1, null],
    ]);
    const note = "the recording has other numbers of calls than were measured (B 2, not 1)";
    expect(model.scopes[0]?.notes.join()).toContain(note);
    expect(createReportValidator().validate(toReportBundle(model, CONTEXT))).toEqual([]);
    // Where no region has wall times, none are claimed.
    const [alone] = assembleNcu(resultsOf(...measured.slice(2)), { recorded }).scopes;
    expect(alone?.regions.map(({ wallNs }) => wallNs)).toEqual([null]);
    expect(alone?.notes.join()).toContain(note);
    expect(alone?.notes.join()).not.toContain("calls and wall times are from a recording");
  });

  test("are a valid report beside whatever well-nested recording of the program", () => {
    const validator = createReportValidator();
    const stack = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 });
    const measured = fc.record({
      in: stack,
      kind: fc.constantFrom("range" as const, "kernel" as const),
      ns: fc.nat(1000),
    });
    fc.assert(
      fc.property(
        fc.array(measured, { minLength: 1, maxLength: 12 }),
        wellNested,
        (sketches, process) => {
          const recorded = buildRegionModel(timelineOf([process]));
          const model = assembleNcu(resultsOf(...sketches), { recorded });
          expect(validator.validate(toReportBundle(model, CONTEXT))).toEqual([]);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  test("are part of a range that was measured further out, whatever is between them", () => {
    const [scope] = assembleNcu(
      resultsOf(
        { kind: "range", in: ["A"], ns: 100 },
        { kind: "range", in: ["A", "B", "C"], ns: 30 },
      ),
    ).scopes;
    expect(scope?.regions.map(label)).toEqual(["A", "A > B > C"]);
    expect(scope?.totals.kernelNs).toBe(100);
  });

  test("belong to the innermost range that was profiled", () => {
    const [scope] = assembleNcu(resultsOf({ kind: "range", in: ["A", "B"], ns: 1 }), {
      rangePatterns: ["A*"],
    }).scopes;
    expect(scope?.regions.map(label)).toEqual(["A"]);
  });

  test("are not added to kernels", () => {
    const mixed = [{ in: ["A"], ns: 1 }, ...sketches];
    expect(numbers(mixed)).toEqual({ A: [1, 1, 1] });
    expect(notesOf(mixed)).toContain("3 range results were left out");
  });
});

const sample = samplesOrSkip("regions of the samples");

describe.skipIf(sample === null)("the samples", () => {
  const model = async (name: string) => assembleNcu(await readNcuCsv(sample?.(name) ?? ""));

  test("of 18 kernels have all their regions", async () => {
    const { scopes } = await model("syn-raw-nvtx-grammar-18-kernels.csv");
    const regions = new Map(scopes[0]?.regions.map((entry) => [label(entry), entry]));
    expect(regions.get("A")).toMatchObject({ kernelCount: 8, kernelNs: 8 * 52576 });
    expect(regions.get("A > A::A1")).toMatchObject({ kernelCount: 1, kind: "push_pop" });
    expect(regions.get("A > A")).toMatchObject({ kernelCount: 1 });
    expect(regions.get("S1 > A")).toMatchObject({ kernelCount: 1, kind: "push_pop" });
    expect(regions.get("S1")).toMatchObject({ kernelCount: 3, kind: "start_end" });
    expect(regions.get("(outside)")).toMatchObject({ kernelCount: 2, kind: "outside" });
    expect(scopes[0]?.totals.kernelCount).toBe(18);
  });

  test("of ranges have no kernels", async () => {
    for (const name of [
      "syn-range-raw-4-ranges.csv",
      "pub-cfregly-app-range-details-ncu2025.3.csv",
    ]) {
      const { scopes } = await model(name);
      expect(scopes.every(({ regions }) => regions.length > 0) && scopes.length > 0).toBe(true);
      for (const { regions } of scopes)
        for (const { kernels, kernelCount, kernelNs } of regions) {
          expect([kernels, kernelCount]).toEqual([[], 0]);
          expect(kernelNs).toBeGreaterThan(0);
        }
    }
  });

  test("make documents under the contract", async () => {
    const validator = createReportValidator();
    for (const name of [
      "raw-1kernel-t4-base-units.csv",
      "details-1kernel-t4-metric-names-base.csv",
      "syn-raw-nvtx-grammar-18-kernels.csv",
      "syn-raw-multiprocess-multidevice-weird-values.csv",
      "syn-range-raw-4-ranges.csv",
      "syn-mixed-kernel-and-range-raw.csv",
      "raw-multi-kernel-gtx1660-ncu2022.3-kernel-time-col.csv",
    ]) {
      const bundle = toReportBundle(await model(name), CONTEXT);
      expect(validator.validate(bundle), name).toEqual([]);
      expect(bundle.reports[0]?.regions.length, name).toBeGreaterThan(0);
    }
  });
});
