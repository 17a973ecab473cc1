import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../../src/pages/markdown.ts";
import type {
  KernelRecord,
  RegionGpuActivity,
  RegionRepeats,
  RepeatStatistics,
} from "../../../src/report/model/document.ts";
import { kernelsOf } from "../../../src/report/view/region-report.ts";
import { gpuActivityTable, repeatsTable } from "../../../src/report/view/report-tables.ts";
import { bundleOf, regionNamed, resnet } from "../bundles.ts";

const forward = regionNamed(bundleOf([resnet]), "forward");

describe("the table of repeated runs", () => {
  const of = (mean: number, stable: boolean): RepeatStatistics => ({
    ...{ mean, std: 0.4, ci95_low: mean - 0.5, ci95_high: mean + 0.5, stable },
  });
  const rows = (repeats: RegionRepeats) =>
    renderMarkdown(repeatsTable([{ ...forward, repeats }]))
      .trim()
      .split("\n")
      .slice(2);

  it("has the mean with the half of its interval, and whether that is narrow", () => {
    expect(rows({ runs: 5, total_ms: of(20, true), wall_ms: of(30, false) })).toEqual([
      "| forward | 5 | 20.000 | ±0.500 | 0.400 | stable |",
    ]);
    expect(rows({ runs: 3, total_ms: null, wall_ms: of(2, false) })).toEqual([
      "| forward | 3 | 2.000 | ±0.500 | 0.400 | not stable |",
    ]);
  });

  it("has no interval of two runs", () => {
    const [row] = rows({ runs: 2, total_ms: of(20, true), wall_ms: null });
    expect(row).toMatch(/^\| forward \| 2 \| 20\.000 \| \S? ?\| 0\.400 \| too few runs \|$/);
  });

  it("leaves out what not all runs measured", () => {
    expect(rows({ runs: 3, total_ms: null, wall_ms: null })).toEqual([]);
    expect(repeatsTable([forward])).toEqual([]);
  });
});

describe("the kernels of a region", () => {
  const [kernel] = forward.kernels;
  if (kernel === undefined) throw new Error("no kernel");
  const on = (...devices: readonly KernelRecord["device"][]) =>
    renderMarkdown(
      kernelsOf(
        { ...forward, kernels: devices.map((device) => ({ ...kernel, device })) },
        devices.length,
      ),
    );

  it("are told with their device where they ran on several", () => {
    expect(on("cuda:0", "cuda:1")).toMatch(/\| Device \|[\s\S]* cuda:0 [\s\S]* cuda:1 /);
    expect(on("cuda:0", "cuda:0")).not.toContain("Device");
  });
});

describe("gpu activity", () => {
  const region = (wall_ms: number | null, gpu_activity?: RegionGpuActivity) => ({
    ...regionNamed(bundleOf([resnet]), "forward"),
    wall_ms,
    ...(gpu_activity && { gpu_activity }),
  });
  const activity = { busy_ms: 30, kernel_ms: 25, copy_ms: 10, overlap_ms: 5 };
  const lastRow = (...regions: ReturnType<typeof region>[]) =>
    renderMarkdown(gpuActivityTable(regions)).trim().split("\n").at(-1);

  it("a GPU was idle for as long as a region was open and nothing ran", () => {
    expect(lastRow(region(40, activity))).toBe(
      "| forward | 40.000 | 75.0 | 10.000 | 25.000 | 10.000 | 5.000 |",
    );
    // Clocks of two sources can differ by a little.
    expect(lastRow(region(29.999, activity))).toContain(" | 0.000 | 25.000 | ");
    expect(lastRow(region(null, activity))).toBe(
      "| forward | – | – | – | 25.000 | 10.000 | 5.000 |",
    );
  });

  it("there is no table where nothing is known of any region, and no row of one of which it is not", () => {
    expect(gpuActivityTable([region(40)])).toEqual([]);
    expect(
      lastRow(region(40, activity), { ...region(7), name: "other", path: ["other"] }),
    ).toContain("| forward | 40.000 |");
  });
});
