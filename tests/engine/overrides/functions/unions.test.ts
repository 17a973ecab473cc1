/** Unions of sweeps: `choice(a,b)+range(3)`, whose jobs are those of each part. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isEndless,
  isSweep,
  leastValues,
  parseOverride,
  type SweepOptions,
  sweepOverrides,
  sweepStrings,
} from "../../../../src/engine/overrides/index.ts";
import { DIALECTS, withoutExtensions } from "../../../../src/engine/values/dialect.ts";
import { errorOf } from "../plain.ts";

const OPTIONS: SweepOptions = { groupOptions: () => ["mysql", "sqlite"] };

const strings = (text: string) => [...sweepStrings(parseOverride(text), OPTIONS)];
const jobs = (text: string) =>
  [...sweepOverrides(parseOverride(text), OPTIONS)].map((job) => job.join(" "));

describe("a union of sweeps", () => {
  it.each<[string, readonly string[]]>([
    ["lr=choice(1,2)+choice(5)", ["1", "2", "5"]],
    ["lr=choice(1,2) + range(2,4)", ["1", "2", "2", "3"]],
    ["db=glob(m*)+choice(pg)+glob(s*)", ["mysql", "pg", "sqlite"]],
    ["n=int(choice(1.5,2.5))+sort(3,1)+logrange(1,10)", ["1", "2", "1", "3", "1", "10"]],
    ["d=choice({a:1})+choice([1,2],x)", ["{a:1}", "[1,2]", "x"]],
  ])("%s has the values of its parts, in their order", (text, expected) => {
    expect(strings(text)).toEqual(expected);
    expect(isSweep(parseOverride(text))).toBe(true);
  });

  it("of zips has the jobs of each", () => {
    expect(jobs("p=zip(a=choice(1,2),b=choice(x,y))+zip(b=choice(z),a=range(1))")).toEqual([
      "a=1 b=x",
      "a=2 b=y",
      "b=z a=0",
    ]);
  });

  it("may be the values of a key of a zip", () => {
    expect(jobs("p=zip(a=choice(1)+range(2,4),b=choice(x,y,z))")).toEqual([
      "a=1 b=x",
      "a=2 b=y",
      "a=3 b=z",
    ]);
  });

  it("ends unless a part does not, and has as many values as its ranges at least", () => {
    expect(isEndless(parseOverride("n=choice(1)+range(0,inf)"))).toBe(true);
    expect(isEndless(parseOverride("n=choice(1)+range(0,3)"))).toBe(false);
    expect(leastValues(parseOverride("n=range(0,1e9)+range(0,1e9)"))).toBe(2e9);
  });

  it.each([
    ["a=choice(1)+5", "override.syntax", "choice(5)"],
    ["a=choice(1)+", "override.syntax", "joins sweeps"],
    ["a=choice(1)+b", "override.syntax", "joins sweeps"],
    ["a=choice(1)+[1,2]", "override.syntax", "joins sweeps"],
    ["a=choice(1)+int(5)", "override.function", "write choice(int(5))"],
    ["a=choice(1)+interval(0,1)", "override.function", "no values"],
    ["a=choice(1)+zip(b=choice(1))", "override.function", "only with other zips"],
    ["p=zip(a=choice(1))+zip(b=choice(1))", "override.function", "need the same keys"],
    ["a=choice(1)+choice(2),3", "override.syntax", "expected the end"],
  ])("%s is refused", (text, code, words) => {
    const { code: found, details, message } = errorOf(() => parseOverride(text));
    expect(found).toBe(code);
    expect(`${message}\n${details.hint ?? ""}`).toContain(words);
  });

  it("has the jobs of its parts, whatever these are", () => {
    const part = fc.oneof(
      fc
        .array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 4 })
        .map((values) => `choice(${values.join(",")})`),
      fc.tuple(fc.nat(3), fc.nat(6)).map(([from, to]) => `range(${from},${to})`),
      fc.constantFrom("glob(*)", "glob(m*)", "sort(3,1,2)"),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 2, maxLength: 4 }), (parts) => {
        expect(strings(`k=${parts.join("+")}`)).toEqual(
          parts.flatMap((one) => strings(`k=${one}`)),
        );
      }),
    );
  });

  it.each(Object.values(DIALECTS))(
    "is refused, as other forms of ours are, where only Hydra's language counts: $name",
    (named) => {
      const dialect = withoutExtensions(named);
      for (const text of ["a=choice(1)+choice(2)", "a:={b:1}", "a=logrange(1,10)"]) {
        expect(parseOverride(text, { dialect: named }).keyOrGroup).toBe("a");
        expect(() => parseOverride(text, { dialect })).toThrow();
      }
    },
  );
});
