import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import type { RegionModelEntry } from "../../../src/profiler/analysis/region-model.ts";
import { combineRuns } from "../../../src/profiler/analysis/repeats.ts";
import { familyKey, familyRows } from "../../../src/report/model/families.ts";
import { type ProcessSketch, timelineOf } from "./timelines.ts";

const scopesOf = (sketches: readonly ProcessSketch[], fold: number | null) =>
  buildRegionModel(timelineOf(sketches), { labels: { fold } }).scopes;

const numbersOf = ({
  path: _,
  path_domains: _domains,
  members: _members,
  ...numbers
}: RegionModelEntry) => ({
  ...numbers,
  activities: [...(numbers.activities ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)),
});

/** Unlike the order of regions, that of keys does not depend on where numbers were set aside. */
const byFamily = (rows: readonly RegionModelEntry[]) =>
  rows.map((row) => [familyKey(row), numbersOf(row)] as const).sort(([a], [b]) => (a < b ? -1 : 1));

const steps = fc.array(
  fc.record({
    step: fc.nat(6),
    part: fc.constantFrom("load", "part 1", "part 2"),
    hasPart: fc.boolean(),
    kind: fc.constantFrom("push_pop" as const, "start_end" as const),
    length: fc.integer({ min: 40, max: 250 }),
    kernels: fc.nat(2),
    thread: fc.integer({ min: 1, max: 2 }),
  }),
  { maxLength: 20 },
);

describe("families of regions", () => {
  it("have the numbers that their members have if their labels are folded", () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 3 }), (all) => {
        const sketches = all.map(
          (calls, pid): ProcessSketch => ({
            pid: pid + 1,
            ranges: calls.flatMap(({ step, part, hasPart, kind, length, thread }, at) => [
              {
                ...{ name: `step ${step}`, kind, thread, cpu: 30 },
                start: 100 * at,
                // Start/end ranges may overlap the next ones, so that a launch is in several of them.
                end: 100 * at + (kind === "start_end" ? length : 39),
              },
              ...(hasPart
                ? [{ name: part, start: 100 * at + 10, end: 100 * at + 30, thread, cpu: 10 }]
                : []),
            ]),
            kernels: calls.flatMap(({ kernels, thread }, at) =>
              Array.from({ length: kernels }, () => ({
                ...{ name: `k${at % 3}`, launch: 100 * at + 20, ns: 7, thread },
              })),
            ),
          }),
        );
        const folded = scopesOf(sketches, 1);
        for (const [place, { regions, families = [] }] of scopesOf(sketches, null).entries()) {
          const rows = familyRows(regions, families);
          expect(byFamily(rows)).toEqual(byFamily(folded[place]?.regions ?? []));
        }
      }),
    );
  });

  it("are named path by path: by the label that all have, else without its numbers", () => {
    const ranges = [1, 2].flatMap((epoch) => [
      { name: `epoch ${epoch}`, start: epoch * 100, end: epoch * 100 + 90 },
      { name: "load 7", start: epoch * 100 + 1, end: epoch * 100 + 9 },
      { name: `step ${epoch}`, start: epoch * 100 + 10, end: epoch * 100 + 80 },
    ]);
    const [scope] = scopesOf(
      [{ ranges: [...ranges, { name: "save 3", start: 400, end: 420 }] }],
      128,
    );
    expect(scope?.families?.map(({ path, members }) => [path.join(" / "), members])).toEqual([
      ["epoch #", 2],
      ["epoch # / load 7", 2],
      ["epoch # / step #", 2],
    ]);
    expect(
      familyRows(scope?.regions ?? [], scope?.families ?? []).map(({ path }) => path.join(" / ")),
    ).toEqual(["epoch #", "epoch # / load 7", "epoch # / step #", "save 3", "(outside)"]);
  });

  it("vary over repeated runs as a whole, whatever the numbers of a run", () => {
    const run = (first: number, lengths: readonly number[]) =>
      buildRegionModel(
        timelineOf([
          {
            ranges: lengths.map((length, at) => ({
              ...{ name: `op_id = ${first + at}`, start: at * 1e6, end: at * 1e6 + length },
            })),
          },
        ]),
      );
    // Calls vary by a factor of five, their sum does not.
    const { model } = combineRuns([
      run(1, [100, 500, 300]),
      run(4, [500, 300, 100]),
      run(7, [300, 100, 500]),
    ]);
    const [scope] = model.scopes;
    expect(scope?.families?.[0]?.repeats).toMatchObject({
      runs: 3,
      wall_ms: { mean: expect.closeTo(0.0009, 12), std: expect.closeTo(0, 12), stable: true },
    });
    expect(scope?.notes.join("\n")).not.toMatch(/not seen in every run|not stable/);
  });
});
