import fc from "fast-check";
import { expect, test } from "vitest";
import { ruleIndex, ruleValue, wantedOf } from "../../../src/app/sweep/rule-index.ts";
import { isSweepValue, parseOverride } from "../../../src/overrides/index.ts";
import { type ScalarValue, scalar } from "../../../src/values/node.ts";
import { fromCode } from "../../../src/values/origin.ts";
import { growth } from "../../growth.ts";
import { runs } from "../../runs.ts";

const ORIGIN = fromCode("test");

const ruleOf = (wanted: Readonly<Record<string, readonly ScalarValue[]>>) =>
  new Map(
    Object.entries(wanted).map(([key, values]) => [
      key,
      wantedOf(values.map((value) => scalar(value, ORIGIN))),
    ]),
  );

function jobOf(values: Readonly<Record<string, string>>) {
  return new Map(
    Object.entries(values).map(([key, text]) => {
      const { value } = parseOverride(`${key}=${text}`);
      if (value === undefined || isSweepValue(value)) throw new Error(`${text} is no value`);
      return [key, ruleValue(value)];
    }),
  );
}

test.each<[string, ScalarValue, boolean]>([
  ["1", 1n, true],
  ["1.0", 1n, true],
  ["1", "1e0", true],
  ["-0.0", 0n, true],
  ["inf", Number.POSITIVE_INFINITY, true],
  ["nan", Number.NaN, false],
  ["12", "1*", false],
  ["'1.0'", 1n, false],
  ["null", null, true],
  ["null", "null", false],
  ["'null'", null, false],
  ["true", true, true],
  ["abc", "a?c", true],
  ["abc", "a[!x-z]c", true],
  ["abc", "ab", false],
  ["number", "number 1", false],
  ["[1,2]", "*2*", true],
])("the value %s agrees with %o: %s", (value, wanted, agrees) => {
  expect(ruleIndex([ruleOf({ x: [wanted] })])(jobOf({ x: value }))).toBe(agrees);
});

test("a job agrees with many rules where it agrees with one of them", () => {
  const wanted = fc.constantFrom<ScalarValue>(1n, 2n, 1.5, "1", "a", "b", "a*", "*", "?", null);
  const rules = fc.array(
    fc
      .dictionary(fc.constantFrom("x", "y", "z"), fc.array(wanted, { maxLength: 3 }), {
        minKeys: 1,
      })
      .map(ruleOf),
    { maxLength: 8 },
  );
  const job = fc
    .dictionary(
      fc.constantFrom("x", "y", "z"),
      fc.constantFrom("1", "1.0", "2", "'1'", "a", "b", "ab", "null"),
    )
    .map(jobOf);
  fc.assert(
    fc.property(rules, job, (several, values) => {
      expect(ruleIndex(several)(values)).toBe(several.some((rule) => ruleIndex([rule])(values)));
    }),
    { numRuns: runs(1000) },
  );
});

test("takes time in proportion to jobs and rules, not to their product", async () => {
  const numbers = (size: number) => Array.from({ length: size }, (_, at) => at);
  const inputs = new Map(
    [500, 5_000].map((size) => [
      size,
      {
        rules: numbers(size).map((at) => ruleOf({ seed: [1n], x: [`v${at}`] })),
        jobs: numbers(size).map((at) => jobOf({ seed: "1", x: `w${at}` })),
      },
    ]),
  );
  const search = (size: number) => {
    const { rules = [], jobs = [] } = inputs.get(size) ?? {};
    const agrees = ruleIndex(rules);
    expect(jobs.filter(agrees)).toEqual([]);
  };
  expect(await growth(search, 500)).toBeLessThan(40);
});
