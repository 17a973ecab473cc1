import { expect, it } from "vitest";
import type { RegionGpuActivity } from "../../../src/report/document.ts";
import { gpuActivityTable } from "../../../src/report/markdown/markdown-parts.ts";
import { bundleOf, regionNamed, resnet } from "../bundles.ts";
import { joined } from "../joined.ts";

const region = (wall_ms: number | null, gpu_activity?: RegionGpuActivity) => ({
  ...regionNamed(bundleOf([resnet]), "forward"),
  wall_ms,
  ...(gpu_activity && { gpu_activity }),
});
const activity = { busy_ms: 30, kernel_ms: 25, copy_ms: 10, overlap_ms: 5 };
const lastRow = (...regions: ReturnType<typeof region>[]) =>
  joined(gpuActivityTable(regions) ?? [])
    .trim()
    .split("\n")
    .at(-1);

it("a GPU was idle for as long as a region was open and nothing ran", () => {
  expect(lastRow(region(40, activity))).toBe(
    "| forward | 40.000 | 75.0 | 10.000 | 25.000 | 10.000 | 5.000 |",
  );
  // Clocks of two sources can differ by a little.
  expect(lastRow(region(29.999, activity))).toContain(" | 0.000 | 25.000 | ");
  expect(lastRow(region(null, activity))).toBe("| forward | – | – | – | 25.000 | 10.000 | 5.000 |");
});

it("there is no table where nothing is known of any region, and no row of one of which it is not", () => {
  expect(gpuActivityTable([region(40)])).toBeNull();
  expect(lastRow(region(40, activity), { ...region(7), name: "other", path: ["other"] })).toContain(
    "| forward | 40.000 |",
  );
});
