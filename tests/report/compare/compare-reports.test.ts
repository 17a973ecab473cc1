import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareReports,
  judgedBy,
  totalWall,
  totalWork,
} from "../../../src/report/compare/compare-reports.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
} from "../../../src/report/model/document.ts";
import { familyKey } from "../../../src/report/model/families.ts";
import { longestOnlyNote } from "../../../src/report/view/notes.ts";
import { growth } from "../../growth.ts";
import { wellNested } from "../../profiler/analysis/timelines.ts";
import { runs } from "../../runs.ts";
import { bundleOf, firstReport, repeated, reportOfCalls, resnet } from "../bundles.ts";

const OPERATIONS = { operationDomains: ["shallow_resnet.ops"] };
const report = firstReport(bundleOf([resnet], OPERATIONS));
const nothing = firstReport(bundleOf([{ pid: 1, ranges: [] }]));
const outside = firstReport(
  bundleOf([{ pid: 1, ranges: [], kernels: [{ name: "k", launch: 1, ns: 5 }] }]),
);
const without = (name: string) =>
  firstReport(
    bundleOf(
      [{ ...resnet, ranges: (resnet.ranges ?? []).filter((range) => range.name !== name) }],
      OPERATIONS,
    ),
  );
const slowed = firstReport(
  bundleOf(
    [
      {
        ...resnet,
        ranges: (resnet.ranges ?? []).map((range) =>
          range.name === "forward" ? { ...range, end: (range.end ?? 0) + 1_000_000 } : range,
        ),
      },
    ],
    OPERATIONS,
  ),
);

const STEADY = { std: 1, stable: true };

