import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decimal } from "../../src/overrides/decimal.ts";
import {
  compareDecimals,
  decimalToNumber,
  roundToPrecision,
  toDecimal,
} from "../../src/overrides/decimal.ts";

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
