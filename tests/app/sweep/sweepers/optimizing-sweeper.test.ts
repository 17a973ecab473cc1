import fc from "fast-check";
import { expect, test } from "vitest";
import type { JobResult } from "../../../../src/app/job/job.ts";
import {
  halvingRungs,
  successiveHalving,
} from "../../../../src/app/sweep/sweepers/halving-sweeper.ts";
import { optimizingSweeper } from "../../../../src/app/sweep/sweepers/optimizing-sweeper.ts";
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
