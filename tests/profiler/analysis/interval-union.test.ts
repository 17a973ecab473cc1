import { describe, expect, it } from "vitest";
import { cover, createCoverage, unionNs } from "../../../src/profiler/analysis/interval-union.ts";

const at = (startNs: number, endNs: number) => ({ startNs, endNs });

describe("the time that intervals cover", () => {
  it.each([
    ["apart", [at(0, 5), at(10, 12)], 7],
    ["next to each other", [at(0, 5), at(5, 7)], 7],
    ["overlapping", [at(0, 5), at(3, 8)], 8],
    ["one inside another", [at(0, 10), at(2, 3), at(9, 12)], 12],
    ["the same", [at(1, 4), at(1, 4)], 3],
    ["in any order", [at(20, 30), at(0, 10), at(5, 25)], 30],
    ["without a duration", [at(5, 5)], 0],
    ["none", [], 0],
  ])("%s", (_, intervals, covered) => {
    expect(unionNs(intervals)).toBe(covered);
  });

  it("begins where the coverage begins", () => {
    const coverage = createCoverage(10);
    cover(coverage, 0, 8);
    cover(coverage, 5, 15);
    expect(coverage.coveredNs).toBe(5);
  });
});
