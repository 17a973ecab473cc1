import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnWidths } from "../../../src/foundation/text/text-width.ts";
import { extentOf, labelledTicks } from "../../../src/pages/client/plot.ts";

describe("labelledTicks", () => {
  it("keeps powers of ten where labels would run into each other", () => {
    const ticks = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 2];
    const place = (tick: number) => 400 * Math.log10(tick / 0.1);
    expect(labelledTicks(ticks, place, 64)).toEqual([0.1, 0.2, 0.3, 0.5, 1, 2]);
    expect(labelledTicks(ticks, place, 0)).toEqual(ticks);
  });

  it("never leaves two labels closer than the gap, nor room for one more", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 2000 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 300 }),
        (ticks, gap) => {
          const kept = labelledTicks(ticks, (tick) => tick, gap);
          const isNear = (tick: number) =>
            kept.some((other) => other !== tick && Math.abs(other - tick) < gap);
          for (const tick of ticks) expect(isNear(tick)).toBe(!kept.includes(tick));
        },
      ),
    );
  });
});

describe("extent", () => {
  const MANY = 300_000;

  describe("the extent of numbers", () => {
    it("is the least and the greatest", () => {
      expect(extentOf([3, -1, 2])).toEqual([-1, 3]);
      expect(extentOf([5])).toEqual([5, 5]);
      expect(extentOf([])).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
      expect(extentOf([1, Number.NaN])).toEqual([Number.NaN, Number.NaN]);
    });

    it("is found of very many: one call could not take them all", () => {
      const numbers = Array.from({ length: MANY }, (_, at) => at);
      expect(() => Math.max(...numbers)).toThrow(RangeError);
      expect(extentOf(numbers)).toEqual([0, MANY - 1]);
    });
  });

  it("columns of very many rows have widths", () => {
    const rows = Array.from({ length: MANY }, (_, at) => [String(at), "x"]);
    expect(columnWidths(rows)).toEqual([6, 1]);
    expect(columnWidths([])).toEqual([]);
  });
});
