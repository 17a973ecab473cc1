import { describe, expect, it } from "vitest";
import {
  measuredMedian,
  measuredTogether,
  measuredWall,
  measuredWork,
} from "../../../src/report/compare/noise.ts";
import type { KernelRecord, NCUProfileRegion } from "../../../src/report/model/document.ts";
import { reportOfCalls } from "../bundles.ts";

const regionOfCalls = (lengths: readonly number[]): NCUProfileRegion => {
  const [region] = reportOfCalls(lengths).regions;
  if (region === undefined) throw new Error("no region");
  return region;
};
/** Median 12, 95th percentile 15, from 9 to 15: the median and the percentile say less. */
const varied = regionOfCalls([10, 14, 9, 12, 15]);
const spread = (15 - 12) / 1.645;
/** Median 10, 95th percentile 20: half of the range, 5, is less. */
const oneSlow = regionOfCalls([10, 10, 10, 10, 20]);

const kernel = (kind: KernelRecord["kind"]): KernelRecord => ({
  kernel_name: "conv",
  kind,
  total_ms: 6,
  calls: 5,
  mean_ms: 1.2,
  device: "cpu",
});
const working = (region: NCUProfileRegion, ...kinds: readonly KernelRecord["kind"][]) => ({
  ...region,
  total_ms: 6,
  kernels: kinds.map(kernel),
});
const repeated = (region: NCUProfileRegion) => ({
  ...region,
  repeats: {
    runs: 3,
    wall_ms: { mean: 62, std: 1, ci95_low: 59, ci95_high: 65, stable: true },
    wall_exclusive_ms: { mean: 25, std: 1, ci95_low: 23, ci95_high: 27, stable: true },
    total_ms: { mean: 7, std: 1, ci95_low: 6, ci95_high: 8, stable: true },
  },
});

describe("how well the wall time of a region is known", () => {
  it("follows from the spread and the number of its calls", () => {
    expect(measuredWall(varied, varied.wall_ms)).toEqual({
      value: 60,
      uncertainty: expect.closeTo(1.96 * spread * Math.sqrt(5), 9),
    });
  });

  it("is no worse than the range of its calls", () => {
    expect(measuredWall(oneSlow, 60)?.uncertainty).toBeCloseTo(1.96 * 5 * Math.sqrt(5), 9);
  });

  it("is not known of one call, and there is none of what was not measured", () => {
    const once = regionOfCalls([10]);
    expect(measuredWall(once, once.wall_ms)).toEqual({ value: 10, uncertainty: null });
    expect(measuredWall(varied, null)).toBeNull();
  });

  it("is what repeated runs say, without the regions inside it, too", () => {
    expect(measuredWall(repeated(varied), varied.wall_ms)).toMatchObject({
      value: 62,
      uncertainty: 3,
      freedom: 2,
    });
    expect(measuredWall(repeated(varied), 20, "wall_exclusive_ms")).toMatchObject({
      value: 25,
      uncertainty: 2,
      freedom: 2,
    });
  });

  it("is not known without the regions inside where repeated runs do not tell that", () => {
    const { repeats, ...region } = repeated(varied);
    const { wall_exclusive_ms: _, ...before } = repeats;
    const known = measuredWall({ ...region, repeats: before }, 20, "wall_exclusive_ms");
    expect(known).toMatchObject({ value: 20 });
    expect(known?.freedom).toBeUndefined();
    // A region without others inside is as long without them.
    expect(
      measuredWall({ ...region, repeats: before }, varied.wall_ms, "wall_exclusive_ms"),
    ).toMatchObject({ value: 62, freedom: 2 });
  });

  it("is not known of two runs, whose interval says nothing", () => {
    const twice = repeated(varied);
    const ofTwo = twice.repeats ? { ...twice, repeats: { ...twice.repeats, runs: 2 } } : twice;
    expect(measuredWall(ofTwo, ofTwo.wall_ms)).toEqual({ value: 62, uncertainty: null });
  });

  it("is told by its calls where repeated runs say nothing of the whole", () => {
    const { repeats, ...region } = repeated(varied);
    const nothing = { ...region, repeats: { ...repeats, wall_ms: null } };
    expect(measuredWall(nothing, 60)?.uncertainty).toBeCloseTo(1.96 * spread * Math.sqrt(5), 9);
  });
});

describe("how well the median of a region's calls is known", () => {
  it("is 1.25 times worse than their mean", () => {
    expect(measuredMedian(varied)).toEqual({
      value: 12,
      uncertainty: expect.closeTo((1.25 * 1.96 * spread) / Math.sqrt(5), 9),
    });
  });

  it("is not known of one call, and there is no median without times of calls", () => {
    expect(measuredMedian(regionOfCalls([10]))).toEqual({ value: 10, uncertainty: null });
    expect(measuredMedian({ ...varied, invocation_wall_ms: null })).toBeNull();
  });
});

describe("how well the time of a region's work is known", () => {
  it("varies as its calls do on the CPU", () => {
    const wall = 1.96 * spread * Math.sqrt(5);
    const onCpu = working(varied, "cpu_operation", "cpu_operation");
    expect(measuredWork(onCpu, 6)).toEqual({
      value: 6,
      uncertainty: expect.closeTo(wall / 10, 9),
    });
  });

  it.each([
    ["kernels of a GPU", working(varied, "gpu_kernel")],
    ["kernels beside CPU operations", working(varied, "cpu_operation", "gpu_kernel")],
    ["a single call", working(regionOfCalls([10]), "cpu_operation")],
    ["no wall time", { ...working(varied, "cpu_operation"), wall_ms: null }],
    ["a wall time of 0", { ...working(varied, "cpu_operation"), wall_ms: 0 }],
  ])("is not known with %s", (_, region) => {
    expect(measuredWork(region, 6)).toEqual({ value: 6, uncertainty: null });
  });

  it("is what repeated runs say, of kernels as well", () => {
    expect(measuredWork(repeated(working(varied, "gpu_kernel")), 6)).toEqual({
      value: 7,
      uncertainty: 1,
      freedom: 2,
    });
    expect(measuredWork(varied, null)).toBeNull();
  });
});

describe("several regions together", () => {
  const part = (ms: number, value: number, uncertainty: number | null) => ({
    ms,
    measured: { value, uncertainty },
  });

  it("are as uncertain as parts that vary by themselves", () => {
    expect(measuredTogether(30, [part(10, 10, 3), part(20, 20, 4)])).toEqual({
      value: 30,
      uncertainty: 5,
    });
  });

  it("move with the means of their parts, and need not be their sum", () => {
    const parts = [part(10, 11, 1), part(10, 13, 1)];
    expect(measuredTogether(15, parts)?.value).toBeCloseTo(18, 9);
  });

  it("are not known where one part is not, nor without parts", () => {
    expect(measuredTogether(30, [part(10, 10, 3), part(20, 20, null)])?.uncertainty).toBeNull();
    expect(measuredTogether(30, [])).toEqual({ value: 30, uncertainty: null });
    expect(measuredTogether(30, [{ ms: null, measured: null }])?.uncertainty).toBeNull();
    expect(measuredTogether(null, [part(10, 10, 3)])).toBeNull();
  });

  it("may be more than a call takes arguments", () => {
    const parts = Array.from({ length: 250_000 }, () => part(1, 1, 2));
    expect(measuredTogether(250_000, parts)?.uncertainty).toBe(1000);
  });

  it("are unchanged if the parts took no time in the run shown", () => {
    expect(measuredTogether(5, [part(0, 1, 1)])?.value).toBe(5);
  });
});
