import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { combineRuns } from "../../../src/profiler/analysis/repeats.ts";
import { toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import { compareReports, judgedBy } from "../../../src/report/compare/compare-reports.ts";
import {
  overallSentence,
  overallTimes,
  waterfallOf,
} from "../../../src/report/compare/comparison.ts";
import { renderComparisonHtml } from "../../../src/report/compare/comparison-html.ts";
import { regionRows, totalRow } from "../../../src/report/compare/comparison-tables.ts";
import { commonName, shapeless } from "../../../src/report/compare/kernel-changes.ts";
import type { KernelRecord, NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { type RangeSketch, timelineOf } from "../../profiler/analysis/timelines.ts";
import { runs } from "../../runs.ts";
import { bundleOf, context, firstReport, withoutRun } from "../bundles.ts";
import { normals } from "./normals.ts";

interface Lengths {
  readonly outer: number;
  readonly inner: number;
  readonly after: number;
}

/** `outer` with `inner` in it, and `after`; in ns. */
const run = ({ outer, inner, after }: Lengths): NCUProfileRegionReport =>
  firstReport(
    bundleOf([
      {
        pid: 1,
        ranges: [
          { name: "outer", start: 0, end: outer + inner },
          { name: "inner", start: 0, end: inner },
          ...(after === 0 ? [] : [{ name: "after", start: 1e9, end: 1e9 + after }]),
        ],
      },
    ]),
  );

interface Launched {
  readonly name: string;
  readonly ms: number;
  /** Half of the interval over three runs; absent for one run. */
  readonly half?: number;
}

/** One region with these kernels. */
function withKernels(kernels: readonly Launched[]): NCUProfileRegionReport {
  const report = run({ outer: 1e6, inner: 1e5, after: 0 });
  const records = kernels.map(
    ({ name, ms }): KernelRecord => ({
      kernel_name: name,
      kind: "gpu_kernel",
      total_ms: ms,
      calls: 1,
      mean_ms: ms,
      device: "cuda:0",
    }),
  );
  const repeats = kernels.flatMap(({ name, ms, half }) =>
    half === undefined
      ? []
      : [
          {
            kernel_name: name,
            kind: "gpu_kernel" as const,
            runs: 3,
            total_ms: { mean: ms, std: 0, ci95_low: ms - half, ci95_high: ms + half, stable: true },
          },
        ],
  );
  return {
    ...report,
    regions: report.regions.map((region) => ({
      ...region,
      kernels: region.depth === 0 ? records : [],
    })),
    ...(repeats.length > 0 && { kernel_repeats: repeats }),
  };
}

const verdictOf = (before: Omit<Launched, "name">, after: Omit<Launched, "name">) =>
  compareReports(
    withKernels([{ name: "gemm", ...before }]),
    withKernels([{ name: "gemm", ...after }]),
  ).kernels[0]?.changes["total_ms"]?.verdict;

describe("kernels of two reports", () => {
  it("are unclear by one run each, however far apart", () => {
    expect(verdictOf({ ms: 1 }, { ms: 10 })).toBe("unclear");
    expect(verdictOf({ ms: 1, half: 0.1 }, { ms: 10 })).toBe("unclear");
    expect(verdictOf({ ms: 1 }, { ms: 1 })).toBe("same");
  });

  it("are judged by the intervals of repeated runs", () => {
    expect(verdictOf({ ms: 1, half: 0.01 }, { ms: 1.1, half: 0.02 })).toBe("more");
    expect(verdictOf({ ms: 1, half: 0.1 }, { ms: 0.9, half: 0.1 })).toBe("unclear");
    expect(verdictOf({ ms: 1, half: 0.01 }, { ms: 0.8, half: 0.01 })).toBe("less");
  });

  it("are pairs where names differ in numbers alone", () => {
    const { kernel_pairs, kernels } = compareReports(
      withKernels([
        { name: "gemm_64x32<float, 2>", ms: 3, half: 0.1 },
        { name: "gemm_64x64<float, 2>", ms: 1, half: 0.1 },
        { name: "gemm_64x64<half, 2>", ms: 1, half: 0.1 },
        { name: "relu_4", ms: 1, half: 0.1 },
      ]),
      withKernels([
        { name: "gemm_128x128<float, 4>", ms: 2, half: 0.1 },
        { name: "softmax_4", ms: 1, half: 0.1 },
      ]),
    );
    expect(kernel_pairs).toMatchObject([
      {
        name: "gemm_*<float, *>",
        a: ["gemm_64x32<float, 2>", "gemm_64x64<float, 2>"],
        b: ["gemm_128x128<float, 4>"],
        changes: { total_ms: { a: 4, b: 2, verdict: "less" }, calls: { a: 2, b: 1 } },
      },
    ]);
    // They stay what they are for programs.
    expect(kernels.map(({ presence }) => presence)).not.toContain("both");
    expect(kernels).toHaveLength(6);
  });

  it("keep the numbers of lambdas, which tell one from another", () => {
    expect(shapeless("f::{lambda()#12}::operator()(int4)")).toBe(
      "f::{lambda()#12}::operator()(int*)",
    );
    expect(shapeless("conv [1, 3, 224, 224]")).toBe(shapeless("conv [8, 64]"));
    expect(commonName(["conv2d 2x16 -> 2x8 k3", "conv2d 4x16 -> 4x8 k3"])).toBe("conv2d * -> * k3");
    expect(commonName(["gemm 1"])).toBe("gemm 1");
  });
});

describe("the waterfall", () => {
  it("adds up from A to B, whatever is new, gone or left over", () => {
    const lengths = fc.record({
      outer: fc.integer({ min: 1, max: 1e6 }),
      inner: fc.integer({ min: 1, max: 1e6 }),
      after: fc.integer({ min: 0, max: 1e6 }),
    });
    fc.assert(
      fc.property(lengths, lengths, fc.integer({ min: 0, max: 3 }), (before, after, most) => {
        const waterfall = waterfallOf(compareReports(run(before), run(after)), most);
        if (waterfall === null) return;
        const { a, b, parts, others, rest } = waterfall;
        const steps = [...parts.map(({ ms }) => ms), others?.ms ?? 0, rest?.ms ?? 0];
        const scale = Math.max(a, b);
        expect(Math.abs(a + steps.reduce((sum, ms) => sum + ms, 0) - b)).toBeLessThan(scale * 0.01);
        expect(parts.length).toBeLessThanOrEqual(most);
      }),
    );
  });

  it("does not blame overlapping regions for what a selection leaves out", () => {
    const selected = (ns: number, kernels = false) =>
      firstReport(
        bundleOf(
          [
            {
              ranges: [
                { name: "shown", start: 0, end: ns },
                { name: "other", start: ns, end: ns * 4 },
              ],
              ...(kernels && {
                kernels: [
                  { name: "k", launch: 0, ns },
                  { name: "k", launch: ns, ns: ns * 3 },
                ],
              }),
            },
          ],
          { selection: { include: ["shown"], exclude: [] } },
        ),
      );
    const restOf = (kernels: boolean) =>
      waterfallOf(compareReports(selected(1000, kernels), selected(3000, kernels)), 9)?.rest;
    // One thread, and regions one after the other.
    expect([false, true].map(restOf)).toEqual([
      { ms: expect.closeTo(0.006, 6), label: "(overlap, or in none of these regions)" },
      { ms: expect.closeTo(0.006, 6), label: "(in none of these regions)" },
    ]);
  });

  it("gives a region its own time, not that of the regions inside it", () => {
    const compared = compareReports(
      run({ outer: 100, inner: 100, after: 50 }),
      run({ outer: 100, inner: 300, after: 0 }),
    );
    const parts = waterfallOf(compared, 10)?.parts.map(
      ({ label, ms, verdict }) => `${label}: ${(ms * 1e6).toFixed(0)} ${verdict}`,
    );
    expect(parts).toEqual(["outer / inner: 200 unclear", "after: -50 removed"]);
  });
});

/** The region that contains each one, by its place; -1 for outermost ones. A region comes after the one around it. */
type Containers = readonly number[];

/** One call of each region, with its own time in steps of 2 µs around those inside it. */
function nestedRun(containers: Containers, own: readonly number[]): readonly RangeSketch[] {
  const ranges: RangeSketch[] = [];
  const add = (place: number, start: number): number => {
    let end = start + (own[place] ?? 0) * 2000;
    for (const [inner, around] of containers.entries()) if (around === place) end = add(inner, end);
    ranges.push({ name: `r${place}`, start, end, cpu: (end - start) / 2 });
    return end;
  };
  let end = 0;
  for (const [place, around] of containers.entries()) if (around === -1) end = add(place, end);
  return ranges.sort((x, y) => x.start - y.start || (y.end ?? 0) - (x.end ?? 0));
}

const repeatedRuns = (
  containers: Containers,
  times: readonly (readonly number[])[],
): NCUProfileRegionReport =>
  firstReport(
    withoutRun(
      toReportBundle(
        combineRuns(
          times.map((own, at) =>
            buildRegionModel(timelineOf([{ pid: at + 1, ranges: nestedRun(containers, own) }])),
          ),
        ).model,
        context,
      ),
    ),
  );

describe("repeated runs of nested regions", () => {
  const MOST_REGIONS = 6;
  const anyContainers = fc
    .array(fc.nat(), { minLength: 1, maxLength: MOST_REGIONS })
    .map((places) => places.map((place, at) => (place % (at + 1)) - 1));
  /** Own times of each region in each run. */
  const anyTimes = fc.integer({ min: 3, max: 6 }).chain((count) =>
    fc.array(
      fc.array(fc.integer({ min: 1, max: 1e5 }), {
        minLength: MOST_REGIONS,
        maxLength: MOST_REGIONS,
      }),
      { minLength: count, maxLength: count },
    ),
  );
  const CLOCKS = ["wall_exclusive_ms", "cpu_exclusive_ms"] as const;

  it("differ by steps that add up to the difference of the whole", () => {
    fc.assert(
      fc.property(anyContainers, anyTimes, anyTimes, (containers, before, after) => {
        const reports = compareReports(
          repeatedRuns(containers, before),
          repeatedRuns(containers, after),
        );
        for (const clock of CLOCKS) {
          const waterfall = waterfallOf(judgedBy(reports, [clock]), MOST_REGIONS);
          if (waterfall === null) continue;
          const { a, b, parts, rest } = waterfall;
          expect(rest).toBeNull();
          const steps = parts.reduce((sum, { ms }) => sum + ms, 0);
          expect(Math.abs(a + steps - b)).toBeLessThan(Math.max(a, b) * 1e-9);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("have no region slower or faster by its own time where its samples are the same", () => {
    fc.assert(
      fc.property(
        anyContainers,
        anyTimes,
        fc.infiniteStream(fc.nat()),
        (containers, before, any) => {
          // Each region has the times of A in another order, so that another run is the median one.
          const shifts = containers.map(() => any.next().value);
          const after = before.map((_, run) =>
            shifts.map((shift, place) => before[(run + shift) % before.length]?.[place] ?? 0),
          );
          const { regions } = compareReports(
            repeatedRuns(containers, before),
            repeatedRuns(containers, after),
          );
          const verdicts = regions.flatMap(({ changes }) =>
            CLOCKS.map((clock) => changes[clock]?.verdict ?? "none"),
          );
          expect(["same", "unclear"]).toEqual(expect.arrayContaining([...new Set(verdicts)]));
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("have the mean of the own time of every run, with its interval", () => {
    // The whole is longest where the region itself is shortest: 10 = 9 + 1, 12 = 8 + 4, 14 = 13 + 1.
    const [outer] = compareReports(
      repeatedRuns(
        [-1, 0],
        [
          [9000, 1000],
          [8000, 4000],
          [13000, 1000],
        ],
      ),
      repeatedRuns(
        [-1, 0],
        [
          [9000, 1000],
          [8000, 4000],
          [13000, 1000],
        ],
      ),
    ).regions;
    expect(outer?.changes["wall_exclusive_ms"]).toMatchObject({ a: 20, freedom: 4 });
    expect(outer?.changes["wall_ms"]).toMatchObject({ a: 24, freedom: 4 });
  });
});

/** A run with a region of these kernels, inside another one, and one that not every run has. */
interface KernelRun {
  /** Time of each kernel in the inner region and beside it, in µs; absent where it was not launched. */
  readonly inner: readonly (number | undefined)[];
  readonly beside: readonly (number | undefined)[];
  /** In µs. */
  readonly rare?: number;
}

const repeatedKernels = (all: readonly KernelRun[]): NCUProfileRegionReport =>
  firstReport(
    withoutRun(
      toReportBundle(
        combineRuns(
          all.map(({ inner, beside, rare }, at) =>
            buildRegionModel(
              timelineOf([
                {
                  pid: at + 1,
                  ranges: [
                    { name: "outer", start: 0, end: 2e9 },
                    { name: "inner", start: 1e6, end: 1e9 },
                    ...(rare === undefined
                      ? []
                      : [{ name: "rare", start: 3e9, end: 3e9 + rare * 1e3 }]),
                  ],
                  kernels: [
                    { times: inner, launch: 2e6 },
                    { times: beside, launch: 1.5e9 },
                  ].flatMap(({ times, launch }) =>
                    times.flatMap((us, kernel) =>
                      us === undefined ? [] : [{ name: `k${kernel}`, launch, ns: us * 1e3 }],
                    ),
                  ),
                },
              ]),
            ),
          ),
        ).model,
        context,
      ),
    ),
  );

describe("kernels of repeated runs in a region", () => {
  const anyKernels = fc.array(fc.option(fc.integer({ min: 1, max: 1e5 }), { nil: undefined }), {
    minLength: 1,
    maxLength: 4,
  });
  // A run without any kernel does not measure their time.
  const first = fc.integer({ min: 1, max: 1e5 });
  const anyRuns = fc.array(
    fc
      .record({ first, inner: anyKernels, beside: anyKernels })
      .map(({ first, inner, beside }): KernelRun => ({ inner: [first, ...inner], beside })),
    { minLength: 3, maxLength: 6 },
  );

  it("differ by what the region differs by, whichever run launched them", () => {
    fc.assert(
      fc.property(anyRuns, anyRuns, (before, after) => {
        const compared = compareReports(repeatedKernels(before), repeatedKernels(after));
        for (const { changes, kernels } of [
          ...compared.regions,
          { changes: compared.totals, kernels: compared.kernels },
        ]) {
          const whole = changes["total_ms"];
          for (const side of ["a", "b"] as const) {
            const sum = kernels.reduce(
              (ms, kernel) => ms + (kernel.changes["total_ms"]?.[side] ?? 0),
              0,
            );
            expect(sum).toBeCloseTo(whole?.[side] ?? Number.NaN, 9);
          }
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("say nothing of a region in reports that have them for the whole alone", () => {
    const of = (us: number) =>
      repeatedKernels([us, us, us].map((time) => ({ inner: [time], beside: [] })));
    const withoutRegions = (report: NCUProfileRegionReport): NCUProfileRegionReport => ({
      ...report,
      regions: report.regions.map(({ repeats, ...region }) => {
        const { kernels: _, ...others } = repeats ?? { runs: 3, total_ms: null, wall_ms: null };
        return { ...region, repeats: others };
      }),
    });
    const { regions, kernels } = compareReports(withoutRegions(of(100)), withoutRegions(of(200)));
    expect(regions[0]?.kernels[0]?.changes["total_ms"]?.verdict).toBe("unclear");
    expect(kernels[0]?.changes["total_ms"]?.verdict).toBe("more");
  });

  /** Verdicts of two kernels in two regions, of five runs each, whose time differs by 5 % from run to run. */
  function verdicts(slower: number) {
    const found: string[] = [];
    for (let seed = 1; seed <= 100; seed++) {
      const normal = normals(seed);
      const side = (factor: number) =>
        repeatedKernels(
          Array.from({ length: 5 }, () => {
            const time = (us: number) => Math.round(us * (1 + 0.05 * normal()));
            return { inner: [time(10_000 * factor), time(4_000)], beside: [time(20_000)] };
          }),
        );
      const [outer, inner] = compareReports(side(1), side(slower)).regions;
      // In the outer region the kernel also has the calls beside the inner one.
      for (const region of [outer, inner])
        for (const { kernel_name, changes } of region?.kernels ?? [])
          found.push(`${region?.path.join("/")} ${kernel_name} ${changes["total_ms"]?.verdict}`);
    }
    return (text: string) => found.filter((verdict) => verdict.includes(text)).length;
  }

  it("are not called slower or faster in an unchanged program", { tags: ["simulation"] }, () => {
    const count = verdicts(1);
    // 400 verdicts, at a level of a twentieth.
    expect(count("more") + count("less")).toBeLessThanOrEqual(20);
  });

  it("are called slower where they are", { tags: ["simulation"] }, () => {
    const count = verdicts(1.3);
    expect(count("outer/inner k0 more")).toBeGreaterThan(90);
    expect(count("k1 more") + count("k1 less")).toBeLessThanOrEqual(10);
  });
});

describe("a region that not every run has", () => {
  const of = (times: readonly (number | undefined)[]) =>
    repeatedKernels(
      times.map((rare) => ({
        inner: [100],
        beside: [],
        ...(rare !== undefined && { rare }),
      })),
    );
  const rareIn = (compared: ReturnType<typeof compareReports>) =>
    compared.regions.find(({ path }) => path[0] === "rare");

  it("is compared by the runs that have it, also where the shown one does not", () => {
    for (const before of [
      [1000, 1010, 1020, undefined, undefined],
      [undefined, 1000, undefined, 1010, 1020],
    ]) {
      const compared = compareReports(of(before), of([2000, 2010, 2020, 2000, 2010]));
      const rare = rareIn(compared);
      expect(rare).toMatchObject({
        presence: "both",
        runs: { a: { seen: 3, total: 5 }, b: { seen: 5, total: 5 } },
        changes: { wall_ms: { a: 1.01, b: 2.008, verdict: "more" } },
      });
      const row = [...regionRows(compared)].find(({ name }) =>
        JSON.stringify(name).includes("rare"),
      );
      expect(row?.counts).toContain("seen in 3 of 5 runs of A and 5 of 5 runs of B");
    }
  });

  it("may have been in a run of which only the longest regions are kept", () => {
    const cut = of([1000, 1010, 1020, undefined, undefined]);
    const regions = cut.regions.map((region) =>
      region.path[0] === "rare" && region.repeats !== undefined
        ? { ...region, repeats: { ...region.repeats, cut_runs: 2 } }
        : region,
    );
    const compared = compareReports({ ...cut, regions }, of([2000, 2010, 2020, 2000, 2010]));
    expect(rareIn(compared)?.runs).toEqual({
      ...{ a: { seen: 3, total: 5, cut: 2 }, b: { seen: 5, total: 5 } },
    });
    const row = [...regionRows(compared)].find(({ name }) => JSON.stringify(name).includes("rare"));
    expect(row?.counts).toContain(
      "seen in 3 of 5 runs of A (not among the longest of 2) and 5 of 5 runs of B",
    );
  });

  it("is neither new nor gone if the run shown alone lacks it", () => {
    // The median run is the one with the least wall time here.
    const { regions } = compareReports(of([undefined, undefined, 500]), of([500, 510, 520]));
    expect(regions.find(({ path }) => path[0] === "rare")).toMatchObject({
      presence: "both",
      runs: { a: { seen: 1, total: 3 } },
      // Its time there is known, though not how much it varies.
      changes: { wall_ms: { a: 0.5, b: 0.51, verdict: "unclear", too_few_runs: true } },
    });
  });

  it("contributes what it takes in the mean run", () => {
    const waterfall = waterfallOf(
      judgedBy(
        compareReports(of([1000, 1000, undefined, undefined]), of([1000, 1000, 1000, undefined])),
        ["wall_exclusive_ms"],
      ),
      5,
    );
    expect(waterfall?.rest).toBeNull();
    expect(waterfall?.parts).toMatchObject([{ label: "rare", ms: expect.closeTo(0.25, 9) }]);
  });
});

describe("the overall result", () => {
  const slower = compareReports(
    run({ outer: 100e3, inner: 100e3, after: 0 }),
    run({ outer: 100e3, inner: 300e3, after: 0 }),
  );

  it("is a sentence, without the claim of an interval that nothing tells", () => {
    expect(overallSentence(slower)).toMatch(
      /^It is unclear whether B is slower or faster: \+0\.200 ms \(\+100\.0 %\), from 0\.200 to 0\.400 ms \(wall time in ranges\); too few runs to be certain: use repeats=5 for both, or deep-profile ab\.$/,
    );
    const nothing = firstReport(bundleOf([{ pid: 1, ranges: [] }]));
    expect(overallSentence(compareReports(nothing, nothing))).toMatch(
      /^There is no overall result/,
    );
  });

  it("has its interval and where that is from, where repeated runs tell it", () => {
    const within = (report: NCUProfileRegionReport, half: number): NCUProfileRegionReport => ({
      ...report,
      regions: report.regions.map((region) => {
        const mean = region.wall_ms ?? 0;
        const wall_ms = {
          mean,
          std: 0,
          ci95_low: mean - half,
          ci95_high: mean + half,
          stable: true,
        };
        return { ...region, repeats: { runs: 5, total_ms: null, wall_ms } };
      }),
    });
    const of = (half: number) =>
      overallSentence(
        compareReports(
          within(run({ outer: 1e6, inner: 1e6, after: 0 }), half),
          within(run({ outer: 1e6, inner: 2e6, after: 0 }), half),
        ),
      );
    expect(of(0.1)).toMatch(
      /^B is slower: \+1\.000 ±0\.141 ms \(\+50\.0 % ±7\.1 %\).*of the repeated runs\.$/,
    );
    expect(of(2)).toMatch(/^It is unclear whether/);
  });

  it("says whether it is of the regions, or of what ran outside them, too", () => {
    const outside = (report: NCUProfileRegionReport): NCUProfileRegionReport => ({
      ...report,
      regions: report.regions.slice(0, 1).map((region) => ({ ...region, kind: "outside" })),
    });
    const report = run({ outer: 100e3, inner: 0, after: 0 });
    const names = (one: NCUProfileRegionReport) => {
      const reports = compareReports(one, one);
      return [totalRow(reports).name, ...overallTimes(reports).map(({ name }) => name)];
    };
    expect(names(report)).toEqual(["regions together", "wall time in ranges"]);
    expect(names(outside(report))).toEqual(["all", "wall time"]);
    const launched = firstReport(
      bundleOf([
        {
          ranges: [{ name: "step", start: 0, end: 1e6 }],
          kernels: [{ name: "gemm", launch: 2e6, ns: 1e5 }],
        },
      ]),
    );
    expect(names(launched)).toEqual(["all", "GPU time of kernels", "wall time in ranges"]);
  });

  it("links to both reports on the page", () => {
    const page = renderComparisonHtml({
      names: { a: "runs/1", b: "runs/2" },
      reports: slower,
      config: null,
      gates: [],
      links: { a: "1/recorder/regions/report.html", b: null },
    });
    expect(page).toContain('<a href="1/recorder/regions/report.html">runs/1</a>');
    expect(page).not.toContain(">runs/2</a>");
  });
});
