import { expect, it } from "vitest";
import { rawInFittingUnits } from "../../../../src/profile/ncu/run/import-pass.ts";

/** What Linux takes in one argument. */
const MOST_BYTES = 128 * 1024;

it("metrics whose names are too many for an argument are printed with all others", () => {
  const named = (count: number) =>
    Array.from({ length: count }, (_, at) => `sm__metric_${at}.avg.pct_of_peak_sustained_elapsed`);
  const few = rawInFittingUnits(named(2)).args;
  expect(few[few.indexOf("--metrics") + 1]).toBe(named(2).join(","));
  const many = rawInFittingUnits(named(5000)).args;
  expect(many).not.toContain("--metrics");
  expect(Math.max(...many.map((argument) => argument.length))).toBeLessThan(MOST_BYTES);
});
