import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { gateSummary } from "../../../src/report/compare/comparison.ts";
import { checkGates, parseGates, refuseFailed } from "../../../src/report/compare/gates.ts";
import { growth } from "../../growth.ts";
import { runs } from "../../runs.ts";
import { bundleOf, firstReport, repeated, reportOfCalls, resnet } from "../bundles.ts";

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
        "kernel:linear*.calls>0",
      ])
        expect(() => checkGates(parseGates(text), compared)).toThrow(
          `--fail-on: '${text}': nothing to check, since the selection of one report leaves out`,
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
          `wall_ms of region forward / stem: ${side.replace("8", "6")} did not look for it: its selection leaves it out`,
        );
        expect(gateSummary(results)).toBe(
          "gates passed: 3 checked, 2 left out by a selection, unchecked",
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

describe("the conditions of --fail-on", () => {
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
