/** The hardware metrics of a page: hundreds with ncu's full set. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { MetricValue, RegionReportBundle } from "../../../src/report/model/document.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { bundleOf, resnet } from "../bundles.ts";
import { describeInBrowser } from "./browser.ts";

type Metrics = Readonly<Record<string, MetricValue>>;

function withMetrics(metrics: Metrics): RegionReportBundle {
  const plain = bundleOf([resnet]);
  return {
    ...plain,
    reports: plain.reports.map((report) => ({
      ...report,
      regions: report.regions.map((region) => ({ ...region, metrics })),
    })),
  };
}

const many = withMetrics({
  device__attribute_chip: { value: 358, unit: "" },
  ...Object.fromEntries(
    Array.from({ length: 600 }, (_, at) => [
      `sm__op_${String(at).padStart(3, "0")}.sum`,
      { value: at, unit: "inst" },
    ]),
  ),
  "sm__throughput.avg.pct_of_peak_sustained_elapsed": { value: 27.8, unit: "%" },
});

describeInBrowser("metrics on the page of a report", (openPage) => {
  const open = (bundle: RegionReportBundle) =>
    openPage(renderHtmlReport(bundle, { title: "Report" }), { colorScheme: "light" });

  const table = (page: Page) => page.getByRole("region", { name: "Metrics", exact: true });
  const rows = (page: Page) => table(page).locator("tbody tr").allTextContents();

  it("are all there, those of the machine last", async () => {
    const { page } = await open(many);
    await page.locator(".name", { hasText: "stem" }).first().click();
    const details = page.getByRole("region", { name: "forward / stem" });
    await details.getByText("602 rows").waitFor();
    const more = details.getByRole("button", { name: /^Show more/ });
    while (await more.isVisible()) await more.click();
    const all = await rows(page);
    expect(all[0]).toBe("sm__throughput.avg.pct_of_peak_sustained_elapsed27.8%");
    expect(all[1]).toBe("sm__op_000.sum0inst");
    expect(all.at(-1)).toBe("device__attribute_chip358");
  });

  it("are found by a part of their name, and stand by their values", async () => {
    const { page } = await open(many);
    await page.locator(".name", { hasText: "stem" }).first().click();
    await page.getByLabel("Filter Metrics").fill("OP_59");
    await table(page).getByRole("button", { name: "Value" }).click();
    expect((await rows(page)).map((row) => row.slice(7, 10))).toEqual(
      Array.from({ length: 10 }, (_, at) => `${599 - at}`),
    );
  });

  it("are a column of the regions by choice, which keeps its place in the list", async () => {
    const { page } = await open(
      withMetrics({ first: { value: 1, unit: "" }, second: { value: 2, unit: "%" } }),
    );
    await page.getByLabel("Metric as a column").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await page.getByRole("columnheader", { name: "second [%]" }).count()).toBe(1);
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SELECT");
  });
});
