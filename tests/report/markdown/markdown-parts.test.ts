import { describe, expect, it } from "vitest";
import type { RegionRepeats, RepeatStatistics } from "../../../src/report/document.ts";
import { kernelTable, repeatsTable } from "../../../src/report/markdown/markdown-parts.ts";
import { bundleOf, regionNamed, resnet } from "../bundles.ts";
import { joined } from "../joined.ts";

const forward = regionNamed(bundleOf([resnet]), "forward");

describe("the table of repeated runs", () => {
  const of = (mean: number, stable: boolean): RepeatStatistics => ({
    ...{ mean, std: 0.4, ci95_low: mean - 0.5, ci95_high: mean + 0.5, stable },
  });
  const rows = (repeats: RegionRepeats) =>
    joined(repeatsTable([{ ...forward, repeats }]) ?? [])
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

  it("leaves out what not all runs measured", () => {
    expect(rows({ runs: 3, total_ms: null, wall_ms: null })).toEqual([]);
    expect(repeatsTable([forward])).toBeNull();
  });
});

describe("the kernels of a region", () => {
  const [kernel] = forward.kernels;
  if (kernel === undefined) throw new Error("no kernel");
  const on = (...devices: readonly string[]) =>
    kernelTable(
      { ...forward, kernels: devices.map((device) => ({ ...kernel, device })) },
      devices.length,
    );

  it("are told with their device where they ran on several", () => {
    expect(on("cuda:0", "cuda:1")).toMatch(/\| Device \|[\s\S]* cuda:0 [\s\S]* cuda:1 /);
    expect(on("cuda:0", "cuda:0")).not.toContain("Device");
  });
});
