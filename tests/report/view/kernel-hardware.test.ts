import { describe, expect, it } from "vitest";
import { renderCsv } from "../../../src/pages/csv.ts";
import {
  createReportValidator,
  type KernelHardware,
  type KernelRecord,
  type RegionReportBundle,
} from "../../../src/report/index.ts";
import { kernelHardware, mergeHardware } from "../../../src/report/view/kernel-hardware.ts";
import {
  hardwareLegend,
  kernelTable,
  occupancyLimitText,
} from "../../../src/report/view/kernel-tables.ts";
import { kernelRecords } from "../../../src/report/view/region-records.ts";
import { wordsOfKinds } from "../../../src/report/view/times.ts";
import { bundleOf, regionNamed, resnet } from "../bundles.ts";

const percent = (value: number | null) => ({ value, unit: "%" });
const blocks = (value: number | null) => ({ value, unit: "block" });
const SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
const HMMA = "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active";
const IMMA = "sm__pipe_tensor_op_imma_cycles_active.avg.pct_of_peak_sustained_active";

const NOTHING: KernelHardware = {
  sm_pct: null,
  memory_pct: null,
  limited_by: null,
  tensor_pct: null,
  occupancy_pct: null,
  occupancy_limit_pct: null,
  occupancy_limited_by: [],
};

describe("kernelHardware", () => {
  it("says nothing where nothing of it was measured", () => {
    expect(kernelHardware({})).toBeUndefined();
    expect(kernelHardware({ "dram__bytes.sum": { value: 1, unit: "byte" } })).toBeUndefined();
    expect(kernelHardware({ [SM]: percent(null) })).toBeUndefined();
  });

  it("concludes a limit from both shares alone", () => {
    expect(kernelHardware({ [SM]: percent(90) })).toEqual({ ...NOTHING, sm_pct: 90 });
    expect(kernelHardware({ [SM]: percent(27.8), [MEMORY]: percent(88.4) })).toEqual({
      ...NOTHING,
      ...{ sm_pct: 27.8, memory_pct: 88.4, limited_by: "memory" },
    });
  });

  it("takes all tensor instructions together before the busiest kind of them", () => {
    const kinds = { [HMMA]: percent(12), [IMMA]: percent(30) };
    expect(kernelHardware(kinds)?.tensor_pct).toBe(30);
    const whole = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
    expect(kernelHardware({ ...kinds, [whole]: percent(0) })?.tensor_pct).toBe(0);
  });

  it("makes no share of counts of tensor operations, whose peak no counter tells", () => {
    const counts = { "sm__ops_path_tensor_src_bf16_dst_fp32.sum": { value: 1e9, unit: "" } };
    expect(kernelHardware(counts)).toBeUndefined();
    expect(kernelHardware({ ...counts, [SM]: percent(50) })?.tensor_pct).toBeNull();
  });

  it("names what allows the fewest blocks, and all that allow as few", () => {
    const limits = {
      launch__occupancy_limit_registers: blocks(4),
      launch__occupancy_limit_shared_mem: blocks(4),
      launch__occupancy_limit_warps: blocks(16),
      launch__occupancy_limit_blocks: blocks(null),
    };
    const of = (most: number) =>
      kernelHardware({ ...limits, sm__maximum_warps_per_active_cycle_pct: percent(most) });
    expect(of(50)?.occupancy_limited_by).toEqual(["registers", "shared_memory"]);
    expect(of(100)?.occupancy_limited_by).toEqual([]);
    expect(kernelHardware(limits)).toEqual({
      ...NOTHING,
      occupancy_limited_by: ["registers", "shared_memory"],
    });
  });

  it("knows the labels of the details page, and takes no rate for a share", () => {
    expect(
      kernelHardware({
        "Compute (SM) Throughput": percent(41.5),
        "Memory Throughput": { value: 1e9, unit: "byte/s" },
        "Achieved Occupancy": percent(15.2),
        "Theoretical Occupancy": percent(16.7),
        "Block Limit Shared Mem": blocks(2),
        "Block Limit SM": blocks(24),
      }),
    ).toEqual({
      ...NOTHING,
      ...{ sm_pct: 41.5, occupancy_pct: 15.2, occupancy_limit_pct: 16.7 },
      occupancy_limited_by: ["shared_memory"],
    });
  });
});

