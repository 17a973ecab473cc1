import fc from "fast-check";
import { describe as about, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import {
  addToSample,
  createSample,
  describe,
  isApproximate,
  MOST_EXACT,
  mergeSample,
  RELATIVE_ERROR,
  type Sample,
} from "../../../src/profiler/analysis/region-model.ts";
import { timelineOf } from "./timelines.ts";

const sampleOf = (values: readonly number[]): Sample => {
  const sample = createSample();
  for (const value of values) addToSample(sample, value);
  return sample;
};

/** From the definition, of all values. */
const exact = (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (place: number) => sorted[place] ?? Number.NaN;
  const half = sorted.length / 2;
  return {
    min: at(0),
    median:
      sorted.length % 2 === 1 ? at(Math.floor(half)) : at(half - 1) + (at(half) - at(half - 1)) / 2,
    max: at(sorted.length - 1),
    p95: at(Math.ceil((95 * sorted.length) / 100) - 1),
  };
};

/** Of few numbers, many values with any spread: each number stands for a part of them. */
const many = fc
  .tuple(
    fc.array(fc.oneof(fc.nat(100), fc.double({ min: 0, max: 1e15, noNaN: true }), fc.constant(0)), {
      minLength: 1,
      maxLength: 40,
    }),
    fc.integer({ min: MOST_EXACT + 1, max: (3 * MOST_EXACT) / 2 }),
  )
  .map(([numbers, count]) =>
    Array.from({ length: count }, (_, index) => {
      const number = numbers[(index * index) % numbers.length] ?? 0;
      return number * (1 + (index % 97) / 1000);
    }),
  );

function expectNear(sample: Sample, values: readonly number[]): void {
  const found = describe(sample);
  const wanted = exact(values);
  expect(sample.count).toBe(values.length);
  expect(found?.min).toBe(wanted.min);
  expect(found?.max).toBe(wanted.max);
  for (const name of ["median", "p95"] as const)
    expect(Math.abs((found?.[name] ?? Number.NaN) - wanted[name])).toBeLessThanOrEqual(
      wanted[name] * RELATIVE_ERROR * (1 + 1e-9),
    );
}

about("a sample", () => {
  it("is exact up to as many values as it keeps, and merged with others", () => {
    const value = fc.double({ min: 0, max: 1e15, noNaN: true });
    const parts = fc.array(fc.array(value, { maxLength: 50 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(parts, (samples) => {
        const all = samples.flat();
        const whole = createSample();
        for (const values of samples) mergeSample(whole, sampleOf(values));
        if (all.length === 0) expect(describe(whole)).toBeNull();
        else expect(describe(whole)).toEqual(exact(all));
        expect(describe(whole)).toEqual(describe(sampleOf(all)));
      }),
    );
    const most = Array.from({ length: MOST_EXACT }, (_, index) => (index * 7919) % 10_007);
    expect(describe(sampleOf(most))).toEqual(exact(most));
  });

  it("of more values is within the stated error of any quantile, whatever they are", () => {
    fc.assert(
      fc.property(many, (values) => expectNear(sampleOf(values), values)),
      { numRuns: 8 },
    );
  });

  it("merged from parts of any size has the same error, and the numbers of one that saw all", () => {
    fc.assert(
      fc.property(many, fc.integer({ min: 1, max: 7 }), (values, parts) => {
        const whole = createSample();
        for (let part = 0; part < parts; part++)
          mergeSample(whole, sampleOf(values.filter((_, index) => index % parts === part)));
        expectNear(whole, values);
        expect(describe(whole)).toEqual(describe(sampleOf(values)));
      }),
      { numRuns: 8 },
    );
  });

  it("is exact up to the last value that it keeps, however it came together", () => {
    const values = Array.from({ length: MOST_EXACT }, (_, at) => (at * 7919) % 10_007);
    const half = MOST_EXACT / 2;
    const whole = sampleOf(values.slice(0, half));
    mergeSample(whole, sampleOf(values.slice(half)));
    expect(isApproximate(whole)).toBe(false);
    expect(describe(whole)).toEqual(exact(values));
    const part = sampleOf([5]);
    mergeSample(whole, part);
    expect(isApproximate(whole)).toBe(true);
    expectNear(whole, [...values, 5]);
    // The part that was added stays as it was.
    expect(describe(part)).toEqual({ min: 5, median: 5, max: 5, p95: 5 });
    const more = sampleOf(values);
    addToSample(more, 20_000);
    expect(isApproximate(more)).toBe(true);
    expectNear(more, [...values, 20_000]);
  });

  it("of very many values is told apart from an empty one, which adds nothing", () => {
    const values = Array.from({ length: MOST_EXACT + 1 }, (_, at) => 3 + (at % 1000));
    const whole = createSample();
    mergeSample(whole, sampleOf(values));
    expectNear(whole, values);
    const before = describe(whole);
    mergeSample(whole, createSample());
    expect(describe(whole)).toEqual(before);
    expect(whole.count).toBe(values.length);
    const small = sampleOf([1, 5000]);
    mergeSample(small, whole);
    expectNear(small, [1, 5000, ...values]);
    mergeSample(whole, sampleOf([2, 2, 6000]));
    expectNear(whole, [2, 2, 6000, ...values]);
  });

  it("has quantiles between its least and its most, also where these are zero or the same", () => {
    const repeated = (...parts: readonly (readonly [number, number])[]) =>
      describe(sampleOf(parts.flatMap(([value, count]) => Array<number>(count).fill(value))));
    expect(repeated([7, 10_001])).toEqual({ min: 7, median: 7, max: 7, p95: 7 });
    const one = expect.toSatisfy((value: number) => value >= 1 - RELATIVE_ERROR && value <= 1);
    expect(repeated([0, 6000], [1, 4001])).toEqual({ min: 0, median: 0, max: 1, p95: one });
    expect(repeated([0, 5000], [1, 5001])).toEqual({ min: 0, median: one, max: 1, p95: one });
    const wide = [1e15, 1e-3, 1e9, 1e-6, 1, 1e12, 1e-9];
    const values = Array.from({ length: 10_003 }, (_, at) => wide[at % wide.length] ?? 0);
    expectNear(sampleOf(values), values);
    expectNear(sampleOf(values.toReversed()), values);
  });

  it("takes the same memory for ten times the values", () => {
    const sizeOf = (count: number) =>
      sampleOf(Array.from({ length: count }, (_, index) => 1e3 + ((index * 7919) % 1e6))).buckets
        ?.counts.length ?? Number.NaN;
    expect(sizeOf(300_000)).toBeLessThanOrEqual(sizeOf(30_000) + 64);
  });
});

it("is said in the report where quantiles of a region are not exact", () => {
  const notesOf = (calls: number) => {
    const ranges = Array.from({ length: calls }, (_, at) => ({
      name: "call",
      start: at * 10,
      end: at * 10 + 5,
    }));
    return buildRegionModel(timelineOf([{ ranges }])).scopes[0]?.notes;
  };
  const note =
    "medians and 95th percentiles of more than 10,000 calls are within 0.5 % of the exact ones";
  expect(notesOf(MOST_EXACT)).not.toContain(note);
  expect(notesOf(MOST_EXACT + 1)).toContain(note);
});