describe("compareReports", () => {
  it("says of repeated runs whose numbers it takes, and not what their reports say of theirs", () => {
    const median = "numbers are from the median run of 3; repeats holds the spread over all runs";
    const ofRuns = {
      ...report,
      notes: [...report.notes, median],
      regions: report.regions.map((region) => ({
        ...region,
        repeats: { runs: 3, total_ms: null, wall_ms: null },
      })),
    };
    const { notes } = compareReports(ofRuns, report);
    expect(notes.join("\n")).toContain("times are means of repeated runs (A: 3), ");
    expect(notes.join("\n")).not.toContain("numbers are from the median run");
    expect(compareReports(report, report).notes.join()).not.toContain("repeated");
    const everyOther = ofRuns.regions.map((region) => ({
      ...region,
      repeats: { runs: 3, total_runs: 5, total_ms: null, wall_ms: null },
    }));
    expect(compareReports({ ...ofRuns, regions: everyOther }, report).notes.join()).toContain(
      "times are means of repeated runs (A: 5), ",
    );
  });

  it("repeats what only one of them says of itself, up to five notes", () => {
    const noted = (count: number) => ({
      ...report,
      notes: Array.from({ length: count }, (_, at) => `note ${at + 1}`),
    });
    expect(compareReports(noted(2), noted(1)).notes).toEqual(["A: note 2"]);
    expect(compareReports(noted(0), noted(5)).notes).toEqual(
      [1, 2, 3, 4, 5].map((number) => `B: note ${number}`),
    );
    expect(compareReports(noted(7), noted(0)).notes.slice(-2)).toEqual([
      "A: note 5",
      "A: 2 more notes in its report",
    ]);
  });

  it("matches regions by path and says by how much they changed", () => {
    const { regions, totals } = compareReports(repeated(report), repeated(slowed));
    expect(regions.map(({ path }) => path.join("/"))).toEqual(
      report.regions.map(({ path }) => path.join("/")),
    );
    const forward = regions[0]?.changes["wall_ms"];
    expect(forward).toMatchObject({ a: 36, b: 38, delta: 2, verdict: "more" });
    expect(forward?.relative).toBeCloseTo(2 / 36, 9);
    expect(regions[1]?.changes["wall_ms"]?.verdict).toBe("same");
    expect(totals["kernel_count"]).toMatchObject({ delta: 0, verdict: "same" });
  });

  it("keeps what only one of them has in its place", () => {
    const gone = compareReports(report, without("stem"));
    expect(gone.regions.map(({ path, presence }) => [path.at(-1), presence])).toEqual([
      ["forward", "both"],
      ["stem", "removed"],
      ["residual", "both"],
      ["block.conv1", "both"],
      ["block.conv2", "both"],
    ]);
    expect(gone.regions[1]?.changes["wall_ms"]).toMatchObject({
      b: null,
      delta: null,
      verdict: "removed",
    });
    const added = compareReports(without("stem"), report);
    expect(added.regions.find(({ path }) => path.at(-1) === "stem")?.presence).toBe("added");
  });

  it("calls nothing new or gone that a report may only have no room for", () => {
    const full = { ...report, notes: [longestOnlyNote(10_000, 10_001)] };
    const short = {
      ...full,
      regions: report.regions.filter(({ name }) => name !== "stem"),
      unshown_regions: [
        {
          ...{ path: ["late"], domain: "", kind: "push_pop" as const },
          repeats: { runs: 2, total_runs: 3, total_ms: null, wall_ms: null },
        },
      ],
    };
    const gone = compareReports(full, short);
    const stem = gone.regions.find(({ path }) => path.at(-1) === "stem");
    expect(stem).toMatchObject({
      presence: "left_out",
      changes: { wall_ms: { b: null, verdict: "left_out" } },
    });
    expect(gone.notes).toContain(
      "B has only its longest regions: 1 region of A that it does not have is marked left out, not gone, and kernels likewise",
    );
    expect(compareReports(short, full).notes.join("\n")).toContain(
      "A has only its longest regions: 1",
    );
    // The one that has all regions says which it does not have.
    const whole = { ...full, notes: [] };
    expect(compareReports(whole, full).notes.join("\n")).not.toContain("marked left out");
    const lacking = { ...short, notes: [], unshown_regions: [] };
    expect(
      compareReports(full, lacking).regions.find(({ path }) => path.at(-1) === "stem")?.presence,
    ).toBe("removed");
    expect(compareReports(full, short).regions.map(({ path }) => path[0])).not.toContain("late");
  });

  it("calls no kernel new that ran perhaps in a region that is left out", () => {
    const kernel = (name: string, launch: number) => ({ name, launch, ns: 5 });
    const of = (...names: readonly string[]) =>
      firstReport(
        bundleOf([
          {
            ranges: [{ name: "step", start: 0, end: 100 }],
            kernels: names.map((name, at) => kernel(name, at * 10)),
          },
        ]),
      );
    const cut = (some: NCUProfileRegionReport) => ({
      ...some,
      notes: [longestOnlyNote(10_000, 10_001)],
    });
    const presences = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
      compareReports(a, b).kernels.map(({ kernel_name, presence }) => [kernel_name, presence]);
    expect(presences(of("gemm"), of("gemm", "copy"))).toContainEqual(["copy", "added"]);
    expect(presences(cut(of("gemm")), of("gemm", "copy"))).toContainEqual(["copy", "left_out"]);
    // The region has all of its kernels.
    const [step] = compareReports(cut(of("gemm")), of("gemm", "copy")).regions;
    expect(step?.kernels.map(({ presence }) => presence)).toContain("added");
    expect(step?.changes["total_ms"]?.verdict).not.toBe("left_out");
  });

  it("keeps the tree whole around what only one of them has", () => {
    /** Regions by where they begin and end, as letters: `A(ab)B` is A with a and b in it, then B. */
    const of = (...paths: readonly string[]) => {
      const open = (path: string): number => paths.filter((other) => other.startsWith(path)).length;
      const ranges = paths.map((path, at) => ({
        name: path.slice(-1),
        start: at * 10 + path.length,
        end: (at + open(path)) * 10 - path.length,
      }));
      return firstReport(bundleOf([{ ranges }]));
    };
    const order = (a: readonly string[], b: readonly string[]) =>
      compareReports(of(...a), of(...b)).regions.map(({ path }) => path.join(""));
    expect(order(["X", "Y"], ["X", "Xc"])).toEqual(["X", "Xc", "Y"]);
    expect(order(["X", "Xc", "Y", "Yz", "Z"], ["X", "Xc", "Xd", "Z"])).toEqual([
      "X",
      "Xc",
      "Xd",
      "Y",
      "Yz",
      "Z",
    ]);
    expect(order(["X", "Xa", "Xab", "Xc", "Y"], ["X", "Xb", "Xc"])).toEqual([
      "X",
      "Xa",
      "Xab",
      "Xb",
      "Xc",
      "Y",
    ]);
    expect(order(["Y", "X"], ["X", "Xa"])).toEqual(["Y", "X", "Xa"]);
  });

  it("calls no time of single runs slower or faster, whatever it is", () => {
    const [short, long] = [
      [10, 10, 10],
      [40, 40, 40],
    ].map((calls) => ({
      ...reportOfCalls(calls),
      totals: { ...reportOfCalls(calls).totals, outside_ms: calls[0] ?? 0 },
    }));
    if (short === undefined || long === undefined) throw new Error("two reports");
    for (const [a, b] of [
      [short, long],
      [long, short],
      [short, repeated(long)],
    ] as const) {
      const { totals, regions } = compareReports(a, b);
      const all = [totals, ...regions.map(({ changes }) => changes)].flatMap(Object.entries);
      expect(all.length).toBeGreaterThan(5);
      for (const [name, { verdict }] of all) expect(["unclear", "same"], name).toContain(verdict);
      expect(totals["outside_ms"]?.verdict).toBe("unclear");
    }
  });

  it("calls a difference within the spread of runs unclear, and one beyond it a change", () => {
    const wall = (a: number, b: number, half: number) =>
      compareReports(repeated(reportOfCalls([a]), half), repeated(reportOfCalls([b]), half))
        .regions[0]?.changes["wall_ms"]?.verdict;
    expect(wall(100, 110, 0.1)).toBe("unclear");
    expect(wall(100, 110, 0.01)).toBe("more");
    expect(wall(110, 100, 0.01)).toBe("less");
  });

  it("holds the means of repeated runs against each other, for all regions together, too", () => {
    const withMean = (one: typeof report, mean: number) => ({
      ...one,
      regions: one.regions.map((region) => ({
        ...region,
        repeats: {
          runs: 3,
          wall_ms: { ...STEADY, mean, ci95_low: mean - 1, ci95_high: mean + 1 },
          total_ms: null,
        },
      })),
    });
    const { regions, totals } = compareReports(
      withMean(reportOfCalls([10, 10]), 21),
      withMean(reportOfCalls([15, 15]), 22),
    );
    const expected = { a: 21, b: 22, uncertainty: Math.SQRT2, verdict: "unclear" };
    expect(regions[0]?.changes["wall_ms"]).toMatchObject(expected);
    expect(totals["wall_ms"]).toMatchObject(expected);
  });

  it("takes time in proportion to the regions, also where none is in both", async () => {
    const numbered = (prefix: string) => (count: number) =>
      firstReport(
        bundleOf([
          {
            pid: 1,
            ranges: Array.from({ length: count }, (_, at) => ({
              name: `${prefix} ${at}`,
              start: at * 10,
              end: at * 10 + 5,
            })),
          },
        ]),
      );
    const reports = new Map(
      [500, 5000].map((count) => [count, [numbered("a")(count), numbered("b")(count)] as const]),
    );
    const compare = (count: number) => {
      const [a, b] = reports.get(count) ?? [report, report];
      return compareReports(a, b);
    };
    expect(await growth(compare, 500)).toBeLessThan(40);
  });

  it("says what makes two reports hard to compare", () => {
    const elsewhere = {
      ...report,
      collector: { ...report.collector, name: "nsys" },
      environment: { ...report.environment, device: "cuda:0" },
    };
    expect(compareReports(report, elsewhere).notes).toEqual([
      "the collectors differ: recorder and nsys",
      "the devices differ: cpu and cuda:0",
    ]);
    const nowhere = { ...report, environment: { ...report.environment, device: null } };
    expect(compareReports(report, nowhere).notes).toEqual(["the devices differ: cpu and none"]);
    expect(compareReports(nowhere, report).notes).toEqual(["the devices differ: none and cpu"]);
    expect(compareReports(report, report).notes).toEqual([]);
  });

  it.each([
    ["B measured no region: nothing of A can be compared with it", report, nothing],
    ["A measured no region: nothing of B can be compared with it", nothing, report],
    ["neither A nor B measured a region: there is nothing to compare", nothing, nothing],
    ["neither A nor B measured a region: there is nothing to compare", nothing, outside],
    ["neither A nor B measured a region: there is nothing to compare", outside, nothing],
    [
      "neither A nor B measured a region: only what ran outside regions can be compared",
      outside,
      outside,
    ],
  ])("%s", (note, a, b) => {
    expect(compareReports(a, b).notes).toContain(note);
  });

  it("compares metrics of one unit only", () => {
    const measured = (value: number, unit: string) => ({
      ...report,
      regions: report.regions.map((region) => ({
        ...region,
        metrics: { "dram__bytes.sum": { value, unit } },
      })),
    });
    const changes = (unit: string) =>
      compareReports(measured(100, "byte"), measured(200, unit)).regions[0]?.changes[
        "dram__bytes.sum"
      ];
    expect(changes("byte")).toMatchObject({ delta: 100, relative: 1, verdict: "more" });
    expect(changes("Mbyte")).toMatchObject({ a: 100, b: 200, delta: null, verdict: "left_out" });
    const { notes } = compareReports(measured(100, "byte"), measured(200, "Mbyte"));
    expect(notes).toContain(
      "units differ, so these values are shown side by side and marked left out: dram__bytes.sum (byte and Mbyte)",
    );
  });

  it("tells a metric that only one report has of a region: no measurement is no improvement", () => {
    const measured = (count: number) => ({
      ...report,
      regions: report.regions.map((region, place) => ({
        ...region,
        metrics: place < count ? { "dram__bytes.sum": { value: 5, unit: "byte" } } : {},
      })),
    });
    const verdicts = (a: number, b: number) =>
      compareReports(measured(a), measured(b))
        .regions.slice(0, 2)
        .map(({ changes }) => changes["dram__bytes.sum"]?.verdict);
    expect(verdicts(2, 1)).toEqual(["same", "removed"]);
    expect(verdicts(1, 2)).toEqual(["same", "added"]);
    const [gate, lost] = checkGates(
      parseGates("region:*.dram__bytes.sum>5%"),
      compareReports(measured(2), measured(1)),
    );
    expect([gate?.outcome, lost?.outcome]).toEqual(["passed", "breached"]);
  });

  it("finds no change in itself, and the opposite change the other way round", () => {
    const traces = wellNested;
    fc.assert(
      fc.property(traces, traces, (one, other) => {
        const a = firstReport(bundleOf([one]));
        const b = firstReport(bundleOf([other]));
        for (const { changes } of compareReports(a, a).regions)
          for (const change of Object.values(changes)) expect(change.verdict).toBe("same");
        const keys = (
          regions: readonly {
            readonly path: readonly string[];
            readonly domain: string;
            readonly kind: string;
          }[],
        ) => regions.map(({ path, domain, kind }) => JSON.stringify([path, domain, kind])).sort();
        const there = compareReports(a, b);
        const back = compareReports(b, a);
        expect(keys(there.regions)).toEqual(
          [...new Set(keys([...a.regions, ...b.regions]))].sort(),
        );
        expect(keys(back.regions)).toEqual(keys(there.regions));
        const opposite = {
          more: "less",
          less: "more",
          same: "same",
          unclear: "unclear",
          added: "removed",
          removed: "added",
          left_out: "left_out",
        };
        for (const [name, change] of Object.entries(there.totals)) {
          expect(back.totals[name]?.delta).toBe(change.delta === null ? null : 0 - change.delta);
          if (change.uncertainty === 0)
            expect(back.totals[name]?.verdict).toBe(opposite[change.verdict]);
        }
      }),
      { numRuns: runs(60) },
    );
  });
});

