import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import type { KernelChange, RegionChange } from "../../../src/report/compare/comparison-types.ts";
import {
  activityChanges,
  activityTimes,
  commonName,
  shapeless,
} from "../../../src/report/compare/kernel-changes.ts";
import type {
  KernelHardware,
  KernelRecord,
  KernelRepeats,
  NCUProfileRegionReport,
} from "../../../src/report/model/document.ts";
import { reportOfCalls } from "../bundles.ts";

const plain = reportOfCalls([100]);

interface Launched extends Partial<KernelRecord> {
  readonly kernel_name: string;
  /** The mean of repeated runs, with half of its interval. */
  readonly mean?: readonly [mean: number, half: number];
}

/** One region of 100 ms with these kernels. */
function reportOf(...kernels: readonly Launched[]): NCUProfileRegionReport {
  const records = kernels.map(
    ({ mean: _, ...kernel }): KernelRecord => ({
      ...{ kind: "gpu_kernel", total_ms: 1, calls: 1, mean_ms: 1, device: "cuda:0" },
      ...kernel,
    }),
  );
  const repeats = kernels.flatMap(({ kernel_name, kind = "gpu_kernel", mean }): KernelRepeats[] => {
    if (mean === undefined) return [];
    const [ms, half] = mean;
    const total_ms = {
      ...{ mean: ms, std: 1, ci95_low: ms - half, ci95_high: ms + half, stable: true },
    };
    return [{ kernel_name, kind, runs: 5, total_ms }];
  });
  return {
    ...plain,
    regions: plain.regions.map((region) => ({ ...region, kernels: records })),
    ...(repeats.length > 0 && { kernel_repeats: repeats }),
  };
}

const kernelsOf = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
  compareReports(a, b).kernels;
const timeOf = (kernel: KernelChange | undefined) => kernel?.changes["total_ms"];
const firstRegion = (a: NCUProfileRegionReport, b: NCUProfileRegionReport): RegionChange => {
  const [region] = compareReports(a, b).regions;
  if (region === undefined) throw new Error("no region");
  return region;
};

describe("kernels of two reports", () => {
  it("are ordered by how much their times differ, in either direction", () => {
    const kernels = kernelsOf(
      reportOf(
        { kernel_name: "same", total_ms: 50 },
        { kernel_name: "less", total_ms: 9 },
        { kernel_name: "gone", total_ms: 3 },
      ),
      reportOf(
        { kernel_name: "same", total_ms: 50 },
        { kernel_name: "less", total_ms: 2 },
        { kernel_name: "new", total_ms: 5 },
      ),
    );
    expect(kernels.map(({ kernel_name, presence }) => `${kernel_name}: ${presence}`)).toEqual([
      ...["less: both", "new: added", "gone: removed", "same: both"],
    ]);
  });

  it("are counted once, whatever devices they ran on, and apart by their kind", () => {
    const on = (device: KernelRecord["device"], total_ms: number | null, calls: number) => ({
      ...{ kernel_name: "gemm", device, total_ms, calls },
    });
    const [gemm, ...others] = kernelsOf(
      reportOf(on("cuda:0", 2, 3), on("cuda:1", 5, 4)),
      reportOf(on("cuda:0", null, 1), on("cuda:1", 6, 1), on("cuda:2", null, 1)),
    );
    expect(others).toEqual([]);
    expect(gemm?.changes).toMatchObject({
      total_ms: { a: 7, b: 6, delta: -1 },
      calls: { a: 7, b: 3, verdict: "less" },
    });
    const kinds = kernelsOf(
      reportOf({ kernel_name: "add" }, { kernel_name: "add", kind: "cpu_operation" }),
      reportOf({ kernel_name: "add" }),
    );
    expect(kinds.map(({ kind, presence }) => `${kind}: ${presence}`).sort()).toEqual([
      ...["cpu_operation: removed", "gpu_kernel: both"],
    ]);
  });

  it("have no time to compare where one report has none of theirs", () => {
    const [timed, untimed] = [
      reportOf({ kernel_name: "gemm", total_ms: 5 }),
      reportOf({ kernel_name: "gemm", total_ms: null }),
    ];
    for (const [a, b] of [
      [timed, untimed],
      [untimed, timed],
      [untimed, untimed],
    ] as const) {
      const [gemm] = kernelsOf(a, b);
      expect(gemm?.presence).toBe("both");
      expect(Object.keys(gemm?.changes ?? {})).toEqual(["calls"]);
    }
    expect(timeOf(kernelsOf(timed, reportOf())[0])).toMatchObject({ a: 5, verdict: "removed" });
    expect(timeOf(kernelsOf(reportOf(), timed)[0])).toMatchObject({ b: 5, verdict: "added" });
  });

  it("are judged by the runs of both, and in a region by none but its own", () => {
    const of = (total_ms: number, mean: number) =>
      reportOf({ kernel_name: "gemm", total_ms, mean: [mean, mean / 50] });
    const [a, b] = [of(5, 10), of(8, 20)];
    expect(timeOf(kernelsOf(a, b)[0])).toMatchObject({ a: 10, b: 20, verdict: "more" });
    expect(timeOf(firstRegion(a, b).kernels[0])).toMatchObject({
      ...{ a: 5, b: 8, uncertainty: null, verdict: "unclear" },
    });
  });
});

