import { describe, expect, it } from "vitest";
import { importanceOf, ranks } from "../../../../src/app/sweep/client/forest.ts";

/** Points of a square, spread evenly. */
const SQUARE = Array.from({ length: 200 }, (_, at) => ({
  a: (at * 0.618034) % 1,
  b: (at * 0.754878) % 1,
}));
const number = (values: readonly (number | null)[]) => ({ values, isCategory: false });

describe("the importance of parameters", () => {
  it("is that of the parameters that decide, in shares of the whole", () => {
    const found = importanceOf(
      [number(SQUARE.map(({ a }) => a)), number(SQUARE.map(({ b }) => b))],
      SQUARE.map(({ a, b }) => 10 * a + b),
    );
    expect(found?.r2).toBeGreaterThan(0.8);
    const [first = 0, second = 0] = found?.shares ?? [];
    expect(first).toBeGreaterThan(0.8);
    expect(first + second).toBeCloseTo(1);
  });

  it("finds a category whose names have no order, and what a missing parameter says", () => {
    const words = SQUARE.map((_, at) => at % 7);
    const worth = [5, 0, 3, 1, 6, 2, 4];
    const only = SQUARE.map(({ a }, at) => (words[at] === 3 ? a : null));
    const found = importanceOf(
      [{ values: words, isCategory: true }, number(SQUARE.map(({ b }) => b)), number(only)],
      SQUARE.map((_, at) => worth[words[at] ?? 0] ?? 0),
    );
    expect(found?.r2).toBeGreaterThan(0.9);
    expect(found?.shares[0]).toBeGreaterThan(0.6);
  });

  it("explains nothing where nothing is to be explained", () => {
    const noise = SQUARE.map((_, at) => (at * 7919) % 199);
    const found = importanceOf([number(SQUARE.map(({ a }) => (a * 97) % 1))], noise);
    expect(found?.r2).toBeLessThan(0.3);
  });

  it("is the same each time, does not ask how large values are, and is none for few or equal jobs", () => {
    const features = [number(SQUARE.map(({ a }) => a)), number(SQUARE.map(({ b }) => b))];
    const target = SQUARE.map(({ a, b }) => a + 0.5 * b);
    const found = importanceOf(features, target);
    expect(importanceOf(features, target)).toEqual(found);
    expect(
      importanceOf(
        features,
        target.map((value) => Math.exp(20 * value)),
      ),
    ).toEqual(found);
    expect(
      importanceOf(
        features,
        target.map(() => 1),
      ),
    ).toBeNull();
    expect(
      importanceOf(
        features,
        target.map((value, at) => (at < 9 ? value : null)),
      ),
    ).toBeNull();
  });

  it("gives equal values their mean rank", () => {
    expect(ranks([3, 1, 3, 2, 9])).toEqual([0.625, 0, 0.625, 0.25, 1]);
  });
});
