import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../../src/app/command-line/parse.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { isDecided, type PairOfReports, ratiosOf, sidesOf } from "../../../src/profiler/cli/ab.ts";
import { AB } from "../../../src/profiler/cli/subcommand-lines.ts";
import { NO_CONDITIONS, parseConditions } from "../../../src/report/compare/gates.ts";
import { regionKey } from "../../../src/report/model/report-files.ts";
import { reportOfCalls } from "../../report/bundles.ts";

describe("the sides of ab", () => {
  const sides = (...args: readonly string[]) => sidesOf(parseCommandLine(AB, args));

  it("are programs, overrides, or both, with overrides for both in front", () => {
    expect(sides("device=cpu", "--pairs", "3", "--", "./a", "-x", "--", "./b", "x=1")).toEqual({
      common: ["device=cpu"],
      a: { overrides: [], program: ["./a", "-x"] },
      b: { overrides: [], program: ["./b", "x=1"] },
    });
    expect(sides("--", "infer.batch_size=1", "--", "infer.batch_size=8", "+x=2", "./b")).toEqual({
      common: [],
      a: { overrides: ["infer.batch_size=1"], program: [] },
      b: { overrides: ["infer.batch_size=8", "+x=2"], program: ["./b"] },
    });
  });

  it("may be a program of B with dashes of its own", () => {
    expect(sides("--", "./a", "--", "./b", "--", "-v").b.program).toEqual(["./b", "--", "-v"]);
  });

  it.each([[["./a", "./b"]], [["--", "./a", "./b"]], [["--", "--", "./b"]], [["--", "./a", "--"]]])(
    "are refused where one is missing: %s",
    (args) => {
      expect(() => sides(...args)).toThrow(expect.toSatisfy(isConfigError));
    },
  );
});

describe("pairs of runs", () => {
  const pair = (a: number, b: number): PairOfReports => ({
    a: { report: reportOfCalls([a, a]) },
    b: { report: reportOfCalls([b, b]) },
  });
  const [region] = reportOfCalls([1, 1]).regions;
  const key = region === undefined ? "" : regionKey(region);

  it("give the logarithms of their ratios, of the times that all have", () => {
    const { totals, regions } = ratiosOf([pair(10, 11), pair(20, 20)]);
    expect(totals["wall_ms"]).toEqual([expect.closeTo(Math.log(1.1), 12), 0]);
    expect(regions.get(key)?.["median_ms"]).toEqual([expect.closeTo(Math.log(1.1), 12), 0]);
    expect(totals["cpu_ms"]).toBeUndefined();
  });

  it("compare how the GPU was used, too", () => {
    const busy = (ms: number): PairOfReports["a"] => {
      const report = reportOfCalls([10]);
      const activity = { kernel_ms: ms, copy_ms: 0, overlap_ms: 0, busy_ms: ms };
      const regions = report.regions.map((one) => ({ ...one, gpu_activity: activity }));
      return { report: { ...report, regions } };
    };
    const { regions } = ratiosOf([{ a: busy(2), b: busy(4) }]);
    expect(regions.get(key)).toMatchObject({
      gpu_busy_ms: [Math.log(2)],
      gpu_busy_pct: [expect.closeTo(Math.log(2), 9)],
    });
  });

  it("are enough once a gate is known to be breached, or every one is known not to be", () => {
    const noisy = (factor: number, count: number) =>
      Array.from({ length: count }, (_, at) => pair(100, 100 * factor * (1 + (at % 3) / 100)));
    const gates = parseConditions(["wall_ms>5%"]);
    expect(isDecided(noisy(1.2, 2), gates)).toBe(false);
    expect(isDecided(noisy(1.2, 8), gates)).toBe(true);
    expect(isDecided(noisy(0.98, 8), gates)).toBe(true);
    expect(isDecided(noisy(1.04, 8), gates)).toBe(false);
    expect(isDecided(noisy(1.2, 8), NO_CONDITIONS)).toBe(true);
    expect(isDecided(noisy(0.99, 8), NO_CONDITIONS)).toBe(false);
  });
});
