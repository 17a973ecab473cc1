import fc from "fast-check";
import { expect, it } from "vitest";
import { lowerBound } from "../../../src/foundation/system/lower-bound.ts";

it("finds the first value that is not below the wanted one", () => {
  const numbers = fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 40 });
  fc.assert(
    fc.property(numbers, fc.integer({ min: -6, max: 6 }), (unsorted, wanted) => {
      const values = Float64Array.from(unsorted).sort();
      const first = values.findIndex((value) => value >= wanted);
      expect(lowerBound(values, wanted)).toBe(first < 0 ? values.length : first);
    }),
  );
});
