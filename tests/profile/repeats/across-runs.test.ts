import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profile/regions/index.ts";
import { combineRuns } from "../../../src/profile/repeats/across-runs.ts";
import { timelineOf } from "../regions/timelines.ts";

/** A run whose region `step` takes so many ms; the process has another number in every run. */
const run = (ms: number, pid: number, others: readonly string[] = []) =>
  buildRegionModel(
    timelineOf([
      {
        pid,
        ranges: [
          { name: "step", start: 0, end: ms * 1e6 },
          ...others.map((name, at) => ({ name, start: 1e9 + at, end: 1e9 + at + 1 })),
        ],
      },
    ]),
  );

describe("combineRuns", () => {
  it("shows the median run, with the spread over all", () => {
    const { model, shown } = combineRuns([run(10, 1), run(30, 2), run(20, 3)]);
    expect(shown).toBe(2);
    const [scope, ofProcess] = model.scopes;
    expect(scope?.regions[0]?.wallNs).toBe(20e6);
    expect(scope?.regions[0]?.repeats).toMatchObject({
      runs: 3,
      total_ms: null,
      wall_ms: { mean: 20, std: 10, stable: false },
    });
    expect(ofProcess?.regions[0]?.repeats).toBeUndefined();
    expect(scope?.notes.at(-1)).toMatch(/^1 of 1 region is not stable/);
    expect(scope?.notes).toContain(
      "numbers are from the median run of 3; repeats holds the spread over all runs",
    );
  });

  it("says which regions were not in every run, and gives them no mean", () => {
    const { model } = combineRuns([run(10, 1), run(10, 2, ["rare"]), run(11, 3, ["rare"])]);
    const rare = model.scopes[0]?.regions.find(({ path }) => path[0] === "rare");
    expect(rare?.repeats).toEqual({ runs: 2, total_ms: null, wall_ms: null });
    expect(model.scopes[0]?.notes).toContain("1 region was not seen in every run");
  });

  it("calls nothing unstable, nor rare, that was alike in every run", () => {
    const [scope] = combineRuns([run(100, 1), run(101, 2), run(100, 3)]).model.scopes;
    expect(scope?.regions[0]?.repeats?.wall_ms?.stable).toBe(true);
    expect(scope?.notes.filter((note) => /stable|seen/.test(note))).toEqual([]);
  });

  it("leaves a single run as it is", () => {
    const one = run(10, 1);
    expect(combineRuns([one])).toEqual({ shown: 0, model: one });
  });
});
