import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import type { RegionModel } from "../../../src/profiler/analysis/region-model.ts";
import { combineRuns, repeatStatistics, studentT } from "../../../src/profiler/analysis/repeats.ts";
import { longestOnlyNote } from "../../../src/report/view/notes.ts";
import { runs } from "../../runs.ts";
import { timelineOf } from "./timelines.ts";

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

/** A label without numbers, another one for each index. */
const word = (index: number) =>
  [26 ** 2, 26, 1]
    .map((unit) => String.fromCharCode(97 + (Math.floor(index / unit) % 26)))
    .join("");

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

  it("gives regions that were not in every run the mean of the runs that have them, and says which", () => {
    const [scope] = combineRuns([run(10, 1), run(11, 2, ["rare"]), run(12, 3, ["rare"])]).model
      .scopes;
    const rare = scope?.regions.find(({ path }) => path[0] === "rare");
    expect(rare?.repeats).toMatchObject({
      runs: 2,
      total_runs: 3,
      total_ms: null,
      exclusive_ms: null,
      wall_ms: { mean: 1e-6 },
      wall_exclusive_ms: { mean: 1e-6 },
    });
    expect(scope?.notes).toContain(
      "1 region was not seen in every run: rare (2 of 3); its mean is of the runs that have it",
    );
    expect(scope?.unshownRegions).toBeUndefined();
  });

  it("keeps the times of regions that only other runs have than the one shown", () => {
    const [scope] = combineRuns([run(10, 1), run(12, 2, ["late"]), run(8, 3, ["late", "once"])])
      .model.scopes;
    expect(scope?.unshownRegions).toMatchObject([
      { path: ["late"], kind: "push_pop", repeats: { runs: 2, total_runs: 3 } },
      {
        ...{ path: ["once"], repeats: { runs: 1, wall_ms: null } },
        only_run: { total_ms: null, wall_ms: 1e-6, wall_exclusive_ms: 1e-6 },
      },
    ]);
    expect(scope?.unshownRegions?.[0]?.only_run).toBeUndefined();
    expect(scope?.notes).toContain(
      "2 regions were not seen in every run: late (2 of 3), once (1 of 3); their means are of the runs that have them",
    );
  });

  it("keeps a thousand of them, those of most runs, where each run has names of its own", () => {
    const words = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => word(from + index));
    const [scope] = combineRuns([
      run(10, 1),
      run(12, 2, [...words(0, 900), ...words(3_000, 10)]),
      run(8, 3, [...words(1_000, 900), ...words(3_000, 10)]),
    ]).model.scopes;
    expect(scope?.unshownRegions).toHaveLength(1_000);
    const seen = scope?.unshownRegions?.map(({ repeats }) => repeats.runs) ?? [];
    expect(seen.filter((runs) => runs === 2)).toHaveLength(10);
    expect(scope?.unshownRegions?.[0]?.path).toEqual([word(0)]);
    expect(scope?.notes).toContain(
      "unshown_regions holds 1,000 of 1,810 regions that the report of the run shown does not have",
    );
  });

  it("does not say that a run lacked what its report only has no room for", () => {
    const longestOf = (model: RegionModel): RegionModel => ({
      ...model,
      scopes: model.scopes.map((scope) => ({
        ...scope,
        notes: [...scope.notes, longestOnlyNote(scope.regions.length, 20_000)],
      })),
    });
    const isRare = /not seen in every run|not among the longest/;
    const notesOf = (...models: readonly RegionModel[]) =>
      combineRuns(models).model.scopes[0]?.notes.filter((note) => isRare.test(note));
    const often = longestOf(run(10, 1, ["load", "save"]));
    const rarely = longestOf(run(12, 2, ["load", "late"]));
    expect(notesOf(often, often, rarely)).toEqual([
      "2 regions are not among the longest of every run, and no others are kept: save (2 of 3), late (1 of 3); their means are of the runs that have them",
    ]);
    const cutOf = (...models: readonly RegionModel[]) =>
      combineRuns(models).model.scopes[0]?.regions.map(({ path: [name], repeats }) => [
        name,
        repeats?.cut_runs,
      ]);
    expect(cutOf(often, often, rarely)).toContainEqual(["save", 1]);
    expect(cutOf(often, often, rarely)).toContainEqual(["load", undefined]);
    expect(notesOf(often, run(11, 3, ["save"]), rarely)).toEqual([
      "2 regions were not seen in every run: load (2 of 3), late (1 of 3); their means are of the runs that have them",
      "1 region is not among the longest of every run, and no others are kept: save (2 of 3); its mean is of the runs that have it",
    ]);
  });

  it("leaves members of families out, of which each run has others", () => {
    const [scope] = combineRuns([
      run(10, 1, ["call 1", "call 2"]),
      run(12, 2, ["call 3", "call 4"]),
      run(8, 3, ["call 5"]),
    ]).model.scopes;
    expect(scope?.unshownRegions).toBeUndefined();
  });

  it("has the spread of what else threads measure, where every run that has the region measures it", () => {
    const measured = (pid: number, cpu: number | undefined, instructions: number | undefined) =>
      buildRegionModel(
        timelineOf([
          {
            pid,
            ranges: [
              {
                ...{ name: "step", start: 0, end: 10e6 },
                ...(cpu !== undefined && { cpu: cpu * 1e6 }),
                ...(instructions !== undefined && { instructions }),
              },
              {
                ...{ name: "inner", start: 1e6, end: 2e6 },
                ...(cpu !== undefined && { cpu: 1e6 }),
                ...(instructions !== undefined && { instructions: 10 }),
              },
            ],
          },
        ]),
      );
    const scopeOver = (...models: Parameters<typeof combineRuns>[0]) =>
      combineRuns(models).model.scopes[0];
    const all = scopeOver(measured(1, 4, 100), measured(2, 6, 300));
    expect(all?.regions[0]?.repeats).toMatchObject({
      ...{ cpu_ms: { mean: 5 }, cpu_exclusive_ms: { mean: 4 } },
      ...{ instructions: { mean: 200 }, instructions_exclusive: { mean: 190 } },
    });
    expect(all?.totals.repeats).toMatchObject({ cpu_ms: { mean: 5 }, instructions: { mean: 200 } });
    const some = scopeOver(measured(1, 4, 100), measured(2, undefined, undefined));
    expect(some?.regions[0]?.repeats).toMatchObject({
      ...{ cpu_ms: null, cpu_exclusive_ms: null },
      ...{ instructions: null, instructions_exclusive: null },
    });
    expect(some?.totals.repeats).toMatchObject({ cpu_ms: null, instructions: null });
    const none = scopeOver(measured(1, undefined, undefined), measured(2, undefined, undefined));
    const names = /^(?:cpu|instructions|kernels)/;
    for (const repeats of [none?.regions[0]?.repeats, none?.totals.repeats])
      expect(Object.keys(repeats ?? { cpu: 1 }).filter((name) => names.test(name))).toEqual([]);
    for (const member of ["families", "kernelRepeats", "unshownRegions"])
      expect(none).not.toHaveProperty(member);
  });

  it("shows the first of runs whose times are equal, and the lower middle of an even number", () => {
    expect(combineRuns([run(10, 1), run(10, 2), run(10, 3)]).shown).toBe(1);
    expect(combineRuns([run(20, 1), run(10, 2), run(10, 3), run(30, 4)]).shown).toBe(2);
    expect(combineRuns([run(40, 1), run(10, 2), run(20, 3), run(30, 4)]).shown).toBe(2);
  });

  it("keeps the longest of those that as many runs have, in their order", () => {
    const short = Array.from({ length: 1_000 }, (_, index) => word(index));
    const ranges = (names: readonly string[], startMs: number, ms: number) =>
      names.map((name, index) => ({
        name,
        start: (startMs + index) * 1e6,
        end: (startMs + index + ms) * 1e6,
      }));
    const runWith = (pid: number, ms: number, others: ReturnType<typeof ranges>) =>
      buildRegionModel(
        timelineOf([{ pid, ranges: [{ name: "step", start: 0, end: ms * 1e6 }, ...others] }]),
      );
    const others = [
      ...ranges(short, 20_000, 0.25),
      ...ranges(["long one", "long two"], 30_000, 0.5),
    ];
    const keptOf = (models: Parameters<typeof combineRuns>[0]) =>
      combineRuns(models).model.scopes[0]?.unshownRegions?.map(({ path }) => path[0]) ?? [];
    const expected = [...short.slice(0, 998), "long one", "long two"];
    // In one other run, and in two.
    expect(keptOf([runWith(1, 5e3, []), runWith(2, 9e3, []), runWith(3, 1, others)])).toEqual(
      expected,
    );
    expect(keptOf([runWith(1, 5e3, []), runWith(2, 9e3, others), runWith(3, 1, others)])).toEqual(
      expected,
    );
    const thousand = ranges(short, 20_000, 0.25);
    expect(keptOf([runWith(1, 5e3, []), runWith(2, 9e3, []), runWith(3, 1, thousand)])).toEqual(
      short,
    );
  });

  it("tells domains along the paths of regions that only other runs have", () => {
    const model = (pid: number, domains: readonly [string, string] | null) =>
      buildRegionModel(
        timelineOf([
          {
            pid,
            ranges: [
              { name: "step", start: 0, end: 50e6 },
              ...(domains === null
                ? []
                : [
                    { name: "outer", domain: domains[0], start: 60e6, end: 61e6 },
                    { name: "inner", domain: domains[1], start: 60.1e6, end: 60.9e6 },
                  ]),
            ],
          },
        ]),
      );
    const [scope] = combineRuns([model(1, null), model(2, ["a", "b"]), model(3, null)]).model
      .scopes;
    expect(
      scope?.unshownRegions?.map(({ path, domain, path_domains }) => [
        path.at(-1),
        domain,
        path_domains,
      ]),
    ).toEqual([
      ["outer", "a", undefined],
      ["inner", "b", ["a", "b"]],
    ]);
  });

  it("needs a run", () => {
    expect(() => combineRuns([])).toThrow("no run to combine");
  });

  it("tells how the totals vary", () => {
    const [scope] = combineRuns([run(10, 1), run(30, 2), run(20, 3)]).model.scopes;
    expect(scope?.totals.repeats).toMatchObject({
      runs: 3,
      total_ms: null,
      wall_ms: { mean: 20, std: 10 },
    });
  });

  it("calls nothing unstable, nor rare, that was alike in every run", () => {
    const [scope] = combineRuns([run(100, 1), run(101, 2), run(100, 3)]).model.scopes;
    expect(scope?.regions[0]?.repeats?.wall_ms?.stable).toBe(true);
    expect(scope?.notes.filter((note) => /stable|seen/.test(note))).toEqual([]);
  });

  it("tells how kernels vary, one that a run did not launch with no time there", () => {
    const withOperation = (ms: number, names: readonly string[]) =>
      buildRegionModel(
        timelineOf([
          {
            pid: 1,
            ranges: [
              { name: "step", start: 0, end: 1e9 },
              ...names.map((name, at) => ({
                name,
                domain: "ops",
                start: at * 1e8,
                end: at * 1e8 + ms * 1e6,
              })),
            ],
          },
        ]),
        { operationDomains: ["ops"] },
      );
    const { model } = combineRuns([
      withOperation(10, ["conv", "rare"]),
      withOperation(30, ["conv"]),
      withOperation(20, ["conv"]),
    ]);
    expect(model.scopes[0]?.kernelRepeats).toMatchObject([
      { kernel_name: "conv", kind: "cpu_operation", runs: 3, total_ms: { mean: 20, std: 10 } },
      { kernel_name: "rare", runs: 1, total_ms: { mean: 10 / 3 } },
    ]);
    const [step] = model.scopes[0]?.regions ?? [];
    expect(step?.repeats?.total_ms?.mean).toBeCloseTo(70 / 3, 9);
    expect(step?.repeats?.kernels).toEqual(model.scopes[0]?.kernelRepeats);
    expect(model.scopes[1]?.kernelRepeats).toBeUndefined();
  });

  it("leaves a single run as it is", () => {
    const one = run(10, 1);
    expect(combineRuns([one])).toEqual({ shown: 0, model: one });
  });
});

