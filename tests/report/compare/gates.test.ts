import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { gateSummary } from "../../../src/report/compare/comparison.ts";
import {
  checkGates,
  parseConditions,
  parseGates,
  refuseFailed,
} from "../../../src/report/compare/gates.ts";
import { regionKey } from "../../../src/report/model/report-files.ts";
import { growth } from "../../growth.ts";
import { timelineOf } from "../../profiler/analysis/timelines.ts";
import { runs } from "../../runs.ts";
import { bundleOf, context, firstReport, repeated, reportOfCalls, resnet } from "../bundles.ts";

const OPERATIONS = { operationDomains: ["shallow_resnet.ops"] };
const before = firstReport(bundleOf([resnet], OPERATIONS));
/** Every range half as long again, and one operation more in the stem. */
const after = firstReport(
  bundleOf(
    [
      {
        ...resnet,
        ranges: [
          ...(resnet.ranges ?? []).map((range) => ({
            ...range,
            start: range.start * 1.5,
            end: (range.end ?? 0) * 1.5,
          })),
          { name: "extra", start: 4_600_000, end: 5_000_000, domain: "shallow_resnet.ops" },
        ],
      },
    ],
    OPERATIONS,
  ),
);
const counted = (report: typeof before, value: number) => ({
  ...report,
  regions: report.regions.map((region) => ({
    ...region,
    metrics: {
      "gpu__time_duration.sum": { value, unit: "ns" },
      "dram__bytes.sum": { value, unit: "byte" },
    },
  })),
});
const comparison = compareReports(counted(repeated(before), 100), counted(repeated(after), 150));
const single = compareReports(counted(before, 100), counted(after, 150));
const outcomes = (text: string) =>
  checkGates(parseGates(text), comparison).map(({ outcome }) => outcome);

describe("gates of runs that failed", () => {
  const failed = { ...before, failure: "sh ended with exit code 1" };

  it.each([
    ["A", failed, before],
    ["B", before, failed],
    ["A", failed, failed],
  ] as const)("are refused: %s", (name, a, b) => {
    expect(() => refuseFailed(compareReports(a, b))).toThrow(
      expect.objectContaining({
        code: "profile.gate",
        message: expect.stringContaining(`${name} failed: sh ended with exit code 1`),
      }),
    );
  });

  it("are not, where both ended well", () => {
    expect(() => refuseFailed(compareReports(before, before))).not.toThrow();
  });
});

