import { describe, expect, it } from "vitest";
import { calibrationOf } from "../../../src/profiler/cli/calibrate.ts";
import {
  calibrationFor,
  isDrifting,
  judged,
  noiseSource,
  smallestEffect,
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
  const spread = (run_spread: number, session_spread = run_spread): Spread => ({
    ...{ mean_ms: 1, run_spread, session_spread, pair_spread: run_spread },
    smallest_effects: [],
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
    [null, 0.005, 0.005, null],
  ])("is what the noise comes from: %s", (source, wall, cpu, instructions) => {
    const numbers = { wall_ms: spread(wall), cpu_ms: spread(cpu) };
    expect(noiseSource(numbers, { spread: instructions, why: "" })).toBe(source);
  });

  it("is whether the machine drifts", () => {
    expect(isDrifting(spread(0.01, 0.05), 5)).toBe(true);
    expect(isDrifting(spread(0.05, 0.02), 5)).toBe(false);
  });
});
