import fc from "fast-check";
import { describe as about, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import {
  addToSample,
  createSample,
  describe,
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
