import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decimal } from "../../src/overrides/decimal.ts";
import {
  addDecimals,
  compareDecimals,
  decimalToNumber,
  toDecimal,
} from "../../src/overrides/decimal.ts";

const exact = (value: bigint | number): Decimal => {
  const decimal = toDecimal(value);
  if (decimal === null) throw new Error("a NaN");
  return decimal;
};

const sum = (a: Decimal, b: Decimal) => addDecimals(a, b);

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

describe("addDecimals", () => {
  it("rounds to 28 digits, half to even", () => {
    const big = exact(10n ** 28n);
    expect(decimalText(sum(big, exact(5n)))).toBe("1000000000000000000000000000e1");
    expect(decimalText(sum(big, exact(15n)))).toBe("1000000000000000000000000002e1");
    expect(decimalText(sum(big, exact(5.5)))).toBe("1000000000000000000000000001e1");
    expect(decimalText(sum(exact(-(10n ** 28n)), exact(-15n)))).toBe(
      "-1000000000000000000000000002e1",
    );
  });

  it("rounds away from a carry", () => {
    expect(compareDecimals(sumOf(10n ** 29n - 1n, 0n), exact(10n ** 29n))).toBe(0);
  });

  it("knows infinities, and that opposite ones have no sum", () => {
    const infinity = exact(Number.POSITIVE_INFINITY);
    expect(sum(infinity, exact(1))).toEqual(infinity);
    expect(sum(exact(1), infinity)).toEqual(infinity);
    expect(sum(infinity, exact(Number.NEGATIVE_INFINITY))).toBeNull();
  });

  it("adds small ints exactly", () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 20n), 10n ** 20n),
        fc.bigInt(-(10n ** 20n), 10n ** 20n),
        (a, b) => {
          expect(compareDecimals(sumOf(a, b), exact(a + b))).toBe(0);
        },
      ),
    );
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

function sumOf(a: bigint, b: bigint): Decimal {
  const result = sum(exact(a), exact(b));
  if (result === null) throw new Error("no sum");
  return result;
}

const decimalText = (value: Decimal | null): string =>
  value?.kind === "finite" ? `${value.coefficient}e${value.exponent}` : String(value?.kind);
