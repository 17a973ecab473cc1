import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../../src/foundation/text/text-width.ts";
import { showReport } from "../../../src/profiler/cli/terminal-report.ts";
import { renderRegionTable } from "../../../src/report/index.ts";
import { renderTopKernels } from "../../../src/report/render/terminal.ts";
import { wellNested } from "../../profiler/analysis/timelines.ts";
import { anyName, bundleOf, firstReport, hostileNames, resnet } from "../bundles.ts";

const report = firstReport(bundleOf([resnet]));

const ESCAPE = String.fromCharCode(27);

describe("renderRegionTable", () => {
  it("shows the tree with aligned columns", () => {
    expect(`\n${renderRegionTable(report, { width: 100 })}`).toBe(`
Region           Calls  Total ms  Ops excl  Wall ms  CPU ops  Share %
forward              2    16.000     2.000   36.000        8    100.0
  stem               2     4.000     4.000    6.000        2     25.0
  residual           2    10.000     0.000   20.000        4     62.5
    block.conv1      2     4.000     4.000    6.000        2     25.0
    block.conv2      2     6.000     6.000    8.000        2     37.5
100 % = 16.000 ms, total time of CPU operations
`);
  });

  it("drops columns before it cuts names", () => {
    expect(`\n${renderRegionTable(report, { width: 49 })}`).toContain(`
Region           Total ms  Wall ms  Share %
forward            16.000   36.000    100.0
`);
    expect(renderRegionTable(report, { width: 24 })).toContain("\n    block.con…     4.000\n");
  });

  it("keeps the mean of payloads in 80 columns, and has no column of sums that none has", () => {
    const titles = (more: { readonly sum?: number; readonly per_second?: number }) => {
      const payload = {
        ...{ name: "Message size of all ranks", unit: "byte", count: 12_345_678 },
        ...{ mean: 123_456_789.5, min: 1, max: 987_654_321.5, ...more },
      };
      const regions = report.regions.map((region) => ({ ...region, payloads: [payload] }));
      const text = renderRegionTable({ ...report, regions }, { width: 80 });
      return text.split("\n").find((line) => /^Region +Number/.test(line));
    };
    expect(titles({})).toMatch(/ Mean/);
    expect(titles({})).not.toMatch(/ Sum| Per second/);
    expect(titles({ sum: 1_524_157_750_190, per_second: 987_654_321.5 })).toMatch(/ Mean/);
  });

  it("keeps the longest regions when there are too many, and says so", () => {
    const text = renderRegionTable(report, { width: 100, maxRows: 3 });
    expect(text.split("\n").map((line) => line.split(" ").find((word) => word !== ""))).toEqual([
      "Region",
      "forward",
      "residual",
      "block.conv2",
      "2",
      "100",
      undefined,
    ]);
    expect(text).toContain("2 shorter regions not shown");
  });

  it("says that nothing was measured instead of writing zeros", () => {
    const wall = firstReport(bundleOf([{ ranges: [{ name: "a", start: 0, end: 5_000_000 }] }]));
    const text = renderRegionTable(wall);
    expect(text).toMatch(/^Region +Calls +Wall ms +Wall excl +Median ms +p95 ms +Share %\n/);
    expect(text).toMatch(/\na +1 +5\.000 +5\.000 +5\.000 +5\.000 +100\.0\n/);
    expect(text).toContain("no GPU kernels or CPU operations were recorded");
    expect(renderRegionTable(firstReport(bundleOf([])))).toBe("No regions.\n");
  });

  it("has no column of shares where nothing was timed", () => {
    const { regions, totals, ...rest } = firstReport(
      bundleOf([{ ranges: [{ name: "a", start: 0, end: 5 }] }]),
    );
    const text = renderRegionTable({
      ...rest,
      totals: { ...totals, wall_ms: null },
      regions: regions.map((region) => ({ ...region, wall_ms: null })),
    });
    expect(text).toMatch(/^Region +Calls +Wall ms +Wall excl +Median ms +p95 ms\n/);
  });

  it("calls GPU kernels and CPU operations what they are", () => {
    const gpu = firstReport(
      bundleOf([
        {
          ranges: [{ name: "a", start: 0, end: 5 }],
          kernels: [
            { name: "k", launch: 1, ns: 2_000_000 },
            { name: "k", launch: 9, ns: 1_000_000 },
          ],
        },
      ]),
    );
    const text = renderRegionTable(gpu);
    expect(text).toContain("Kernels");
    expect(text).not.toContain("CPU");
    expect(text).toMatch(/\n\(outside\) +– +1\.000 +1\.000 +– +1 +– +33\.3\n/);
  });

  it("sets back what is outside of all regions", () => {
    const kernels = [1, 9].map((launch) => ({ name: "k", launch, ns: launch === 1 ? 95 : 5 }));
    const both = firstReport(bundleOf([{ ranges: [{ name: "a", start: 0, end: 5 }], kernels }]));
    const lines = renderRegionTable(both, { color: true }).split("\n");
    expect(lines.filter((line) => /^\S*(a|\(outside\)) /.test(line))).toEqual([
      expect.stringContaining(`${ESCAPE}[33ma `),
      expect.stringContaining(`${ESCAPE}[2m(outside)`),
    ]);
  });

  it("uses colours only when told to", () => {
    expect(renderRegionTable(report)).not.toContain(ESCAPE);
    expect(renderRegionTable(report, { color: true })).toContain(ESCAPE);
  });

  it("never gets wider than the terminal, nor lets a name break the lines", () => {
    fc.assert(
      fc.property(
        fc.array(anyName, { maxLength: 8 }),
        fc.integer({ min: 24, max: 140 }),
        (names, width) => {
          const ranges = names.map((name, index) => ({
            name,
            start: index,
            end: 2 * names.length - index,
          }));
          const nested = firstReport(bundleOf([{ ranges }]));
          const lines = renderRegionTable(nested, { width }).split("\n");
          const table = lines.slice(0, nested.regions.length + 1);
          for (const line of table) expect(textWidth(line)).toBeLessThanOrEqual(width);
          expect(lines.join("")).not.toMatch(/\p{Cc}/u);
        },
      ),
    );
    const hostile = hostileNames.map((name, index) => ({ name, start: index, end: index + 1 }));
    const text = renderRegionTable(firstReport(bundleOf([{ ranges: hostile }])), { width: 100 });
    expect(text.split("\n").length).toBe(hostileNames.length + 4);
  });

  it("has a line for every region of any run", () => {
    fc.assert(
      fc.property(wellNested, (process) => {
        const any = firstReport(bundleOf([process]));
        const lines = renderRegionTable(any).split("\n");
        if (any.regions.length > 0)
          expect(lines[any.regions.length + 1]).toMatch(/^100 %|^no GPU|^$/);
      }),
    );
  });
});

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
