import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ruleOf } from "../../../../../src/profiler/tools/ncu/assemble/metric-rules.ts";
import { createMetricTally } from "../../../../../src/profiler/tools/ncu/assemble/metric-tally.ts";
import { unitOfMetric } from "../../../../../src/profiler/tools/ncu/rep/units.ts";
import { runs } from "../../../../runs.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { readNcuCsv } from "../csv/whole-csv.ts";
import { resultOf } from "../results.ts";

type Metrics = Readonly<Record<string, readonly [number, string]>>;

function tally(rows: readonly Metrics[]) {
  const all = createMetricTally();
  for (const metrics of rows) all.add(resultOf({ metrics }));
  return all;
}
const regionValue = (rows: readonly Metrics[], name: string) =>
  tally(rows).metrics().get(name)?.value;

test("metrics of results that have others are in one order, whichever came first", () => {
  const names = ["SM.TriageA.sm__a.sum", "dram__bytes_read.sum", "gpu__time_duration.sum"];
  const [first = "", second = "", third = ""] = names;
  const rows: readonly Metrics[] = [
    { [second]: [1, ""], [third]: [1, "ns"] },
    { [first]: [1, ""], [third]: [1, "ns"] },
  ];
  expect([...tally(rows).metrics().keys()]).toEqual(names);
  expect([...tally(rows.toReversed()).metrics().keys()]).toEqual(names);
});

