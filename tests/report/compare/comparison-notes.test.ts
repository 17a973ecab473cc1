import { describe, expect, it } from "vitest";
import {
  collectorNotes,
  comparisonNotes,
  environmentDifferences,
  processNotes,
} from "../../../src/report/compare/comparison-notes.ts";
import type { KernelRepeats, NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { unifiedNote } from "../../../src/report/view/notes.ts";
import { bundleOf, firstReport, resnet } from "../bundles.ts";

const report = firstReport(bundleOf([resnet]));
const { collector, environment } = report;
const elsewhere = (change: Partial<NCUProfileRegionReport["environment"]>) => ({
  ...report,
  environment: { ...environment, ...change },
});
const launched = report.regions.flatMap(({ kernels }) => kernels).slice(0, 1);
const GPUS = ["NVIDIA H100", "NVIDIA H200"];

describe("notes on a comparison", () => {
  it.each<[string, NCUProfileRegionReport]>([
    [
      "the collectors differ: recorder and nsys",
      { ...report, collector: { ...collector, name: "nsys" } },
    ],
    [
      "the kernel clocks differ: cpu and cupti",
      { ...report, collector: { ...collector, kernel_clock: "cupti" } },
    ],
    ["the machines differ: host and other", elsewhere({ hostname: "other" })],
    ["the processors differ: Example CPU and Other CPU", elsewhere({ cpu: "Other CPU" })],
    ["the operating systems differ: Linux 6.1.0 and Linux 7.0", elsewhere({ os: "Linux 7.0" })],
    ["the GPUs differ: none and NVIDIA H100, NVIDIA H200", elsewhere({ gpus: GPUS })],
    ["the scopes differ: aggregate and process:12", { ...report, scope: "process:12" }],
  ])("%s", (note, other) => {
    expect(comparisonNotes(report, other)).toEqual([note]);
  });

  it("tell of label rules that differ, and not of how many labels there were", () => {
    const unified = (labels: number, ...rules: readonly string[]) => ({
      ...report,
      notes: [...report.notes, unifiedNote(labels, 2, rules)],
    });
    expect(comparisonNotes(report, unified(9, "'a' => 'b'"))).toEqual([
      "the label rules differ: none and 'a' => 'b'",
    ]);
    expect(comparisonNotes(unified(9, "'a' => 'b'", "'c' => ''"), unified(9, "'a' => ''"))).toEqual(
      ["the label rules differ: 'a' => 'b', 'c' => '' and 'a' => ''"],
    );
    expect(comparisonNotes(unified(9, "'a' => 'b'"), unified(8, "'a' => 'b'"))).toEqual([]);
  });

  it("tell of a run that failed before all else, also where both failed alike", () => {
    const failed = (failure: string) => ({
      ...report,
      failure,
      notes: [
        ...report.notes,
        `${failure}: the report covers what was recorded until then`,
        "its own",
      ],
    });
    const [first, second] = [
      failed("sh ended with exit code 1"),
      failed("sh was ended by SIGABRT"),
    ];
    expect(comparisonNotes(report, first)).toEqual([
      "B failed: sh ended with exit code 1; its numbers cover what was recorded until then",
      "B: its own",
    ]);
    // A failed run of several is not among those that are measured.
    const ofSeveral = (note: string) => {
      const b = { ...report, failure: "sh failed", notes: [...report.notes, note] };
      return comparisonNotes(report, b)[0];
    };
    expect(ofSeveral("2 of 5 runs were completed")).toBe(
      "B failed: sh failed; its numbers cover the 2 runs that were completed",
    );
    expect(ofSeveral("1 of 5 runs was completed")).toMatch(/cover the run that was completed$/);
    expect(ofSeveral("0 of 5 runs were completed")).toMatch(/what was recorded until then$/);
    expect(comparisonNotes(second, second)).toEqual(
      ["A", "B"].map(
        (name) =>
          `${name} failed: sh was ended by SIGABRT; its numbers cover what was recorded until then`,
      ),
    );
  });

  it("are none on a machine that an imported file does not name", () => {
    const [unknown, known] = [elsewhere({ hostname: "unknown" }), elsewhere({ gpus: GPUS })];
    expect(comparisonNotes(unknown, known)).toEqual([]);
    expect(comparisonNotes(known, unknown)).toEqual([]);
    const named = elsewhere({ hostname: "unknown", gpus: ["NVIDIA A100"] });
    expect(comparisonNotes(named, known)).toEqual([
      "the GPUs differ: NVIDIA A100 and NVIDIA H100, NVIDIA H200",
    ]);
  });

  it("are none on scopes that differ in a process or device only, which no two runs share", () => {
    const of = (scope: NCUProfileRegionReport["scope"]) => ({ ...report, scope });
    expect(comparisonNotes(of("process:12"), of("process:345"))).toEqual([]);
    expect(comparisonNotes(of("device:cuda:0"), of("device:cuda:1"))).toEqual([]);
  });

  it("say of how many runs the means are, for each that has some", () => {
    const repeated = (...runs: readonly number[]) => ({
      ...report,
      regions: report.regions.map((region, at) => ({
        ...region,
        repeats: { runs: runs[at % runs.length] ?? 0, total_ms: null, wall_ms: null },
      })),
    });
    const which = (a: typeof report, b: typeof report) =>
      /\(.*\)/.exec(comparisonNotes(a, b)[0] ?? "")?.[0];
    expect(which(repeated(3), report)).toBe("(A: 3)");
    expect(which(report, repeated(2, 5))).toBe("(B: 5)");
    expect(which(repeated(3), repeated(5))).toBe("(A: 3, B: 5)");
  });

  it("count what they leave out", () => {
    const noted = { ...report, notes: Array.from({ length: 6 }, (_, at) => `note ${at}`) };
    expect(comparisonNotes(report, noted).at(-1)).toBe("B: 1 more note in its report");
  });

  it("say of kernels whose run they are from where no runs tell their spread", () => {
    const repeated = (kernels?: readonly KernelRepeats[]) => ({
      ...report,
      regions: report.regions.map((region) => ({
        ...region,
        kernels: launched,
        repeats: { runs: 3, total_ms: null, wall_ms: null, ...(kernels && { kernels }) },
      })),
    });
    const [untold, told] = [
      "times are means of repeated runs (A: 3, B: 3), except those of kernels in regions, which are from the run with the median time, as counts, metrics and the use of the GPU are",
      "times are means of repeated runs (A: 3, B: 3), of a region those that have it; counts, metrics and the use of the GPU are from the run with the median time",
    ];
    const [without, each] = [repeated(), repeated([])];
    expect(comparisonNotes(without, without)).toEqual([untold]);
    expect(comparisonNotes(each, without)).toEqual([untold]);
    expect(comparisonNotes(without, each)).toEqual([untold]);
    expect(comparisonNotes(each, each)).toEqual([told]);
    expect(comparisonNotes(report, each)).toEqual([told.replace("A: 3, B", "B")]);
    expect(comparisonNotes(report, without)).toEqual([untold.replace("A: 3, B", "B")]);
  });

  it("name the metrics whose units differ, those of both, up to five", () => {
    const withUnits = (units: Readonly<Record<string, string>>) => ({
      ...report,
      regions: report.regions.map((region) => ({
        ...region,
        metrics: Object.fromEntries(
          Object.entries(units).map(([name, unit]) => [name, { value: 1, unit }]),
        ),
      })),
    });
    const start = "units differ, so these values are shown side by side and marked left out: ";
    expect(comparisonNotes(withUnits({ x: "ns", y: "" }), withUnits({ x: "", y: "s" }))).toEqual([
      `${start}x (ns and none), y (none and s)`,
    ]);
    expect(comparisonNotes(withUnits({ x: "ns" }), withUnits({ y: "s" }))).toEqual([]);
    const many = (unit: string) =>
      withUnits(Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`m${at}`, unit])));
    expect(comparisonNotes(many("a"), many("b"))[0]).toMatch(/, m4 \(a and b\) and 3 more$/);
  });

  it("are none on notes that both have", () => {
    const noted = (...notes: readonly string[]) => ({ ...report, notes });
    expect(comparisonNotes(noted("x", "y"), noted("y", "z"))).toEqual(["A: x", "B: z"]);
  });
});