describe("gates", () => {
  it.each([
    ["wall_ms>49%", "breached"],
    ["wall_ms>51%", "passed"],
    ["wall_ms > 10", "breached"],
    ["wall_ms>100", "passed"],
    ["region:stem.kernel_count>0", "breached"],
    ["region:residual.kernel_count>0", "passed"],
    ["region:block.conv1.kernel_count>0", "passed"],
    ["region:forward / stem.kernel_count>=1", "breached"],
    ["region:forward > stem.kernel_count>=1", "breached"],
    ['region:"stem".kernel_count<0', "passed"],
    ["kernel:extra.calls>0", "breached"],
    ["kernel:extra.total_ms>5%", "breached"],
    ["kernel:linear*.calls>0", "passed"],
    ["REGION:stem.kernel_count>.5", "breached"],
    ["invocations<=0", "breached"],
    ["invocations<0", "passed"],
    ["invocations<1", "breached"],
    ["invocations>=0", "breached"],
    ["invocations>=1", "passed"],
    ["invocations<=-1", "passed"],
    ["region:stem.dram__bytes.sum>5%", "breached"],
    ["region:stem.dram__bytes.sum>200%", "passed"],
  ])("%s: %s", (text, outcome) => {
    expect(outcomes(text)).toEqual([outcome]);
  });

  it("checks every region that a pattern names", () => {
    expect(outcomes("region:*e*.wall_ms>1%")).toEqual(["breached", "breached", "breached"]);
  });

  it("says which number of what changed by how much, in one line", () => {
    const [result] = checkGates(parseGates("region:stem.kernel_count>0"), comparison);
    expect(result?.reason).toBe("kernel_count of region forward / stem: 2 -> 3 (+1; limit >0)");
  });

  it.each([
    ["kernel:extra.total_ms>5%", /none -> .* \(new; limit >5%\)$/],
    ["wall_ms>49%", /^wall_ms: .* \(\+50 %; limit >49%\)$/],
    ["kernel:linear*.calls>0", /\(0; limit >0\)$/],
    ["kernel:extra.calls<=1", /^calls of kernel extra: none -> 1 \(\+1; limit <=1\)$/],
  ])("says of %s by how much", (text, reason) => {
    expect(checkGates(parseGates(text), comparison)[0]?.reason).toMatch(reason);
  });

  it("takes nothing for unchanged where both have 0, and anything for infinitely more than 0", () => {
    const [none, some] = [counted(before, 0), counted(before, 5)];
    const check = (a: typeof before, b: typeof before, condition: string) =>
      checkGates(parseGates(`region:stem.dram__bytes.sum${condition}`), compareReports(a, b))
        .map(({ outcome, reason }) => `${outcome}: ${/: (.*)/.exec(reason)?.[1]}`)
        .join();
    expect(check(none, none, ">=0%")).toBe("breached: 0 -> 0 (0 %; limit >=0%)");
    expect(check(none, none, ">0%")).toBe("passed: 0 -> 0 (0 %; limit >0%)");
    expect(check(none, some, ">1e300%")).toBe("breached: 0 -> 5 (new; limit >1e+300%)");
    expect(check(some, none, "<=-100%")).toBe("breached: 5 -> 0 (-100 %; limit <=-100%)");
  });

  it("fails where the new run measured nothing: no measurement is no improvement", () => {
    const nothing = firstReport(bundleOf([{ pid: 1, ranges: [] }]));
    const gone = compareReports(before, nothing);
    for (const text of ["wall_ms>5%", "region:stem.wall_ms>5%", "region:stem.kernel_count>0"]) {
      const [result] = checkGates(parseGates(text), gone);
      expect(result?.outcome).toBe("breached");
      expect(result?.reason).toContain("-> none: B measured nothing");
    }
  });

  describe("about what a selection leaves out", () => {
    const selected = firstReport(
      bundleOf([resnet], { ...OPERATIONS, selection: { include: ["residual"], exclude: [] } }),
    );
    const directions = [
      ["before", "8 -> none: B", compareReports(before, selected)],
      ["after", "none -> 8: A", compareReports(selected, before)],
    ] as const;

    it.each(directions)("refuse to pass where it was looked for only %s", (_, _side, compared) => {
      for (const text of [
        "region:stem.wall_ms>5%",
        "region:forward / stem.kernel_count>0",
        "region:s*.dram__bytes.sum>5%",
        "region:*.dram__bytes.sum>5%",
        "kernel:linear*.calls>0",
      ])
        expect(() => checkGates(parseGates(text), compared)).toThrow(
          `--fail-on: '${text}': nothing to check, since one report leaves out`,
        );
    });

    it.each(directions)(
      "check the rest of a pattern, and say what not: %s",
      (_, side, compared) => {
        const results = checkGates(
          parseGates("region:block.*.wall_ms>5%,region:*.wall_ms>5%"),
          compared,
        );
        expect(results.map(({ outcome }) => outcome)).toEqual([
          ...["passed", "unchecked", "unchecked", "passed", "passed"],
        ]);
        expect(results[2]?.reason).toBe(
          `wall_ms of region forward / stem: ${side.replace("8", "6")} does not have it: its selection leaves it out, or it has only its longest regions`,
        );
        expect(gateSummary(results)).toBe(
          "gates passed: 3 checked, 2 left out of a report, unchecked",
        );
      },
    );
  });

  describe("of times of single runs", () => {
    it.each([
      "wall_ms>49%",
      "wall_ms > 10",
      "region:stem.wall_ms>5%",
      "region:block.*.median_ms>5%",
      "region:stem.p95_ms>5%",
      "total_ms>5%",
      "kernel:linear*.total_ms>5%",
      "region:stem.gpu__time_duration.sum>5%",
    ])("are never breached: %s", (text) => {
      const results = checkGates(parseGates(text), single);
      for (const result of results) {
        expect(result).toMatchObject({ outcome: "unclear", too_few_runs: true });
        expect(result.reason).toMatch(
          /; too few runs to be certain: use repeats=5 for both, or deep-profile ab; --strict fails it as it is$/,
        );
      }
      expect(gateSummary(results)).toBe(
        `gates passed: ${results.length} checked, ${results.length} past the limit, but too few runs to be certain: use repeats=5 for both, or deep-profile ab`,
      );
    });

    it("say so within the limit, too", () => {
      const [result] = checkGates(parseGates("wall_ms>90%"), single);
      expect(result?.outcome).toBe("passed");
      expect(result?.reason).toMatch(
        /too few runs to be certain: use repeats=5 for both, or deep-profile ab$/,
      );
    });

    it("are neither where only one side ran repeatedly, nor by two runs each", () => {
      const outcomesOf = (a: typeof before, b: typeof before) =>
        checkGates(parseGates("wall_ms>5%"), compareReports(a, b)).map(({ outcome }) => outcome);
      expect(outcomesOf(before, repeated(after))).toEqual(["unclear"]);
      expect(outcomesOf(repeated(before), after)).toEqual(["unclear"]);
      expect(outcomesOf(repeated(before, 0.001, 2), repeated(after, 0.001, 2))).toEqual([
        "unclear",
      ]);
      expect(outcomesOf(repeated(before, 0.001, 3), repeated(after, 0.001, 3))).toEqual([
        "breached",
      ]);
    });

    it("leave conditions about counts as they are", () => {
      for (const text of ["region:stem.kernel_count>0", "region:stem.dram__bytes.sum>5%"])
        expect(checkGates(parseGates(text), single)[0]?.outcome).toBe("breached");
    });
  });

  it("are of the time outside all ranges where neither report has a range", () => {
    const whole = (ms: number, ranges: readonly { name: string; start: number; end: number }[]) =>
      repeated(
        firstReport(
          toReportBundle(
            buildRegionModel(timelineOf([{ pid: 1, ranges, endNs: ms * 1e6 }])),
            context,
          ),
        ),
      );
    const check = (a: typeof before, b: typeof before) =>
      checkGates(parseGates("wall_ms>5%"), compareReports(a, b)).map(({ outcome }) => outcome);
    expect(check(whole(100, []), whole(120, []))).toEqual(["breached"]);
    expect(check(whole(100, []), whole(101, []))).toEqual(["passed"]);
    const range = [{ name: "step", start: 0, end: 5e6 }];
    expect(check(whole(100, range), whole(120, range))).toEqual(["passed"]);
    expect(check(whole(100, range), whole(100, []))).toEqual(["breached"]);
    expect(check(whole(100, []), whole(100, range))).toEqual(["breached"]);
  });

  it("does not take noise for a breach", () => {
    const check = (a: number, b: number, condition = "wall_ms>2%") =>
      checkGates(
        parseGates(condition),
        compareReports(repeated(reportOfCalls([a]), 0.1), repeated(reportOfCalls([b]), 0.1)),
      )[0]?.outcome;
    expect(check(100, 105)).toBe("unclear");
    expect(check(100, 130)).toBe("breached");
    expect(check(130, 100, "wall_ms<-2%")).toBe("breached");
    expect(check(105, 100, "wall_ms<-2%")).toBe("unclear");
  });

  it("says of a limit below the noise how large that is: such a gate sees little", () => {
    const check = (a: readonly number[], b: readonly number[], condition: string) =>
      checkGates(parseGates(condition), compareReports(reportOfCalls(a), reportOfCalls(b)))[0]
        ?.reason;
    const [noisy, steady] = [
      [10, 14, 9, 12, 15],
      [12, 12, 12, 12.01, 11.99],
    ];
    expect(check(noisy, noisy, "wall_ms>5%")).toMatch(/\(0 %; limit >5%; noise ±[\d.]+ %\)$/);
    expect(check(noisy, noisy, "wall_ms>5")).toMatch(/\(0; limit >5; noise ±[\d.]+\)$/);
    expect(check(noisy, noisy, "wall_ms>80%")).toMatch(/\(0 %; limit >80%\)$/);
    expect(check(steady, steady, "wall_ms>5%")).toMatch(/\(0 %; limit >5%\)$/);
    expect(check([10, 14, 9, 12, 15], [11, 14, 10, 13, 15], "wall_ms>2%")).toMatch(
      /limit >2%; noise ±/,
    );
  });

  it.each([
    ["wall_ms", "is not a condition"],
    ["wall_ms>", "is not a condition"],
    ["wall_ms>five", "is not a condition"],
    ["region:.wall_ms>1", "is not a condition"],
    ["wall_ms=5%", "is not a condition"],
    [" , ", "needs a condition"],
    ["", "needs a condition"],
    ["sum>5%", "neither report has sum"],
    ["kernel:block.conv1.calls>0", "no kernel matches 'block.conv1'"],
    ["walls_ms>5%", "neither report has walls_ms"],
    ["constructor>0", "neither report has constructor"],
    ["region:stam.wall_ms>5%", "no region matches 'stam'"],
    ["kernel:nothing.calls>0", "no kernel matches 'nothing'"],
  ])("refuses %s: a gate that checks nothing would always pass", (text, message) => {
    expect(() => outcomes(text)).toThrow(message);
  });

  it.each([
    ["wall_m>5%", "wall_ms"],
    ["region:stam.wall_ms>5%", "stem"],
  ])("names what %s probably means", (text, nearest) => {
    expect(() => outcomes(text)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ nearest }) }),
    );
  });

  it("names nothing where nothing is near", () => {
    for (const text of ["throughput>5%", "region:elsewhere.wall_ms>5%"])
      expect(() => outcomes(text)).toThrow(
        expect.objectContaining({
          details: expect.not.objectContaining({ nearest: expect.anything() }),
        }),
      );
  });
});

