import { describe, expect, it, vi } from "vitest";
import {
  agreeing,
  andOthers,
  capitalized,
  firstFew,
  firstFewOf,
  partOf,
  plural,
} from "../../../src/foundation/text/plural.ts";

describe("counted things", () => {
  it("are one, or several, or none", () => {
    expect([0, 1, 2].map((count) => plural(count, "region"))).toEqual([
      "0 regions",
      "1 region",
      "2 regions",
    ]);
    expect(plural(2, "launch", "launches")).toBe("2 launches");
    expect(plural(1, "region was", "regions were")).toBe("1 region was");
    expect([0, 1, 2].map((count) => agreeing(count, "is", "are"))).toEqual(["are", "is", "are"]);
  });

  it("have large counts in groups", () => {
    expect(plural(999, "job")).toBe("999 jobs");
    expect(plural(1_000, "job")).toBe("1,000 jobs");
    expect(plural(1_234_567, "job")).toBe("1,234,567 jobs");
    expect(partOf(1, 1, "job")).toBe("1 of 1 job");
    expect(partOf(14_147, 16_423, "job")).toBe("14,147 of 16,423 jobs");
  });
});

describe("lists", () => {
  it("have the first few names, and how many others there are unless it is one", () => {
    expect(firstFew(["a", "b"], 2)).toBe("a, b");
    expect(firstFew(["a", "b", "c"], 2)).toBe("a, b, c");
    expect(firstFew(["a", "b", "c", "d"], 2)).toBe("a, b and 2 more");
    expect(firstFew(["f(int, int)", "g", "h", "i"], 2, "; ")).toBe("f(int, int); g and 2 more");
    expect(firstFew(Array(1_010).fill("a"), 10)).toMatch(/a and 1,000 more$/);
    expect(firstFew([], 2)).toBe("");
  });

  it("have names made for those that they show, since there may be many", () => {
    const nameOf = vi.fn((at: number) => `k${at}`);
    expect(firstFewOf([0, 1, 2, 3, 4], 2, nameOf, "; ")).toBe("k0; k1 and 3 more");
    expect(nameOf).toHaveBeenCalledTimes(2);
    expect(firstFewOf([0, 1, 2], 2, nameOf)).toBe("k0, k1, k2");
  });

  it("stand for their first, with the number of the others", () => {
    expect([0, 1, 1_000].map(andOthers)).toEqual(["", " (and 1 more)", " (and 1,000 more)"]);
  });
});

describe("capitalized", () => {
  it("begins words with a capital, and leaves the others as they are", () => {
    expect(capitalized("kernels of GPUs")).toBe("Kernels of GPUs");
    expect(capitalized("GPU kernel")).toBe("GPU kernel");
    expect(capitalized("")).toBe("");
  });
});