const [sample] = reportOfCalls([100]).regions;

/** Of these regions, each with its name, and of these totals. */
function reportOf(
  regions: readonly Partial<NCUProfileRegion>[],
  totals: Partial<NCUProfileRegionReport["totals"]> = {},
): NCUProfileRegionReport {
  const base = reportOfCalls([100]);
  return {
    ...base,
    totals: { ...base.totals, ...totals },
    regions: regions.flatMap((region, at): readonly NCUProfileRegion[] =>
      sample === undefined
        ? []
        : [{ ...sample, name: `r${at}`, path: [region.name ?? `r${at}`], ...region }],
    ),
  };
}

const around = (mean: number, half: number) => ({
  ...{ mean, std: 1, ci95_low: mean - half, ci95_high: mean + half, stable: true },
});

describe("what a comparison tells of its reports", () => {
  it("is where they are from, and whether they failed", () => {
    const { a, b } = compareReports(report, { ...report, failure: "it ended" });
    expect(a).toEqual({
      ...{ scope: "aggregate", collector: "recorder 0.1.0", device: "cpu" },
      fingerprint: report.config_fingerprint,
      generatedAt: "2026-01-31T12:00:00.000Z",
    });
    expect(b).toEqual({ ...a, failure: "it ended" });
  });
});

