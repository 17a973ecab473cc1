import { expect, test } from "vitest";
import { basicBatches } from "../../../src/app/sweep/basic-batches.ts";
import { parseOverrides } from "../../../src/overrides/index.ts";
import { isConfigError } from "../../../src/values/errors.ts";

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
});

test.each([
  [["a=interval(0,1)"], null, "INTERVAL_SWEEP"],
  [["a=range(0,inf)"], null, "never ends"],
  [["a=1,2"], 0, "max_batch_size"],
])("refuses %j", (overrides, size, named) => {
  try {
    batches(overrides, size);
    expect.unreachable();
  } catch (error) {
    expect(isConfigError(error) && error.message).toContain(named);
  }
});
