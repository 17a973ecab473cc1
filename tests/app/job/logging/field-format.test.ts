import { expect, test } from "vitest";
import { writeNumber } from "../../../../src/app/job/logging/field-format.ts";

/** What Python 3.11 writes. */
test.each([
  ["d", -0.0, "0"],
  ["d", -0.5, "0"],
  ["i", -1.5, "-1"],
  ["f", -0.0, "-0.000000"],
  ["f", -0.5, "-0.500000"],
] as const)("'%s' of a float: %s is %s", (conversion, value, expected) => {
  const { prefix, digits } = writeNumber(value, {
    conversion,
    sign: "",
    alternate: false,
    separator: "",
  });
  expect(`${prefix}${digits}`).toBe(expected);
});
