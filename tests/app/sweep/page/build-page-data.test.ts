import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fieldsOf,
  MOST_BYTES,
  sweepPageData,
} from "../../../../src/app/sweep/page/build-page-data.ts";
import type { PageColumn } from "../../../../src/app/sweep/page/sweep-page-data.ts";
import { pageSweepOf, searchRows } from "./sweeps.ts";

const [ROW] = searchRows(1);
if (ROW === undefined) throw new Error("there is a row");
const rowsWith = (...results: readonly unknown[]) =>
  results.map((result, number) => ({ ...ROW, number, result }));
const dataOf = (...results: readonly unknown[]) =>
  sweepPageData([pageSweepOf(rowsWith(...results))]);

describe("the data of a page of a sweep", () => {
  it("has a column for each key that differs, and names those that are the same in all jobs", () => {
    const data = sweepPageData([pageSweepOf(searchRows(30))]);
    expect(data.parameters.map(({ title }) => title)).toEqual([
      ...["lr", "layers", "model", "noise", "width"],
    ]);
    expect(data.constants).toEqual(["epochs=5"]);
    expect(data.results.map(({ title }) => title)).toEqual(["val.loss", "seconds_per_step"]);
    // Only one of the three models has a width.
    const [model, width] = [data.parameters[2], data.parameters[4]];
    for (const [row, number] of (width?.numbers ?? []).entries())
      expect(number === null).toBe(wordAt(model, row, data.texts) !== "mlp");
  });

  it("says which job another one continues, where any does", () => {
    expect(sweepPageData([pageSweepOf(searchRows(3))]).continues).toBeUndefined();
    const rows = searchRows(3).map((row) => ({ ...row, continues: row.number === 2 ? 0 : null }));
    expect(sweepPageData([pageSweepOf(rows)]).continues).toEqual([-1, -1, 0]);
  });

  it("has columns of numbers where all values are numbers, or what floats may be", () => {
    const [column] = dataOf({ loss: 1 }, { loss: "NaN" }, { loss: null }, {}).results;
    expect(column?.numbers).toEqual([1, null, null, null]);
    expect(Object.keys(column?.words ?? {})).toEqual(["1"]);
    expect(dataOf({ loss: 1 }, { loss: "high" }).results[0]?.numbers).toBeUndefined();
  });

  it("splits short lists of numbers, which several directions return", () => {
    expect(fieldsOf([1, 2])).toEqual([
      ["result[0]", 1],
      ["result[1]", 2],
    ]);
    expect(fieldsOf({ a: { b: 1 }, c: [] })).toEqual([
      ["a.b", 1],
      ["c", []],
    ]);
    expect(fieldsOf([1, 2], { splitsLists: false })).toEqual([["result", [1, 2]]]);
    expect(fieldsOf(null)).toEqual([]);
  });

  it("has learning curves of some jobs, with few points each, from first to last", () => {
    const steps = Array.from({ length: 1000 }, (_, step) => step);
    const values = steps.map((step) => 1 / (step + 1));
    const sweep = pageSweepOf(searchRows(2000));
    const { curves, number } = sweepPageData([
      { ...sweep, curvesOf: () => [{ metric: "loss", steps, values }] },
    ]);
    expect(number).toHaveLength(2000);
    expect(curves.length).toBeGreaterThanOrEqual(400);
    expect(curves.length).toBeLessThanOrEqual(401);
    for (const { steps, values } of curves) {
      expect([steps.length, values.length]).toEqual([60, 60]);
      expect([steps[0], steps.at(-1)]).toEqual([0, 999]);
    }
  });

  it("puts several sweeps beside each other", () => {
    const data = sweepPageData([
      pageSweepOf(searchRows(3), "a"),
      pageSweepOf(searchRows(2, 5), "b"),
    ]);
    expect(data.sweeps).toEqual(["a", "b"]);
    expect(data.sweep).toEqual([0, 0, 0, 1, 1]);
    expect(data.number).toEqual([0, 1, 2, 0, 1]);
  });

  it("stays below its maximum size, says what it leaves out, and keeps the best job", () => {
    const rows = searchRows(25_000).map((row) => ({
      ...row,
      error: `${row.number} ${"x".repeat(400)}`,
      result: { ...(row.result as object), val: { loss: row.number === 24_998 ? -1 : 1 } },
    }));
    const data = sweepPageData([pageSweepOf(rows)]);
    expect(JSON.stringify(data).length).toBeLessThanOrEqual(MOST_BYTES);
    expect(data.number.length).toBeLessThan(25_000);
    expect(data.number).toContain(24_998);
    expect(data.left[0]).toContain(`${data.number.length} of 25000 jobs`);
  });

  it("has an entry for each job in each column, whatever jobs set and return", () => {
    const aValue = fc.oneof(fc.jsonValue(), fc.constantFrom("nan", "inf", true, null));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.dictionary(fc.string(), aValue), aValue), { maxLength: 6 }),
        (jobs) => {
          const rows = jobs.map(([swept, result], number) => ({ ...ROW, number, swept, result }));
          const data = sweepPageData([pageSweepOf(rows)]);
          for (const { numbers, words } of [...data.parameters, ...data.results]) {
            expect((numbers ?? words) as readonly unknown[]).toHaveLength(jobs.length);
            for (const word of Object.values(words ?? {}))
              expect(word === -1 || data.texts[word] !== undefined).toBe(true);
          }
        },
      ),
    );
  });
});

const wordAt = (column: PageColumn | undefined, row: number, texts: readonly string[]) =>
  texts[(column?.words as readonly number[] | undefined)?.[row] ?? -1];
