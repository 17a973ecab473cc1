import { describe, expect, it } from "vitest";
import { renderCsv } from "../../../src/pages/csv.ts";
import { renderMarkdown } from "../../../src/pages/markdown.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { renderRegionTable } from "../../../src/report/render/terminal.ts";
import { COMPARED_COLUMNS, everyColumn } from "../../../src/report/view/region-columns.ts";
import { regionRecords } from "../../../src/report/view/region-records.ts";
import { regionTree } from "../../../src/report/view/report-tables.ts";
import { bundleOf, firstReport, regionNamed, resnet } from "../bundles.ts";
import { dataOf, valuesOf } from "../render/page.ts";

const renderTable = (given: Parameters<typeof regionRecords>[0]) =>
  [...renderCsv(regionRecords(given))].join("");
const bundle = bundleOf([resnet], { operationDomains: ["shallow_resnet.ops"] });

describe("columns of regions", () => {
  it("have one heading each, long or short, whatever shows them", () => {
    const keys = new Map<string, Set<string>>();
    for (const table of [
      ...(["tree", "terminal_run", "terminal_kernels", "terminal_wall"] as const),
      ...(["page", "details", "query_text"] as const),
    ])
      for (const { key, column } of everyColumn(table))
        for (const heading of [column.title, column.short ?? column.title])
          keys.set(heading, (keys.get(heading) ?? new Set()).add(key));
    for (const [heading, some] of keys)
      expect([heading, [...some]]).toEqual([heading, [...some].slice(0, 1)]);
  });

  it("have one share, of the time with inner regions, in every format", () => {
    const report = firstReport(bundle);
    const stem = regionNamed(bundle, "residual");
    expect(stem.total_ms).not.toBe(stem.exclusive_ms);
    expect(renderRegionTable(report, { width: 120 })).toMatch(/\n {2}residual .* 62\.5\n/);
    expect(renderMarkdown(regionTree(report))).toMatch(/residual \|.*\| 62\.5 \|\n/);
    const [scope] = dataOf(renderHtmlReport(bundle, { title: "t" })).scopes;
    expect(valuesOf(scope, "Share %")?.[report.regions.indexOf(stem)]).toBeCloseTo(62.5, 3);
    const [share] = everyColumn("query").filter(({ key }) => key === "share_pct");
    expect(share?.column.title).toBe("Share %");
  });

  it("show payloads and categories where the program gave some, in every table that has room", () => {
    const given = bundleOf([
      {
        ranges: [
          { name: "step", start: 0, end: 2e9, payload: 500, category: 3 },
          { name: "other", start: 3e9, end: 4e9 },
        ],
        categoryNames: [{ domain: "", category: 3, name: "I/O" }],
      },
    ]);
    const report = firstReport(given);
    const markdown = renderMarkdown(regionTree(report));
    expect(markdown).toMatch(/\| Category \|\n(?:.*\n)*\| step \|.*\| I\/O \|\n/);
    const [scope] = dataOf(renderHtmlReport(given, { title: "t" })).scopes;
    expect(valuesOf(scope, "Payload sum")).toEqual([500, null]);
    expect(valuesOf(scope, "Payload mean")).toEqual([500, null]);
    expect(valuesOf(scope, "Payload/s")).toEqual([250, null]);
    // An index into the page's texts.
    expect(valuesOf(scope, "Category")).toEqual([expect.any(Number), null]);
    const csv = renderTable(given);
    expect(csv).toMatch(/,categories,.*payload\.sum,payload\.mean,payload\.per_second/);
    expect(csv).toMatch(/,step,.*,I\/O,.*500,500,250/);
    expect(renderMarkdown(regionTree(firstReport(bundle)))).not.toContain("Category");
    expect(
      valuesOf(dataOf(renderHtmlReport(bundle, { title: "t" })).scopes[0], "Payload/s"),
    ).toBeUndefined();
  });

  it("that comparisons compare have the names that conditions of gates use", () => {
    expect(COMPARED_COLUMNS.map(({ name }) => name)).toEqual([
      ...["total_ms", "exclusive_ms", "wall_ms", "wall_exclusive_ms", "cpu_ms"],
      ...[
        "cpu_exclusive_ms",
        "instructions",
        "instructions_exclusive",
        "median_ms",
        "p95_ms",
        "kernel_count",
        "invocations",
      ],
    ]);
  });
});
