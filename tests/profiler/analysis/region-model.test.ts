import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeSample } from "../../../src/profiler/analysis/region-model.ts";

describe("describeSample", () => {
  it("takes the middle for the median and the nearest rank for p95", () => {
    expect(describeSample([])).toBeNull();
    expect(describeSample([7])).toEqual({ min: 7, median: 7, max: 7, p95: 7 });
    expect(describeSample([9, 1, 5])).toEqual({ min: 1, median: 5, max: 9, p95: 9 });
    expect(describeSample([4, 1, 3, 2])).toEqual({ min: 1, median: 2.5, max: 4, p95: 4 });
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(describeSample(hundred)).toEqual({ min: 1, median: 50.5, max: 100, p95: 95 });
    expect(describeSample(hundred.slice(0, 20))?.p95).toBe(19);
  });

  it("p95 is the smallest sample that at least 95 % do not exceed", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (sample) => {
        const p95 = describeSample(sample)?.p95 ?? Number.NaN;
        const share = (limit: number) => sample.filter((value) => value <= limit).length * 100;
        expect(sample).toContain(p95);
        expect(share(p95)).toBeGreaterThanOrEqual(95 * sample.length);
        expect(sample.filter((value) => value < p95).length * 100).toBeLessThan(95 * sample.length);
      }),
    );
  });
});
