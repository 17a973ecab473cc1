import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isEndless,
  isSweep,
  overrideKeyElement,
  parseOverride,
  sweepOverrides,
  sweepStrings,
} from "../../../../src/engine/overrides/index.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import { runs } from "../../../runs.ts";

const jobs = (text: string) => [
  ...sweepOverrides(parseOverride(text), { groupOptions: () => ["a", "b", "c"] }),
];

function refusal(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (isConfigError(error)) return error;
    throw error;
  }
  return expect.unreachable();
}

describe("zip", () => {
  test("keys change together, whatever the name of the pair", () => {
    for (const name of ["pair", "+pair", "++a.b", "any/thing"])
      expect(jobs(`${name}=zip(lr=choice(0.1,0.01),model=choice(a,b))`)).toEqual([
        ["lr=0.1", "model=a"],
        ["lr=0.01", "model=b"],
      ]);
  });

  test.each([
    [
      "p=zip(+lr=choice(1,2),++db.port=range(3,5))",
      [
        ["+lr=1", "++db.port=3"],
        ["+lr=2", "++db.port=4"],
      ],
    ],
    ["p=zip(db/engine@back.up=choice(x,y), a = int(choice('1','2')))", null],
    [
      "p=zip( db/engine@b.c=choice('x y',y) , a=int(choice('1','2')) )",
      [
        ["db/engine@b.c=x\\ y", "a=1"],
        ["db/engine@b.c=y", "a=2"],
      ],
    ],
    [
      "p=zip(a=sort(3,1),b=choice([1,{k:v}],no))",
      [
        ["a=1", "b=[1,{k:v}]"],
        ["a=3", "b=no"],
      ],
    ],
    [
      "p=zip(g=glob(*,exclude=b),n=range(2))",
      [
        ["g=a", "n=0"],
        ["g=c", "n=1"],
      ],
    ],
    [
      "p=zip(a=logrange(1,100),b=tag(t,choice(x,y,z)))",
      [
        ["a=1", "b=x"],
        ["a=10", "b=y"],
        ["a=100", "b=z"],
      ],
    ],
    ["p=zip(a=choice())", null],
    ["p=zip(a=range(0),b=range(0))", []],
  ] as const)("%s", (text, expected) => {
    if (expected === null) expect(refusal(() => jobs(text)).code).toMatch(/^override\./);
    else expect(jobs(text)).toEqual(expected);
  });

  test.each([
    ["p=zip()", "override.function", "needs keys"],
    ["p=zip(choice(1,2))", "override.syntax", "expected KEY=SWEEP"],
    ["p=zip(=choice(1,2))", "override.syntax", "a key to sweep"],
    ["p=zip(~a=choice(1,2))", "override.syntax", "'~'"],
    ["p=zip(a=choice(1),2)", "override.syntax", "a key cannot be a number"],
    [
      "p=zip(a=[1,2])",
      "override.function",
      "not a list: use choice(...) to take its items one by one",
    ],
    ["p=zip(a=1)", "override.function", "must be a choice, a range, a logrange or a glob"],
    ["p=zip(a=interval(0,1))", "override.function", "no values to pair"],
    ["p=zip(a=zip(b=choice(1)))", "override.function", "put the keys of the inner zip"],
    ["p=zip(a=choice(1,2),+a=choice(3,4))", "override.function", "'a' is given twice"],
    ["p=int(zip(a=choice(1,2)))", "override.function", "cannot be cast"],
    ["p=choice(zip(a=choice(1,2)))", "override.function", "not a zip"],
    ["p=zip(a=choice(1,2)", "override.syntax", "','"],
  ])("%s is refused while it is parsed", (text, code, problem) => {
    const error = refusal(() => parseOverride(text));
    expect(error.code).toBe(code);
    expect(error.message).toContain(problem);
  });

  test.each([
    ["p=zip(lr=1,2,n=1,2)", "p=zip(lr=choice(1,2),n=choice(1,2))"],
    ["p=zip(lr=1,a)", "p=zip(lr=choice(1,a))"],
    ["p=zip(lr=[1,2],n=(a,b))", "p=zip(lr=choice(1,2),n=choice(a,b))"],
    ["p=zip(lr=1,n=range(3))", "p=zip(lr=choice(1),n=range(3))"],
    ["zip(lr=1,2)", "+pair=zip(lr=choice(1,2))"],
  ])("values of %s that stand alone are told to be a choice", (text, proposal) => {
    expect(refusal(() => parseOverride(text)).details.proposals).toEqual([proposal]);
  });

  test("a sweep before what is no column needs no choice", () => {
    const { details } = refusal(() => parseOverride("p=zip(lr=choice(1),2)"));
    expect(details.hint).not.toContain("choice");
  });

  test("unequal lengths are refused, with the lengths", () => {
    const { code, message } = refusal(() => jobs("p=zip(lr=choice(1,2),model=choice(a,b,c))"));
    expect([code, message]).toEqual([
      "override.function",
      expect.stringContaining("lr has 2, model has 3"),
    ]);
    expect(refusal(() => jobs("p=zip(a=range(0,inf),b=range(0,inf))")).message).toContain(
      "never ends",
    );
    expect(isEndless(parseOverride("p=zip(a=range(0,inf),b=range(2))"))).toBe(true);
    expect(refusal(() => jobs("~p=zip(a=choice(1))")).message).toContain("deletion");
    expect(refusal(() => [...sweepStrings(parseOverride("p=zip(a=choice(1))"))]).message).toContain(
      "sweepOverrides",
    );
  });

  test("the columns of any equally long choices come back row by row", () => {
    const value = fc.oneof(
      fc.integer().map(String),
      fc.constantFrom("a", "'a b'", "[1,2]", "{k:v}", "1.5", "true", '"x,y"'),
    );
    const table = fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 4 }))
      .chain(([rows, columns]) =>
        fc.array(fc.array(value, { minLength: rows, maxLength: rows }), {
          minLength: columns,
          maxLength: columns,
        }),
      );
    fc.assert(
      fc.property(table, (columns) => {
        const text = columns.map((column, index) => `k${index}=choice(${column.join(",")})`);
        const rows = jobs(`p=zip(${text.join(",")})`);
        expect(rows).toHaveLength(columns[0]?.length ?? 0);
        for (const [row, overrides] of rows.entries()) {
          expect(overrides.map((one) => overrideKeyElement(parseOverride(one)))).toEqual(
            columns.map((_, index) => `k${index}`),
          );
          for (const [index, one] of overrides.entries()) {
            const override = parseOverride(one);
            expect(isSweep(override)).toBe(false);
            const alone = [...sweepStrings(parseOverride(`x=choice(${columns[index]?.[row]})`))];
            expect(one).toBe(`k${index}=${alone[0]}`);
          }
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

const values = (text: string) => [...sweepStrings(parseOverride(`x=${text}`))];

describe("logrange", () => {
  test.each([
    ["logrange(1e-4,1e-1,4)", ["0.0001", "0.001", "0.01", "0.1"]],
    ["logrange(1e-4,1e-1)", ["0.0001", "0.001", "0.01", "0.1"]],
    ["logrange(1,64,base=2)", ["1", "2", "4", "8", "16", "32", "64"]],
    ["logrange(64,1,base=4)", ["64", "16", "4", "1"]],
    ["logrange(1,100,base=2)", ["1", "2", "4", "8", "16", "32", "64"]],
    ["logrange(1,10,steps=2)", ["1.0", "3.16227766017", "10.0"]],
    ["logrange(start=1,stop=1000,num=4)", ["1.0", "10.0", "100.0", "1000.0"]],
    ["int(logrange(1,1000,4))", ["1", "10", "100", "1000"]],
    ["logrange(5,5)", ["5"]],
    ["sort(logrange(1,100),reverse=true)", ["100", "10", "1"]],
    ["logrange(10,1,2)", ["10.0", "1.0"]],
  ])("%s", (text, expected) => {
    expect(
      values(text).map((value) => (value.includes(".") ? String(Number(value)) : value)),
    ).toEqual(expected.map((value) => (value.includes(".") ? String(Number(value)) : value)));
  });

  test.each([
    ["logrange(0,1)", "'start' must be a number greater than 0"],
    ["logrange(1,-1)", "'stop' must be"],
    ["logrange(1,inf)", "'stop' must be"],
    ["logrange(1,2,1)", "'num' must be an int from 2"],
    ["logrange(1,2,2.5)", "'num' must be"],
    ["logrange(1,2,steps=0)", "'steps' must be"],
    ["logrange(1,2,3,base=2)", "give it without steps and base"],
    ["logrange(1,2,base=1)", "greater than 1"],
    ["logrange(1,2,base=1.0000001)", "more than 100000"],
    ["logrange(1)", "'stop' is missing"],
  ])("%s is refused", (text, problem) => {
    try {
      parseOverride(`x=${text}`);
      expect.unreachable();
    } catch (error) {
      expect(isConfigError(error) && error.code).toBe("override.function");
      expect(isConfigError(error) && error.message).toContain(problem);
    }
  });

  test("num values with equal ratios, from start to stop, in order", () => {
    const bound = fc.double({ min: 1e-12, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(bound, bound, fc.integer({ min: 2, max: 50 }), (start, stop, num) => {
        const got = values(`logrange(${start},${stop},${num})`).map(Number);
        expect(got).toHaveLength(num);
        expect([got[0], got.at(-1)]).toEqual([start, stop]);
        const step = Math.log(stop / start) / (num - 1);
        for (const [index, value] of got.entries())
          expect(Math.log(value / start)).toBeCloseTo(step * index, 8);
      }),
      { numRuns: runs(200) },
    );
  });

  test("by base, the values never pass the stop by more than their rounding", () => {
    const bound = fc.double({ min: 1e-6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        bound,
        bound,
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(2, 3, 10, 1.5),
        (start, stop, steps, base) => {
          const got = values(`logrange(${start},${stop},steps=${steps},base=${base})`).map(Number);
          const ratio = base ** ((stop < start ? -1 : 1) / steps);
          expect(got[0]).toBe(start);
          for (let index = 1; index < got.length; index++)
            expect((got[index] ?? 0) / (got[index - 1] ?? 0)).toBeCloseTo(ratio, 6);
          const last = got.at(-1) ?? 0;
          const slack = 1 + 1e-8;
          if (stop >= start) expect(last <= stop * slack && last * ratio * slack > stop).toBe(true);
          else expect(last * slack >= stop && last * ratio < stop * slack).toBe(true);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
