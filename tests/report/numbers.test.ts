import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatNumber, NOT_MEASURED } from "../../src/report/numbers.ts";
import { runs } from "../runs.ts";

describe("formatNumber", () => {
  it.each([
    [0.05999999999999999, "0.06"],
    [0.1 + 0.2, "0.3"],
    [0, "0"],
    [-0, "0"],
    [7, "7"],
    [62.345678, "62.346"],
    [1234.5678, "1,234.6"],
    [-1234.5678, "-1,234.6"],
    [9999.96, "10,000"],
    [1234567.89, "1,234,568"],
    [3_456_789_012, "3,456,789,012"],
    [1.23456e15, "1.235e+15"],
    [0.000123456, "0.0001235"],
    [1.23456e-9, "1.235e-9"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    [null, NOT_MEASURED],
  ])("writes %d as %s", (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });

  it("is short, near the number, and exact for whole numbers", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e200, max: 1e200 }), (value) => {
        const text = formatNumber(value);
        expect(text.length).toBeLessThanOrEqual(16);
        const read = Number(text.replaceAll(",", ""));
        expect(Math.abs(read - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-3);
      }),
      { numRuns: runs(1000) },
    );
    fc.assert(
      fc.property(fc.integer({ min: -1e11, max: 1e11 }), (value) => {
        expect(Number(formatNumber(value).replaceAll(",", ""))).toBe(value);
      }),
      { numRuns: runs(1000) },
    );
  });
});
