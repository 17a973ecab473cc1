import { describe, expect, it } from "vitest";
import { showReport } from "../../../src/profile/cli/terminal-report.ts";
import { renderTopKernels } from "../../../src/report/terminal/top-kernels-table.ts";
import { bundleOf, firstReport, resnet } from "../bundles.ts";

const withoutRegions = firstReport(
  bundleOf([
    {
      kernels: [
        { name: "gemm", launch: 1, ns: 6_000_000 },
        { name: "gemm", launch: 2, ns: 2_000_000 },
        { name: "copy", launch: 3, ns: 1_500_000 },
        { name: "relu", launch: 4, ns: 500_000 },
      ],
    },
  ]),
);

describe("the longest kernels", () => {
  it("stand in a table, longest first, with how many are left out", () => {
    expect(`\n${renderTopKernels(withoutRegions, { width: 80, color: false }, 2)}`).toBe(`
GPU kernel  Calls  Total ms  Mean ms  Share %
gemm            2     8.000    4.000     80.0
copy            1     1.500    1.500     15.0
1 shorter one not shown
`);
  });

  it("have both shares of what limits them, or neither, however wide the terminal is", () => {
    const measured = {
      ...withoutRegions,
      regions: withoutRegions.regions.map((region) => ({
        ...region,
        kernels: region.kernels.map((kernel) => ({
          ...kernel,
          hardware: {
            sm_pct: 30,
            memory_pct: 70,
            limited_by: "memory" as const,
            tensor_pct: 0,
            occupancy_pct: 24,
            occupancy_limit_pct: 25,
            occupancy_limited_by: ["registers" as const],
          },
        })),
      })),
    };
    const headings = Array.from({ length: 120 }, (_, narrower) => {
      const [heading = ""] = renderTopKernels(
        measured,
        { width: 140 - narrower, color: false },
        2,
      ).split("\n");
      return heading;
    });
    for (const heading of headings)
      expect(heading.includes("Mem %"), heading).toBe(heading.includes("SM %"));
    expect(headings.some((heading) => !heading.includes("SM %"))).toBe(true);
    expect(headings.some((heading) => heading.includes("Mem %"))).toBe(true);
  });

  it("are none where nothing was recorded", () => {
    const nothing = firstReport(bundleOf([{ ranges: [{ name: "a", start: 0, end: 5 }] }]));
    expect(renderTopKernels(nothing, { width: 80, color: false }, 2)).toBe("");
  });

  it("are shown on the terminal where no region tells where they ran, and only there", () => {
    const shown = (report: typeof withoutRegions) => {
      const lines: string[] = [];
      const write = (text: string) => lines.push(text);
      showReport(report, { write, writeError: write, width: 80, color: false });
      return lines.join("");
    };
    expect(shown(withoutRegions)).toMatch(/\(outside\)[\s\S]*\nGPU kernel +Calls[\s\S]*\nnote: /);
    expect(shown(firstReport(bundleOf([resnet])))).not.toContain("Mean ms");
  });
});