/** A region's mean over five runs, with half of its interval; a number alone is of one run. */
type Mean = number | readonly [mean: number, half: number];

function reportOfMeans(means: Readonly<Record<string, Mean>>): typeof before {
  const names = Object.keys(means);
  const report = firstReport(
    bundleOf([
      { ranges: names.map((name, at) => ({ name, start: at * 1e9, end: at * 1e9 + 1e8 })) },
    ]),
  );
  return {
    ...report,
    regions: report.regions.map((region) => {
      const mean = means[region.name] ?? 0;
      if (typeof mean === "number") return { ...region, wall_ms: mean };
      const [value, half] = mean;
      const wall_ms = {
        ...{ mean: value, std: 1, ci95_low: value - half, ci95_high: value + half, stable: true },
      };
      return { ...region, repeats: { runs: 5, total_ms: null, wall_ms } };
    }),
  };
}

describe("a condition on several regions", () => {
  const check = (
    a: Readonly<Record<string, Mean>>,
    b: typeof a,
    condition = "region:*.wall_ms>1%",
  ) => checkGates(parseGates(condition), compareReports(reportOfMeans(a), reportOfMeans(b)));
  /** The intervals of both are ±3 and ±4, so that of the difference is ±5. */
  const from: Mean = [100, 3];
  const to = (delta: number): Mean => [100 + delta, 4];

  it("is held against what as many tests show by chance, and says so", () => {
    const results = check({ a: from, b: from, c: from }, { a: to(5.5), b: to(5.5), c: to(7.5) });
    expect(results.map(({ outcome, tested }) => [outcome, tested])).toEqual([
      ["unclear", 3],
      ["unclear", 3],
      ["breached", 3],
    ]);
    for (const { reason } of results) expect(reason).toContain("; corrected for 3 tests");
    // One region alone is no chance find.
    const [alone] = check({ a: from }, { a: to(5.5) });
    expect(alone).toMatchObject({ outcome: "breached" });
    expect(alone?.tested).toBeUndefined();
    expect(alone?.reason).not.toContain("corrected");
  });

  it("tests those whose spread over runs is known, and no others", () => {
    const results = check(
      { single: 100, a: from, gone: from, b: from, c: from },
      { single: 200, a: to(5.5), b: to(5.5), c: to(7.5), added: to(7.5) },
    );
    const told = Object.fromEntries(
      results.map(({ reason, outcome, tested }) => [
        /region (\w+):/.exec(reason)?.[1],
        [outcome, tested],
      ]),
    );
    expect(told).toEqual({
      single: ["unclear", undefined],
      a: ["unclear", 3],
      gone: ["breached", undefined],
      b: ["unclear", 3],
      c: ["breached", 3],
      added: ["breached", undefined],
    });
  });

  it("corrects no number that does not vary, or of which that is not known", () => {
    for (const name of ["kernel_count", "invocations", "dram__bytes.sum"])
      for (const result of checkGates(parseGates(`region:*.${name}>-1`), comparison))
        expect(result).not.toHaveProperty("tested", expect.anything());
    const calls = (lengths: readonly number[]) => {
      const report = reportOfCalls(lengths);
      const [step] = report.regions;
      if (step === undefined) throw new Error("no region");
      return { ...report, regions: ["x", "y"].map((name) => ({ ...step, name, path: [name] })) };
    };
    const results = checkGates(
      parseGates("region:*.wall_ms>1%"),
      compareReports(calls([10, 11, 12]), calls([40, 41, 42])),
    );
    expect(results).toHaveLength(2);
    for (const result of results) {
      expect(result).toMatchObject({ outcome: "unclear", too_few_runs: true });
      expect(result.reason).not.toContain("corrected");
    }
  });

  it("is breached by what is beyond the noise alone", () => {
    expect(check({ a: [100, 3] }, { a: [105, 4] })).toMatchObject([{ outcome: "unclear" }]);
    expect(check({ a: [100, 3] }, { a: [105.1, 4] })).toMatchObject([{ outcome: "breached" }]);
    // What a limit could not see is of no matter where it was passed.
    expect(check({ a: [100, 3] }, { a: [120, 4] })[0]?.reason).not.toContain("noise");
    expect(check({ a: [100, 3] }, { a: [100.5, 4] })[0]?.reason).toContain("; noise ±5 %");
  });
});

