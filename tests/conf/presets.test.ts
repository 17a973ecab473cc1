import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cliConfig } from "../profiler/tools/ncu/run/cli-config.ts";
import { settings } from "../profiler/tools/nsys/settings.ts";
import { samplesOrSkip } from "../shared.ts";
import { composeTree } from "./compose-tree.ts";

const FLOATING_POINT = ["f", "h", "d"].flatMap((type) =>
  ["add", "mul", "fma"].map((op) => `smsp__sass_thread_inst_executed_op_${type}${op}_pred_on.sum`),
);
const METRICS = [
  "gpu__time_duration.sum",
  "sm__throughput.avg.pct_of_peak_sustained_elapsed",
  "dram__throughput.avg.pct_of_peak_sustained_elapsed",
  ...FLOATING_POINT,
];
const DEFAULT = ["SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats"];
const HIGH = [
  ...DEFAULT,
  "ComputeWorkloadAnalysis",
  "WorkloadDistribution",
  "WarpStateStats",
  "LaunchStats",
  "InstructionStats",
];

/** The table of the design. */
const PRESETS = {
  "ncu.default": { include: null, metrics: METRICS, sections: DEFAULT },
  "ncu.high": { include: null, metrics: METRICS, sections: HIGH },
  "ncu.rtx3090": {
    include: "decode*",
    metrics: null,
    sections: [
      "SpeedOfLight",
      "ComputeWorkloadAnalysis",
      "MemoryWorkloadAnalysis",
      "Occupancy",
      "SchedulerStats",
      "WarpStateStats",
      "LaunchStats",
    ],
  },
  "ncu.rtx3090.compute": {
    include: "decode*",
    metrics: null,
    sections: [
      "SpeedOfLight",
      "ComputeWorkloadAnalysis",
      "Occupancy",
      "SchedulerStats",
      "WarpStateStats",
      "LaunchStats",
      "InstructionStats",
    ],
  },
  "ncu.rtx3090.memory": {
    include: "decode*",
    metrics: null,
    sections: [
      "SpeedOfLight",
      "MemoryWorkloadAnalysis",
      "WorkloadDistribution",
      "Occupancy",
      "SchedulerStats",
      "WarpStateStats",
      "LaunchStats",
    ],
  },
  "ncu.hopper": {
    include: null,
    metrics: [
      ...METRICS,
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
      "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    ],
    sections: HIGH,
  },
  "ncu.one_pass": {
    set: null,
    include: null,
    metrics: [
      "gpu__time_duration.sum",
      "dram__bytes_read.sum",
      "dram__bytes_write.sum",
      "lts__t_bytes.sum",
      "sm__cycles_active.avg",
      "sm__warps_active.avg.pct_of_peak_sustained_active",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    ],
    sections: [],
  },
} as const;

describe("presets of Nsight Compute", () => {
  test.each(Object.entries(PRESETS))("%s", (name, { include, metrics, sections, ...preset }) => {
    const { pipeline } = composeTree([`profiling/ncu@pipeline.ncu=${name}`]);
    const { ncu_cli, ...switches } = pipeline.ncu;
    expect(ncu_cli).toEqual({
      ...cliConfig,
      ...preset,
      nvtx: { include, exclude: null },
      sections,
      metrics: metrics === null ? null : expect.any(Array),
    });
    expect([...(ncu_cli.metrics ?? [])].sort()).toEqual([...(metrics ?? [])].sort());
    expect(switches).toEqual({
      enable: false,
      gating_nvtx: true,
      native_nvtx: true,
      fallback: true,
      require_match: false,
      top_n_kernels: null,
      timeout_min: null,
      chip: null,
    });
  });

  test("the metrics are names that ncu printed into real reports", () => {
    const sample = samplesOrSkip("metric names against real Nsight reports");
    if (sample === null) return;
    const reports = ["raw-1kernel-t4-auto-units.csv", "pub-llmperf-details-rtx5090-en_US.csv"]
      .map((file) => readFileSync(sample(file), "latin1"))
      .join("\n");
    // Names as the hardware knows them, without roll-ups. No kernel of those reports computed in
    // half precision, so that its counters, spelled as the others are, have no rows there.
    const known = (metric: string) => reports.includes(metric.split(".")[0] ?? metric);
    expect(PRESETS["ncu.hopper"].metrics.filter((metric) => !known(metric))).toEqual(
      PRESETS["ncu.hopper"].metrics.filter((metric) => /op_h(add|mul|fma)_/.test(metric)),
    );
  });
});

test("the preset of Nsight Systems", () => {
  expect(composeTree([]).pipeline.nsys).toEqual(settings({ enable: false }));
});
