/** A report with every column that there is, on the screens of a tablet, a laptop and a desk, light and dark. */
import { expect, it } from "vitest";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { bundleOf } from "../bundles.ts";
import { describeInBrowser } from "./browser.ts";

const MS = 1_000_000;
const plain = bundleOf([
  {
    pid: 1,
    ranges: [
      { name: "forward", start: 0, end: 100 * MS },
      { name: "residual", start: 5 * MS, end: 60 * MS },
      { name: "block.conv1", start: 10 * MS, end: 50 * MS },
    ],
    kernels: [
      { name: "ampere_sgemm_128x64_tn", launch: 12 * MS, ns: 20 * MS },
      { name: "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float>", launch: 40 * MS, ns: 5 * MS },
    ],
  },
]);
const measured = {
  ...plain,
  reports: plain.reports.map((report) => ({
    ...report,
    regions: report.regions.map((region) => ({
      ...region,
      gpu_activity: { busy_ms: 30, kernel_ms: 25, copy_ms: 10, overlap_ms: 5 },
      metrics: {
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": { value: 12.5, unit: "%" },
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": {
          value: 80,
          unit: "%",
        },
      },
      kernels: region.kernels.map((kernel) => ({
        ...kernel,
        hardware: {
          sm_pct: 12.5,
          memory_pct: 80,
          limited_by: "memory" as const,
          tensor_pct: 0,
          occupancy_pct: 24.8,
          occupancy_limit_pct: 25,
          occupancy_limited_by: ["registers" as const, "shared_memory" as const],
        },
      })),
    })),
  })),
};
const html = renderHtmlReport(measured, { title: "Region report" });

/** What of a page is cut off or lies on something else: nothing should. */
const FAULTS = `(() => {
  const shown = (each) => each.getClientRects().length > 0;
  const boxOf = (each) => each.getBoundingClientRect();
  const faults = [];
  for (const each of document.querySelectorAll(".scroll"))
    if (each.scrollWidth > each.clientWidth + 1)
      faults.push(each.getAttribute("aria-label") + " is cut off by " + (each.scrollWidth - each.clientWidth));
  const parts = [...document.querySelectorAll("main section")].filter(shown);
  for (const part of parts) {
    const inside = [...part.children].filter(shown);
    for (const [at, below] of inside.entries()) {
      const above = inside[at - 1];
      if (above && boxOf(above).bottom > boxOf(below).top + 1 && boxOf(above).right > boxOf(below).left + 1)
        faults.push(above.outerHTML.slice(0, 60) + " lies on " + below.outerHTML.slice(0, 60));
    }
  }
  const right = document.documentElement.clientWidth;
  for (const each of document.querySelectorAll(".legend, h1, h2, .controls"))
    if (shown(each) && boxOf(each).right > right + 1) faults.push(each.outerHTML.slice(0, 60) + " is cut off");
  return faults;
})()`;

describeInBrowser("a report with every column", (open) => {
  const cases = [1280, 1920].flatMap((width) =>
    (["light", "dark"] as const).map((colorScheme) => [width, colorScheme] as const),
  );

  it.each(cases)("is shown whole at %i px, %s", async (width, colorScheme) => {
    const { page, complaints } = await open(html, {
      viewport: { width, height: 900 },
      colorScheme,
    });
    await page.evaluate(
      "document.querySelectorAll('details').forEach((each) => (each.open = true))",
    );
    expect(await page.evaluate(FAULTS)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("keeps all columns at 1440 px beside a chosen region, and says where some are cut off", async () => {
    const { page } = await open(html, { viewport: { width: 1440, height: 900 } });
    await page.getByRole("button", { name: "residual" }).first().click();
    await page.locator(".details").waitFor();
    expect(await page.evaluate(FAULTS)).toEqual([]);
    const hint = page.locator("#regions .table:has([aria-label=Regions]) .cut-off");
    expect(await hint.isVisible()).toBe(false);
    await page.setViewportSize({ width: 700, height: 900 });
    await hint.waitFor();
  });

  it("has a title of two lines at most, however long the command", async () => {
    const command = ["prog", "--config", `/data/${"long/".repeat(60)}x.yaml`];
    const reports = measured.reports.map((report) => ({
      ...report,
      environment: { ...report.environment, command },
    }));
    const { page } = await open(renderHtmlReport({ ...measured, reports }, { title: "t" }), {
      viewport: { width: 390, height: 900 },
    });
    const title = page.locator("h1");
    expect(await title.textContent()).toContain("prog --config");
    expect((await title.boundingBox())?.height).toBeLessThan(80);
  });

  it("scrolls tables on a tablet, and the page itself never", async () => {
    const { page } = await open(html, { viewport: { width: 800, height: 900 } });
    await page.evaluate(
      "document.querySelectorAll('details').forEach((each) => (each.open = true))",
    );
    const faults = (await page.evaluate(FAULTS)) as readonly string[];
    expect(
      faults.filter((fault) => !/^(?:Regions|Kernels) is cut off by \d+$/.test(fault)),
    ).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(800);
  });

  it("tells below its tables what the columns mean, for those without a mouse", async () => {
    const { page } = await open(html, { viewport: { width: 1280, height: 900 } });
    const legend = page.locator("details.legend").first();
    const meaning = legend.getByText("whichever range launched it");
    expect(await meaning.isVisible()).toBe(false);
    await legend.locator("summary").press("Enter");
    await meaning.waitFor();
    const headings = await page.locator("th button.sort").allTextContents();
    for (const term of await page.locator("details.legend dt").allTextContents())
      expect(headings).toContain(term);
  });
});
