import fc from "fast-check";
import { expect, test } from "vitest";
import type { JobResult } from "../../../../src/app/job/job.ts";
import {
  halvingRungs,
  successiveHalving,
} from "../../../../src/app/sweep/sweepers/halving-sweeper.ts";
import {
  bestOf,
  byScore,
  dominates,
  optimizingSweeper,
  type Trial,
} from "../../../../src/app/sweep/sweepers/optimizing-sweeper.ts";
import { randomSource, searchSpace } from "../../../../src/app/sweep/sweepers/search-space.ts";
import { parseOverrides } from "../../../../src/engine/overrides/index.ts";
import { DEFAULT_DIALECT } from "../../../../src/engine/values/dialect.ts";
import { runs } from "../../../runs.ts";

const space = searchSpace(parseOverrides(["x=interval(0,1)", "m=a,b"]), {});

const open = (batchSize: number | undefined, maxFailureRate = 1) =>
  optimizingSweeper({
    name: "successive_halving",
    search: successiveHalving(space, randomSource("5"), {
      budgetKey: "n",
      rungs: halvingRungs(1n, 27n, 3, 11),
      direction: "minimize",
    }),
    directions: ["minimize"],
    batchSize,
    maxFailureRate,
    objective: undefined,
    directory: "/s",
    dialect: DEFAULT_DIALECT,
  });

const resultOf = (number: number, value: number | null): JobResult => ({
  status: value === null ? "failed" : "completed",
  number,
  outputDir: `/s/${number}`,
  overrides: [],
  returnValue: value ?? undefined,
  error: value === null ? new Error("boom") : undefined,
  exitCode: value === null ? 1 : 0,
});

test("told the same results it asks for the same jobs, cut off anywhere", () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: null }), {
        minLength: 30,
        maxLength: 30,
      }),
      fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }),
      fc.integer({ min: 0, max: 20 }),
      (values, batchSize, cut) => {
        const play = (batches: number) => {
          const sweeper = open(batchSize);
          const asked: (readonly (readonly string[])[])[] = [];
          let number = 0;
          for (let round = 0; round < batches; round++) {
            const batch = sweeper.ask();
            if (batch === undefined) break;
            asked.push(batch);
            const results = batch.map(() => {
              const result = resultOf(number, values[number] ?? null);
              number++;
              return result;
            });
            sweeper.tell(results);
          }
          return { asked, conclusion: sweeper.conclude?.() };
        };
        const whole = play(Number.POSITIVE_INFINITY);
        expect(play(Number.POSITIVE_INFINITY)).toEqual(whole);
        expect(play(cut).asked).toEqual(whole.asked.slice(0, cut));
        expect(whole.asked.flat().length).toBeLessThanOrEqual(11 + 3 + 1 + 1);
        expect(whole.asked.flat().length).toBeGreaterThanOrEqual(11);
      },
    ),
    { numRuns: runs(200) },
  );
});

test("a batch that fails too often ends the sweep; as often as allowed it does not", () => {
  for (const [rate, goesOn] of [
    [0.5, true],
    [0.49, false],
  ] as const) {
    const sweeper = open(2, rate);
    sweeper.ask();
    sweeper.tell([resultOf(0, 1), resultOf(1, null)]);
    expect(sweeper.ask() !== undefined).toBe(goesOn);
    expect(sweeper.conclude?.()?.toleratesFailures).toBe(goesOn);
  }
});

test("the best is the best of those with the largest budget, whatever smaller ones achieved", () => {
  const sweeper = open(undefined);
  let number = 0;
  for (let batch = sweeper.ask(); batch !== undefined; batch = sweeper.ask())
    sweeper.tell(batch.map(() => resultOf(number, number++)));
  const conclusion = sweeper.conclude?.();
  expect(conclusion?.text).toContain(` with ${number - 1}`);
});

test("without any score there is nothing to conclude", () => {
  const sweeper = open(undefined);
  sweeper.ask();
  sweeper.tell([]);
  expect([sweeper.ask(), sweeper.conclude?.()]).toEqual([undefined, undefined]);
});

