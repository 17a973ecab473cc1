import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ScopeModel } from "../../../../../src/profiler/analysis/region-model.ts";
import { kernelHardware } from "../../../../../src/report/view/kernel-hardware.ts";
import { type ResultSketch, resultOf } from "../results.ts";
import { assembleNcu } from "./assemble-all.ts";

const assemble = (sketches: readonly ResultSketch[]): readonly ScopeModel[] =>
  assembleNcu({ results: sketches.map(resultOf), sections: new Map(), notes: [] }).scopes;

const SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const METRICS: Readonly<Record<string, string>> = {
  [SM]: "%",
  "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": "%",
  "dram__throughput.avg.pct_of_peak_sustained_elapsed": "%",
  "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active": "%",
  "sm__warps_active.avg.pct_of_peak_sustained_active": "%",
  sm__maximum_warps_per_active_cycle_pct: "%",
  launch__occupancy_limit_registers: "block",
  launch__occupancy_limit_warps: "block",
  "sm__cycles_elapsed.max": "cycle",
  "sm__cycles_active.avg": "cycle",
};

/** Any metrics, in several tables, with and without what their means are weighted with. */
const metrics = fc
  .subarray(Object.keys(METRICS))
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .oneof(
            { weight: 8, arbitrary: fc.integer({ min: 0, max: 100 }) },
            fc.constant(Number.NaN),
          )
          .map((value) => [name, [value, METRICS[name] ?? ""] as const] as const),
      ),
    ),
  )
  .map((entries) => Object.fromEntries(entries));

const launch = fc.record(
  {
    kernel: fc.constantFrom("gemm", "softmax"),
    in: fc.constantFrom<readonly string[]>([], ["step"], ["step", "layer"], ["other"]),
    startEnd: fc.constantFrom<readonly string[]>([], ["job"]),
    process: fc.constantFrom(1, 2),
    ns: fc.integer({ min: 1, max: 1000 }),
    metrics,
  },
  { requiredKeys: ["kernel", "metrics"] },
);

/** A kernel's counters in a region are those that the region would have without any other kernel. */
function ofThatKernelAlone(launches: readonly ResultSketch[], name: string) {
  const found = new Map<string, unknown>();
  for (const { scope, regions } of assemble(launches.filter(({ kernel }) => kernel === name)))
    for (const { path, kind, metrics: own } of regions)
      found.set(JSON.stringify([scope, kind, path]), kernelHardware(Object.fromEntries(own ?? [])));
  return found;
}

describe("what counters say of kernels", () => {
  it("is what they would say of a region that has only this kernel", () => {
    fc.assert(
      fc.property(fc.array(launch, { minLength: 1, maxLength: 12 }), (launches) => {
        const alone = new Map(
          ["gemm", "softmax"].map((name) => [name, ofThatKernelAlone(launches, name)]),
        );
        for (const { scope, regions } of assemble(launches))
          for (const { path, kind, kernels } of regions)
            for (const { kernel_name, hardware } of kernels)
              expect(hardware).toEqual(
                alone.get(kernel_name)?.get(JSON.stringify([scope, kind, path])),
              );
      }),
    );
  });

  it("is apart for the kernels of a region", () => {
    const [whole] = assemble([
      { kernel: "a", ns: 10, in: ["step"], metrics: { [SM]: [10, "%"] } },
      { kernel: "a", ns: 30, in: ["step"], metrics: { [SM]: [50, "%"] } },
      { kernel: "b", ns: 1, in: ["step"], metrics: { [SM]: [90, "%"] } },
      { kernel: "c", ns: 1, in: ["step"] },
    ]);
    const found = whole?.regions[0]?.kernels.map(({ kernel_name, hardware }) => [
      kernel_name,
      hardware?.sm_pct,
    ]);
    expect(Object.fromEntries(found ?? [])).toEqual({ a: 40, b: 90, c: undefined });
  });

  it("is nothing of ranges that were measured as a whole", () => {
    const [whole] = assemble([{ kind: "range", in: ["step"], ns: 5, metrics: { [SM]: [1, "%"] } }]);
    expect(whole?.regions[0]).toMatchObject({ kernels: [] });
  });
});
