import { expect, it } from "vitest";
import { formatDelta, formatPercent } from "../../../src/report/compare/change-text.ts";
import { NOT_MEASURED } from "../../../src/report/numbers.ts";

it.each([
  [null, NOT_MEASURED],
  [Number.POSITIVE_INFINITY, NOT_MEASURED],
  [0, "0.0"],
  [0.005, "+0.5"],
  [-0.5, "-50.0"],
  [9.99, "+999.0"],
  [10, "+1000"],
  [-10, "-1000"],
])("a change by %s of what was there is %s %%", (relative, text) => {
  expect(formatPercent(relative)).toBe(text);
});

it.each([
  [null, null, NOT_MEASURED],
  [0, null, "0.000"],
  [1.5, null, "+1.500"],
  [1.5, 0, "+1.500"],
  [-1.5, 0.25, "-1.500 ±0.250"],
])("a change by %s ms, known to %s ms, is %s", (delta, uncertainty, text) => {
  expect(formatDelta({ delta, uncertainty })).toBe(text);
});