describe("the time that decides", () => {
  const both = { total_ms: 10, wall_ms: 20, cpu_ms: 5 };
  const region = { ...both, exclusive_ms: 10, kernel_count: 1 };
  const timed = reportOf([region], both);
  const compared = compareReports(timed, timed);

  it.each([
    ["total_ms", "total_ms"],
    ["exclusive_ms", "total_ms"],
    ["wall_ms", "wall_ms"],
    ["wall_exclusive_ms", "wall_ms"],
    ["median_ms", "wall_ms"],
    ["p95_ms", "wall_ms"],
    ["cpu_ms", "cpu_ms"],
    ["cpu_exclusive_ms", "cpu_ms"],
  ])("of a condition about %s is %s", (name, time) => {
    expect(judgedBy(compared, ["calls", name, "total_ms", "wall_ms"]).main_time).toBe(time);
  });

  it("is that of the comparison where conditions name none that both have", () => {
    expect(judgedBy(compared, [])).toBe(compared);
    expect(judgedBy(compared, ["toString"])).toBe(compared);
    const { cpu_ms: _, ...others } = both;
    const untimed = reportOf([region], others);
    for (const [a, b] of [
      [timed, untimed],
      [untimed, timed],
    ] as const) {
      const reports = compareReports(a, b);
      expect(judgedBy(reports, ["cpu_ms"])).toBe(reports);
    }
  });

  it("is in pairs that of the processors, and wall time without it", () => {
    const pairs = { totals: {}, regions: new Map() };
    expect(compared.main_time).toBe("total_ms");
    expect(compareReports(timed, timed, pairs).main_time).toBe("cpu_ms");
    const { cpu_ms: _, ...totals } = timed.totals;
    const untimed = { ...timed, totals };
    expect(compareReports(untimed, untimed, pairs).main_time).toBe("wall_ms");
  });
});