/** A sweeper of these trials, all in one batch. */
const searchOf = (params: readonly string[], directions: readonly ("minimize" | "maximize")[]) =>
  optimizingSweeper({
    name: "random",
    search: (function* (): Generator<readonly Trial[], void, unknown> {
      yield params.map((text) => ({ overrides: [text], params: [text], level: 0 }));
    })(),
    ...{ directions, batchSize: undefined, maxFailureRate: 1, objective: undefined },
    ...{ directory: "/s", dialect: DEFAULT_DIALECT },
  });

const told = (directions: readonly ("minimize" | "maximize")[], values: readonly unknown[]) => {
  const sweeper = searchOf(
    values.map((_, index) => `x=${index}`),
    directions,
  );
  sweeper.ask();
  sweeper.tell(
    values.map((value, index) => ({
      ...resultOf(index, typeof value === "number" || Array.isArray(value) ? 0 : null),
      ...((typeof value === "number" || Array.isArray(value)) && { returnValue: value }),
    })),
  );
  return { conclusion: sweeper.conclude?.(), messages: sweeper.takeMessages?.(), sweeper };
};

test("the best of several trials is told with its value and direction, the earlier of equal ones", () => {
  const { conclusion, messages, sweeper } = told(["maximize"], [1, 3, null, 3, 2]);
  expect(conclusion?.text).toBe("Best of 5 trials, 1 failed: x=1 with 3.0");
  expect(conclusion?.best).toEqual({ value: 3, direction: "maximize" });
  expect([messages, sweeper.mayAskForMore(), sweeper.ask()]).toEqual([[], true, undefined]);
});

test("of several directions, those that none is better than are the best", () => {
  const { conclusion } = told(
    ["minimize", "maximize"],
    [
      [1, 1],
      [2, 2],
      [1, 0],
      [1, 1],
      [3, 2],
    ],
  );
  expect(conclusion?.text).toBe(
    "Best of 5 trials: x=0 with 1.0, 1.0, and 2 others that none is better than",
  );
  expect(conclusion).not.toHaveProperty("best");
  const alone = told(
    ["minimize", "maximize"],
    [
      [2, 1],
      [1, 2],
    ],
  ).conclusion;
  expect(alone?.text).toBe("Best of 2 trials: x=1 with 1.0, 2.0");
});

test("that no trial has a result is said once, and not where there was no trial", () => {
  const { conclusion, messages } = told(["minimize"], [null, null]);
  expect(conclusion).toBeUndefined();
  expect(messages).toEqual([
    {
      logger: "hydraconf.sweep",
      level: "warning",
      text: "No trial has a result (2 trials, 2 failed), so there is no best one, and no optimization_results.yaml",
    },
  ]);
  expect(told(["minimize"], [])).toMatchObject({ conclusion: undefined, messages: [] });
  expect(told(["minimize"], [1]).messages).toEqual([]);
});

test("one score dominates another that is nowhere better and somewhere worse", () => {
  const both = ["minimize", "maximize"] as const;
  expect(dominates([1, 1], [1, 1], both)).toBe(false);
  expect(dominates([1, 1], [2, 1], both)).toBe(true);
  expect(dominates([1, 1], [1, 0], both)).toBe(true);
  expect(dominates([1, 1], [2, 2], both)).toBe(false);
  expect(dominates([2, 1], [1, 1], both)).toBe(false);
});

test("trials without a score come last, and ties keep their order", () => {
  const scores = [null, [2], null, [1], [2]] as const;
  const sorted = (direction: "minimize" | "maximize") =>
    scores
      .map((score, index) => ({ score, index }))
      .sort(byScore(direction))
      .map(({ index }) => index);
  expect(sorted("minimize")).toEqual([3, 1, 4, 0, 2]);
  expect(sorted("maximize")).toEqual([1, 4, 3, 0, 2]);
});

test("the best have the largest budget that has scores", () => {
  const trials = [
    { trial: { level: 0 }, score: [1] },
    { trial: { level: 1 }, score: [5] },
    { trial: { level: 1 }, score: [4] },
    { trial: { level: 2 }, score: null },
  ];
  expect(bestOf(trials, ["minimize"])).toEqual([{ trial: { level: 1 }, score: [4] }]);
});
