import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  halvingRungs,
  successiveHalving,
} from "../../../../src/app/sweep/sweepers/halving-sweeper.ts";
import type { Trial } from "../../../../src/app/sweep/sweepers/optimizing-sweeper.ts";
import { randomSource, searchSpace } from "../../../../src/app/sweep/sweepers/search-space.ts";
import { parseOverrides } from "../../../../src/engine/overrides/index.ts";
import { runs } from "../../../runs.ts";

describe("the rungs", () => {
  test.each([
    [
      1n,
      9n,
      3,
      undefined,
      [
        [9, "1"],
        [3, "3"],
        [1, "9"],
      ],
    ],
    [
      1n,
      243n,
      3,
      undefined,
      [
        [243, "1"],
        [81, "3"],
        [27, "9"],
        [9, "27"],
        [3, "81"],
        [1, "243"],
      ],
    ],
    [
      1n,
      10n,
      3,
      20,
      [
        [20, "1"],
        [6, "3"],
        [2, "10"],
      ],
    ],
    [
      1n,
      1000n,
      10,
      undefined,
      [
        [1000, "1"],
        [100, "10"],
        [10, "100"],
        [1, "1000"],
      ],
    ],
    [2n, 3n, 3, undefined, [[1, "3"]]],
    [
      0.5,
      4n,
      2,
      4,
      [
        [4, "0.5"],
        [2, "1.0"],
        [1, "2.0"],
        [1, "4.0"],
      ],
    ],
  ] as const)("%s to %s by %s, %s trials", (min, max, eta, trials, expected) => {
    expect(halvingRungs(min, max, eta, trials).map((rung) => [rung.trials, rung.budget])).toEqual(
      expected,
    );
  });

  test("powers of any eta have a rung each: logarithms of some are rounded down", () => {
    for (let eta = 2; eta <= 20; eta++)
      for (let last = 0; eta ** last <= 1e12; last++) {
        const rungs = halvingRungs(1n, BigInt(eta) ** BigInt(last), eta);
        const powers = Array.from({ length: last + 1 }, (_, rung) => eta ** rung);
        expect(rungs.map(({ budget }) => Number(budget))).toEqual(powers);
        expect(rungs.map(({ trials }) => trials)).toEqual(powers.reverse());
      }
  });

  test("budgets grow from at least min to exactly max, trials shrink by eta, no rung costs more than the first by much", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 2, max: 8 }),
        fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined }),
        (min, factor, eta, trials) => {
          const max = min * factor;
          const rungs = halvingRungs(BigInt(min), BigInt(max), eta, trials);
          const budgets = rungs.map(({ budget }) => Number(budget));
          expect(budgets.at(-1)).toBe(max);
          expect(budgets[0]).toBeGreaterThanOrEqual(min);
          // One rung more would have begun below the smallest budget.
          expect(max / eta ** rungs.length).toBeLessThan(min * (1 + 1e-6));
          for (let index = 1; index < rungs.length; index++) {
            const [before, now] = [rungs[index - 1], rungs[index]];
            expect(Number(now?.budget)).toBeGreaterThan(Number(before?.budget));
            expect(now?.trials).toBe(Math.max(1, Math.floor((before?.trials ?? 0) / eta)));
          }
          if (trials === undefined) {
            expect(rungs.at(-1)?.trials).toBe(1);
            expect(rungs[0]?.trials).toBe(eta ** (rungs.length - 1));
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

const space = searchSpace(parseOverrides(["x=interval(0,1)", "k=c"]), {});

function play(
  rungs: ReturnType<typeof halvingRungs>,
  direction: "minimize" | "maximize",
  scoreOf: (trial: Trial, index: number) => number | null,
) {
  const search = successiveHalving(space, randomSource("3"), { budgetKey: "+n", direction, rungs });
  const rounds: { trial: Trial; score: number | null }[][] = [];
  for (let next = search.next([]); next.done !== true; ) {
    const round = next.value.map((trial, index) => ({ trial, score: scoreOf(trial, index) }));
    rounds.push(round);
    next = search.next(round.map(({ score }) => (score === null ? null : [score])));
  }
  return rounds;
}

describe("successive halving", () => {
  test("spends what the rungs say and promotes exactly the best, for any scores and failures", () => {
    const score = fc.option(fc.integer({ min: -5, max: 5 }), { nil: null });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 2, max: 4 }),
        fc.integer({ min: 1, max: 64 }),
        fc.constantFrom("minimize" as const, "maximize" as const),
        fc.infiniteStream(score),
        (trials, eta, max, direction, scores) => {
          const rungs = halvingRungs(1n, BigInt(max), eta, trials);
          const rounds = play(rungs, direction, () => scores.next().value ?? null);
          const sign = direction === "minimize" ? 1 : -1;
          let spent = 0;
          for (const [level, round] of rounds.entries()) {
            const rung = rungs[level];
            const before = rounds[level - 1];
            const scored = before?.filter((one) => one.score !== null) ?? [];
            const wanted = Math.min(rung?.trials ?? 0, before ? scored.length : Infinity);
            expect(round).toHaveLength(wanted);
            spent += round.length * Number(rung?.budget);
            for (const { trial } of round) {
              expect(trial.overrides.at(-1)).toBe(`+n=${rung?.budget}`);
              expect(trial.overrides).toContain("k=c");
              expect(trial.level).toBe(level);
            }
            const promoted = new Set(round.map(({ trial }) => trial.params.join()));
            if (before === undefined) continue;
            const kept = scored.filter(({ trial }) => promoted.has(trial.params.join()));
            expect(kept).toHaveLength(round.length);
            const left = scored.filter(({ trial }) => !promoted.has(trial.params.join()));
            const worstKept = Math.max(...kept.map((one) => sign * (one.score ?? 0)));
            for (const one of left)
              expect(sign * (one.score ?? 0)).toBeGreaterThanOrEqual(worstKept);
          }
          const total = rungs.reduce((sum, rung) => sum + rung.trials * Number(rung.budget), 0);
          expect(spent).toBeLessThanOrEqual(total);
          const failed = rounds.flat().some((one) => one.score === null);
          if (!failed) expect(spent).toBe(total);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  test("ends where nothing has a score", () => {
    expect(play(halvingRungs(1n, 9n, 3), "minimize", () => null)).toHaveLength(1);
  });
});
