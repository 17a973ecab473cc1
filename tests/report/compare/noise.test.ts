import { describe, expect, it } from "vitest";
import {
  measuredCpu,
  measuredInstructions,
  measuredKernel,
  measuredMedian,
  measuredTogether,
  measuredWall,
  measuredWork,
} from "../../../src/report/compare/noise.ts";
import type {
  KernelRecord,
  NCUProfileRegion,
  RepeatStatistics,
} from "../../../src/report/model/document.ts";
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

  it("is known of two calls", () => {
    const twice = { ...regionOfCalls([10, 14]), invocation_wall_ms: varied.invocation_wall_ms };
    expect(measuredWall(twice, 24)?.uncertainty).toBeCloseTo(1.96 * spread * Math.sqrt(2), 9);
  });

  it("is told by its calls where repeated runs say nothing of the whole", () => {
    const { repeats, ...region } = repeated(varied);
    const nothing = { ...region, repeats: { ...repeats, wall_ms: null } };
    expect(measuredWall(nothing, 60)?.uncertainty).toBeCloseTo(1.96 * spread * Math.sqrt(5), 9);
  });
});

const around = (mean: number, half: number): RepeatStatistics => ({
  ...{ mean, std: 1, ci95_low: mean - half, ci95_high: mean + half, stable: true },
});

describe("the numbers of a region without those inside it, over repeated runs", () => {
  const all = {
    ...varied,
    ...{ wall_ms: 60, total_ms: 6, cpu_ms: 50, instructions: 900 },
    repeats: {
      runs: 5,
      wall_ms: around(61, 3),
      wall_exclusive_ms: around(31, 2),
      total_ms: around(7, 1),
      exclusive_ms: around(4, 0.5),
      cpu_ms: around(52, 4),
      cpu_exclusive_ms: around(22, 2),
      instructions: around(1000, 30),
      instructions_exclusive: around(400, 10),
    },
  };
  const {
    wall_exclusive_ms: _wall,
    exclusive_ms: _work,
    cpu_exclusive_ms: _cpu,
    instructions_exclusive: _count,
    ...inclusive
  } = all.repeats;
  const untold = { ...all, repeats: inclusive };
  const measures = [
    ["wall time", 60, measuredWall, "wall_exclusive_ms", 61, 31],
    ["time of work", 6, measuredWork, "exclusive_ms", 7, 4],
    ["processor time", 50, measuredCpu, "cpu_exclusive_ms", 52, 22],
    ["instructions", 900, measuredInstructions, "instructions_exclusive", 1000, 400],
  ] as const;

  it.each(measures)("%s: are the means that the runs tell", (_, ms, measure, name, whole, own) => {
    const named = measure as (
      region: NCUProfileRegion,
      ms: number | null,
      name?: string,
    ) => ReturnType<typeof measure>;
    expect(named(all, ms)).toMatchObject({ value: whole, freedom: 4 });
    expect(named(all, ms / 2, name)).toMatchObject({ value: own, freedom: 4 });
    // Equal by chance in the run that is shown: the runs themselves know better.
    expect(named(all, ms, name)).toMatchObject({ value: own, freedom: 4 });
    // A region without others inside is as large without them; else, the runs do not tell.
    expect(named(untold, ms, name)).toMatchObject({ value: whole, freedom: 4 });
    expect(named(untold, ms / 2, name)?.value).toBe(ms / 2);
    expect(named(untold, ms / 2, name)?.freedom).toBeUndefined();
    // The run that is shown has no such number, but others do.
    expect(named(all, null, name)).toMatchObject({ value: own, freedom: 4 });
    const { repeats: _repeats, ...single } = all;
    expect(named(single, null, name)).toBeNull();
  });
});

describe("how well the processor time of a region is known", () => {
  const calls = { min: 9, mean: 12, median: 12, p95: 15, max: 15 };

  it("follows from the spread and the number of its calls", () => {
    const region = { ...varied, cpu_ms: 55, invocation_cpu_ms: calls };
    expect(measuredCpu(region, 55)).toEqual({
      value: 55,
      uncertainty: expect.closeTo(1.96 * (3 / 1.645) * Math.sqrt(5), 9),
    });
  });

  it("is not known without the times of calls", () => {
    const { invocation_cpu_ms: _, ...region } = varied;
    expect(measuredCpu(region, 55)).toEqual({ value: 55, uncertainty: null });
  });
});

describe("how well the time of a kernel is known", () => {
  const repeats = {
    ...{ kernel_name: "conv", kind: "gpu_kernel" as const, runs: 5 },
    total_ms: around(10, 2),
  };

  const spread = { runs: 5, times: new Map([["conv", repeats]]) };

  it("is not by one run", () => {
    const single = { runs: 1, times: new Map() };
    expect(measuredKernel(6, single, "conv")).toEqual({ value: 6, uncertainty: null });
    expect(measuredKernel(null, single, "conv")).toBeNull();
    expect(measuredKernel(6, spread, "relu")).toEqual({ value: 6, uncertainty: null });
  });

  it("is by repeated runs: their mean, also where the run shown has not launched it", () => {
    expect(measuredKernel(6, spread, "conv")).toEqual({ value: 10, uncertainty: 2, freedom: 4 });
    expect(measuredKernel(null, spread, "conv")).toEqual({ value: 10, uncertainty: 2, freedom: 4 });
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

  it("leave out parts that one run or its repeats do not have", () => {
    const unknown = [
      { ms: 20, measured: null },
      { ms: null, measured: { value: 50, uncertainty: 9 } },
    ];
    expect(measuredTogether(30, [part(10, 12, 3), ...unknown])).toEqual({
      value: 36,
      uncertainty: 3,
    });
  });

  it("have the least freedom of the parts, and none where one is of a single run", () => {
    const free = (freedom: number) => ({
      ms: 10,
      measured: { value: 10, uncertainty: 3, freedom },
    });
    expect(measuredTogether(20, [free(4), free(2)])?.freedom).toBe(2);
    expect(measuredTogether(20, [free(4), part(10, 10, 3)])?.freedom).toBeUndefined();
  });

  it("are unchanged if the parts took no time in the run shown", () => {
    expect(measuredTogether(5, [part(0, 1, 1)])?.value).toBe(5);
  });
});