describe("a condition on pairs of runs", () => {
  const [a, b] = [reportOfMeans({ step: 10 }), reportOfMeans({ step: 11 })];
  const check = (
    condition: string,
    middle: number,
    { spread = 0.02, smallest_effect = 0, count = 8 } = {},
  ) => {
    const ratios = Array.from(
      { length: count },
      (_, at) => Math.log(middle) + (at % 2 === 0 ? spread : -spread),
    );
    const times = { wall_ms: ratios };
    const regions = new Map(a.regions.map((region) => [regionKey(region), times]));
    const compared = compareReports(a, b, { totals: times, regions });
    const judged = compared.regions.map((region) => {
      const { wall_ms: wall, ...others } = region.changes;
      if (wall === undefined) throw new Error("no time");
      return { ...region, changes: { ...others, wall_ms: { ...wall, smallest_effect } } };
    });
    const [result] = checkGates(parseGates(`region:step.wall_ms${condition}`), {
      ...compared,
      regions: smallest_effect === 0 ? compared.regions : judged,
    });
    return result;
  };

  it("is about their ratios, not about the two reports", () => {
    expect(check(">5%", 1.5)?.reason).toContain("(+50 %; limit >5%)");
    expect(check(">5%", 1.5)).toMatchObject({ outcome: "breached", decided: true });
    // As a share of A.
    expect(check(">4", 1.5)?.reason).toContain("(+5; limit >4)");
  });

  it("is proven against the limit, not against no change at all", () => {
    expect(check(">9%", 1.1)).toMatchObject({ outcome: "unclear", decided: false });
    expect(check(">5%", 1.1)).toMatchObject({ outcome: "breached", decided: true });
    expect(check(">15%", 1.1)).toMatchObject({ outcome: "passed", decided: true });
    expect(check(">=5%", 1.1)).toMatchObject({ outcome: "breached", decided: true });
    expect(check(">=15%", 1.1)).toMatchObject({ outcome: "passed", decided: true });
    expect(check("<=-5%", 0.9)).toMatchObject({ outcome: "breached", decided: true });
    expect(check("<=-15%", 0.9)).toMatchObject({ outcome: "passed", decided: true });
  });

  it("is not breached by less than a calibration can see, and says what that is", () => {
    const seen = (smallest_effect: number) => check(">1%", 1.1, { smallest_effect });
    expect(seen(0.099)).toMatchObject({ outcome: "breached", decided: true });
    expect(seen(0.101)).toMatchObject({ outcome: "unclear", decided: false });
    expect(seen(0.101)?.reason).toMatch(
      /; the smallest effect that could have been seen is 10\.1 %$/,
    );
    expect(seen(0)?.reason).not.toContain("effect");
    // What is within the limit is within it, however small it is.
    expect(check(">50%", 1.1, { smallest_effect: 0.2 })).toMatchObject({
      ...{ outcome: "passed", decided: true },
    });
  });

  it("has the interval in the unit of the limit", () => {
    const pairs = { spread: 0.1, count: 6 };
    expect(check(">1%", 1, pairs)?.reason).toMatch(
      /limit >1%\); by the ratios of 6 pairs: -[\d.]+ to [\d.]+ %; not decided$/,
    );
    expect(check(">0.1", 1, pairs)?.reason).toMatch(
      /limit >0\.1\); by the ratios of 6 pairs, times A: -[\d.]+ to [\d.]+; not decided$/,
    );
    expect(check(">1%", 1.5, { count: 1 })?.reason).toMatch(
      /limit >1%\); by the ratios of 1 pair; not decided$/,
    );
  });
});

