/** The page of a sweep in a browser: values of any kind, thousands of jobs, the keyboard. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { hostileNames } from "../../../report/bundles.ts";
import { describeInBrowser } from "../../../report/render/browser.ts";
import { until } from "../../../wait.ts";
import { pageOf, pageSweepOf, searchRows } from "./sweeps.ts";

const HOSTILE = [...hostileNames, "</script><script>alert(1)</script>", "\u001b[31mred\u001b[0m"];

const text = (page: Page, selector: string) => page.locator(selector).first().textContent();
const isExplained = (page: Page) =>
  until(async () => (await page.locator("text=R² out of bag").count()) === 1);

describeInBrowser("the page of a sweep", (open) => {
  it("shows any value as text, and asks the network for nothing", async () => {
    const rows = searchRows(HOSTILE.length).map((row, at) => {
      const name = HOSTILE[at] ?? "";
      return {
        ...row,
        swept: { ...row.swept, [name]: name },
        error: name,
        result: { [name]: name, val: { loss: at } },
      };
    });
    const { page, complaints } = await open(pageOf(pageSweepOf(rows, HOSTILE[0])));
    expect(complaints).toEqual([]);
    const shown = await page.locator("#sweep").textContent();
    expect(shown).toContain("</script><script>alert(1)</script>");
    expect(shown).not.toContain("\u001b");
    expect(await page.locator("script").count()).toBe(2);
  });

  it("says which job is the best, what matters, and how well that is known", async () => {
    const { page } = await open(pageOf(pageSweepOf(searchRows(120))));
    expect(await text(page, "#best")).toMatch(/^Best: #\d+ lr=.* val\.loss 0\.\d+$/);
    await isExplained(page);
    const bars = await page
      .locator("svg[aria-label='Importance'] g")
      .evaluateAll((all) => all.map((each) => each.getAttribute("aria-label") ?? ""));
    expect(bars[0]).toMatch(/^lr: \d+ %$/);
    expect(bars.at(-1)).toMatch(/^noise: \d %$/);
    await page.locator("button", { hasText: "lower is better" }).first().click();
    expect(await text(page, "#best")).toMatch(/val\.loss [23]\.\d+$/);
  });

  it("filters jobs in the table and in the charts alike", async () => {
    const { page } = await open(pageOf(pageSweepOf(searchRows(44))));
    const history = page.getByRole("slider", { name: "History of the objective" });
    expect(await history.getAttribute("aria-valuemax")).toBe("44");
    await page.getByLabel("Filter Jobs").fill("status=failed");
    expect(await text(page, ".table .count")).toBe("4 of 44 rows");
    expect(await history.getAttribute("aria-valuemax")).toBe("4");
    await page.getByLabel("Filter Jobs").fill('"out of memory" layers<=99');
    expect(await text(page, ".table .count")).toBe("4 of 44 rows");
  });

  it("has charts that are one tab stop each, whose jobs the arrow keys name and Enter shows", async () => {
    const { page } = await open(pageOf(pageSweepOf(searchRows(30))));
    const history = page.getByRole("slider", { name: "History of the objective" });
    await history.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    expect(await history.getAttribute("aria-valuetext")).toMatch(/^#28 lr=/);
    expect(await history.getAttribute("aria-valuenow")).toBe("29");
    const details = page.getByRole("complementary", { name: "Chosen job" });
    expect(await details.isVisible()).toBe(false);
    await page.keyboard.press("Enter");
    expect(await details.textContent()).toContain("#28");
    expect(await details.getByRole("link", { name: "Log" }).getAttribute("href")).toBe(
      ".sweep/jobs/28.log",
    );
    await details.getByRole("button", { name: "Close" }).click();
    expect(await details.isVisible()).toBe(false);
  });

  it("of 10,000 jobs has only the rows in view as elements, and all can be scrolled to", async () => {
    const html = pageOf(pageSweepOf(searchRows(10_000)));
    expect(html.length).toBeLessThan(3_000_000);
    const { page } = await open(html, { viewport: { width: 1440, height: 900 } });
    const rows = page.locator("tbody tr:not(.gap)");
    const names = () => page.locator("tbody .name").allTextContents();
    expect(await rows.count()).toBeLessThan(120);
    const scroll = (to: string) =>
      page.evaluate(`document.querySelector(".virtual").scrollTop = ${to}`);
    await scroll("1e9");
    await until(async () => (await names()).includes("#9999"));
    expect(await rows.count()).toBeLessThan(120);
    expect(await rows.last().getAttribute("aria-rowindex")).toBe("10001");
    await scroll("0");
    await until(async () => (await names()).includes("#0"));
    // The worst job, found by sorting.
    await page.locator("th", { hasText: "val.loss" }).getByRole("button").click();
    const [worst = ""] = await names();
    await page.locator("tbody .name").first().focus();
    await page.keyboard.press("Enter");
    expect(await page.locator(".job-details strong").textContent()).toBe(worst);
  });

  it("tells pruned jobs from failed ones, and names values that are no numbers", async () => {
    const rows = searchRows(22).map((row) =>
      row.number === 3
        ? { ...row, status: "pruned" as const, result: null }
        : row.number === 4
          ? { ...row, result: { val: { loss: "NaN" } } }
          : row,
    );
    const { page } = await open(pageOf(pageSweepOf(rows)));
    for (const name of ["History of the objective", "Durations over time"]) {
      const chart = page.getByRole("slider", { name });
      const marksOf = async (tone: string) =>
        (await chart.locator(`.dots.${tone}`).getAttribute("d"))?.match(/M/g)?.length;
      // Two have failed; NaN is no value of the objective.
      expect([await marksOf("pruned"), await marksOf("bad")], name).toEqual([
        1,
        name.startsWith("History") ? 3 : 2,
      ]);
    }
    const history = page.getByRole("slider", { name: "History of the objective" });
    await history.focus();
    await page.keyboard.press("Home");
    const told: (string | null)[] = [];
    for (let job = 0; job < 5; job++) {
      told.push(await history.getAttribute("aria-valuetext"));
      await page.keyboard.press("ArrowRight");
    }
    expect(told.slice(3)).toEqual([
      expect.stringMatching(/^#3 .*: pruned$/),
      expect.stringMatching(/^#4 .*: val\.loss NaN$/),
    ]);
  });

  it("draws the learning curves of the jobs that the filter lets through", async () => {
    const { page } = await open(pageOf(pageSweepOf(searchRows(22))));
    const curves = page.getByRole("slider", { name: "Learning curves" });
    expect(await curves.getAttribute("aria-valuemax")).toBe("20");
    await page.getByLabel("Filter Jobs").fill("job<5");
    expect(await curves.getAttribute("aria-valuemax")).toBe("5");
    await page.getByLabel("Filter Jobs").fill("status=failed");
    expect(await curves.isVisible()).toBe(false);
  });

  it("sets several sweeps beside each other", async () => {
    const { page } = await open(
      pageOf(pageSweepOf(searchRows(20), "first"), pageSweepOf(searchRows(20, 9), "second")),
    );
    expect(await text(page, "#best")).toMatch(/^Best: first #\d+ .*; second #\d+ /);
    expect(await page.locator(".best-line.sweep-0, .best-line.sweep-1").count()).toBe(2);
    await page.getByLabel("Filter Jobs").fill("sweep=second");
    expect(await text(page, ".table .count")).toBe("20 of 40 rows");
  });
});
