import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import type { Comparison } from "../../../src/report/compare/comparison.ts";
import { renderComparisonHtml } from "../../../src/report/compare/comparison-html.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import { bundleOf, firstReport, repeated, resnet } from "../bundles.ts";
import { describeInBrowser } from "../render/browser.ts";

const scaled = (factor: number) => ({
  ...resnet,
  ranges: (resnet.ranges ?? []).map((range) => ({
    ...range,
    start: range.start * factor,
    end: (range.end ?? 0) * factor,
  })),
});
const OPERATIONS = { operationDomains: ["shallow_resnet.ops"] };
const reports = compareReports(
  repeated(firstReport(bundleOf([resnet], OPERATIONS))),
  repeated(firstReport(bundleOf([scaled(2)], OPERATIONS))),
);
const comparison: Comparison = {
  names: { a: "runs/before", b: "runs/after" },
  reports,
  config: [{ key: "infer.batch_size", a: "4", b: null }],
  gates: checkGates(parseGates("total_ms>5%"), reports),
};

describeInBrowser("the page of a comparison", (openPage) => {
  const open = (shown: Comparison) => openPage(renderComparisonHtml(shown));

  const rowsOf = (page: Page, table: string) =>
    page.getByRole("region", { name: table, exact: true }).locator("tbody tr");

  it("has regions, operations, configuration, gates and the sum of all", async () => {
    const { page, complaints } = await open(comparison);
    expect(await rowsOf(page, "Regions").first().locator("td").allTextContents()).toEqual([
      ...["forward", "16.000", "32.000", "+16.000 ±0.036", "+100.0", "slower"],
    ]);
    expect(await rowsOf(page, "CPU operations").count()).toBe(3);
    // Each section is named by its heading.
    for (const name of ["Regions", "CPU operations", "Configuration"])
      expect(await page.locator("section").and(page.getByRole("region", { name })).count()).toBe(1);
    expect(await rowsOf(page, "Configuration").locator("td").allTextContents()).toEqual([
      ...["infer.batch_size", "4", "(none)"],
    ]);
    expect(await page.getByText("all: 16.000 ms before, 32.000 ms after: +16.000").count()).toBe(1);
    expect(await page.getByRole("heading", { name: "gate breached" }).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it.each([360, 400])("shows name, percentage and verdict first at %i px", async (width) => {
    const { page } = await openPage(renderComparisonHtml(comparison), {
      viewport: { width, height: 800 },
    });
    const headings = page.getByRole("region", { name: "Regions", exact: true }).locator("thead th");
    expect(await headings.allTextContents()).toEqual([
      ...["Name", "%", "Verdict", "Change ms", "A ms", "B ms"],
    ]);
    const place = await headings.filter({ hasText: "Verdict" }).boundingBox();
    expect((place?.x ?? 0) + (place?.width ?? width)).toBeLessThanOrEqual(width);
    await page.setViewportSize({ width: 1000, height: 800 });
    await headings.nth(1).filter({ hasText: "A ms" }).waitFor();
    expect(await headings.last().textContent()).toBe("Verdict");
  });

  it("shows the whole result at 390 px, then the notes, a line each until they are opened", async () => {
    const notes = Array.from({ length: 12 }, (_, at) => `note ${at} ${"of many words ".repeat(9)}`);
    const { page } = await openPage(
      renderComparisonHtml({ ...comparison, reports: { ...reports, notes } }),
      { viewport: { width: 390, height: 800 } },
    );
    const parts = page.locator(".result > div");
    expect(await parts.count()).toBe(2);
    for (const part of await parts.all()) {
      const room = await part.evaluate((each: unknown) => {
        const { scrollWidth, clientWidth } = each as Record<"scrollWidth" | "clientWidth", number>;
        return scrollWidth - clientWidth;
      });
      expect(room).toBeLessThanOrEqual(0);
    }
    const result = await page.locator(".result").boundingBox();
    const lines = page.locator(".notes li");
    expect(await lines.count()).toBe(12);
    for (const line of await lines.all()) {
      const box = await line.boundingBox();
      expect(box?.y).toBeGreaterThan((result?.y ?? 0) + (result?.height ?? 0));
      expect(box?.height).toBeLessThan(30);
    }
    await lines.first().locator("summary").click();
    expect((await lines.first().boundingBox())?.height).toBeGreaterThan(40);
  });

  it.each(["light", "dark"] as const)("draws both trees for a %s page", async (colorScheme) => {
    const { page } = await openPage(renderComparisonHtml(comparison), { colorScheme });
    const colors = (await page.evaluate(
      "[...document.querySelectorAll('.box.diff')].map((each) => getComputedStyle(each).backgroundColor)",
    )) as readonly string[];
    expect(colors.length).toBeGreaterThan(0);
    for (const color of colors) {
      const lightness = Number(/^oklab\(([\d.]+)/.exec(color)?.[1]);
      if (colorScheme === "dark") expect(lightness).toBeLessThan(0.6);
      else expect(lightness).toBeGreaterThan(0.6);
    }
  });

  it("stays sorted and filtered when the window is made narrow, and wide again", async () => {
    const { page } = await open(comparison);
    await page.getByRole("button", { name: "Change ms" }).first().click();
    await page.getByLabel("Filter Regions").fill("residual");
    const labels = rowsOf(page, "Regions").locator(".label");
    const headings = page.getByRole("region", { name: "Regions", exact: true }).locator("thead th");
    const before = await labels.allTextContents();
    // What matches, in the tree, with the largest change first.
    expect(before).toEqual(["forward", "residual", "block.conv2", "block.conv1"]);
    for (const [width, second] of [
      [500, "%"],
      [1000, "A ms"],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await headings.nth(1).filter({ hasText: second }).waitFor();
      expect(await labels.allTextContents()).toEqual(before);
      expect(await page.getByLabel("Filter Regions").inputValue()).toBe("residual");
      const sorted = page.locator('[aria-sort="descending"]');
      expect(await sorted.allTextContents()).toEqual(["Change ms"]);
    }
  });

  it("sorts by the size of the change, and says then where a region is", async () => {
    const { page } = await open(comparison);
    await page.getByRole("button", { name: "Change ms" }).first().click();
    expect(await rowsOf(page, "Regions").locator(".label").allTextContents()).toEqual([
      "forward",
      "forward / residual",
      "forward / residual / block.conv2",
      "forward / stem",
      "forward / residual / block.conv1",
    ]);
    await page.getByLabel("Filter Regions").fill("conv2");
    expect(await rowsOf(page, "Regions").locator(".label").allTextContents()).toEqual([
      ...["forward", "residual", "block.conv2"],
    ]);
  });

  it("shows both trees on one scale, and zooms both", async () => {
    const { page, complaints } = await open(comparison);
    const boxOf = (side: string, name: string) =>
      page.getByRole("tree", { name: `Regions of ${side}` }).getByRole("treeitem", { name });
    const widthOf = async (side: string) =>
      (await boxOf(side, "forward,").boundingBox())?.width ?? Number.NaN;
    expect((await widthOf("B")) / (await widthOf("A"))).toBeCloseTo(2, 1);
    await boxOf("A", "residual,").click();
    expect(await page.getByRole("treeitem", { name: "stem," }).count()).toBe(0);
    expect(await boxOf("B", "block.conv2,").count()).toBe(1);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Escape");
    expect(await boxOf("B", "stem,").count()).toBe(1);
    expect(await page.getByText("B is slower: +16.000 ±0.036 ms").count()).toBe(1);
    expect(await page.locator(".waterfall tr").count()).toBe(5);
    expect(complaints).toEqual([]);
  });

  it("shows reports without regions", async () => {
    const empty = firstReport(bundleOf([{ pid: 1, ranges: [] }]));
    const { page, complaints } = await open({
      ...comparison,
      reports: compareReports(empty, empty),
      config: null,
      gates: [],
    });
    expect(await rowsOf(page, "Regions").count()).toBe(0);
    expect(await page.getByText("No known differences.").count()).toBe(1);
    expect(complaints).toEqual([]);
  });
});