describe("kernels with other shapes", () => {
  const shaped = (kernel_name: string, total_ms: number, more: Partial<Launched> = {}) => ({
    ...{ kernel_name, total_ms, ...more },
  });
  const pairsOf = (a: readonly Launched[], b: readonly Launched[]) =>
    compareReports(reportOf(...a), reportOf(...b)).kernel_pairs;

  it("are of one kind, and each a kernel that only one report has", () => {
    expect(pairsOf([shaped("gemm 2", 1)], [shaped("gemm 4", 1)])).toHaveLength(1);
    expect(
      pairsOf([shaped("gemm 2", 1)], [shaped("gemm 4", 1, { kind: "cpu_operation" })]),
    ).toEqual([]);
    expect(pairsOf([shaped("gemm 2", 1), shaped("gemm 4", 1)], [shaped("gemm 4", 1)])).toEqual([]);
    expect(pairsOf([], [shaped("gemm 4", 1), shaped("gemm 8", 1)])).toEqual([]);
    expect(pairsOf([shaped("gemm 4", 1), shaped("gemm 8", 1)], [])).toEqual([]);
    expect(pairsOf([shaped("gemm 2", 1)], [shaped("relu 2", 1)])).toEqual([]);
  });

  it("are ordered by how much they differ together", () => {
    expect(
      pairsOf(
        [shaped("gemm 2", 5), shaped("conv 2", 9), shaped("relu 2", 1)],
        [shaped("gemm 4", 6), shaped("conv 4", 2), shaped("relu 4", 4)],
      ).map(({ name }) => name),
    ).toEqual(["conv *", "relu *", "gemm *"]);
  });

  it("have no time where one of theirs is not known, and the interval of all where it is", () => {
    const [unknown] = pairsOf(
      [shaped("gemm 2", 5), { kernel_name: "gemm 8", total_ms: null }],
      [shaped("gemm 4", 6)],
    );
    expect(unknown?.changes).toMatchObject({
      total_ms: { a: null, b: 6 },
      calls: { a: 2, b: 1 },
    });
    const [known] = pairsOf(
      [shaped("gemm 2", 5, { mean: [6, 0.3] }), shaped("gemm 8", 5, { mean: [5, 0.4] })],
      [shaped("gemm 4", 20, { mean: [20, 1.2] })],
    );
    expect(known?.changes["total_ms"]).toMatchObject({
      ...{ a: expect.closeTo(11, 9), b: 20, verdict: "more" },
      uncertainty: expect.closeTo(1.3, 9),
    });
  });

  it("are named by what all have in common", () => {
    expect(commonName(["gemm 2 3", "gemm 2 4", "gemm 2 5"])).toBe("gemm 2 *");
    expect(commonName(["gemm 2 3", "gemm 2 3", "gemm 2 5"])).toBe("gemm 2 *");
    expect(commonName([])).toBe("");
    expect(commonName(["relu", "relu"])).toBe("relu");
    expect(shapeless("conv 4x16 , 3 x 3, pad1")).toBe("conv *, pad*");
    expect(shapeless("f#12 g12")).toBe("f#12 g*");
  });
});