describe("mergeHardware", () => {
  const of = (total_ms: number, hardware?: Partial<KernelHardware>) => ({
    total_ms,
    ...(hardware && { hardware: { ...NOTHING, ...hardware } }),
  });

  it("is what the only region has that has any", () => {
    expect(mergeHardware([])).toBeUndefined();
    expect(mergeHardware([of(1)])).toBeUndefined();
    expect(mergeHardware([of(1), of(2, { sm_pct: 5 })])).toEqual({ ...NOTHING, sm_pct: 5 });
  });

  it("weights shares with time, and decides again what limits", () => {
    const parts = [
      of(3, { sm_pct: 90, memory_pct: 10, occupancy_limited_by: ["registers"] }),
      of(1, { sm_pct: 10, memory_pct: 90, tensor_pct: 7, occupancy_limited_by: ["warps"] }),
    ];
    expect(mergeHardware(parts)).toEqual({
      ...NOTHING,
      ...{ sm_pct: 70, memory_pct: 30, limited_by: "compute", tensor_pct: 7 },
      occupancy_limited_by: ["registers"],
    });
    expect(mergeHardware([of(0, { sm_pct: 10 }), of(0, { sm_pct: 30 })])?.sm_pct).toBe(20);
  });

  it("takes what limits occupancy from where the kernel ran longest", () => {
    const first = of(1, { occupancy_limited_by: ["registers"] });
    const longest = of(5, { occupancy_limited_by: ["warps"] });
    for (const parts of [
      [first, longest],
      [longest, first],
    ])
      expect(mergeHardware(parts)?.occupancy_limited_by).toEqual(["warps"]);
  });
});

describe("reports of kernels with counters", () => {
  const hardware: KernelHardware = {
    ...{ sm_pct: 20, memory_pct: 80, limited_by: "memory", tensor_pct: null, occupancy_pct: 40 },
    ...{ occupancy_limit_pct: 50, occupancy_limited_by: ["registers", "warps"] },
  };
  const withHardware = (of: KernelHardware): RegionReportBundle => {
    const bundle = bundleOf([resnet]);
    return {
      ...bundle,
      reports: bundle.reports.map((report) => ({
        ...report,
        regions: report.regions.map((region) => ({
          ...region,
          kernels: region.kernels.map((kernel): KernelRecord => ({ ...kernel, hardware: of })),
        })),
      })),
    };
  };

  it("have columns of what some kernel has, and say what they mean", () => {
    const [plain] = regionNamed(bundleOf([resnet]), "forward").kernels;
    if (plain === undefined) throw new Error("no kernel");
    const measured: KernelRecord = { ...plain, hardware };
    const words = wordsOfKinds([plain.kind]);
    if (words === null) throw new Error("no words");
    const { columns, rows } = kernelTable([measured, plain], { words, wholeMs: null });
    const [first, second] = [...rows];
    expect(
      columns.map(({ title }, at) => [title, first?.cells[at], second?.cells[at]]).slice(5),
    ).toEqual([
      ["SM %", 20, null],
      ["Memory %", 80, null],
      ["Limited by", "memory", null],
      ["Occupancy %", 40, null],
      ["Occupancy limit", "50.0 %: registers, warps", null],
    ]);
    expect(hardwareLegend([measured]).join()).toMatch(/Occupancy/);
    expect(hardwareLegend([measured]).join()).not.toContain("ensor");
    expect(hardwareLegend([plain])).toEqual([]);
  });

  it("say what limits occupancy as far as that was measured", () => {
    const limit = (occupancy_limit_pct: number | null, ...by: ("registers" | "shared_memory")[]) =>
      occupancyLimitText({ ...hardware, occupancy_limit_pct, occupancy_limited_by: by });
    expect(limit(50, "registers")).toBe("50.0 %: registers");
    expect(limit(100)).toBe("100.0 %");
    expect(limit(null, "registers", "shared_memory")).toBe("registers, shared memory");
    expect(limit(null)).toBeNull();
  });

  it("stand in kernels.csv only where there are any", () => {
    const [head, row] = [...renderCsv(kernelRecords(withHardware(hardware)))];
    expect(head).toContain(
      "mean_ms,sm_pct,memory_pct,limited_by,tensor_pct,occupancy_pct,occupancy_limit_pct,occupancy_limited_by",
    );
    expect(row).toContain(",20,80,memory,,40,50,registers+warps");
    expect([...renderCsv(kernelRecords(bundleOf([resnet])))][0]).not.toContain("sm_pct");
  });

  it("are held to the contract: what limits follows from the shares", async () => {
    const validator = createReportValidator();
    expect(validator.validate(withHardware(hardware))).toEqual([]);
    const [issue] = validator.validate(withHardware({ ...hardware, limited_by: "compute" }));
    expect(issue).toMatchObject({ expected: '"memory"' });
    expect(issue?.pointer).toMatch(/\/kernels\/0\/hardware$/);
  });
});