describe("repeatStatistics", () => {
  it("gives mean, sample deviation and Student's interval", () => {
    // 2, 4, 6: mean 4, s = 2, half width 4.303 * 2 / sqrt(3).
    const { mean, std, ci95_low, ci95_high, stable } = repeatStatistics([2, 4, 6]) ?? {};
    expect([mean, std, stable]).toEqual([4, 2, false]);
    expect(ci95_low).toBeCloseTo(4 - 4.9687, 3);
    expect(ci95_high).toBeCloseTo(4 + 4.9687, 3);
  });

  it("has nothing to say of one run", () => {
    expect(repeatStatistics([3])).toBeNull();
    expect(repeatStatistics([])).toBeNull();
  });

  it("is stable when the interval lies within 5 % of the mean", () => {
    expect(repeatStatistics([100, 101, 99, 100])?.stable).toBe(true);
    expect(repeatStatistics([100, 120, 80, 100])?.stable).toBe(false);
    expect(repeatStatistics([0, 0])?.stable).toBe(true);
  });

  it("knows Student's quantiles from few runs to many", () => {
    expect(studentT(1)).toBeCloseTo(12.706, 3);
    expect(studentT(30)).toBeCloseTo(2.042, 3);
    // From tables: 40: 2.0211, 60: 2.0003, 120: 1.9799.
    for (const [freedom, quantile] of [
      [40, 2.0211],
      [60, 2.0003],
      [120, 1.9799],
    ] as const)
      expect(studentT(freedom)).toBeCloseTo(quantile, 3);
  });

  it("does not depend on the order, and scales with the values", () => {
    const values = fc.array(fc.integer({ min: 1, max: 1_000_000 }), {
      minLength: 2,
      maxLength: 20,
    });
    fc.assert(
      fc.property(values, (given) => {
        const one = repeatStatistics(given);
        const turned = repeatStatistics([...given].reverse());
        const doubled = repeatStatistics(given.map((value) => value * 2));
        expect(turned?.std).toBeCloseTo(one?.std ?? 0, 6);
        expect(doubled?.mean).toBeCloseTo((one?.mean ?? 0) * 2, 6);
        expect(doubled?.stable).toBe(one?.stable);
        expect(one?.ci95_low).toBeLessThanOrEqual(one?.mean ?? 0);
      }),
      { numRuns: runs(100) },
    );
  });
});
