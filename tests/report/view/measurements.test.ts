import { describe, expect, it } from "vitest";
import { measurementsOf } from "../../../src/report/view/measurements.ts";
import { bundleOf, firstReport } from "../bundles.ts";

const report = firstReport(
  bundleOf([
    {
      pid: 1,
      ranges: [{ name: "step", start: 0, end: 100 }],
      kernels: [{ name: "gemm", launch: 50, ns: 20 }],
    },
  ]),
);

describe("what would tell more", () => {
  it.each([
    { gpus: [], asksNcu: true },
    { gpus: ["NVIDIA H100 80GB HBM3"], asksNcu: true },
    { gpus: ["Tesla T4", "AMD Instinct MI300X VF"], asksNcu: true },
    { gpus: ["AMD Instinct MI300X VF"], asksNcu: false },
    { gpus: ["Intel(R) Data Center GPU Max 1550"], asksNcu: false },
  ])("is Nsight Compute unless another maker's GPU ran: $gpus", ({ gpus, asksNcu }) => {
    const environment = { ...report.environment, gpus };
    const commands = measurementsOf({ ...report, environment }, [], []).map(
      ({ command }) => command,
    );
    expect(commands.some((command) => command.includes("pipeline.ncu.enable=true"))).toBe(asksNcu);
    expect(commands.some((command) => command.includes("repeats=5"))).toBe(true);
  });
});
