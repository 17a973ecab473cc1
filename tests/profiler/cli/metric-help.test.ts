import { expect, test } from "vitest";
import { metricHelp, metricsBeginning } from "../../../src/profiler/cli/metric-help.ts";
import { thisMachine } from "../../../src/profiler/machine/doctor/machine.ts";
import { openMetricSource } from "../../../src/profiler/machine/metric-source.ts";
import { nativeProgram } from "../../native/programs.ts";

// The record answers here, wherever the tests run: no libcupti is there by this path.
const env = { ...process.env, HYDRACONF_CUPTI_PATH: "/nowhere/libcupti.so.13" };
const help = (name: string) => metricHelp(name, { env, color: false });

test("the help of a metric: its unit, passes by chips, and where it is named differently", async () => {
  const text = await help("sm__throughput.avg.pct_of_peak_sustained_elapsed");
  expect(text).toMatch(/^sm__throughput\.avg\.pct_of_peak_sustained_elapsed\n {2}unit +percent\n/);
  expect(text).toMatch(/ passes +5 on TU102, .*; 6 on GA102, .*; 8 on GH100, /);
  expect(text).toContain("a record of CUDA 13.0");
  expect(text).not.toContain("sampled");
  const dram = await help("dram__bytes_op_read.sum");
  expect(dram).toMatch(/ not on +GV100, /);
  expect(dram).toContain("dram__bytes_read.sum on some of those");
});

test("a wrong name gets the nearest one, with its rollup", async () => {
  await expect(help("sm__troughput.avg.pct_of_peak_sustained_elapsed")).rejects.toMatchObject({
    code: "profile.metric",
    details: { nearest: "sm__throughput.avg.pct_of_peak_sustained_elapsed" },
  });
  await expect(help("sm__throughput.sum")).rejects.toMatchObject({
    code: "profile.metric",
    message: "'sm__throughput' has no rollup '.sum'",
  });
});

test("names complete a list", async () => {
  expect(await metricsBeginning("dram__bytes_read", { env })).toEqual(["dram__bytes_read.sum"]);
  expect(await metricsBeginning("nothing__", { env })).toEqual([]);
});

test("with NVIDIA's library: what is counted, rollups, and completion in two steps", async () => {
  const machine = thisMachine(process.env);
  const source = await openMetricSource(machine, await nativeProgram("chip_metrics"));
  if ((await source.library?.chips().catch(() => null)) == null) {
    console.warn("SKIPPED the help of metrics by NVIDIA's library: no CUPTI of 12.6");
    return;
  }
  const own = { env: process.env, color: false };
  const text = await metricHelp("dram__bytes_read", own);
  expect(text).toMatch(/ counts +\S/);
  expect(text).toMatch(/ passes +none without a rollup\n/);
  expect(text).not.toContain("sampled");
  const share = await metricHelp("sm__throughput.avg.pct_of_peak_sustained_elapsed", own);
  expect(share).toMatch(/ passes +.*8 on GH100/);
  expect(share).toMatch(/ sampled +.*\d\d on .*GH100.*: passes at an interval, where one is all/);
  expect(text).toMatch(/ rollups +\.avg, .*\.sum\.per_second/);
  expect(await metricsBeginning("dram__bytes_read.sum.per_s", own)).toEqual([
    "dram__bytes_read.sum.per_second",
  ]);
  expect(await metricsBeginning("dram__bytes_rea", own)).toEqual(["dram__bytes_read."]);
});
