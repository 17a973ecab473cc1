import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evenTicks, logTicks, numberAxis } from "../../../../src/app/sweep/client/axis.ts";
import { filterOf } from "../../../../src/app/sweep/client/filter.ts";
import {
  bestRow,
  describedJob,
  isBetter,
  mainMetric,
  paretoFront,
  sampled,
  tonesOf,
} from "../../../../src/app/sweep/client/jobs.ts";
import { sweepPageData } from "../../../../src/app/sweep/page/build-page-data.ts";
import { pageSweepOf, searchRows } from "../page/sweeps.ts";

const metric = (numbers: readonly (number | null)[]) => ({ title: "loss", numbers });
const DIRECTIONS = ["minimize", "maximize"] as const;

describe("what is said of jobs", () => {
  const data = sweepPageData([pageSweepOf(searchRows(12))]);

  it("is their parameters and the objective of the sweep, or their status", () => {
    const main = mainMetric(data);
    expect(main.title).toBe("val.loss");
    expect(describedJob(data, 1, main)).toBe(
      "#1 lr=0.004662 layers=2 model=mlp noise=0.25 width=32: val.loss 0.82065",
    );
    expect(describedJob(data, 7, main)).toMatch(/^#7 lr=.*: failed$/);
  });

  it("of jobs without numbers, their seconds are compared", () => {
    const rows = searchRows(3).map((row) => ({ ...row, result: null }));
    expect(mainMetric(sweepPageData([pageSweepOf(rows)])).title).toBe("seconds");
  });
});

describe("the best job", () => {
  it("has the best value of all that have one", () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.integer({ min: -9, max: 9 }))),
        fc.constantFrom(...DIRECTIONS),
        (numbers, direction) => {
          const best = bestRow([...numbers.keys()], metric(numbers), direction);
          const known = numbers.filter((value) => value !== null);
          expect(best === null).toBe(known.length === 0);
          if (best === null) return;
          for (const value of known)
            expect(isBetter(value, numbers[best] ?? 0, direction)).toBe(false);
        },
      ),
    );
  });

  it("has the first tone, and the worst the last", () => {
    const tones = tonesOf([0, 1, 2, 3, 4], metric([5, 4, null, 2, 1]), "maximize");
    expect([...tones]).toEqual([
      [0, "tone-1"],
      [1, "tone-2"],
      [3, "tone-4"],
      [4, "tone-5"],
    ]);
  });

  it("stays among those that are drawn", () => {
    const rows = Array.from({ length: 5000 }, (_, row) => row);
    const tones = tonesOf(rows, metric(rows), "minimize");
    const some = sampled(rows, 100, tones);
    expect(some.length).toBeLessThanOrEqual(101);
    expect(some).toContain(0);
    expect(some.some((row) => row > 4900)).toBe(true);
  });
});

describe("the Pareto front", () => {
  it("has all jobs that no other dominates, and no others", () => {
    const aNumber = fc.option(fc.integer({ min: 0, max: 5 }), { freq: 9 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(aNumber, aNumber), { maxLength: 12 }),
        fc.constantFrom(...DIRECTIONS),
        fc.constantFrom(...DIRECTIONS),
        (jobs, first, second) => {
          const [x, y] = [metric(jobs.map(([a]) => a)), metric(jobs.map(([, b]) => b))];
          const front = paretoFront([...jobs.keys()], [x, y], [first, second]);
          const known = [...jobs.keys()].filter((row) =>
            jobs[row]?.every((value) => value !== null),
          );
          const at = (row: number) => [x.numbers[row] ?? 0, y.numbers[row] ?? 0] as const;
          const dominates = (one: number, other: number) => {
            const [[a, b], [c, d]] = [at(one), at(other)];
            const isWorse = isBetter(c, a, first) || isBetter(d, b, second);
            return !isWorse && (a !== c || b !== d);
          };
          expect([...front].sort((a, b) => a - b)).toEqual(
            known.filter((row) => !known.some((other) => dominates(other, row))),
          );
        },
      ),
    );
  });
});

describe("axes", () => {
  it("have ticks within their values, in order, and not too many", () => {
    const aNumber = fc.double({ min: -1e9, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(aNumber, aNumber, (one, other) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const ticks = evenTicks(low, high);
        expect(ticks.length).toBeLessThanOrEqual(12);
        // Labels have twelve digits.
        const rounding = (high - low) * 1e-9 + Math.max(Math.abs(low), Math.abs(high)) * 1e-11;
        for (const tick of ticks) expect(tick).toBeGreaterThanOrEqual(low - rounding);
        for (const tick of ticks) expect(tick).toBeLessThanOrEqual(high + rounding);
        expect(ticks).toEqual([...ticks].sort((a, b) => a - b));
      }),
    );
  });

  it("count in whole numbers where all values are", () => {
    const axis = numberAxis("layers", [0, 1, 2], { rows: [0, 1, 2] });
    expect(axis.ticks.map(({ text }) => text)).toEqual(["0", "1", "2"]);
  });

  it("are logarithmic where the middle value is nearer to the middle then", () => {
    const rates = [0.0001, 0.001, 0.01, 0.1];
    const rows = [0, 1, 2, 3];
    expect(numberAxis("lr", rates, { rows }).title).toBe("lr (log)");
    expect(numberAxis("x", [0.001, 0.3, 0.7, 1], { rows }).title).toBe("x");
    expect(numberAxis("lr", rates, { rows, scale: "linear" }).title).toBe("lr");
    const axis = numberAxis("lr", rates, { rows });
    const places = rows.map((row) => axis.place(row) ?? Number.NaN);
    const gaps = places.slice(1).map((place, at) => place - (places[at] ?? 0));
    for (const gap of gaps) expect(gap).toBeCloseTo(gaps[0] ?? 0);
    expect(logTicks(0.0001, 0.1)).toEqual([
      ...[0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
    ]);
    expect(logTicks(1e-6, 10)).toEqual([1e-6, 1e-4, 1e-2, 1]);
  });

  it("have no place for a job without a value", () => {
    expect(numberAxis("x", [1, null], { rows: [0, 1] }).place(1)).toBeNull();
    expect(numberAxis("x", [null], { rows: [0] }).ticks).toEqual([]);
  });
});

describe("the filter of jobs", () => {
  const columns = [
    { title: "lr", getValue: (row: number) => [0.1, 0.01, null][row] ?? null },
    { title: "status", getValue: (row: number) => ["completed", "failed", "failed"][row] ?? null },
    {
      title: "error",
      getValue: (row: number) => [null, "out of memory", "exit code 3"][row] ?? null,
    },
  ];
  const found = (text: string) => [0, 1, 2].filter(filterOf(text, columns));

  it.each([
    ["", [0, 1, 2]],
    ["lr<0.1", [1]],
    ["lr<=0.1", [0, 1]],
    ["lr>1e-2", [0]],
    ["lr=1e-2", [1]],
    ["lr!=0.1", [1, 2]],
    ["status=failed", [1, 2]],
    ["STATUS=Failed lr<1", [1]],
    ["status!=failed", [0]],
    ["memory", [1]],
    ['"out of"', [1]],
    ['"error=exit code 3"', [2]],
    ["fail 3", [2]],
    ["unknown=3", []],
    ["lr<", []],
  ])("%s", (text, rows) => {
    expect(found(text)).toEqual(rows);
  });
});
