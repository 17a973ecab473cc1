import { describe, expect, it } from "vitest";
import { rooflineCeilings, rooflinePoints } from "../../../src/report/view/roofline.ts";
import { bundleOf, regionNamed, resnet } from "../bundles.ts";

const region = (metrics: Readonly<Record<string, readonly [number | null, string]>>) => ({
  ...regionNamed(bundleOf([resnet]), "stem"),
  metrics: Object.fromEntries(
    Object.entries(metrics).map(([name, [value, unit]]) => [name, { value, unit }]),
  ),
});

const counted = (operation: string) =>
  `smsp__sass_thread_inst_executed_op_${operation}_pred_on.sum`;

describe("rooflinePoints", () => {
  it("counts a fused multiply-add twice, per precision", () => {
    const [single, double] = rooflinePoints(
      region({
        [`${counted("fadd")}.per_cycle_elapsed`]: [100, "inst/cycle"],
        [`${counted("fmul")}.per_cycle_elapsed`]: [20, "inst/cycle"],
        [`${counted("ffma")}.per_cycle_elapsed`]: [1000, "inst/cycle"],
        [`${counted("dfma")}.per_cycle_elapsed`]: [5, "inst/cycle"],
        [`${counted("hfma")}.per_cycle_elapsed`]: [0, "inst/cycle"],
        "smsp__cycles_elapsed.avg.per_second": [1e9, "cycle/second"],
        "dram__bytes.sum.per_second": [5e11, "byte/second"],
      }),
    );
    expect(single).toEqual({ precision: "single", flops: 2.12e12, intensity: 2.12e12 / 5e11 });
    expect(double).toEqual({ precision: "double", flops: 1e10, intensity: 0.02 });
  });

  it("takes counts over the duration where rates were not collected", () => {
    const [point] = rooflinePoints(
      region({
        [counted("ffma")]: [5e6, "inst"],
        "gpu__time_duration.sum": [1000, "ns"],
        "dram__bytes_read.sum": [3000, "byte"],
        "dram__bytes_write.sum": [1000, "byte"],
      }),
    );
    expect(point?.flops).toBeCloseTo(1e13, -3);
    expect(point?.intensity).toBeCloseTo(2500, 6);
  });

  it("takes counts of whole multiprocessors where those of their partitions were not collected", () => {
    const [point] = rooflinePoints(
      region({
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed": [100, "inst/cycle"],
        "sm__cycles_elapsed.avg.per_second": [1e9, "cycle/second"],
        "smsp__cycles_elapsed.avg.per_second": [1e9, "cycle/second"],
        "dram__bytes.sum.per_second": [1e11, "byte/second"],
      }),
    );
    expect(point).toEqual({ precision: "single", flops: 2e11, intensity: 2 });
  });

  it("says nothing where traffic, time or work is unknown, or nothing went to memory", () => {
    expect(rooflinePoints(region({}))).toEqual([]);
    const rates = {
      [`${counted("ffma")}.per_cycle_elapsed`]: [1, "inst/cycle"] as const,
      "smsp__cycles_elapsed.avg.per_second": [1e9, "cycle/second"] as const,
    };
    for (const traffic of [null, 0])
      expect(
        rooflinePoints(
          region({ ...rates, "dram__bytes.sum.per_second": [traffic, "byte/second"] }),
        ),
      ).toEqual([]);
    const work = { [counted("ffma")]: [5e6, "inst"] as const };
    expect(rooflinePoints(region({ ...work, "dram__bytes.sum": [10, "byte"] }))).toEqual([]);
    expect(
      rooflinePoints(
        region({
          ...work,
          "gpu__time_duration.sum": [10, "fortnight"],
          "dram__bytes.sum": [1, "byte"],
        }),
      ),
    ).toEqual([]);
    for (const duration of [0, null])
      expect(
        rooflinePoints(
          region({
            ...work,
            "gpu__time_duration.sum": [duration, "ns"],
            "dram__bytes.sum.per_second": [1, "byte/second"],
          }),
        ),
      ).toEqual([]);
  });
});

describe("rooflineCeilings", () => {
  it("takes the highest clock seen", () => {
    const at = (clock: number) =>
      region({
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": [2560, "inst/cycle"],
        "sm__cycles_elapsed.avg.per_second": [clock, "cycle/second"],
        "dram__bytes.sum.peak_sustained": [64, "byte/cycle"],
        "dram__cycles_elapsed.avg.per_second": [5e9, "cycle/second"],
      });
    expect(rooflineCeilings([at(1e9), at(1.5e9), region({})])).toEqual({
      bytesPerSecond: 3.2e11,
      compute: [{ precision: "single", flops: 2 * 2560 * 1.5e9 }],
    });
  });

  it("takes those of any number of regions", () => {
    const one = region({
      "dram__bytes.sum.peak_sustained": [64, "byte/cycle"],
      "dram__cycles_elapsed.avg.per_second": [5e9, "cycle/second"],
    });
    const { bytesPerSecond } = rooflineCeilings(Array.from({ length: 200_000 }, () => one));
    expect(bytesPerSecond).toBe(3.2e11);
  });

  it("has none where a peak or the clock is unknown", () => {
    const peaks = {
      "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": [2, "inst/cycle"],
      "dram__bytes.sum.peak_sustained": [64, "byte/cycle"],
    } as const;
    const clocks = {
      "sm__cycles_elapsed.avg.per_second": [1e9, "cycle/second"],
      "dram__cycles_elapsed.avg.per_second": [5e9, "cycle/second"],
    } as const;
    for (const metrics of [peaks, clocks])
      expect(rooflineCeilings([region(metrics)])).toEqual({ bytesPerSecond: null, compute: [] });
    expect(rooflineCeilings([])).toEqual({ bytesPerSecond: null, compute: [] });
  });
});
