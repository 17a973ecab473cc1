import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseOverride, sweepStrings } from "../../src/overrides/index.ts";
import { isConfigError } from "../../src/values/errors.ts";
import { runs } from "../runs.ts";

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