describe("the totals of a comparison", () => {
  const inner = { depth: 1, path: ["r0", "inner"], name: "inner" };
  const outside = { kind: "outside", depth: 0, name: "(outside)", path: ["(outside)"] } as const;

  it("vary as the outermost regions do", () => {
    const of = (name: "wall_ms" | "cpu_ms" | "instructions", scale: number) => {
      const region = (value: number, half: number) => ({
        [name]: value * scale,
        repeats: {
          ...{ runs: 5, total_ms: null, wall_ms: null },
          [name]: around(value * scale, half),
        },
      });
      return reportOf(
        [
          region(30, 3),
          { ...region(10, 100), ...inner },
          region(20, 4),
          { ...region(10, 100), ...outside },
        ],
        { [name]: 50 * scale },
      );
    };
    for (const name of ["wall_ms", "cpu_ms", "instructions"] as const) {
      const { totals } = compareReports(of(name, 1), of(name, 2));
      expect(totals[name]).toMatchObject({
        ...{ a: 50, b: 100, verdict: "more" },
        uncertainty: expect.closeTo(Math.hypot(5, 5), 9),
      });
    }
  });

  it("are of work, which varies as the outermost regions do", () => {
    const work = (value: number, half: number) => ({
      ...{ total_ms: value, exclusive_ms: value, kernel_count: 1 },
      repeats: { runs: 5, wall_ms: null, total_ms: around(value, half) },
    });
    const worked = reportOf([work(30, 3), { ...work(10, 100), ...inner }, work(20, 4)], {
      total_ms: 50,
      kernel_count: 3,
    });
    expect(totalWork(worked)).toMatchObject({ value: 50, uncertainty: 5 });
  });

  it("are of the time outside all ranges only where there is no range", () => {
    const without = reportOf(
      [
        { ...outside, wall_ms: 30 },
        { ...outside, wall_ms: 12, domain: "other" },
        { ...outside, wall_ms: null, domain: "third" },
      ],
      { wall_ms: null },
    );
    expect(totalWall(without)).toMatchObject({ value: 42 });
    expect(totalWall(reportOf([{ ...outside, wall_ms: null }], { wall_ms: null }))).toBeNull();
    const ranged = reportOf([{ wall_ms: 7 }, { ...outside, wall_ms: 30 }], { wall_ms: 7 });
    expect(totalWall(ranged)).toMatchObject({ value: 7 });
    expect(compareReports(without, without).totals["wall_ms"]).toMatchObject({ a: 42, b: 42 });
    expect(compareReports(ranged, without).totals["wall_ms"]).toMatchObject({ a: 7, b: null });
    expect(compareReports(without, ranged).totals["wall_ms"]).toMatchObject({ a: null, b: 7 });
  });
});

