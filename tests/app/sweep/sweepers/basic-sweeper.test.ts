import fc from "fast-check";
import { expect, test } from "vitest";
import { basicBatches } from "../../../../src/app/sweep/sweepers/basic-sweeper.ts";
import { parseOverrides } from "../../../../src/engine/overrides/index.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import { runs } from "../../../runs.ts";

const batches = (overrides: readonly string[], maxBatchSize: number | null = null) =>
  basicBatches({ overrides: parseOverrides(overrides), maxBatchSize });

test("all combinations, the last sweep changing fastest", () => {
  expect(batches(["a=1,2", "b=x,y", "c=5"])).toEqual([
    [
      ["a=1", "b=x", "c=5"],
      ["a=1", "b=y", "c=5"],
      ["a=2", "b=x", "c=5"],
      ["a=2", "b=y", "c=5"],
    ],
  ]);
});

test("a key that comes again keeps its place; a deletion is passed on", () => {
  expect(batches(["a=1,2", "~b", "a=3"])).toEqual([[["a=3", "~b=null"]]]);
});

test("batches of at most so many jobs; no job is no batch", () => {
  expect(batches(["a=range(3)"], 2)).toEqual([[["a=0"], ["a=1"]], [["a=2"]]]);
  expect(batches(["a=range(0)"], 2)).toEqual([]);
  expect(batches(["a=range(0)"])).toEqual([[]]);
  // Of 10^10 combinations none is made.
  expect(batches(["a=range(100000)", "b=range(100000)", "c=range(0)"])).toEqual([[]]);
});

test.each([
  [["a=interval(0,1)"], null, "INTERVAL_SWEEP"],
  [["a=range(0,inf)"], null, "never ends"],
  [["a=range(1,5,0)"], null, "its step is zero"],
  [["a=range(1e18)"], null, "'a=range(1e18)' has more than 1,000,000 jobs"],
  [["a=shuffle(range(0,1000000000))"], null, "has more than 1,000,000 jobs"],
  [["a=range(0,1,1e-9)"], null, "has more than 1,000,000 jobs"],
  [["a=range(2000)", "b=range(0,-2000,-1)"], null, "The sweep has more than 1,000,000 jobs"],
  [["a=1,2"], 0, "max_batch_size"],
])("refuses %j", (overrides, size, named) => {
  try {
    batches(overrides, size);
    expect.unreachable();
  } catch (error) {
    expect(isConfigError(error) && error.message).toContain(named);
  }
});

test("batches are the jobs in order, cut; there are as many as the product of the values", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }),
      fc.integer({ min: 1, max: 5 }),
      (counts, size) => {
        const overrides = counts.map((count, index) => `k${index}=range(${count})`);
        const [all = []] = batches(overrides);
        expect(all).toHaveLength(counts.reduce((product, count) => product * count, 1));
        const cut = batches(overrides, size);
        expect(cut.flat()).toEqual(all);
        expect(cut.every(({ length }) => length > 0 && length <= size)).toBe(true);
      },
    ),
    { numRuns: runs(100) },
  );
});

test("an interval is refused also where a later override of its key replaces it", () => {
  const refused = () =>
    basicBatches({ overrides: parseOverrides(["x=interval(0,1)", "x=1"]), maxBatchSize: null });
  expect(refused).toThrow("does not support sweep type : INTERVAL_SWEEP");
});
