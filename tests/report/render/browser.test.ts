import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { encodeTimeline } from "../../../src/profiler/run/encode-timeline.ts";
import type { RegionReportBundle } from "../../../src/report/model/document.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { timelineOf } from "../../profiler/analysis/timelines.ts";
import { bundleOf, hostileNames, largeBundle, resnet } from "../bundles.ts";
import { describeInBrowser } from "./browser.ts";

const OPERATIONS = { operationDomains: ["shallow_resnet.ops"] };
const network = bundleOf([resnet], OPERATIONS);
const hostile = bundleOf([
  {
    pid: 1,
    ranges: hostileNames.map((name, at) => ({ name, start: at * 10, end: at * 10 + 9 })),
    kernels: hostileNames.map((name, at) => ({
      name,
      launch: at * 10 + 1,
      ns: 5,
    })),
  },
]);

describeInBrowser("the page of a report", (openPage) => {
  const open = (bundle: RegionReportBundle, options: { dark?: boolean } = {}) =>
    openPage(renderHtmlReport(bundle, { title: "Report <b>", files: ["report.json"] }), {
      colorScheme: options.dark === true ? "dark" : "light",
    });

  const regionNames = (page: Page) =>
    page.getByRole("region", { name: "Regions", exact: true }).locator(".name").allTextContents();
  const boxes = (page: Page) => page.getByRole("treeitem").allTextContents();

  it.each([
    ["a small report", network],
    ["hostile names", hostile],
    ["1,000 regions and 100,000 kernel records", largeBundle(1000, 100)],
    ["no regions", bundleOf([{ pid: 1, ranges: [] }])],
  ])("opens %s without a complaint", async (_, bundle) => {
    const { page, complaints } = await open(bundle);
    await page.getByRole("heading", { name: "Provenance" }).waitFor();
    await page.emulateMedia({ media: "print" });
    expect(await page.title()).toContain("shallow_resnet --device cpu");
    expect(complaints).toEqual([]);
  });

  it("sorts by any column, and goes back to the tree", async () => {
    const { page } = await open(network);
    const heading = page.getByRole("button", { name: "Total excl. ms" });
    // What a region has for itself comes first. Out of the tree a region has to say itself where it is.
    expect(await regionNames(page)).toEqual([
      "forward / residual / block.conv2",
      "forward / stem",
      "forward / residual / block.conv1",
      "forward",
      "forward / residual",
    ]);
    expect(await page.locator("th", { has: heading }).getAttribute("aria-sort")).toBe("descending");
    await heading.click();
    expect((await regionNames(page))[0]).toBe("forward / residual");
    await heading.click();
    expect(await regionNames(page)).toEqual([
      "forward",
      "stem",
      "residual",
      "block.conv1",
      "block.conv2",
    ]);
    // In the tree, what a match is in stays.
    await page.getByLabel("Filter Regions").fill("conv2");
    expect(await regionNames(page)).toEqual(["forward", "residual", "block.conv2"]);
  });

  it("shows what its address asks for, and puts choices into it", async () => {
    const { page, complaints } = await open(network);
    const link = (hash: string) => page.evaluate(`location.assign(${JSON.stringify(hash)})`);
    await link("#region=forward%20%2F%20stem&sort=tree&show=wall");
    await page.getByRole("heading", { name: "forward / stem" }).waitFor();
    expect((await regionNames(page))[0]).toBe("forward");
    await page.getByRole("columnheader", { name: "Calls" }).first().getByRole("button").click();
    expect(decodeURIComponent(await page.evaluate<string>("location.hash"))).toContain(
      "#region=forward / stem&sort=-Calls",
    );
    await page.getByRole("link", { name: "forward / residual / block.conv2" }).first().click();
    await page.getByRole("heading", { name: "forward / residual / block.conv2" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("marks what takes most, and switches what its chart shows", async () => {
    const { page } = await open(network);
    expect(await page.locator("tr.hot .name").allTextContents()).toContain(
      "forward / residual / block.conv2",
    );
    const widthOf = async () => (await page.locator(".box").nth(1).getAttribute("style")) ?? "";
    const before = await widthOf();
    await page
      .getByLabel("Show", { exact: false })
      .and(page.locator("select"))
      .selectOption("wall");
    expect(await widthOf()).not.toBe(before);
  });

  it("has a timeline that zooms by keys and selects a region by a click", async () => {
    const timeline = encodeTimeline(
      timelineOf([
        {
          ranges: [
            { name: "forward", start: 0, end: 1_000_000 },
            { name: "stem", start: 0, end: 400_000 },
          ],
        },
      ]),
    );
    const { page, complaints } = await openPage(
      renderHtmlReport(network, { title: "Report", timeline }),
    );
    const canvas = page.locator("canvas");
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await canvas.click({ position: { x: (box?.width ?? 0) * 0.2, y: 20 + 15 + 16 + 8 } });
    await page.getByRole("heading", { name: "forward / stem" }).waitFor();
    expect(await page.getByText(/^stem: 400\.0 µs from 0\.0 µs on thread 1$/).count()).toBe(1);
    await canvas.focus();
    for (const key of ["ArrowUp", "ArrowRight", "ArrowDown", "Home"])
      await page.keyboard.press(key);
    expect(complaints).toEqual([]);
  });

  it("draws a timeline of any number of rows, which scroll", async () => {
    const ranges = Array.from({ length: 2000 }, (_, at) => ({
      name: `part ${at + 1}`,
      start: at,
      end: 1_000_000,
      thread: at + 1,
    }));
    const timeline = encodeTimeline(timelineOf([{ ranges }]));
    const { page, complaints } = await openPage(
      renderHtmlReport(network, { title: "Report", timeline }),
    );
    const canvas = page.locator("canvas");
    await canvas.scrollIntoViewIfNeeded();
    const heightOf = () =>
      canvas.evaluate((element: { readonly height: number }) => element.height);
    await expect.poll(heightOf).toBeGreaterThan(300);
    expect(await heightOf()).toBeLessThan(720);
    const visibleRows = () => page.locator(".timeline");
    await visibleRows().evaluate((box: { scrollTop: number }) => {
      box.scrollTop = 20 + 999 * 37 - 20;
    });
    await page.waitForTimeout(100);
    const box = await canvas.boundingBox();
    await canvas.hover({ position: { x: (box?.width ?? 0) / 2, y: 20 + 15 + 8 } });
    expect(await page.getByText(/^part 1000: .* on thread 1000$/).count()).toBe(1);
    await canvas.focus();
    await page.keyboard.press("PageDown");
    await page.waitForTimeout(100);
    expect(
      await visibleRows().evaluate((element: { readonly scrollTop: number }) => element.scrollTop),
    ).toBeGreaterThan(999 * 37 + 200);
    expect(complaints).toEqual([]);
  });

  it("filters regions by their paths, and shows what they are in, also where it is sorted", async () => {
    const { page } = await open(network);
    await page.getByLabel("Filter Regions").fill("residual /");
    expect(await regionNames(page)).toEqual(["forward", "residual", "block.conv2", "block.conv1"]);
    expect(await page.getByText("2 of 5 rows").count()).toBe(1);
  });

  it("zooms by click and by keyboard, and out again", async () => {
    const { page } = await open(network);
    expect(await boxes(page)).toEqual([
      "forward",
      "stem",
      "residual",
      "block.conv1",
      "block.conv2",
    ]);
    await page.getByRole("treeitem", { name: /^residual/ }).click();
    expect(await boxes(page)).toEqual(["forward", "residual", "block.conv1", "block.conv2"]);
    expect(await page.getByRole("heading", { name: "forward / residual" }).count()).toBe(1);
    expect(await page.getByRole("heading", { name: "CPU operations in residual" }).count()).toBe(1);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("block.conv2");
    await page.keyboard.press("Enter");
    expect(await boxes(page)).toEqual(["forward", "residual", "block.conv2"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect(await boxes(page)).toHaveLength(5);
    await page.getByRole("button", { name: "Show all regions" }).click();
    expect(await page.getByRole("heading", { name: "CPU operations in all regions" }).count()).toBe(
      1,
    );
  });

  it("skips boxes too narrow to draw, and never loses its place", async () => {
    const range = (name: string, start: number, end: number) => ({ name, start, end });
    const uneven = bundleOf([
      {
        ranges: [
          range("all", 0, 1e9),
          range("first", 0, 4e8),
          range("tiny", 4e8, 4e8 + 1000),
          range("inner", 4e8 + 10, 4e8 + 900),
          range("last", 5e8, 9e8),
        ],
      },
    ]);
    const { page } = await open(uneven);
    const focused = () => page.evaluate("document.activeElement.textContent");
    expect(await boxes(page)).toEqual(["all", "first", "last"]);
    await page.getByRole("treeitem", { name: /^first/ }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toBe("last");
    await page.keyboard.press("Alt+ArrowLeft");
    expect(await focused()).toBe("last");
    await page.keyboard.press("Home");
    expect(await focused()).toBe("first");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect([await boxes(page), await focused()]).toEqual([["all", "first", "last"], "first"]);
    // By the way back above the chart, too.
    await page.keyboard.press("Enter");
    const crumbs = page.getByRole("navigation");
    await crumbs.getByRole("button", { name: "all", exact: true }).press("Enter");
    expect(await focused()).toBe("all");
    await crumbs.getByRole("button", { name: "all regions" }).press("Enter");
    expect(await focused()).toBe("all regions");
  });

  it("shows what limits a region, in the tables and of the one that is chosen", async () => {
    const metrics = {
      "sm__throughput.avg.pct_of_peak_sustained_elapsed": { value: 27.8, unit: "%" },
      "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": {
        value: 88.4,
        unit: "%",
      },
    };
    const { page } = await open({
      ...network,
      reports: network.reports.map((report) => ({
        ...report,
        regions: report.regions.map((region) =>
          region.name === "stem" ? { ...region, metrics } : region,
        ),
      })),
    });
    const headings = await page.getByRole("columnheader").allTextContents();
    expect(headings.join()).toContain("SM %,Memory %,Limited by");
    const stem = page.getByRole("row").filter({ has: page.locator(".name", { hasText: "stem" }) });
    expect(await stem.first().getByRole("cell").allTextContents()).toEqual(
      expect.arrayContaining(["27.8", "88.4", "memory"]),
    );
    await page.locator(".name", { hasText: "stem" }).first().click();
    const details = await page.getByRole("region", { name: "forward / stem" }).textContent();
    expect(details).toContain("memory (SM 27.8 %, memory 88.4 % of the peak)");
  });

  it("gives every control a name and has one tab stop per chart", async () => {
    const { page } = await open(network);
    const nameless = await page.locator("button, input, select, a").evaluateAll((elements) =>
      elements
        .filter((element) => {
          const labelled = element.getAttribute("aria-label") ?? element.textContent ?? "";
          const label = (element as unknown as { labels?: readonly { textContent: string }[] })
            .labels;
          return labelled.trim() === "" && (label?.[0]?.textContent ?? "").trim() === "";
        })
        .map((element) => element.outerHTML),
    );
    expect(nameless).toEqual([]);
    expect(await page.locator(".box[tabindex='0']").count()).toBe(1);
  });

  it("shows names as they are, never as markup", async () => {
    const { page } = await open(hostile);
    const shown = await regionNames(page);
    expect(shown).toContain("<script>alert(1)</script>");
    expect(shown).toContain("&lt;b&gt; <!-- -->");
    expect(await page.locator("main script, main img, main b").count()).toBe(0);
  });

  it("chooses between reports", async () => {
    const half = { ...resnet, pid: 4712, ranges: resnet.ranges?.slice(0, 2) ?? [] };
    const { page } = await open(bundleOf([resnet, half], OPERATIONS));
    await page.getByLabel("Report of").selectOption({ label: "process:4712" });
    expect(await regionNames(page)).toEqual(["forward", "stem"]);
  });

  it("follows the system's colours until told otherwise", async () => {
    const { page } = await open(network, { dark: true });
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const dark = await background();
    await page.getByRole("button", { name: "Use light colours" }).click();
    expect(await background()).not.toBe(dark);
  });

  it("fits a narrow window: only tables scroll sideways", async () => {
    const { page } = await open(network);
    await page.setViewportSize({ width: 420, height: 800 });
    const overflow = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect(overflow).toBeLessThanOrEqual(0);
  });
});