describe("notes on two runs of jobs", () => {
  it("tell of other numbers of processes, where both are known", () => {
    expect(processNotes(2, 4)).toEqual([
      "the number of processes differs: 2 and 4; region times and counts are sums over all processes",
    ]);
    for (const [a, b] of [
      [2, 2],
      [0, 2],
      [2, 0],
    ] as const)
      expect(processNotes(a, b)).toEqual([]);
  });

  it("tell which collectors only one has", () => {
    const of = (a: readonly string[], b: readonly string[]) => collectorNotes("recorder", a, b);
    expect(of(["recorder", "ncu"], ["recorder", "ncu"])).toEqual([]);
    expect(of(["recorder", "ncu", "nsys"], ["recorder"])).toEqual([
      "these are the numbers of recorder; only A has ncu, nsys",
    ]);
    expect(of(["recorder", "ncu"], ["recorder", "nsys"])).toEqual([
      "these are the numbers of recorder; only A has ncu, only B has nsys",
    ]);
  });
});

describe("the differences of two reports", () => {
  it("are none of equal ones", () => {
    expect(environmentDifferences(report, report)).toEqual([]);
  });

  it("are of versions as well, and of tools instead of their versions", () => {
    const newer = { ...report, collector: { ...collector, version: "9.9" } };
    expect(environmentDifferences(report, newer)).toEqual([
      { what: "collector versions", a: "recorder 0.1.0", b: "recorder 9.9" },
    ]);
    const other = { ...report, collector: { ...collector, name: "nsys", version: "9.9" } };
    expect(environmentDifferences(report, other)).toEqual([
      { what: "collectors", a: "recorder", b: "nsys" },
    ]);
    expect(environmentDifferences(report, elsewhere({ hydraconf_version: "9.9" }))).toEqual([
      { what: "deep-profile versions", a: "0.1.0", b: "9.9" },
    ]);
  });
});
