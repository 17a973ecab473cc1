import { describe, expect, it } from "vitest";
import { extentOf } from "../../../src/report/client/extent.ts";
import { columnWidths } from "../../../src/text/text-width.ts";

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