describe("a metric's rule", () => {
  test("is not looked for where a damaged file has a name of a megabyte", () => {
    const damaged = `sm__${"_".repeat(1e6)}.sum`;
    expect(ruleOf(damaged, "")).toEqual({ kind: "constant" });
    expect(unitOfMetric(damaged)).toBe("");
  });

  test.each([
    ["dram__bytes_read.sum", "byte", "sum"],
    ["sm__cycles_active.avg", "cycle", "sum"],
    ["gpu__time_duration.max", "ns", "maximum"],
    ["gpu__time_duration", "ns", "sum"],
    ["derived__pct_occupancy_per_block_size", "%/", "constant"],
    ["derived__pct_occupancy_per_register_count", "%/register", "constant"],
    ["derived__smsp__share_of_something", "%", "mean"],
    ["derived__smsp__bytes_per_request_of_something", "byte/request", "mean"],
    ["gpc__cycles_elapsed.max", "cycle", "maximum"],
    ["sm__cycles_active.min", "cycle", "minimum"],
    ["device__attribute_multiprocessor_count", "", "constant"],
    ["launch__block_size", "", "constant"],
    ["launch__thread_count", "thread", "sum"],
    ["launch__registers_per_thread", "register/thread", "maximum"],
    ["launch__occupancy_limit_warps", "block", "minimum"],
    ["dram__bytes.sum.peak_sustained", "byte/cycle", "constant"],
    ["thread_inst_executed_true", "inst", "sum"],
    ["branch_inst_executed", "", "sum"],
    ["profiler__replayer_passes", "pass", "maximum"],
    ["derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", "thread", "constant"],
    ["derived__memory_l1_conflicts_shared_nway", "byte", "mean"],
    ["derived__memory_l1_wavefronts_shared_excessive", "byte", "sum"],
    ["Duration", "ns", "sum"],
    ["L1/TEX Hit Rate", "%", "mean"],
    ["Memory Throughput", "byte/s", "mean"],
    ["Block Size", "", "constant"],
    ["Warp Cycles Per Issued Instruction", "cycle", "mean"],
    ["Stall Long Scoreboard", "inst", "mean"],
    ["Selected", "inst", "mean"],
    ["Predicated-On FFMA Operations Per Cycle", "inst", "mean"],
    ["Achieved Active Warps Per SM", "warp", "mean"],
    ["Theoretical Active Warps per SM", "warp", "mean"],
    ["Avg. Active Threads Per Warp", "", "mean"],
    ["L1 Conflicts Shared N-Way", "byte", "mean"],
    ["Theoretical Predicated-On FFMA Operations", "inst", "constant"],
    ["Maximum Sampling Interval", "cycle", "constant"],
    ["Registers Per Thread", "register/thread", "maximum"],
    ["Static Shared Memory Per Block", "byte/block", "maximum"],
    ["Block Limit Warps", "block", "minimum"],
    ["Grid Size", "", "sum"],
    ["Issued Instructions", "inst", "sum"],
    ["Avg. Issued Instructions Per Scheduler", "inst", "sum"],
    ["Average L1 Active Cycles", "cycle", "sum"],
    ["an__unknown_size", "byte", "constant"],
    ["an__unknown_thing", "", "constant"],
  ])("%s [%s]: %s", (name, unit, kind) => {
    expect(ruleOf(name, unit).kind).toBe(kind);
  });

  test.each([
    ["sm__inst_executed.avg.per_cycle_active", "sm__cycles_active.sum"],
    ["lts__throughput.avg.pct_of_peak_sustained_elapsed", "lts__cycles_elapsed.sum"],
    [
      "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ],
    ["lts__t_sector_hit_rate.pct", "lts__t_sectors.sum"],
    ["smsp__thread_inst_executed_per_inst_executed.ratio", "smsp__inst_executed.sum"],
    ["dram__bytes.sum.per_second", "gpu__time_duration.sum"],
    ["derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2", "smsp__cycles_elapsed.sum"],
    ["derived__smsp__inst_executed_op_branch_pct", "smsp__inst_executed.sum"],
    ["lts__t_request_hit_rate.pct", "lts__t_requests.sum"],
    [
      "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    ],
    [
      "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
      "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ],
  ])("%s is weighted with %s", (name, weight) => {
    const rule = ruleOf(name, "%");
    expect(rule.kind === "mean" && rule.weights[0]).toBe(weight);
  });
});

describe("metrics of several kernels", () => {
  test("of rates are weighted with time, which makes them the rate of the whole", () => {
    const rate = "dram__bytes.sum.per_second";
    const rows = [10, 30].map((ns, at) => ({
      "gpu__time_duration.sum": [ns, "ns"] as const,
      [rate]: [at === 0 ? 4e9 : 8e9, "byte/s"] as const,
    }));
    expect(regionValue(rows, rate)).toBe(7e9);
    expect(regionValue(rows, "gpu__time_duration.sum")).toBe(40);
  });

  test("of ratios are ratios of sums", () => {
    const rows = [
      { "lts__t_sectors.sum": [100, "sector"], "lts__t_sector_hit_rate.pct": [50, "%"] },
      { "lts__t_sectors.sum": [300, "sector"], "lts__t_sector_hit_rate.pct": [90, "%"] },
      { "lts__t_sectors.sum": [0, "sector"], "lts__t_sector_hit_rate.pct": [0, "%"] },
    ] as const;
    expect(regionValue(rows, "lts__t_sector_hit_rate.pct")).toBe(80);
  });

  test("have a plain mean where nothing weighs", () => {
    const rows = [{ "x__y.pct": [10, "%"] }, { "x__y.pct": [30, "%"] }] as const;
    expect(regionValue(rows, "x__y.pct")).toBe(20);
  });

  test("have a constant only where all agree", () => {
    const at = (size: number) => ({ launch__block_size: [size, ""] as const });
    expect(regionValue([at(256), at(256)], "launch__block_size")).toBe(256);
    expect(regionValue([at(256), at(128)], "launch__block_size")).toBeNull();
  });

  describe("of tables that do not have the same weights", () => {
    const rate = "dram__bytes.sum.per_second";
    const timed = (value: number): Metrics => ({
      "gpu__time_duration.sum": [1e6, "ns"],
      [rate]: [value, "byte/s"],
    });
    const untimed = (value: number): Metrics => ({ [rate]: [value, "byte/s"] });

    test("are plain means of all kernels, and told as such", () => {
      const rows = [timed(10), timed(20), untimed(60)];
      expect(tally(rows).metrics().get(rate)).toMatchObject({ value: 30, weighted: false });
      expect(tally(rows.toReversed()).metrics().get(rate)?.value).toBe(30);
    });

    test("are not mixed where each has a weight of another kind", () => {
      const busy = "sm__inst_executed.avg.per_cycle_elapsed";
      const rows = [
        { "sm__cycles_elapsed.sum": [1e9, "cycle"], [busy]: [1, ""] },
        { "gpu__time_duration.sum": [1000, "ns"], [busy]: [3, ""] },
      ] as const;
      expect(tally(rows).metrics().get(busy)).toMatchObject({ value: 2, weighted: false });
    });

    test("are weighted with time where all have it", () => {
      const busy = "sm__inst_executed.avg.per_cycle_elapsed";
      const at = (ns: number, value: number): Metrics => ({
        "gpu__time_duration.sum": [ns, "ns"],
        [busy]: [value, ""],
      });
      const rows = [
        { ...at(1000, 1), "sm__cycles_elapsed.sum": [1e9, "cycle"] },
        { ...at(2000, 4), "sm__cycles_elapsed.sum": [9e9, "cycle"] },
        at(3000, 7),
      ] as const;
      expect(tally(rows).metrics().get(busy)).toMatchObject({ value: 5, weighted: true });
      expect(tally(rows.toReversed()).metrics().get(busy)?.value).toBe(5);
    });

    test("are weighted all the same where the other table has no value", () => {
      const rows = [
        timed(10),
        { ...timed(40), "gpu__time_duration.sum": [2e6, "ns"] },
        { x: [1, ""] },
      ];
      const { value, weighted } =
        tally(rows as Metrics[])
          .metrics()
          .get(rate) ?? {};
      expect({ value, weighted }).toEqual({ value: 30, weighted: true });
    });
  });

  test("has its unit from the results that have a number: ncu prints none beside `n/a`", () => {
    const rows: readonly Metrics[] = [
      { "dram__bytes.sum": [Number.NaN, ""] },
      { "dram__bytes.sum": [10, "byte"] },
      { "dram__bytes.sum": [32, "byte"] },
    ];
    for (const order of [rows, rows.toReversed()])
      expect(tally(order).metrics().get("dram__bytes.sum")).toEqual({
        value: 42,
        unit: "byte",
        counted: 2,
        results: 3,
        weighted: true,
      });
  });

  test("of different units are never added", () => {
    const rows = [{ "x__y.sum": [1, "byte"] }, { "x__y.sum": [1, "sector"] }] as const;
    expect(regionValue(rows, "x__y.sum")).toBeNull();
  });

  test("say how many kernels they are made of", () => {
    const metrics = tally([{ "x__y.sum": [1, ""] }, { "x__y.sum": [Number.NaN, ""] }]).metrics();
    expect(metrics.get("x__y.sum")).toMatchObject({ value: 1, unit: "", counted: 1, results: 2 });
  });

  test("do not depend on how the kernels were divided", () => {
    const names = ["a__b.sum", "a__b.max", "a__b.min", "a__b.sum.per_second", "launch__block_size"];
    const value = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant(Number.NaN));
    const row = fc.array(value, { minLength: 5, maxLength: 5 }).map((values) => ({
      "gpu__time_duration.sum": [7, "ns"] as const,
      ...Object.fromEntries(names.map((name, at) => [name, [values[at] ?? 0, ""] as const])),
    }));
    fc.assert(
      fc.property(fc.array(row), fc.array(row), (left, right) => {
        const whole = tally([...left, ...right]).metrics();
        const merged = tally(left);
        merged.merge(tally(right));
        for (const [name, { value: expected }] of whole) {
          const found = merged.metrics().get(name)?.value ?? null;
          if (expected === null || found === null) expect(found).toBe(expected);
          else expect(found).toBeCloseTo(expected, 9);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

const sample = samplesOrSkip("metrics of a real kernel");

test.skipIf(sample === null)("one kernel's metrics are its own", async () => {
  const { results } = await readNcuCsv(sample?.("raw-1kernel-t4-base-units.csv") ?? "");
  const [result] = results;
  if (result === undefined) throw new Error("the sample has a result");
  const all = createMetricTally();
  all.add(result);
  const metrics = all.metrics();
  expect(metrics.size).toBe(result.columns.names.length);
  for (const [place, name] of result.columns.names.entries()) {
    const own = result.values[place] as number;
    const found = metrics.get(name)?.value ?? null;
    if (Number.isNaN(own)) expect(found, name).toBeNull();
    else
      expect(Math.abs((found ?? Number.NaN) - own), name).toBeLessThanOrEqual(
        Math.abs(own) * 1e-12,
      );
  }
});
