import { describe, expect, it } from "vitest";
import { calibrationOf } from "../../../src/profiler/cli/calibrate.ts";
import {
  calibrationFor,
  isDrifting,
  judged,
  noiseSource,
  smallestEffect,
  smallestPairedEffect,
  spreadOf,
} from "../../../src/report/compare/calibration.ts";
import type { Calibration, Spread } from "../../../src/report/compare/calibration-types.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { parseConditions } from "../../../src/report/compare/gates.ts";
import type { NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { createDocumentValidator } from "../../../src/report/validation/document-contracts.ts";
import { repeated, reportOfCalls } from "../bundles.ts";
import { normals } from "./normals.ts";

/** A machine whose sessions differ by `between` and whose runs by `within`, both relative. */
function machine(seed: number, { between = 0.03, within = 0.01 } = {}) {
  const normal = normals(seed);
  return (runs: number, factor = 1): readonly number[] => {
    const level = factor * Math.exp(between * normal());
    return Array.from({ length: runs }, () => 100 * level * Math.exp(within * normal()));
  };
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const base = reportOfCalls([1]);

/** The report of one region that took so long, without building it anew. */
const reportOfMs = (ms: number): NCUProfileRegionReport => ({
  ...base,
  totals: { ...base.totals, wall_ms: ms },
  regions: base.regions.map((region) =>
    region.kind === "outside" ? region : { ...region, wall_ms: ms, wall_exclusive_ms: ms },
  ),
});

/** The report of repeated runs of one region. */
function reportOf(values: readonly number[]): NCUProfileRegionReport {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  const half = (2.776 * Math.sqrt(squares / 4)) / Math.sqrt(5);
  return repeated(reportOfMs(middle), half / middle, values.length);
}

const NOT_COUNTED = { spread: null, why: "not here" };

const calibrationOfSessions = (sessions: readonly (readonly number[])[]): Calibration =>
  calibrationOf(
    {
      sessions: sessions.map(() => ({ started_at: "2026-01-31T12:00:00.000Z", load_average: 1 })),
      reports: sessions.map((runs) => runs.map(reportOfMs)),
    },
    NOT_COUNTED,
  );

/** One comparison of two sessions of five runs each, after a calibration of six sessions. */
function compared(seed: number, change: number, how?: Parameters<typeof machine>[1]) {
  const session = machine(seed, how);
  const calibration = calibrationOfSessions(Array.from({ length: 6 }, () => session(5)));
  const both = { a: reportOf(session(5)), b: reportOf(session(5, 1 + change)) };
  const reports = compareReports(both.a, both.b);
  const auto = parseConditions(["auto"]);
  const blind = parseConditions(["wall_ms>1%"]);
  return {
    auto: judged(reports, both, auto, () => calibration),
    blind: judged(reports, both, blind, () => null),
  };
}

const breached = (results: readonly ReturnType<typeof compared>[], which: "auto" | "blind") =>
  results.filter((one) => one[which].gates.some(({ outcome }) => outcome === "breached")).length;

const spread = (run_spread: number, session_spread = run_spread): Spread => ({
  ...{ mean_ms: 1, run_spread, session_spread, pair_spread: run_spread },
  smallest_effects: [],
});

/** What a report has where it measured no region. */
const nothing = { totals: { ...base.totals, wall_ms: null }, regions: [] };

describe("a calibration", () => {
  const many = (change: number, how?: Parameters<typeof machine>[1]) =>
    Array.from({ length: 200 }, (_, seed) => compared(seed + 1, change, how));

  it("keeps A against A from being called slower where sessions differ", {
    tags: ["simulation"],
  }, () => {
    const results = many(0);
    // What the runs of one session tell is not enough: the reason for calibrations.
    expect(breached(results, "blind")).toBeGreaterThan(40);
    // Of slower and faster together at most a twentieth is wrong.
    expect(breached(results, "auto")).toBeLessThanOrEqual(10);
  });

  it("does not hide what is larger than the noise", { tags: ["simulation"] }, () => {
    expect(breached(many(0.25), "auto")).toBeGreaterThanOrEqual(180);
    expect(breached(many(0.05, { between: 0.002, within: 0.005 }), "auto")).toBeGreaterThan(180);
  });

  it("says what could have been seen, and calls nothing smaller", { tags: ["simulation"] }, () => {
    for (const { auto } of many(0.03)) {
      const change = auto.reports.totals["wall_ms"];
      const { smallest_effect: effect = 0, relative, verdict } = change ?? {};
      expect(effect).toBeGreaterThan(0);
      if (verdict === "more" || verdict === "less")
        expect(Math.abs(relative ?? 0)).toBeGreaterThan(effect);
      expect(auto.reports.notes[0]).toMatch(
        /^noise as calibrated on host at .* \(6 sessions of 5 runs of .*\): a change of wall_ms of less than [\d.]+ % could not have been seen, and none is called$/,
      );
      expect(auto.gates[0]?.reason).toContain("the smallest effect that could have been seen is");
    }
  });

  it("takes the spread of the runs themselves where that is larger", () => {
    const quiet = calibrationOfSessions(
      Array.from({ length: 6 }, (_, at) => [100, 100.1, 99.9, 100, 100 + at / 100]),
    );
    const both = { a: repeated(reportOfCalls([100]), 0.1), b: repeated(reportOfCalls([105]), 0.1) };
    const { reports } = judged(
      compareReports(both.a, both.b),
      both,
      parseConditions([]),
      () => quiet,
    );
    const change = reports.totals["wall_ms"];
    expect(change?.verdict).toBe("unclear");
    expect(change?.smallest_effect).toBeCloseTo(0.1 * Math.hypot(1, 1.05), 3);
  });

  it("does not make single runs certain", () => {
    const quiet = calibrationOfSessions(Array.from({ length: 6 }, () => [100, 100.1, 99.9]));
    const both = { a: reportOfCalls([100]), b: reportOfCalls([200]) };
    const { reports, gates } = judged(
      compareReports(both.a, both.b),
      both,
      parseConditions(["auto"]),
      () => quiet,
    );
    expect(reports.totals["wall_ms"]?.verdict).toBe("unclear");
    expect(gates).toMatchObject([{ outcome: "unclear", too_few_runs: true }]);
  });

  it("is needed by auto, which is an error without", () => {
    const both = { a: reportOfCalls([100]), b: reportOfCalls([200]) };
    const reports = compareReports(both.a, both.b);
    expect(() => judged(reports, both, parseConditions(["auto"]), () => null)).toThrow(
      expect.objectContaining({
        code: "profile.gate",
        message: "--fail-on auto: there is no calibration of this program on host",
        details: expect.objectContaining({ hint: expect.stringContaining("calibrate -- PROG") }),
      }),
    );
  });

  describe("in a comparison", () => {
    const STEADY = spread(0.001);
    const steady = calibrationOfSessions(Array.from({ length: 6 }, () => [100, 100.1, 99.9, 100]));
    const of = (ms: number, runs = 5) => repeated(reportOfCalls([ms]), 0.001, runs);
    const judgedOf = (
      calibration: Calibration | null,
      a = of(100),
      b = of(110),
      conditions: readonly string[] = [],
    ) => judged(compareReports(a, b), { a, b }, parseConditions(conditions), () => calibration);
    const withNumbers = (
      totals: Calibration["totals"],
      regions: Calibration["totals"] = totals,
    ): Calibration => ({
      ...steady,
      totals,
      regions: steady.regions.map((region) => ({ ...region, numbers: regions })),
    });

    it("judges the whole and each region by its own spread, and numbers of no other name", () => {
      const { reports } = judgedOf(withNumbers({ wall_ms: STEADY }, { wall_ms: spread(0.2) }));
      const [step] = reports.regions;
      expect(reports.totals["wall_ms"]).toMatchObject({ verdict: "more", delta: 10 });
      expect(step?.changes["wall_ms"]).toMatchObject({ verdict: "unclear", freedom: 5 });
      expect(step?.changes["wall_exclusive_ms"]).toMatchObject({ verdict: "more" });
      expect(step?.changes["wall_exclusive_ms"]).not.toHaveProperty("smallest_effect");
      expect(step?.changes["invocations"]).not.toHaveProperty("smallest_effect");
    });

    it("is silent about regions that it does not have", () => {
      const other = steady.regions.map((region) => ({ ...region, path: ["other"] }));
      const { reports } = judgedOf({ ...steady, regions: other });
      expect(reports.totals["wall_ms"]).toHaveProperty("smallest_effect");
      expect(reports.regions[0]?.changes["wall_ms"]).not.toHaveProperty("smallest_effect");
    });

    it("counts the runs of each side", () => {
      const noisy = withNumbers({ wall_ms: { ...spread(0.1, 0.05) } });
      const sessions = { sessions: 6, runs: 4 };
      const effectOf = (a: number, b: number) =>
        judgedOf(noisy, of(100, a), of(110, b)).reports.totals["wall_ms"]?.smallest_effect;
      const expected = (a: number, b: number) =>
        expect.closeTo(smallestEffect(spread(0.1, 0.05), sessions, { a, b }), 9);
      expect(effectOf(5, 5)).toEqual(expected(5, 5));
      expect(effectOf(3, 20)).toEqual(expected(3, 20));
      expect(effectOf(20, 3)).toEqual(expected(20, 3));
      expect(judgedOf(noisy, reportOfCalls([100]), of(110, 4)).reports.totals["wall_ms"]).toEqual(
        expect.objectContaining({ smallest_effect: expected(1, 4), verdict: "unclear" }),
      );
    });

    it("counts for a region the runs that have it", () => {
      const noisy = withNumbers({ wall_ms: { ...spread(0.1, 0.05) } });
      const a = of(100, 20);
      const rare = {
        ...a,
        regions: a.regions.map((region) => ({
          ...region,
          ...(region.repeats && { repeats: { ...region.repeats, runs: 3 } }),
        })),
      };
      const { regions, totals } = judgedOf(noisy, rare, of(110, 20)).reports;
      const expected = (seen: number) =>
        expect.closeTo(
          smallestEffect(spread(0.1, 0.05), { sessions: 6, runs: 4 }, { a: seen, b: 20 }),
          9,
        );
      expect(regions[0]?.changes["wall_ms"]?.smallest_effect).toEqual(expected(3));
      expect(totals["wall_ms"]?.smallest_effect).toEqual(expected(20));
    });

    it("says first what its noise is, before what is noted besides", () => {
      const b = { ...of(110), failure: "it ended early" };
      const { notes } = judgedOf(steady, of(100), b).reports;
      expect(notes).toHaveLength(judgedOf(null, of(100), b).reports.notes.length + 1);
      // That of the runs themselves, 0.1 % of 100 and of 110, is larger than that of the calibration.
      expect(notes[0]).toMatch(
        /^noise as calibrated on host at \S+ \(6 sessions of 4 runs of build\/Release\/shallow_resnet --device .*\): a change of wall_ms of less than 0\.15 % could not have been seen, and none is called$/,
      );
      expect(judgedOf(withNumbers({})).reports.notes[0]).toMatch(/: it does not have wall_ms$/);
    });

    it("leaves alone what cannot be measured against it", () => {
      const wall = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
        judgedOf(steady, a, b).reports.totals["wall_ms"];
      expect(wall(of(100), { ...of(100), ...nothing })).not.toHaveProperty("smallest_effect");
      expect(wall({ ...of(100), ...nothing }, of(100))).not.toHaveProperty("smallest_effect");
      expect(wall(of(0), of(100))).not.toHaveProperty("smallest_effect");
    });

    it("is for auto the limit of the time that it tells best, beside other conditions", () => {
      const clocks = (cpu: number, wall: number) =>
        withNumbers({ cpu_ms: spread(cpu), wall_ms: spread(wall) });
      const withCpu = (ms: number) => {
        const report = reportOfCalls([ms]);
        const regions = report.regions.map((one) => ({ ...one, cpu_ms: ms, cpu_exclusive_ms: ms }));
        return repeated({ ...report, totals: { ...report.totals, cpu_ms: ms }, regions });
      };
      const names = (calibration: Calibration) => {
        const { reports, gates } = judgedOf(calibration, withCpu(100), withCpu(110), [
          "auto,invocations>0",
        ]);
        return [reports.main_time, ...gates.map(({ gate: { name, text } }) => `${text}: ${name}`)];
      };
      expect(names(clocks(0.01, 0.02))).toEqual([
        ...["cpu_ms", "auto: cpu_ms", "invocations>0: invocations"],
      ]);
      expect(names(clocks(0.02, 0.01))).toEqual([
        ...["wall_ms", "auto: wall_ms", "invocations>0: invocations"],
      ]);
    });

    it("decides nothing without auto or conditions, and shows the time of the first", () => {
      const { reports, gates } = judgedOf(steady);
      expect(gates).toEqual([]);
      expect(reports.main_time).toBe("wall_ms");
    });

    it.each([
      ["B is of another machine", steady, "other", "A is of host and B of other"],
      ["there is none", null, "host", "there is no calibration of this program on host"],
      [
        "it has no time of both",
        withNumbers({ total_ms: STEADY }),
        "host",
        "the calibration and the reports have no time in common",
      ],
    ])("cannot be asked by auto where %s", (_, calibration, hostname, message) => {
      const b = of(110);
      const elsewhere = { ...b, environment: { ...b.environment, hostname } };
      const found = hostname === "host" ? calibration : null;
      expect(() => judgedOf(found, of(100), elsewhere, ["auto"])).toThrow(message);
    });
  });

  it("is that of the machine and of regions that are there", () => {
    const calibration = calibrationOfSessions(Array.from({ length: 3 }, () => [10, 11, 12]));
    const report = reportOfCalls([10]);
    const both = { a: report, b: report };
    const other = { ...calibration, machine: { ...calibration.machine, hostname: "other" } };
    const strange = {
      ...calibration,
      regions: calibration.regions.map((region) => ({ ...region, path: ["elsewhere"] })),
    };
    expect(calibrationFor([other, strange], both)).toBeNull();
    const later = { ...calibration, command: ["x"], created_at: "2999-01-01T00:00:00.000Z" };
    expect(calibrationFor([later, other, calibration], both)).toBe(calibration);
    expect(calibrationFor([other, later], both)).toBe(later);
    expect(calibrationFor([], both)).toBeNull();
    const outside = {
      ...calibration,
      regions: calibration.regions.map((one) => ({ ...one, kind: "outside" as const })),
    };
    expect(calibrationFor([outside], both)).toBeNull();
  });

  it("is of the host, processor and collector of both reports", () => {
    const calibration = calibrationOfSessions(Array.from({ length: 3 }, () => [10, 11, 12]));
    const report = reportOfCalls([10]);
    const elsewhere = { ...report, environment: { ...report.environment, hostname: "other" } };
    const upgraded = { ...report, environment: { ...report.environment, cpu: "Other CPU" } };
    const nsys = { ...report, collector: { ...report.collector, name: "nsys" } };
    for (const other of [elsewhere, upgraded, nsys]) {
      expect(calibrationFor([calibration], { a: other, b: report })).toBeNull();
      expect(calibrationFor([calibration], { a: report, b: other })).toBeNull();
    }
  });

  it("is of the same command before others, then of most regions, then the latest", () => {
    const calibration = calibrationOfSessions(Array.from({ length: 3 }, () => [10, 11, 12]));
    const report = reportOfCalls([10]);
    const [step] = report.regions;
    if (step === undefined) throw new Error("no region");
    const inner = { ...step, path: ["step", "load 7"] };
    const a = { ...report, environment: { ...report.environment, command: ["python", "a.py"] } };
    const both = { a, b: { ...report, regions: [step, inner] } };
    const of = (command: readonly string[], created_at: string, paths: readonly string[][]) => ({
      ...{ ...calibration, command, created_at },
      regions: calibration.regions.flatMap((one) => paths.map((path) => ({ ...one, path }))),
    });
    const { command } = report.environment;
    const [one, two] = [[["step"]], [["step"], ["step", "load #"]]];
    const ofA = of(["python", "a.py"], "2026-01-01T00:00:00.000Z", one);
    const ofB = of(command, "2026-01-02T00:00:00.000Z", one);
    const more = of(["other"], "2026-01-03T00:00:00.000Z", two);
    const latest = of(["other"], "2026-01-04T00:00:00.000Z", one);
    const ranked = [ofB, ofA, more, latest];
    for (const first of ranked.keys()) {
      const left = ranked.slice(first);
      expect(calibrationFor(left, both)).toBe(left[0]);
      expect(calibrationFor(left.toReversed(), both)).toBe(left[0]);
    }
  });

  it("fits its contract", () => {
    const calibration = calibrationOfSessions(Array.from({ length: 3 }, () => [10, 11, 12]));
    const validator = createDocumentValidator();
    expect(validator.validate(JSON.parse(JSON.stringify(calibration)))).toEqual([]);
    expect(validator.validate({ ...calibration, sessions: [] })).not.toEqual([]);
  });
});

describe("pairs of runs", () => {
  it("are not called for less than the calibration can see", () => {
    const noisy = calibrationOfSessions(
      Array.from({ length: 6 }, (_, at) => [100, 110, 95, 105, 100 + at]),
    );
    const both = { a: reportOfCalls([100]), b: reportOfCalls([103]) };
    const [key] = noisy.regions;
    const ratios = Array.from({ length: 10 }, (_, at) => Math.log(1.03) + at / 1e5);
    const times = { wall_ms: ratios };
    const { regionKey } = { regionKey: JSON.stringify(["", key?.path, key?.kind]) };
    const pairs = { totals: times, regions: new Map([[regionKey, times]]) };
    const of = (find: () => Calibration | null) =>
      judged(compareReports(both.a, both.b, pairs), both, parseConditions(["wall_ms>1%"]), find);
    const without = of(() => null);
    expect(without.reports.totals["wall_ms"]?.verdict).toBe("more");
    expect(without.gates).toMatchObject([{ outcome: "breached", decided: true }]);
    const within = of(() => noisy);
    expect(within.reports.totals["wall_ms"]?.verdict).toBe("unclear");
    expect(within.gates).toMatchObject([{ outcome: "unclear", decided: false }]);
  });
});

describe("what a calibration tells of a time", () => {
  it("is how its logarithm varies, in sessions, between them and from run to run", () => {
    // Powers of 2: each session has 0, 1 and 3 more than 0, 1 or 2.
    const found = spreadOf([
      [1, 2, 8],
      [2, 4, 16],
      [4, 8, 32],
    ]);
    const runSpread = Math.LN2 * Math.sqrt(7 / 3);
    expect(found).toMatchObject({
      mean_ms: expect.closeTo(77 / 9, 9),
      run_spread: expect.closeTo(runSpread, 9),
      session_spread: expect.closeTo(Math.LN2, 9),
      pair_spread: expect.closeTo(Math.LN2 * Math.sqrt(2.5), 9),
    });
    const between = Math.LN2 ** 2 - runSpread ** 2 / 3;
    // 4.3027 is the quantile of t with two degrees of freedom.
    const half = (runs: number) => 4.302653 * Math.sqrt(2 * (between + runSpread ** 2 / runs));
    expect(found?.smallest_effects).toEqual(
      [3, 5, 10, 20].map((runs) => ({
        runs,
        relative: expect.closeTo(Math.expm1(half(runs)), 2),
      })),
    );
  });

  it("is nothing for so few pairs that nothing can be told, and less for more of them", () => {
    expect(smallestPairedEffect(spread(0.01), 1)).toBeNull();
    expect(smallestPairedEffect(spread(0.01), 2)).toBeNull();
    const effects = [5, 10, 40].map((pairs) => smallestPairedEffect(spread(0.01), pairs) ?? 0);
    expect(effects).toEqual(effects.toSorted((one, other) => other - one));
    expect(effects.at(-1)).toBeGreaterThan(0);
    // Half of the interval of ten values: 1 + n is 11, and (√11 / 0.05)^(1/5) is 2.314.
    expect(effects[1]).toBeCloseTo(Math.expm1(0.01 * Math.sqrt(1.3139 / (1 - 2.3139 / 11))), 4);
  });

  it("is the less the fewer runs, down to what sessions differ by", () => {
    const sessions = { sessions: 6, runs: 5 };
    const of = (runs: number) => smallestEffect(spread(0.02, 0.01), sessions, { a: runs, b: runs });
    expect(of(3)).toBeGreaterThan(of(5));
    expect(of(5)).toBeGreaterThan(of(20));
    // 2.571 is the quantile of t with five degrees of freedom.
    expect(of(5)).toBeCloseTo(Math.expm1(2.571 * Math.SQRT2 * 0.01), 4);
    expect(of(1e9)).toBeCloseTo(Math.expm1(2.571 * Math.SQRT2 * Math.sqrt(1e-4 - 4e-4 / 5)), 4);
  });

  it("is nothing without sessions, runs or time", () => {
    expect(
      spreadOf([
        [1, 2],
        [1, 2],
      ]),
    ).toBeNull();
    expect(spreadOf([[1], [2], [3]])).toBeNull();
    expect(
      spreadOf([
        [1, 2],
        [0, 2],
        [1, 2],
      ]),
    ).toBeNull();
    expect(
      spreadOf([
        [1, 2],
        [1, 2],
        [1, 2],
      ])?.smallest_effects.map(({ runs }) => runs),
    ).toEqual([3, 5, 10, 20]);
  });

  it.each([
    ["waiting", 0.1, 0.01, null],
    ["speed", 0.1, 0.08, null],
    ["speed", 0.1, 0.08, 0.001],
    ["work", 0.1, 0.08, 0.07],
    ["speed", 0.1, 0.05, 0.025],
    [null, 0.005, 0.005, null],
    ["speed", 0.01, 0.01, null],
    ["speed", 0.005, 0.01, null],
  ])("is what the noise comes from: %s", (source, wall, cpu, instructions) => {
    const numbers = { wall_ms: spread(wall), cpu_ms: spread(cpu) };
    expect(noiseSource(numbers, { spread: instructions, why: "" })).toBe(source);
  });

  it("takes the larger of what runs and what sessions differ by for the noise", () => {
    const source = (wall: Spread, cpu: Spread) =>
      noiseSource({ wall_ms: wall, cpu_ms: cpu }, NOT_COUNTED);
    expect(source(spread(0.001, 0.1), spread(0.001, 0.08))).toBe("speed");
    expect(source(spread(0.1, 0.001), spread(0.08, 0.001))).toBe("speed");
    expect(source(spread(0.1, 0.001), spread(0.001, 0.002))).toBe("waiting");
    expect(noiseSource({ wall_ms: spread(0.1) }, NOT_COUNTED)).toBeNull();
    expect(noiseSource({ cpu_ms: spread(0.1) }, NOT_COUNTED)).toBeNull();
  });

  it("is whether the machine drifts", () => {
    // Twice what runs explain is 2 * 0.01 / 2.
    expect(isDrifting(spread(0.01, 0.0101), 4)).toBe(true);
    expect(isDrifting(spread(0.01, 0.0099), 4)).toBe(false);
    expect(isDrifting(spread(0.0001, 0.0051), 4)).toBe(true);
    expect(isDrifting(spread(0.0001, 0.0049), 4)).toBe(false);
    expect(isDrifting(spread(0.01, 0.05), 5)).toBe(true);
    expect(isDrifting(spread(0.05, 0.02), 5)).toBe(false);
  });
});
