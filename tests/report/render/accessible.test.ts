/** Pages for those who see little, use no pointer, or read on a telephone. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { renderComparisonHtml } from "../../../src/report/compare/comparison-html.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { renderSweepHtml } from "../../../src/report/sweep/writers.ts";
import { pageOf, pageSweepOf, searchRows } from "../../app/sweep/page/sweeps.ts";
import { until } from "../../wait.ts";
import { bundleOf, firstReport } from "../bundles.ts";
import { grid } from "../sweep/sweeps.ts";
import { describeInBrowser } from "./browser.ts";
import { FAINT } from "./contrast.ts";

/** The page's own `waitForFunction` fails unless it holds at once: its later looks are evaluations that the page forbids. */
const holdsOn = (page: Page, expression: string): Promise<void> =>
  until(async () => (await page.evaluate(expression)) === true);

const NAMES = ["forward", "decoder.layers.11.self_attention.projection", "backward"];
/** Each range twice, so that calls spread. */
const bundle = bundleOf([
  {
    pid: 1,
    ranges: NAMES.flatMap((name, at) => [
      { name, start: at * 1000, end: at * 1000 + 100 },
      { name, start: at * 1000 + 200, end: at * 1000 + 500 + at },
    ]),
  },
]);
const report = renderHtmlReport(bundle, {
  title: "Region report",
  config: [{ key: "device", value: "cpu", origin: "conf/config.yaml:1" }],
});
const slower = bundleOf([{ pid: 1, ranges: [{ name: "forward", start: 0, end: 9e6 }] }]);
const comparison = renderComparisonHtml({
  names: { a: "a", b: "b" },
  reports: compareReports(firstReport(bundle), firstReport(slower)),
  config: [],
  gates: [],
});
const PAGES = [
  ["a report", report],
  ["a comparison", comparison],
  ["a sweep", renderSweepHtml(grid)],
  ["a sweep's jobs", pageOf(pageSweepOf(searchRows(60)))],
  ["two sweeps' jobs", pageOf(pageSweepOf(searchRows(9), "a"), pageSweepOf(searchRows(9, 2), "b"))],
] as const;

const CHARTS = `[...document.querySelectorAll("svg")].map((svg) => ({
  scale: svg.getBoundingClientRect().width / svg.viewBox.baseVal.width,
  hidden: svg.parentElement.scrollWidth - svg.parentElement.clientWidth,
  outside: [...svg.querySelectorAll("text")].filter((text) => {
    const [inner, outer] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
    return inner.left < outer.left - 1 || inner.right > outer.right + 1;
  }).map((text) => text.textContent),
}))`;

describeInBrowser("pages for everybody", (open) => {
  describe.each(PAGES)("%s", (name, html) => {
    it.each(["light", "dark"] as const)("has contrast in %s colours", async (colorScheme) => {
      const { page } = await open(html, { colorScheme });
      expect(await page.evaluate(FAINT)).toEqual([]);
    });

    // A comparison has no charts.
    it.each(name === "a comparison" ? [] : [360, 768, 1400])(
      "has charts that fit %i px, with texts of their size",
      async (width) => {
        const { page } = await open(html, { viewport: { width, height: 900 } });
        await holdsOn(page, `(${CHARTS}).some(({ scale }) => Math.abs(scale - 1) < 0.01)`);
        for (const chart of (await page.evaluate(CHARTS)) as {
          hidden: number;
          outside: string[];
        }[])
          expect(chart).toMatchObject({ hidden: 0, outside: [] });
      },
    );

    it("sorts a table by the keyboard, and says how", async () => {
      const { page } = await open(html);
      const heading = page.locator("th:has(.sort)").first();
      await heading.locator("button").focus();
      expect(await heading.getAttribute("aria-sort")).toBe("none");
      await page.keyboard.press("Enter");
      expect(await heading.getAttribute("aria-sort")).toBe("ascending");
      await page.keyboard.press("Space");
      expect(await heading.getAttribute("aria-sort")).toBe("descending");
    });

    it("moves nothing for those who asked for that", async () => {
      const { page } = await open(html, { reducedMotion: "reduce" });
      const moving = `[...document.querySelectorAll("*")].filter((each) => getComputedStyle(each).transitionDuration !== "0s" || getComputedStyle(each).animationName !== "none").length`;
      expect(await page.evaluate(moving)).toBe(0);
    });
  });

  it("a chart is one tab stop; arrow keys move in it and Enter chooses", async () => {
    const { page } = await open(report);
    const rows = page.locator(".spread");
    expect(await rows.count()).toBe(3);
    expect(await page.locator(".spread[tabindex='0']").count()).toBe(1);
    await rows.first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
    expect(await focused()).toBe(await rows.last().getAttribute("aria-label"));
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe(await rows.last().getAttribute("aria-label"));
    await page.keyboard.press("Home");
    expect(await focused()).toBe(await rows.first().getAttribute("aria-label"));
    const label = String(await focused()).split(":")[0] ?? "";
    await page.keyboard.press("Enter");
    expect(await page.locator("#details-heading").textContent()).toBe(label);
    expect(await page.locator("#details-heading").isVisible()).toBe(true);
  });

  it("a chart redrawn for another width keeps its tab stop and the focus", async () => {
    const { page } = await open(report, { viewport: { width: 1000, height: 900 } });
    const chart = "document.querySelector('.distribution').viewBox.baseVal.width";
    await page.locator(".spread").first().focus();
    await page.keyboard.press("ArrowDown");
    const stop = page.locator(".spread[tabindex='0']");
    const label = await stop.getAttribute("aria-label");
    expect(label).toBe(await page.locator(".spread").nth(1).getAttribute("aria-label"));
    const before = await page.evaluate(chart);
    await page.setViewportSize({ width: 400, height: 900 });
    await holdsOn(page, `${chart} < ${before} - 300`);
    const focused = await page.evaluate("document.activeElement.getAttribute('aria-label')");
    expect([await stop.count(), await stop.getAttribute("aria-label"), focused]).toEqual([
      1,
      label,
      label,
    ]);
  });
});
