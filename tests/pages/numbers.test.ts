import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatAs,
  formatDuration,
  formatMeanMs,
  formatMs,
  formatNumber,
  formatRate,
  formatShare,
  NOT_MEASURED,
  roundedForPage,
} from "../../src/pages/numbers.ts";
import { runs } from "../runs.ts";

it("a ratio has two decimals in each row", () => {
  expect([1, 1.1, 1.316, null].map((value) => formatAs(value, "ratio"))).toEqual([
    "1.00",
    "1.10",
    "1.32",
    NOT_MEASURED,
  ]);
});

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
    [999_999_999_999, "999,999,999,999"],
    [1e12, "1.000e+12"],
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

it.each([
  [null, NOT_MEASURED],
  [0, "0.000"],
  [0.0004, "<0.001"],
  [0.0005, "0.001"],
  [1234.5678, "1234.568"],
  [2.5e15, "2500000000000000"],
])("%d ms is written as %s", (ms, text) => {
  expect(formatMs(ms)).toBe(text);
});

it.each([
  [null, NOT_MEASURED],
  [0, "0.000"],
  [0.0000004, "<0.000001"],
  [0.000001, "0.00000100"],
  [0.0016, "0.00160"],
  [0.00224, "0.00224"],
  [0.0999, "0.0999"],
  [0.1, "0.100"],
  [1234.5678, "1234.568"],
])("a mean of %d ms is written as %s", (ms, text) => {
  expect(formatMeanMs(ms)).toBe(text);
});

it.each([
  [null, 1, NOT_MEASURED],
  [1, null, NOT_MEASURED],
  [1, 0, NOT_MEASURED],
  [0, 1, "0.0"],
  [0.00045, 1, "<0.1"],
  [0.0006, 1, "0.1"],
  [1, 3, "33.3"],
  [9994, 10000, "99.9"],
  [9996, 10000, ">99.9"],
  [0.1 + 0.2, 0.3, "100.0"],
  [0.3, 0.1 + 0.2, "100.0"],
  [3, 2, "150.0"],
])("the share of %d in %d is written as %s", (part, whole, text) => {
  expect(formatShare(part, whole)).toBe(text);
});

it.each([
  [0, "0.0 µs"],
  [4e-7, "<1 ns"],
  [0.00003, "30 ns"],
  [0.0001, "0.1 µs"],
  [0.9994, "999.4 µs"],
  [0.99996, "1.00 ms"],
  [999.996, "1.00 s"],
  [1, "1.00 ms"],
  [999.99, "999.99 ms"],
  [1000, "1.00 s"],
])("a duration of %d ms is written as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

describe("forPage", () => {
  it("lets a page write a time as the other reports do, whatever its length", () => {
    // Nanoseconds, as clocks give them: up to an hour in milliseconds, and below a microsecond.
    const times = fc.integer({ min: 0, max: 3_600_000_000_000 }).map((ns) => ns / 1e6);
    fc.assert(
      fc.property(times, (ms) => {
        expect(formatMs(roundedForPage(ms))).toBe(formatMs(ms));
      }),
      { numRuns: runs(300) },
    );
    expect(formatMs(roundedForPage(1046.202389))).toBe("1046.202");
    expect(formatMs(roundedForPage(3357435.308))).toBe("3357435.308");
    expect(roundedForPage(null)).toBeNull();
  });
});

describe("formatRate", () => {
  it.each([
    [0, "0.00 B/s"],
    [999.4, "999 B/s"],
    [999.9, "1.00 kB/s"],
    [12_345, "12.3 kB/s"],
    [999_900_000_000, "1.00 TB/s"],
    [5e17, "500 PB/s"],
    [1.5e18, "1.50 EB/s"],
  ])("%d is %s", (rate, text) => {
    expect(formatRate(rate, "B/s")).toBe(text);
  });
});
