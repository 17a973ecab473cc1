import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
} from "../../../src/report/model/document.ts";
import { type KernelOfReport, kernelsOfReport } from "../../../src/report/view/kernel-list.ts";
import { indicesOfLargest, treeRows } from "../../../src/report/view/tree-rows.ts";
import { runs } from "../../runs.ts";
import { bundleOf, firstReport, resnet } from "../bundles.ts";

/** The same with an object and a key for each kernel. */
function modelOf(report: NCUProfileRegionReport): readonly KernelOfReport[] {
  const keyOf = ({ kernel_name, kind, device }: KernelRecord) =>
    JSON.stringify([kernel_name, kind, device]);
  const merged = new Map<string, { record: KernelRecord; calls: number; total_ms: number }>();
  for (const { region, level } of treeRows(report.regions))
    for (const record of level === 0 ? region.kernels : []) {
      const row = merged.get(keyOf(record)) ?? { record, calls: 0, total_ms: 0 };
      merged.set(keyOf(record), row);
      row.calls += record.calls;
      row.total_ms += record.total_ms ?? 0;
    }
  const homes = new Map<string, { region: NCUProfileRegion; ms: number }>();
  for (const region of report.regions)
    for (const record of region.kernels) {
      const known = homes.get(keyOf(record));
      const ms = record.total_ms ?? 0;
      if (
        known === undefined ||
        ms > known.ms ||
        (ms === known.ms && region.depth > known.region.depth)
      )
        homes.set(keyOf(record), { region, ms });
    }
  const rows = [...merged].map(([key, { record, calls, total_ms }]) => {
    const home = homes.get(key)?.region;
    const mostlyIn = home === undefined ? "" : (treeRows([home])[0]?.label ?? "");
    return { ...record, calls, total_ms, mean_ms: total_ms / calls, mostlyIn };
  });
  return rows.sort((a, b) => b.total_ms - a.total_ms);
}

const record = fc
  .record({
    kernel_name: fc.constantFrom("a", "b", "a b", "c"),
    kind: fc.constantFrom("gpu_kernel", "cpu_operation"),
    total_ms: fc.constantFrom(0, 0.1, 0.2, 0.3, 1, 7),
    calls: fc.integer({ min: 1, max: 3 }),
    device: fc.constantFrom("cpu", "cuda:0", "cuda:1"),
  })
  .map((fields): KernelRecord => ({ ...fields, mean_ms: fields.total_ms / fields.calls }));

const template = firstReport(bundleOf([resnet]));
const [pattern] = template.regions;

const reports = fc
  .array(
    fc.record({
      path: fc.array(fc.constantFrom("x", "y"), { minLength: 1, maxLength: 3 }),
      kernels: fc.array(record, { maxLength: 6 }),
    }),
    { maxLength: 8 },
  )
  .map(
    (regions): NCUProfileRegionReport => ({
      ...template,
      regions: regions.map(({ path, kernels }) => ({
        ...(pattern as NCUProfileRegion),
        path,
        name: path.at(-1) ?? "",
        depth: path.length - 1,
        kernels,
      })),
    }),
  );

describe("kernelsOfReport", () => {
  it("merges kernels as a map of objects would, in any report", () => {
    fc.assert(
      fc.property(reports, fc.nat(6), (report, count) => {
        const kernels = kernelsOfReport(report);
        const model = modelOf(report);
        expect(kernels.longest()).toEqual(model);
        expect(kernels.longest(count)).toEqual(model.slice(0, count));
        expect(kernels.length).toBe(model.length);
        expect([...kernels.times].sort((a, b) => b - a)).toEqual(
          model.map(({ total_ms }) => total_ms),
        );
        expect(kernels.calls).toBe(model.reduce((sum, { calls }) => sum + calls, 0));
        expect(new Set(kernels.devices)).toEqual(new Set(model.map(({ device }) => device)));
        expect(new Set(kernels.kinds)).toEqual(new Set(model.map(({ kind }) => kind)));
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("placesOfLargest", () => {
  it("is the head of a stable sort", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 })), fc.nat(12), (values, count) => {
        const sorted = [...values.keys()].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
        expect(indicesOfLargest(values, count)).toEqual(sorted.slice(0, count));
      }),
    );
  });
});
