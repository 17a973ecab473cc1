import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPruner, type PruningRule } from "../../../../src/app/sweep/sweepers/pruner.ts";

const RULE: PruningRule = {
  kind: "median",
  metric: "loss",
  direction: "minimize",
  minStep: 1,
  startupJobs: 2,
  eta: 2,
};

/** Reports a curve, from step 1 on. @returns at which step the job is to end */
const told = (
  pruner: ReturnType<typeof createPruner>,
  job: number,
  values: readonly number[],
): number | undefined => {
  const ends = values.flatMap((value, index) =>
    pruner.report(job, index + 1, value) ? [index + 1] : [],
  );
  return ends[0];
};

describe.each(["median", "successive_halving"] as const)("%s", (kind) => {
  it("judges a job that begins again as if it had reported nothing", () => {
    const curve = fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(curve, { maxLength: 6 }),
        ...[curve, curve, fc.boolean()],
        (others, failed, again, wasCompleted) => {
          const ends = [true, false].map((isRetried) => {
            const pruner = createPruner({ ...RULE, kind, startupJobs: 1 });
            for (const [job, values] of others.entries())
              if (told(pruner, job, values) === undefined) pruner.complete(job);
            if (isRetried) {
              told(pruner, 99, failed);
              if (wasCompleted) pruner.complete(99);
              pruner.forget(99);
            }
            const ends = told(pruner, 99, again);
            return [ends, told(pruner, 100, again)];
          });
          expect(ends[0]).toEqual(ends[1]);
        },
      ),
    );
  });
});

describe("median", () => {
  const withCompleted = (rule: Partial<PruningRule> = {}) => {
    const pruner = createPruner({ ...RULE, ...rule });
    for (const [job, values] of [
      [5, 3, 1],
      [5, 4, 3],
    ].entries()) {
      expect(told(pruner, job, values)).toBeUndefined();
      pruner.complete(job);
    }
    return pruner;
  };

  it("ends a job whose best value is worse than the median at the same step", () => {
    expect(told(withCompleted(), 9, [5, 3.6])).toBe(2);
    expect(told(withCompleted(), 9, [5, 3.5])).toBeUndefined();
    // It was good before.
    expect(told(withCompleted(), 9, [1, 9, 9])).toBeUndefined();
  });

  it("compares with completed jobs only, of which there must be enough", () => {
    const pruner = createPruner(RULE);
    told(pruner, 0, [1, 1]);
    told(pruner, 1, [1, 1]);
    pruner.complete(0);
    expect(told(pruner, 9, [5, 5])).toBeUndefined();
    pruner.complete(1);
    expect(pruner.report(9, 3, 5)).toBe(true);
  });

  it.each<[readonly number[], number, number]>([
    // In any order, by number and not by text.
    [[10, 9, 2], 9, 9.5],
    [[100, 20, 3, 1], 11.5, 11.6],
    [[9, 10, 2], 9, 9.5],
    [[3, 100, 1, 20], 11.5, 11.6],
    [[1, 1, 7, 7], 4, 4.1],
  ])("of jobs that ended with %j, %d goes on and %d does not", (completed, best, worse) => {
    const pruner = createPruner(RULE);
    for (const [job, value] of completed.entries()) pruner.report(job, 1, value);
    for (const job of completed.keys()) pruner.complete(job);
    expect(pruner.report(8, 1, best)).toBe(false);
    expect(pruner.report(9, 1, worse)).toBe(true);
  });

  it("takes neither the best value nor the end of a job's earlier attempt for those of the next", () => {
    const pruner = withCompleted();
    expect(told(pruner, 9, [1])).toBeUndefined();
    pruner.forget(9);
    expect(told(pruner, 9, [5, 9])).toBe(2);
    for (const job of [0, 1]) pruner.forget(job);
    expect(told(pruner, 10, [99, 99])).toBeUndefined();
  });

  it("compares at a step with the jobs that reported one up to it", () => {
    const pruner = createPruner(RULE);
    for (const [job, value] of [1, 1, 50, 50, 50].entries()) {
      pruner.report(job, value === 1 ? 1 : 3, value);
      pruner.complete(job);
    }
    // Those of step 3, whose median is higher, have reported nothing yet.
    expect(pruner.report(9, 2, 2)).toBe(true);
    expect(pruner.report(8, 3, 50)).toBe(false);
  });

  it("ends no job before its first step, and takes NaN for the worst", () => {
    expect(told(withCompleted({ minStep: 3 }), 9, [9, 9, 9])).toBe(3);
    expect(told(withCompleted(), 9, [Number.NaN])).toBe(1);
  });

  it("maximizes", () => {
    expect(told(withCompleted({ direction: "maximize" }), 9, [5, 3])).toBeUndefined();
    expect(told(withCompleted({ direction: "maximize" }), 9, [4])).toBe(1);
  });
});

describe("successive_halving", () => {
  const rule: PruningRule = { ...RULE, kind: "successive_halving" };

  it("lets the best go on at steps 1, 2, 4, ...", () => {
    const pruner = createPruner(rule);
    expect(told(pruner, 0, [3, 3, 3, 3, 3])).toBeUndefined();
    expect(told(pruner, 1, [4])).toBe(1);
    expect(told(pruner, 2, [2, 4])).toBe(2);
    // The third best of four.
    expect(told(pruner, 3, [3.5])).toBe(1);
    // Among the best two of five, and of the three at step 2 the best.
    expect(told(pruner, 4, [2.5, 2.5, 9, 9])).toBe(4);
  });

  it("of steps that are left out, asks at each rung once", () => {
    const pruner = createPruner(rule);
    expect(pruner.report(0, 5, 1)).toBe(false);
    expect(pruner.report(1, 4, 2)).toBe(true);
  });

  it("never ends the best job, and is the mirror image of itself", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 9 }), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.constantFrom("median" as const, "successive_halving" as const),
        (curves, kind) => {
          const [low, high] = [
            createPruner({ ...rule, kind }),
            createPruner({ ...rule, kind, direction: "maximize" }),
          ];
          const least = Math.min(...curves.flat());
          for (const [job, values] of [...curves, [least, least, least, least]].entries()) {
            const end = told(low, job, values);
            expect(
              told(
                high,
                job,
                values.map((value) => -value),
              ),
            ).toBe(end);
            if (job === curves.length) expect(end).toBeUndefined();
            if (end !== undefined) continue;
            low.complete(job);
            high.complete(job);
          }
        },
      ),
    );
  });
});
