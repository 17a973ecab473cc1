import { expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import { COMPARED_NUMBERS } from "../../../src/report/model/compared-numbers.ts";
import type { NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { bundleOf, firstReport } from "../bundles.ts";

const MS = 1_000_000;
const plain = firstReport(
  bundleOf([
    {
      pid: 1,
      ranges: [
        { name: "step", start: 0, end: 100 * MS, cpu: MS },
        { name: "step", start: 100 * MS, end: 200 * MS, cpu: MS },
      ],
      kernels: [{ name: "gemm", launch: 50 * MS, ns: 20 * MS }],
    },
  ]),
);
/** With everything that a comparison compares. */
const report: NCUProfileRegionReport = {
  ...plain,
  totals: { ...plain.totals, instructions: 1000 },
  regions: plain.regions.map((region) => ({
    ...region,
    instructions: 1000,
    instructions_exclusive: 900,
    gpu_activity: { busy_ms: 3, kernel_ms: 2, copy_ms: 2, overlap_ms: 1 },
    kernels: region.kernels.map((kernel) => ({
      ...kernel,
      hardware: {
        ...{
          sm_pct: 30,
          memory_pct: 20,
          tensor_pct: 0,
          occupancy_pct: 24,
          occupancy_limit_pct: 25,
        },
        limited_by: null,
        occupancy_limited_by: [],
      },
    })),
  })),
};
const compared = compareReports(report, report);

it("the listed numbers are those that a comparison has", () => {
  const names = (all: readonly { readonly changes: object }[]) => [
    ...new Set(all.flatMap(({ changes }) => Object.keys(changes))),
  ];
  const { totals, regions, kernels } = COMPARED_NUMBERS;
  expect(Object.keys(compared.totals).sort()).toEqual([...totals].sort());
  expect(names(compared.regions).sort()).toEqual([...regions].sort());
  expect(names(compared.kernels).sort()).toEqual([...kernels].sort());
});

it.each([
  ...COMPARED_NUMBERS.totals,
  ...COMPARED_NUMBERS.regions.map((name) => `region:step.${name}`),
  ...COMPARED_NUMBERS.kernels.map((name) => `kernel:gemm.${name}`),
])("a condition may name %s", (name) => {
  expect(checkGates(parseGates(`${name}>1e9`), compared)).toMatchObject([{ outcome: "passed" }]);
});

it("instructions decide between single runs, unlike times", () => {
  const counted = (count: number): NCUProfileRegionReport => ({
    ...plain,
    totals: { ...plain.totals, instructions: count },
    regions: plain.regions.map((region) => ({
      ...region,
      cpu_ms: count,
      ...(region.kind !== "outside" && { instructions: count, instructions_exclusive: count }),
    })),
  });
  const outcomes = (count: number) =>
    checkGates(
      parseGates(
        "instructions>2%,region:*.instructions>2%,region:*.instructions_exclusive>2%,region:*.cpu_ms>2%",
      ),
      compareReports(counted(1000), counted(count)),
    ).map(({ outcome }) => outcome);
  expect(outcomes(1015)).toEqual(["passed", "passed", "passed", "passed"]);
  expect(outcomes(1030)).toEqual(["breached", "breached", "breached", "unclear"]);
});

it("the instructions of repeated runs have their interval", () => {
  const repeated = (mean: number): NCUProfileRegionReport => ({
    ...plain,
    regions: plain.regions.map((region) => ({
      ...region,
      instructions: mean + 5,
      repeats: {
        runs: 5,
        total_ms: null,
        wall_ms: null,
        instructions: { mean, std: 20, ci95_low: mean - 25, ci95_high: mean + 25, stable: true },
      },
    })),
  });
  const { regions } = compareReports(repeated(1000), repeated(1030));
  expect(regions[0]?.changes["instructions"]).toMatchObject({
    ...{ a: 1000, b: 1030, delta: 30, verdict: "unclear" },
    uncertainty: expect.closeTo(Math.hypot(25, 25), 9),
  });
});
