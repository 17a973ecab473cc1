import { expect, it } from "vitest";
import type { SweepReport } from "../../../src/report/sweep/sweep-types.ts";
import { renderSweepHtml } from "../../../src/report/sweep/writers.ts";
import { hostileNames } from "../bundles.ts";
import { describeInBrowser } from "../render/browser.ts";
import { grid, jobOf, sweepOf } from "./sweeps.ts";

const hostile = sweepOf(
  hostileNames.map((name, at) =>
    jobOf(String(at), [`key=${at + 1}`, `text=${name}`], at + 1, name),
  ),
);

describeInBrowser("the page of a sweep", (openPage) => {
  async function open(report: SweepReport) {
    const opened = await openPage(renderSweepHtml(report));
    await opened.page.getByRole("heading", { name: "Jobs" }).waitFor();
    return opened;
  }

  it("shows the matrix and a curve per setting, without a complaint", async () => {
    const { page, complaints } = await open(grid);
    const table = page.getByRole("region", { name: "Regions by job" });
    expect(await table.locator("tbody tr").count()).toBe(2);
    expect(await table.locator("tbody tr").first().locator("td").allTextContents()).toEqual([
      ...["work", "1.000", "2.000", "4.000", "4.000", "8.000", "16.000"],
    ]);
    expect(await page.locator("g.curve polyline").count()).toBe(2);
    expect(await page.getByText("exponent of its growth 1.00 ±0.00 (R² 1.00)").count()).toBe(2);
    // A piece of the curve beside its name, in a line with it.
    for (const sample of await page.locator("li.curve svg").all())
      expect(await sample.boundingBox()).toMatchObject({ width: 44, height: 14 });
    for (const item of await page.locator("li.curve").all())
      expect((await item.boundingBox())?.height).toBeLessThan(40);
    expect(complaints).toEqual([]);
  });

  it("begins with the best job, in words, in a chart and in the table", async () => {
    const { page, complaints } = await open(grid);
    const [best, last] = [grid.jobs[0], grid.jobs.at(-1)];
    expect(await page.locator(".answer-line").textContent()).toMatch(
      /^Job 0 \(.*\) took the least time, 1\.000 ±0\.001 ms; job 5 \(.*\) the most, 16\.000 ±0\.016 ms \(/,
    );
    expect([best?.total_ms, last?.total_ms]).toEqual([1, 16]);
    const bars = page.locator(".bars g");
    expect(await bars.count()).toBe(6);
    expect(await bars.first().getAttribute("aria-label")).toMatch(/: 1\.000 ms, best$/);
    const first = page
      .getByRole("region", { name: "Jobs", exact: true })
      .locator("tbody tr")
      .first();
    expect(await first.textContent()).toContain("best");
    expect(complaints).toEqual([]);
  });

  it("ranks jobs by their throughput where their work is known", async () => {
    const work = { unit: "images", factors: ["size"] };
    const jobs = grid.jobs.map((job, at) => ({ ...job, per_second: 10 * (at + 1) }));
    const { page } = await open({ ...grid, work, jobs, best: "5" });
    await page.getByRole("heading", { name: "Images per second" }).waitFor();
    expect(await page.locator(".answer-line").textContent()).toMatch(
      /^Job 5 \(.*\) did the most images per second, 60 images\/s; job 0 \(.*\) the fewest, 10 images\/s/,
    );
    expect(await page.locator(".bars g").first().getAttribute("aria-label")).toMatch(
      /: 60 images\/s, best$/,
    );
    const first = page
      .getByRole("region", { name: "Jobs", exact: true })
      .locator("tbody tr")
      .first();
    expect(await first.textContent()).toContain("best");
  });

  it("links to the page of each job that has one", async () => {
    const [first, ...others] = grid.jobs;
    if (first === undefined) throw new Error("a sweep without jobs");
    const linked = { ...first, page: "0/recorder/a b#/report.html" };
    const { page, complaints } = await open({ ...grid, jobs: [linked, ...others] });
    const links = page.getByRole("region", { name: "Jobs" }).locator("tbody a");
    expect(await links.count()).toBe(1);
    expect(await links.first().getAttribute("href")).toBe("0/recorder/a%20b%23/report.html");
    expect(complaints).toEqual([]);
  });

  it("draws another parameter, and a region", async () => {
    const { page, complaints } = await open(grid);
    await page.getByLabel("Parameter").selectOption({ label: "size" });
    expect(await page.locator("g.curve polyline").count()).toBe(3);
    expect(await page.getByText("exponent of its growth none: less than three").count()).toBe(3);
    const looks = (place: string) =>
      page
        .locator(`${place}.curve`)
        .evaluateAll((curves) =>
          curves.map((curve) => [
            curve.querySelector("polyline")?.getAttribute("stroke-dasharray"),
            curve.querySelector("path")?.getAttribute("d"),
          ]),
        );
    const drawn = await looks("g");
    expect(new Set(drawn.map(String)).size).toBe(3);
    expect(await looks("li")).toEqual(drawn);
    await page.getByRole("button", { name: "work / inner" }).click();
    expect(await page.getByRole("status").first().textContent()).toContain("work / inner");
    await page.getByRole("button", { name: "Whole jobs" }).click();
    expect(await page.getByRole("status").first().textContent()).toContain("Whole jobs");
    const dot = page.getByRole("img", { name: /size=2: 16\.000 ms \(job 5\)/ });
    expect(await dot.count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("draws how long single calls took in each job, of the region that is chosen", async () => {
    const calls = (min: number, max: number) => ({
      ...{ calls: 9, min, median: min + 1, p95: max - 1, max },
    });
    const [work, inner] = grid.regions;
    if (work === undefined || inner === undefined) throw new Error("the sweep has two regions");
    const spread = { ...work, calls_ms: [calls(1, 5), null, calls(2, 50), null, null, null] };
    const other = { ...inner, calls_ms: [null, calls(3, 7), null, null, null, null] };
    const { page, complaints } = await open({ ...grid, regions: [spread, other] });
    const boxes = page.locator("svg.calls g.spread");
    const names = () =>
      boxes.evaluateAll((all) => all.map((box) => box.getAttribute("aria-label")));
    expect(await names()).toEqual([
      "batch_size=1 size=1: 9 calls, 1.000 to 5.000 ms, median 2.000 ms, p95 4.000 ms",
      "batch_size=4 size=1: 9 calls, 2.000 to 50.000 ms, median 3.000 ms, p95 49.000 ms",
    ]);
    const widths = await boxes.evaluateAll((all) =>
      all.map((box) => box.querySelector("line")?.getBoundingClientRect().width ?? 0),
    );
    expect((widths[1] ?? 0) / (widths[0] ?? 1)).toBeCloseTo(48 / 4, 0);
    const table = page.getByRole("region", { name: "Calls by job" });
    expect(await table.locator("tbody tr").count()).toBe(2);
    await page.getByRole("button", { name: "work / inner" }).click();
    expect(await names()).toEqual([
      "batch_size=2 size=1: 9 calls, 3.000 to 7.000 ms, median 4.000 ms, p95 6.000 ms",
    ]);
    expect(complaints).toEqual([]);
  });

  it("sorts jobs by their numbers", async () => {
    const { page } = await open(
      sweepOf(["2", "10", "1"].map((name) => jobOf(name, [`x=${name}`], 1))),
    );
    await page.getByRole("button", { name: "Job", exact: true }).click();
    const jobs = page.getByRole("region", { name: "Jobs" }).last().locator("tbody tr");
    expect(await jobs.locator("td:first-child").allTextContents()).toEqual(["1", "2", "10"]);
  });

  it("bears hostile names, and sweeps without numbers", async () => {
    const named = await open(hostile);
    expect(named.complaints).toEqual([]);
    const { page, complaints } = await open(
      sweepOf([jobOf("0", ["x=a"], 1), jobOf("1", ["x=b"], null)]),
    );
    expect(await page.getByRole("heading", { name: "Scaling" }).count()).toBe(0);
    expect(await page.getByText("1 of 2 jobs has no time").count()).toBe(1);
    expect(complaints).toEqual([]);
  });
});
