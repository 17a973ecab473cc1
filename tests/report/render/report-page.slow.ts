import { expect, it } from "vitest";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { firstReport, largeBundle } from "../bundles.ts";

/** The limit that a page keeps: report-page.test.ts. */
const MB = 2_000_000;

it("never puts together what cannot fit: a text of all metrics is longer than Node's longest", () => {
  const small = largeBundle(10_000, 1);
  const metrics = Object.fromEntries(
    Array.from({ length: 400 }, (_, at) => [`metric_${at}`, { value: at / 7, unit: "%" }]),
  );
  const main = firstReport(small);
  const regions = main.regions.map((region) => ({ ...region, metrics }));
  const reports = Array.from({ length: 65 }, (_, at) => ({
    ...main,
    scope: at === 0 ? ("aggregate" as const) : (`process:${at}` as const),
    totals: { ...main.totals, invocations: at },
    regions,
  }));
  const html = renderHtmlReport({ ...small, reports }, { title: "Report" });
  expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MB);
  const leftOut = /id="left-out">([^<]*)/.exec(html)?.[1];
  expect(leftOut).toMatch(/63 reports of .*; 8,000 shorter regions not shown; 380 metrics/);
});
