import { expect, it } from "vitest";
import { reportKernelWords, wordsOfKinds } from "../../../src/report/view/kernel-words.ts";
import { knownKernelCount } from "../../../src/report/view/region-columns.ts";
import { bundleOf, firstReport } from "../bundles.ts";

it("no kernels are none where nothing ran, and not counted where time passed without them", () => {
  const shown = (kernel_count: number, total_ms: number | null) =>
    knownKernelCount({ kernel_count, total_ms });
  expect([shown(0, null), shown(0, 0), shown(0, 5), shown(3, 5)]).toEqual([0, 0, null, 3]);
});

it("where time passed on a GPU without kernels, it was that of ranges measured as a whole", () => {
  const report = firstReport(bundleOf([{ ranges: [{ name: "a", start: 0, end: 5 }] }]));
  const time = (kernel_clock: typeof report.collector.kernel_clock, total_ms: number | null) =>
    reportKernelWords({
      ...report,
      collector: { ...report.collector, kernel_clock },
      regions: report.regions.map((region) => ({ ...region, total_ms })),
    })?.time;
  expect(time("ncu", 5)).toBe("GPU time of ranges");
  expect(time("ncu", 0)).toBe("GPU time of kernels");
  expect(time("cpu", 0)).toBe("time of CPU operations");
  expect(time(null, null)).toBeUndefined();
});

it("kernels and operations are called what they are, and each kind by name where both were recorded", () => {
  const many = (...kinds: Parameters<typeof wordsOfKinds>[0]) => wordsOfKinds(kinds)?.many;
  expect(many("gpu_kernel", "gpu_kernel")).toBe("GPU kernels");
  expect(many("cpu_operation")).toBe("CPU operations");
  expect(many("gpu_kernel", "cpu_operation")).toBe("GPU kernels and CPU operations");
  expect(many()).toBeUndefined();
});