describe("the activity of a GPU in two reports", () => {
  const region = (wall_ms: number | null, busy_ms = 30) => ({
    wall_ms,
    gpu_activity: { busy_ms, kernel_ms: 20, copy_ms: 15, overlap_ms: 5 },
  });
  const idle = { wall_ms: 100 };

  it("is times and a share of the wall time, and nothing where it was not measured", () => {
    expect(activityTimes(region(100))).toEqual({
      ...{ gpu_busy_pct: 30, gpu_busy_ms: 30, gpu_kernel_ms: 20, gpu_copy_ms: 15 },
      gpu_overlap_ms: 5,
    });
    expect(activityTimes(idle)).toEqual({});
  });

  it("is compared where either report has it", () => {
    expect(activityChanges(idle, idle)).toEqual({});
    expect(activityChanges(null, null)).toEqual({});
    expect(activityChanges(idle, null)).toEqual({});
    const added = activityChanges(idle, region(100));
    expect(added["gpu_busy_pct"]).toMatchObject({ a: null, b: 30, verdict: "added" });
    expect(added["gpu_busy_ms"]).toMatchObject({ a: null, b: 30, verdict: "added" });
    const removed = activityChanges(region(100), null);
    expect(removed["gpu_busy_pct"]).toMatchObject({ a: 30, b: null, verdict: "removed" });
    expect(removed["gpu_kernel_ms"]).toMatchObject({ a: 20, b: null, verdict: "removed" });
  });

  it("is the same where it differs by less than a hundredth of the longer wall time", () => {
    const verdicts = (a: number | null, b: number | null, busy: number) => {
      const changes = activityChanges(region(a), region(b, busy));
      return [changes["gpu_busy_ms"]?.verdict, changes["gpu_busy_pct"]?.verdict];
    };
    expect(verdicts(100, 100, 30.9)).toEqual(["same", "same"]);
    expect(verdicts(100, 100, 32)).toEqual(["unclear", "unclear"]);
    expect(verdicts(100, 1000, 35)).toEqual(["same", "unclear"]);
    expect(verdicts(1000, 100, 35)).toEqual(["same", "unclear"]);
    // Without a wall time there is no share of it.
    expect(verdicts(null, null, 35)).toEqual(["unclear", "same"]);
  });
});

describe("the counters of a kernel in two reports", () => {
  const hardware: KernelHardware = {
    ...{ sm_pct: 30, memory_pct: 20, tensor_pct: 0, occupancy_pct: 24, occupancy_limit_pct: 25 },
    ...{ limited_by: "latency", occupancy_limited_by: ["registers"] },
  };
  const of = (more?: Partial<KernelHardware>) =>
    reportOf({ kernel_name: "gemm", ...(more && { hardware: { ...hardware, ...more } }) });

  it("are shares, of which less than a point is nothing, and a limit that does not vary", () => {
    const [gemm] = kernelsOf(
      of({}),
      of({ sm_pct: 30.9, memory_pct: 40, occupancy_limit_pct: 25.5 }),
    );
    expect(gemm?.changes).toMatchObject({
      sm_pct: { a: 30, b: 30.9, verdict: "same" },
      memory_pct: { a: 20, b: 40, verdict: "more" },
      occupancy_limit_pct: { a: 25, b: 25.5, uncertainty: 0, verdict: "more" },
    });
    expect(gemm?.limits).toEqual({
      a: { limited_by: "latency", occupancy_limited_by: ["registers"] },
      b: { limited_by: "latency", occupancy_limited_by: ["registers"] },
    });
  });

  it("are those of the report that has some, and none where neither has", () => {
    const [added] = kernelsOf(of(), of({}));
    expect(added?.changes).toMatchObject({
      sm_pct: { a: null, b: 30, verdict: "added" },
      occupancy_limit_pct: { a: null, b: 25, verdict: "added" },
    });
    const [removed] = kernelsOf(of({}), of());
    expect(removed?.changes["sm_pct"]).toMatchObject({ a: 30, b: null, verdict: "removed" });
    expect(removed?.limits?.b).toBeNull();
    const [neither] = kernelsOf(of(), of());
    expect(Object.keys(neither?.changes ?? {})).toEqual(["total_ms", "calls"]);
    expect(neither).not.toHaveProperty("limits");
  });
});
