import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluateArithmetic } from "../../../../src/engine/values/resolution/arithmetic.ts";

/** What Python's own `eval` makes of expressions, as the text of the value; null where it raises. */
function inPython(expressions: readonly string[]): readonly (string | null)[] {
  const source = `
import json, sys, warnings
warnings.simplefilter("ignore")
def told(text):
    try:
        value = eval(text)
        return None if isinstance(value, complex) else repr(value)
    except Exception:
        return None
print(json.dumps([told(text) for text in json.load(sys.stdin)]))
`;
  const input = JSON.stringify(expressions);
  return JSON.parse(execFileSync("python3", ["-c", source], { input, encoding: "utf8" }));
}

/** The same of ours, as far as the two spell values alike. */
function ours(expression: string): unknown {
  try {
    return evaluateArithmetic(expression);
  } catch {
    return null;
  }
}

/** A value of Python's by its `repr`. */
function parsed(repr: string | null): unknown {
  if (repr === null || repr === "None") return null;
  if (repr === "True" || repr === "False") return repr === "True";
  if (/^-?\d+$/.test(repr)) return BigInt(repr);
  if (/^['"]/.test(repr)) return repr.slice(1, -1);
  return { inf: Infinity, "-inf": -Infinity, nan: NaN }[repr] ?? Number(repr);
}

const number = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map(String),
  fc.constantFrom("0.5", "2.5", "1e3", "1.25", ".1", "3.", "123456789012345678901"),
  fc.constantFrom("True", "False"),
);
const expression = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    number,
    fc
      .tuple(
        tie("any"),
        fc.constantFrom(
          "+",
          "-",
          "*",
          "/",
          "//",
          "%",
          "==",
          "!=",
          "<",
          "<=",
          ">",
          ">=",
          "and",
          "or",
        ),
        tie("any"),
      )
      .map(([a, sign, b]) => `${a} ${sign} ${b}`),
    tie("any").map((one) => `(${one})`),
    tie("any").map((one) => `-(${one})`),
    tie("any").map((one) => `not ${one}`),
    fc.tuple(tie("any"), fc.constantFrom("2", "3", "-1", "0")).map(([a, b]) => `(${a}) ** ${b}`),
    fc.tuple(tie("any"), tie("any"), tie("any")).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
    fc.tuple(tie("any"), tie("any")).map(([a, b]) => `max(${a}, ${b})`),
    fc.tuple(tie("any"), tie("any")).map(([a, b]) => `min(${a}, ${b})`),
    fc
      .tuple(fc.constantFrom("int", "float", "round", "abs", "bool"), tie("any"))
      .map(([name, one]) => `${name}(${one})`),
    tie("any").map((one) => `round(${one}, 1)`),
  ),
})).any;

describe("arithmetic", () => {
  test("is Python's", () => {
    const cases = fc
      .sample(expression, { numRuns: 2_000, seed: 29 })
      .filter((text) => text.length < 300);
    const expected = inPython(cases);
    const wrong = cases.flatMap((text, index) => {
      const [mine, theirs] = [ours(text), parsed(expected[index] ?? null)];
      const isSame =
        Object.is(mine, theirs) ||
        (typeof mine === "number" &&
          typeof theirs === "number" &&
          // A quotient of ints beyond 2^53 is rounded twice.
          (mine === theirs || Math.abs(mine - theirs) <= 1e-15 * Math.abs(theirs)));
      return isSame ? [] : [{ text, mine, theirs }];
    });
    expect(wrong).toEqual([]);
    expect(expected.filter((one) => one !== null).length).toBeGreaterThan(1_000);
  });

  test.each([
    ["3 * 7", 21n],
    ["3 / 2", 1.5],
    ["'a' == 'a' and 1 < 2 <= 2", true],
    ["int(7 / 2) if 7 % 2 else 'even'", 3n],
    ["-2 ** 2", -4n],
  ])("%s", (text, value) => {
    expect(evaluateArithmetic(text)).toBe(value);
  });

  test.each([
    "__import__('os')",
    "open('x')",
    "x + 1",
    "(1).real",
    "[1]",
    "1 +",
    "1 2",
    "010",
    "",
    "9 ** 9 ** 9",
    "10 ** 5000 * 10 ** 5000",
    "1 / 0",
    `${"(".repeat(5_000)}1`,
    "1 +".repeat(5_000),
    "min(1)",
    "lambda: 1",
  ])("refuses %s", (text) => {
    expect(() => evaluateArithmetic(text)).toThrow(Error);
  });

  test("an operand that is not needed is not computed", () => {
    expect(evaluateArithmetic("1 if True else 1 / 0")).toBe(1n);
    expect(evaluateArithmetic("False and 1 / 0")).toBe(false);
  });
});