describe("conditions about numbers that the program gives", () => {
  const withPayload = (payload: number, domain = "") =>
    firstReport(
      bundleOf([
        {
          ranges: [
            { name: "load.batch", start: 0, end: 1e9, payload },
            { name: "load", start: 2e9, end: 3e9, domain },
          ],
        },
      ]),
    );
  const check = (condition: string) =>
    checkGates(parseGates(condition), compareReports(withPayload(100), withPayload(120)));

  it.each([
    ["region:load.batch.payload.sum>5%", "breached"],
    ["region:load.batch.payload.sum>50%", "passed"],
    ['region:"load.batch".payload.per_second>5', "breached"],
    ["region:*.payload.mean<5", "passed"],
  ])("%s: %s", (condition, outcome) => {
    expect(check(condition).map((result) => result.outcome)).toEqual([outcome]);
  });

  it("may name a region by its name or its path, however deep it is", () => {
    const nested = (payload: number) =>
      firstReport(
        bundleOf([
          {
            ranges: [
              { name: "epoch", start: 0, end: 3e9 },
              { name: "step", start: 0, end: 2e9 },
              { name: "load.batch", start: 0, end: 1e9, payload },
            ],
          },
        ]),
      );
    for (const subject of ["load.batch", "epoch / step / load.batch", "*step / load.batch"])
      expect(
        checkGates(
          parseGates(`region:${subject}.payload.sum>5%`),
          compareReports(nested(100), nested(120)),
        ),
      ).toMatchObject([{ outcome: "breached", gate: { subject: { pattern: subject } } }]);
  });

  it("take the region in quotes, whatever another number is called", () => {
    const named = (value: number) => {
      const report = withPayload(100);
      const names: Readonly<Record<string, string>> = {
        load: "batch.payload.sum",
        "load.batch": "payload.sum",
      };
      return {
        ...report,
        regions: report.regions.map((region) => ({
          ...region,
          metrics: { [names[region.name] ?? ""]: { value, unit: "" } },
        })),
      };
    };
    const [result] = checkGates(
      parseGates('region:"load.batch".payload.sum>5%'),
      compareReports(named(1), named(2)),
    );
    expect(result?.reason).toMatch(/^payload\.sum of region load\.batch: /);
  });

  it("refuse a region whose name begins with a dot", () => {
    expect(() => check("region:.load.payload.sum>5%")).toThrow("no region matches '.load.payload'");
  });

  it("refuse a number that no region has, by the shortest name", () => {
    expect(() => check("region:load.tokens.sum>5%")).toThrow("no region matches 'load.tokens'");
    expect(() => check("region:load.sum>5%")).toThrow("neither report has sum there");
  });
});