it("pairs of runs judge a family by its own ratios, and a region by its own", () => {
  const of = (factor: number) =>
    reportOf([
      { name: "layer 1", wall_ms: 10 * factor },
      { name: "save", wall_ms: 10 * factor },
    ]);
  const [a, b] = [
    of(1),
    reportOf([
      { name: "layer 2", wall_ms: 20 },
      { name: "save", wall_ms: 20 },
    ]),
  ];
  const ratios = (middle: number) => ({
    wall_ms: Array.from({ length: 8 }, (_, at) => Math.log(middle) + at / 1000),
  });
  const [layer, save] = a.regions;
  if (layer === undefined || save === undefined) throw new Error("two regions");
  const { regions } = compareReports(a, b, {
    totals: ratios(2),
    regions: new Map([
      [familyKey(layer), ratios(2)],
      [familyKey(save), ratios(1 / 2)],
    ]),
  });
  expect(regions.map(({ path, changes }) => [path[0], changes["wall_ms"]?.verdict])).toEqual([
    ["layer #", "more"],
    ["save", "less"],
  ]);
  expect(regions[0]?.changes["invocations"]).not.toHaveProperty("log_ratios");
});

describe("the ranks of a region", () => {
  const ranks = (max_ms: number, waiting_ms: number) => ({
    ...{ wall_ms: [10, max_ms], min_ms: 10, mean_ms: 10, max_ms, imbalance: max_ms / 10 },
    ...{ load_balance: 1, slowest_rank: 1, waiting_ms },
  });
  const changesOf = (a: Partial<NCUProfileRegion>, b: Partial<NCUProfileRegion>) =>
    compareReports(reportOf([a]), reportOf([b])).regions[0]?.changes ?? {};

  it("are compared where either report has them", () => {
    expect(changesOf({ ranks: ranks(20, 5) }, { ranks: ranks(30, 9) })).toMatchObject({
      imbalance: { a: 2, b: 3, verdict: "unclear" },
      rank_max_ms: { a: 20, b: 30 },
      waiting_ms: { a: 5, b: 9 },
    });
    expect(changesOf({ ranks: ranks(20, 5) }, {})["imbalance"]).toMatchObject({
      ...{ a: 2, b: null, verdict: "removed" },
    });
    expect(changesOf({}, { ranks: ranks(20, 5) })["rank_max_ms"]).toMatchObject({
      ...{ a: null, b: 20, verdict: "added" },
    });
    expect(Object.keys(changesOf({}, {}))).not.toContain("imbalance");
  });
});

describe("the metrics of a region", () => {
  const changesOf = (a: NCUProfileRegion["metrics"], b: NCUProfileRegion["metrics"]) =>
    compareReports(reportOf([{ metrics: a }]), reportOf([{ metrics: b }])).regions[0]?.changes;

  it("are certain by one run each, unlike times", () => {
    const changes = changesOf(
      { count: { value: 10, unit: "byte" }, time: { value: 10, unit: "ns" } },
      { count: { value: 20, unit: "byte" }, time: { value: 20, unit: "ns" } },
    );
    expect(changes).toMatchObject({ count: { verdict: "more" }, time: { verdict: "unclear" } });
    const gone = changesOf({ time: { value: 10, unit: "ns" } }, {});
    expect(gone?.["time"]?.verdict).toBe("removed");
  });

  it("may be called what objects inherit", () => {
    const changes = changesOf({ constructor: { value: 1, unit: "" } }, {});
    expect(changes?.["constructor"]).toMatchObject({ a: 1, b: null, verdict: "removed" });
  });
});
