import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel, type RegionModelEntry } from "../../../src/profile/regions/index.ts";
import { toReportBundle } from "../../../src/profile/regions/to-report.ts";
import { runs } from "../../runs.ts";
import { anyKernels, anyRanges, type ProcessSketch, timelineOf } from "./timelines.ts";

const sketch: ProcessSketch = {
  ranges: [
    { name: "outer", start: 0, end: 100 },
    { name: "inner", start: 20, end: 60 },
    { name: "other thread", start: 0, end: 100, thread: 2 },
  ],
  kernels: [
    { name: "k", launch: 30, ns: 1000 },
    { name: "copy", launch: 10, ns: 5, kind: "memcpy", bytes: 100 },
    { name: "copy", launch: 40, ns: 7, kind: "memcpy", bytes: 200, device: 1 },
    { name: "set", launch: 50, ns: 3, kind: "memset", bytes: 64 },
    { name: "copy", launch: 200, ns: 9, kind: "memcpy", bytes: 1 },
  ],
  waits: [
    { call: 25, ns: 11 },
    { call: 90, ns: 13 },
  ],
};

const scopesOf = (process: ProcessSketch) =>
  new Map(
    buildRegionModel(timelineOf([process])).scopes.map((scope) => [scope.scope as string, scope]),
  );

const activities = (regions: readonly RegionModelEntry[] | undefined) =>
  Object.fromEntries(
    (regions ?? []).map(({ path, activities: all }) => [
      path.join("/"),
      Object.fromEntries(all ?? []),
    ]),
  );

describe("copies, sets and waits", () => {
  it("count for all ranges open at the call, and never as kernels", () => {
    const aggregate = scopesOf(sketch).get("aggregate");
    expect(activities(aggregate?.regions)).toEqual({
      outer: {
        memcpy: { calls: 2, ns: 12, bytes: 300 },
        memset: { calls: 1, ns: 3, bytes: 64 },
        synchronization: { calls: 2, ns: 24, bytes: 0 },
      },
      "outer/inner": {
        memcpy: { calls: 1, ns: 7, bytes: 200 },
        memset: { calls: 1, ns: 3, bytes: 64 },
        synchronization: { calls: 1, ns: 11, bytes: 0 },
      },
      "other thread": {},
      "(outside)": { memcpy: { calls: 1, ns: 9, bytes: 1 } },
    });
    expect(aggregate?.totals).toMatchObject({ kernelCount: 1, kernelNs: 1000, outsideNs: 0 });
  });

  it("are distinguished by device; waits belong to none", () => {
    const scopes = scopesOf(sketch);
    expect([...scopes.keys()]).toEqual([
      "aggregate",
      "process:100",
      "device:cuda:0",
      "device:cuda:1",
    ]);
    expect(activities(scopes.get("device:cuda:1")?.regions)).toEqual({
      outer: { memcpy: { calls: 1, ns: 7, bytes: 200 } },
      "outer/inner": { memcpy: { calls: 1, ns: 7, bytes: 200 } },
    });
  });

  it("stand in the report as metrics with units", () => {
    const model = buildRegionModel(timelineOf([sketch]));
    const { reports } = toReportBundle(model, {
      generatedAt: "2026-01-02T03:04:05Z",
      configFingerprint: "sha256:0",
      collectorVersion: "1",
      environment: {
        hostname: "h",
        os: "o",
        cpu: "c",
        gpus: [],
        command: [],
        device: null,
        hydraconf_version: "1",
      },
    });
    const metrics = reports[0]?.regions.map((region) => [region.name, region.metrics]);
    expect(metrics).toEqual([
      [
        "outer",
        {
          memory_copy_time: { value: 12e-6, unit: "ms" },
          memory_copy_bytes: { value: 300, unit: "byte" },
          memory_set_time: { value: 3e-6, unit: "ms" },
          synchronization_time: { value: 24e-6, unit: "ms" },
        },
      ],
      [
        "inner",
        {
          memory_copy_time: { value: 7e-6, unit: "ms" },
          memory_copy_bytes: { value: 200, unit: "byte" },
          memory_set_time: { value: 3e-6, unit: "ms" },
          synchronization_time: { value: 11e-6, unit: "ms" },
        },
      ],
      ["other thread", {}],
      [
        "(outside)",
        {
          memory_copy_time: { value: 9e-6, unit: "ms" },
          memory_copy_bytes: { value: 1, unit: "byte" },
        },
      ],
    ]);
  });

  it("alone do not hide CPU operations", () => {
    const aggregate = scopesOf({
      ranges: [{ name: "conv", start: 0, end: 10, domain: "shallow_resnet.ops" }],
      kernels: [{ name: "copy", launch: 20, ns: 5, kind: "memcpy", bytes: 1 }],
    }).get("aggregate");
    expect(aggregate?.totals.kernelKinds).toEqual(["cpu_operation"]);
  });

  it("change nothing about kernels and wall times", () => {
    const numbers = (process: ProcessSketch) =>
      scopesOf(process)
        .get("aggregate")
        ?.regions.filter(({ kernelCount, invocations }) => kernelCount + invocations > 0)
        .map(
          ({
            path,
            domain,
            path_domains,
            kind,
            kernelNs,
            exclusiveKernelNs,
            wallNs,
            exclusiveWallNs,
            kernels,
            invocations,
          }) => ({
            place: `${path} @${domain} ${path_domains} ${kind}`,
            kernelNs,
            exclusiveKernelNs,
            wallNs,
            exclusiveWallNs,
            kernels,
            invocations,
          }),
        )
        // A place first seen by a copy comes earlier.
        .sort((a, b) => (a.place < b.place ? -1 : 1));
    fc.assert(
      fc.property(anyRanges, anyKernels, anyKernels, (ranges, kernels, others) => {
        const copies = others.map((one) => ({ ...one, kind: "memcpy" as const, bytes: 1 }));
        const waits = others.map(({ launch, ns }) => ({ call: launch, ns }));
        const with_ = numbers({ ranges, kernels: [...copies, ...kernels], waits, endNs: 60 });
        expect(with_).toEqual(numbers({ ranges, kernels, endNs: 60 }));
      }),
      { numRuns: runs(200) },
    );
  });
});
