import { expect, it } from "vitest";
import { shownKernelCount, wordsOfKinds } from "../../../src/report/kernels/kernel-words.ts";
import { bundleOf, firstReport } from "../bundles.ts";

it("no kernels are none where nothing ran, and not counted where time passed without them", () => {
  const [region] = firstReport(bundleOf([{ ranges: [{ name: "a", start: 0, end: 5 }] }])).regions;
  if (region === undefined) throw new Error("no region");
  const shown = (kernel_count: number, total_ms: number | null) =>
    shownKernelCount({ ...region, kernel_count, total_ms });
  expect([shown(0, null), shown(0, 0), shown(0, 5), shown(3, 5)]).toEqual(["0", "0", "–", "3"]);
});

it("kernels and operations are called what they are, and each kind by name where both were recorded", () => {
  const many = (...kinds: Parameters<typeof wordsOfKinds>[0]) => wordsOfKinds(kinds)?.many;
  expect(many("gpu_kernel", "gpu_kernel")).toBe("GPU kernels");
  expect(many("cpu_operation")).toBe("CPU operations");
  expect(many("gpu_kernel", "cpu_operation")).toBe("GPU kernels and CPU operations");
  expect(many()).toBeUndefined();
});