describe("the conditions of --fail-on", () => {
  it("may have auto among them, in any place and case", () => {
    const read = (...texts: readonly string[]) => {
      const { gates, isAuto } = parseConditions(texts);
      return [isAuto, ...gates.map(({ text }) => text)];
    };
    expect(read()).toEqual([false]);
    expect(read("wall_ms>1", "cpu_ms>2")).toEqual([false, "wall_ms>1", "cpu_ms>2"]);
    expect(read("auto")).toEqual([true]);
    expect(read("wall_ms>1", "AUTO")).toEqual([true, "wall_ms>1"]);
    expect(read("wall_ms>1,auto,cpu_ms>2", "total_ms>3")).toEqual([
      ...[true, "wall_ms>1", "cpu_ms>2", "total_ms>3"],
    ]);
    expect(() => read("auto", " ")).toThrow("--fail-on needs a condition");
    expect(() => read("auto,wall_ms")).toThrow("'wall_ms' is not a condition");
  });

  it("takes several conditions, commas in quotes apart", () => {
    expect(parseGates('wall_ms>5%, region:"a,b".wall_ms>1').map(({ text }) => text)).toEqual([
      "wall_ms>5%",
      'region:"a,b".wall_ms>1',
    ]);
  });

  it.each([
    ['region:"a.total_ms>5%', 'region:"a.total_ms>5%'],
    ['wall_ms>5%,region:"a,b>1', 'region:"a,b>1'],
    ['region:"a".b.c>1', 'region:"a".b.c>1'],
    ["wall_ms>5%,>1", ">1"],
    ["region:wall_ms>1", "region:wall_ms>1"],
    ["region:.wall_ms>1", "region:.wall_ms>1"],
    ["region:a.>1", "region:a.>1"],
    ["region:a.5>1", "region:a.5>1"],
    ["a.b>1", "a.b>1"],
    ["a__b..c>1", "a__b..c>1"],
    ["region:.b__c.d>1", "region:.b__c.d>1"],
  ])("takes no part of %j for a condition", (text, told) => {
    expect(() => parseGates(text)).toThrow(`--fail-on: '${told}' is not a condition`);
  });

  it.each([
    ["region:a.b.wall_ms>1", "a.b", "wall_ms"],
    ["region:a.b__c.d.e>1", "a", "b__c.d.e"],
    ["region:b__c.d.e>1", "b__c.d", "e"],
    ["region:x.b__c.d__e.f>1", "x", "b__c.d__e.f"],
    ["region:x.b__c d.e>1", "x.b__c d", "e"],
    ["kernel:void f<1>(a>2).total_ms >= 1", "void f<1>(a>2)", "total_ms"],
    ['region:"a\\"b.c__d".e>1', 'a"b.c__d', "e"],
    ['region:a"b".wall_ms>1', 'a"b"', "wall_ms"],
  ])("finds the name at the end of %s", (text, pattern, name) => {
    expect(parseGates(text)).toMatchObject([{ subject: { pattern }, name }]);
  });

  it.each([
    ['"', '\\"', ""],
    ["region:", "a__b.", "!>1"],
    ["region:", "a_", ">1"],
    ["a>", "1", "x"],
    ["", "<", ""],
    ["", ">1", "!"],
  ])("takes no longer for %j and many %j", async (before, part, after) => {
    const parse = (times: number) => {
      expect(() => parseGates(`${before}${part.repeat(times)}${after}`)).toThrow();
    };
    expect(await growth(parse, 1000)).toBeLessThan(40);
  });

  it.each([
    ["wall_ms", "no limit, that is one of > >= < <= and a number", undefined],
    ["wall_ms>", "no number behind >", undefined],
    ["wall_ms>five", "'five' is not a number, with or without %", undefined],
    ["wall_ms>5ms", "'5ms' is not a number, with or without %", undefined],
    ["wall_ms=5%", "'=' is none of > >= < <=", undefined],
    ["wall_ms==5%", "'==' is none of > >= < <=", undefined],
    [">5%", "no name of a number before >", undefined],
    ["wall_ms > five", "'five' is not a number, with or without %", undefined],
    ["kernel:f<1>(int).calls=5", "'=' is none of > >= < <=", undefined],
    ["other:load.wall_ms>5%", "'other:' is neither region: nor kernel:", undefined],
    [
      "load.x:y > 5%",
      "'load.x:y' is not the name of a number; that of a region is region:GLOB.NAME",
      undefined,
    ],
    ["regon:load.wall_ms>5%", "'regon:' is neither region: nor kernel:", "region:"],
    [
      "region:load>5%",
      "'region:load' needs a region and, behind a dot, the name of a number",
      undefined,
    ],
    [
      "load.wall_ms>5%",
      "'load.wall_ms' is not the name of a number; that of a region is region:GLOB.NAME",
      undefined,
    ],
  ])("names the rule that %s breaks", (text, reason, nearest) => {
    expect(() => parseGates(text)).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({
          message: `--fail-on: '${text}' is not a condition: ${reason}`,
          ...(nearest !== undefined && { nearest }),
        }),
      }),
    );
  });

  it("says how a condition looks where one is none", () => {
    expect(() => parseGates("wall_ms=5%")).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ hint: expect.anything() }) }),
    );
  });

  it("reads any text or refuses it with a coded error", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc
        .array(
          fc.constantFrom("region:", "kernel:", "a", ".", '"', "*", ">", ">=", "5", "%", ",", "\\"),
          { maxLength: 12 },
        )
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (given) => {
        try {
          for (const gate of parseGates(given)) expect(given).toContain(gate.text);
        } catch (error) {
          expect(isConfigError(error)).toBe(true);
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
