import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { repeatStatistics, studentT } from "../../../src/profile/repeats/statistics.ts";
import { runs } from "../../runs.ts";

describe("repeatStatistics", () => {
  it("gives mean, sample deviation and Student's interval", () => {
    // 2, 4, 6: mean 4, s = 2, half width 4.303 * 2 / sqrt(3).
    const { mean, std, ci95_low, ci95_high, stable } = repeatStatistics([2, 4, 6]) ?? {};
    expect([mean, std, stable]).toEqual([4, 2, false]);
    expect(ci95_low).toBeCloseTo(4 - 4.9687, 3);
    expect(ci95_high).toBeCloseTo(4 + 4.9687, 3);
  });

  it("has nothing to say of one run", () => {
    expect(repeatStatistics([3])).toBeNull();
    expect(repeatStatistics([])).toBeNull();
  });

  it("is stable when the interval lies within 5 % of the mean", () => {
    expect(repeatStatistics([100, 101, 99, 100])?.stable).toBe(true);
    expect(repeatStatistics([100, 120, 80, 100])?.stable).toBe(false);
    expect(repeatStatistics([0, 0])?.stable).toBe(true);
  });

  it("knows Student's quantiles from few runs to many", () => {
    expect(studentT(1)).toBeCloseTo(12.706, 3);
    expect(studentT(30)).toBeCloseTo(2.042, 3);
    // From tables: 40: 2.0211, 60: 2.0003, 120: 1.9799.
    for (const [freedom, quantile] of [
      [40, 2.0211],
      [60, 2.0003],
      [120, 1.9799],
    ] as const)
      expect(studentT(freedom)).toBeCloseTo(quantile, 3);
  });

  it("does not depend on the order, and scales with the values", () => {
    const values = fc.array(fc.integer({ min: 1, max: 1_000_000 }), {
      minLength: 2,
      maxLength: 20,
    });
    fc.assert(
      fc.property(values, (given) => {
        const one = repeatStatistics(given);
        const turned = repeatStatistics([...given].reverse());
        const doubled = repeatStatistics(given.map((value) => value * 2));
        expect(turned?.std).toBeCloseTo(one?.std ?? 0, 6);
        expect(doubled?.mean).toBeCloseTo((one?.mean ?? 0) * 2, 6);
        expect(doubled?.stable).toBe(one?.stable);
        expect(one?.ci95_low).toBeLessThanOrEqual(one?.mean ?? 0);
      }),
      { numRuns: runs(100) },
    );
  });
});
