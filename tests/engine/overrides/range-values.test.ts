import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { RangeSweep } from "../../../src/engine/overrides/ast.ts";
import { parseOverride } from "../../../src/engine/overrides/index.ts";
import {
  compareDecimals,
  type Decimal,
  decimalToNumber,
  type FiniteDecimal,
  isEndlessRange,
  rangeSequence,
  rangeValues,
  roundToPrecision,
  toDecimal,
} from "../../../src/engine/overrides/range-values.ts";
import { floatRepr } from "../../../src/engine/values/python-text.ts";
import { runs } from "../../runs.ts";

describe("range values", () => {
  function range(text: string): RangeSweep {
    const { value } = parseOverride(`x=${text}`);
    if (value?.kind !== "range") throw new Error(`${text} is no range`);
    return value;
  }

  const between = (...parts: readonly [start: number, stop: number, step: number]) =>
    range(`range(${parts.map(floatRepr).join()})`);

  const fail = (problem: string): never => {
    throw new Error(problem);
  };

  describe("a range of floats", () => {
    test.each([
      ["range(0,1,0.1)", [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7000000000000001, 0.8, 0.9]],
      ["range(-0.0,1,0.5)", [-0, 0.5]],
      ["range(1,-1,-0.5)", [1, 0.5, 0, -0.5]],
      ["range(0,1,inf)", [0]],
      ["range(0,inf,inf)", [0]],
      ["range(inf,0)", []],
      ["range(0,1,-0.5)", []],
      ["range(5,1,-1.5)", [5, 3.5, 2]],
    ])("%s has its values in order, and by index", (text, values) => {
      expect([...rangeValues(range(text), fail)]).toEqual(values);
      expect(byIndex(range(text))).toEqual(values);
      expect(isEndlessRange(range(text))).toBe(false);
    });

    it("has the values that adding its decimals one by one gives", () => {
      fc.assert(
        fc.property(ANY_RANGE, ([start, step, count]) => {
          const stop = start + step * count;
          fc.pre(Number.isFinite(stop));
          const sums = summedUp(start, stop, step);
          expect(byIndex(between(start, stop, step))).toEqual(sums);
          expect([...rangeValues(between(start, stop, step), fail)]).toEqual(sums);
        }),
        { numRuns: runs(300) },
      );
    });

    it("may have more values than could be enumerated", () => {
      const sequence = rangeSequence(range("range(0,1,1e-12)"));
      // One more than 1e12, which is less than a millionth of a millionth.
      expect(sequence?.count).toBe(1_000_000_000_001n);
      expect(sequence?.at(123_456_789_012n)).toBe(0.123456789012);
      expect(() => sequence?.at(1_000_000_000_001n)).toThrow(RangeError);
    });
  });

  test.each([
    "range(0,inf)",
    "range(0,1e30,1.0)",
    "range(0.5,-inf,-1)",
    "range(-inf,0)",
    "range(1e30,0,-1.0)",
    "range(-1e30,0,1.0)",
  ])("%s never ends", (text) => {
    expect(isEndlessRange(range(text))).toBe(true);
    expect(rangeSequence(range(text))).toBeUndefined();
    expect(rangeValues(range(text), fail).next().done).toBe(false);
  });

  test.each([
    ["range(0,1,0.0)", "its step is zero"],
    ["range(0,1,0)", "its step is zero"],
    ["range(nan,1)", "nan cannot be compared"],
    ["range(-inf,0,inf)", "nan cannot be compared"],
  ])("%s cannot be enumerated: %s", (text, problem) => {
    expect(rangeSequence(range(text))).toBeUndefined();
    expect(isEndlessRange(range(text))).toBe(false);
    expect(() => [...rangeValues(range(text), fail)]).toThrow(problem);
  });

  /** Where decimals are rounded: steps of many sizes against the start, in both directions and through zero. */
  const ANY_RANGE = fc.tuple(
    fc
      .tuple(fc.double({ min: -10, max: 10, noNaN: true }), fc.integer({ min: -30, max: 30 }))
      .map(([value, power]) => value * 10 ** power),
    fc
      .tuple(
        fc.oneof(
          fc.constantFrom(0.1, -0.1, 0.5, -0.25, 1, 3, -0.3),
          fc.double({ min: -9, max: 9, noNaN: true }),
        ),
        fc.integer({ min: -20, max: 20 }),
      )
      .map(([value, power]) => value * 10 ** power)
      .filter((step) => step !== 0 && Math.abs(step) > 1e-40),
    fc.integer({ min: 1, max: 300 }),
  );

  function byIndex(of: RangeSweep): readonly (bigint | number)[] {
    const sequence = rangeSequence(of);
    if (sequence === undefined) throw new Error("it has no values");
    return Array.from({ length: Number(sequence.count) }, (_, index) => sequence.at(BigInt(index)));
  }

  /** As Hydra does it. */
  function summedUp(from: number, to: number, by: number): readonly number[] {
    const [start, stop, step] = [finite(from), finite(to), finite(by)];
    const exponent = Math.min(start.exponent, stop.exponent, step.exponent);
    const scaled = (value: FiniteDecimal) =>
      value.coefficient * 10n ** BigInt(value.exponent - exponent);
    const values: number[] = [];
    let value = scaled(start);
    while (by > 0 ? value < scaled(stop) : value > scaled(stop)) {
      values.push(
        values.length === 0
          ? from
          : decimalToNumber({ kind: "finite", coefficient: value, exponent }),
      );
      value = roundToPrecision(value + scaled(step));
    }
    return values;
  }

  function finite(value: number): FiniteDecimal {
    const decimal = toDecimal(value);
    if (decimal?.kind !== "finite") throw new Error(`${value} is not finite`);
    return decimal;
  }
});

const exact = (value: bigint | number): Decimal => {
  const decimal = toDecimal(value);
  if (decimal === null) throw new Error("a NaN");
  return decimal;
};

describe("toDecimal", () => {
  it("is the exact binary value", () => {
    const tenth: Decimal = {
      kind: "finite",
      coefficient: 1000000000000000055511151231257827021181583404541015625n,
      exponent: -55,
    };
    expect(compareDecimals(exact(0.1), tenth)).toBe(0);
  });

  it("keeps every double and every int", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        expect(decimalToNumber(exact(value))).toBe(value);
      }),
    );
    expect(toDecimal(2n ** 200n)).toMatchObject({ coefficient: 2n ** 200n, exponent: 0 });
    expect(toDecimal(Number.NaN)).toBeNull();
  });
});

describe("roundToPrecision", () => {
  it("rounds to 28 digits, half to even", () => {
    const big = 10n ** 28n;
    expect(roundToPrecision(big + 5n)).toBe(big);
    expect(roundToPrecision(big + 15n)).toBe(big + 20n);
    expect(roundToPrecision(-big - 15n)).toBe(-big - 20n);
    expect(roundToPrecision(100n * big + 500n)).toBe(100n * big);
    expect(roundToPrecision(100n * big + 501n)).toBe(100n * big + 1000n);
  });

  it("rounds up to one digit more", () => {
    expect(roundToPrecision(10n ** 29n - 1n)).toBe(10n ** 29n);
  });

  it("keeps what has no more digits", () => {
    for (const value of [0n, -7n, 10n ** 28n - 1n]) expect(roundToPrecision(value)).toBe(value);
  });
});

describe("compareDecimals", () => {
  it("orders doubles as their values", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.double({ noNaN: true }), (a, b) => {
        expect(Math.sign(compareDecimals(exact(a), exact(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });
});
