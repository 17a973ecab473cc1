import { describe, expect, it } from "vitest";
import { agreeing, partOf, plural } from "../../src/text/plural.ts";

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
