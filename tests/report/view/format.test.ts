import { describe, expect, it } from "vitest";
import { formatRate } from "../../../src/report/view/numbers.ts";

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
