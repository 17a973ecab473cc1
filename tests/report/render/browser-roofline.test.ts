/** The roofline of a page, as a person sees and uses it. */
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import type { RegionReportBundle } from "../../../src/report/model/document.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { bundleOf, firstReport } from "../bundles.ts";
import { describeInBrowser } from "./browser.ts";

const CLOCK = 1e9;
const BANDWIDTH = 1e12;
/** A fused multiply-add of each unit and cycle is two operations. */
const PEAKS = { h: 40_000, f: 20_000, d: 10_000 } as const;
const peakOf = (letter: keyof typeof PEAKS) => 2 * PEAKS[letter] * CLOCK;

interface Work {
  /** FLOP/s by the letter of the precision. */
  readonly flops: Partial<Record<keyof typeof PEAKS, number>>;
  readonly bytes: number;
}

const LONG = "decoder.layers.11.self_attention.query_key_value.projection";
const WORK: Readonly<Record<string, Work>> = {
  copy: { flops: { f: 2e10 }, bytes: 8e11 },
  // The same place twice: one dot covers the other.
  again: { flops: { f: 2e10 }, bytes: 8e11 },
  [LONG]: { flops: { f: 1e13, h: 4e13 }, bytes: 5e10 },
};

const metricsOf = ({ flops, bytes }: Work, peaks: Readonly<Record<string, number>>) => {
  const rate = (value: number) => ({ value, unit: "1/cycle" });
  const per = (value: number) => ({ value, unit: "1/second" });
  return {
    "dram__bytes.sum.per_second": per(bytes),
    "dram__bytes.sum.peak_sustained": rate(BANDWIDTH / CLOCK),
    "dram__cycles_elapsed.avg.per_second": per(CLOCK),
    "sm__cycles_elapsed.avg.per_second": per(CLOCK),
    "smsp__cycles_elapsed.avg.per_second": per(CLOCK),
    ...Object.fromEntries(
      Object.entries(peaks).map(([letter, peak]) => [
        `sm__sass_thread_inst_executed_op_${letter}fma_pred_on.sum.peak_sustained`,
        rate(peak),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(flops).map(([letter, value]) => [
        `smsp__sass_thread_inst_executed_op_${letter}fma_pred_on.sum.per_cycle_elapsed`,
        rate(value / 2 / CLOCK),
      ]),
    ),
  };
};

function bundle(peaks: Readonly<Record<string, number>> = PEAKS): RegionReportBundle {
  const ranges = Object.keys(WORK).map((name, at) => ({ name, start: at * 10, end: at * 10 + 9 }));
  const plain = bundleOf([{ pid: 1, ranges }]);
  const report = firstReport(plain);
  const regions = report.regions.map((region) => {
    const work = WORK[region.name];
    if (work === undefined) throw new Error(`no work for ${region.name}`);
    return { ...region, metrics: metricsOf(work, peaks) };
  });
  return { ...plain, reports: [{ ...report, regions }, ...plain.reports.slice(1)] };
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const boxOf = async (locator: Locator): Promise<Box> => {
  const box = await locator.boundingBox();
  if (box === null) throw new Error("it is not shown");
  return box;
};
const middle = ({ x, y, width, height }: Box) => ({ x: x + width / 2, y: y + height / 2 });

describeInBrowser("the roofline of a report", (openPage) => {
  const open = async (
    shown: RegionReportBundle,
    { width = 1000, dark = false }: { width?: number; dark?: boolean } = {},
  ) => {
    const { page, complaints } = await openPage(renderHtmlReport(shown, { title: "Report" }), {
      viewport: { width, height: 900 },
      colorScheme: dark ? "dark" : "light",
    });
    await page.getByRole("heading", { name: "Provenance" }).waitFor();
    expect(complaints).toEqual([]);
    return page;
  };
  const section = (page: Page) => page.getByRole("region", { name: "Roofline", exact: true });
  const chart = (page: Page) => section(page).locator("svg");
  const dot = (page: Page, name: RegExp) => chart(page).getByRole("button", { name });
  const text = (page: Page, exact: string) => chart(page).getByText(exact, { exact: true });

  it("names its axes with units, the slope, and the ceiling of each precision", async () => {
    const page = await open(bundle());
    const texts = await chart(page).locator("text").allTextContents();
    expect(texts).toContain("FLOP per byte of DRAM traffic");
    for (const tick of ["10 GFLOP/s", "100 GFLOP/s", "1 TFLOP/s", "10 TFLOP/s", "100 TFLOP/s"])
      expect(texts).toContain(tick);
    for (const tick of ["0.01", "0.1", "1", "10", "100", "1,000"]) expect(texts).toContain(tick);
    expect(texts).toContain("Slope: DRAM 1.00 TB/s");
    for (const label of ["half 80.0 TFLOP/s", "single 40.0 TFLOP/s", "double 20.0 TFLOP/s"])
      expect(texts).toContain(label);
  });

  it.each([390, 1000])("puts dots and ceilings where their values are, at %i px", async (width) => {
    const page = await open(bundle(), { width });
    const across = await scaleOf(page, "x", [1, 100]);
    const upwards = await scaleOf(page, "y", [1e11, 1e13]);
    for (const [name, precision, flops, bytes] of [
      ["copy", "single", 2e10, 8e11],
      ["again", "single", 2e10, 8e11],
      [LONG, "single", 1e13, 5e10],
      [LONG, "half", 4e13, 5e10],
    ] as const) {
      const at = middle(await boxOf(dot(page, new RegExp(`^${name}, ${precision}:`))));
      expect(at.x).toBeCloseTo(across(flops / bytes), 0);
      expect(at.y).toBeCloseTo(upwards(flops), 0);
    }
    expect(await chart(page).getByRole("button").count()).toBe(4);
    const lines = await chart(page).locator(".ceiling line").all();
    expect(lines).toHaveLength(3);
    for (const [at, letter] of (["h", "f", "d"] as const).entries()) {
      const line = await edgesOf(lines[at] as Locator);
      expect(line.y1).toBeCloseTo(upwards(peakOf(letter)), 0);
      // From its ridge to the edge.
      expect(line.x1).toBeCloseTo(across(peakOf(letter) / BANDWIDTH), 0);
    }
    const slope = await edgesOf(chart(page).locator(".memory-roof"));
    expect(slope.x2).toBeCloseTo(across(peakOf("h") / BANDWIDTH), 0);
    expect(slope.y2).toBeCloseTo(upwards(peakOf("h")), 0);
    expect(slope.y1).toBeCloseTo(upwards(1e10), 0);
    expect(slope.x1).toBeCloseTo(across(1e10 / BANDWIDTH), 0);
  });

  it("says which regions a dot is, to the pointer and to the keyboard, and shows the region", async () => {
    const page = await open(bundle());
    const reading = section(page).locator(".reading p");
    expect(await reading.count()).toBe(0);
    await dot(page, /^decoder.*half/).hover();
    expect(await reading.allTextContents()).toEqual([`${LONG}, half: 800 FLOP/byte, 40.0 TFLOP/s`]);
    await text(page, "FLOP per byte of DRAM traffic").hover();
    expect(await reading.count()).toBe(0);

    await dot(page, /^copy/).focus();
    const [copy, again] = ["copy", "again"].map(
      (name) => `${name}, single: 0.025 FLOP/byte, 20.0 GFLOP/s`,
    );
    expect(await reading.allTextContents()).toEqual([copy, again]);
    await page.keyboard.press("ArrowRight");
    expect(await reading.allTextContents()).toEqual([again, copy]);
    await page.keyboard.press("End");
    expect((await reading.allTextContents())[0]).toContain(LONG);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: LONG, exact: true }).waitFor();
  });

  it.each([
    ["three precisions", PEAKS],
    ["precisions that are equally fast", { h: 20_000, f: 20_000, d: 312 }],
    ["precisions that are nearly so", { h: 20_000, f: 19_000, d: 18_000 }],
  ])("keeps its labels apart and inside at 390 px: %s", async (_, peaks) => {
    const page = await open(bundle(peaks), { width: 390 });
    const frame = await boxOf(chart(page));
    const labels = await chart(page).locator("text").all();
    expect(labels.length).toBeGreaterThan(8);
    const boxes: { text: string | null; box: Box }[] = [];
    for (const label of labels)
      boxes.push({ text: await label.textContent(), box: await boxOf(label) });
    for (const [at, { text: name, box }] of boxes.entries()) {
      expect(box.x, `${name}`).toBeGreaterThanOrEqual(frame.x);
      expect(box.y, `${name}`).toBeGreaterThanOrEqual(frame.y);
      expect(box.x + box.width, `${name}`).toBeLessThanOrEqual(frame.x + frame.width);
      expect(box.y + box.height, `${name}`).toBeLessThanOrEqual(frame.y + frame.height);
      for (const other of boxes.slice(at + 1))
        expect(overlap(box, other.box), `${name} and ${other.text}`).toBe(false);
    }
    // What a long name says stays on the page, too.
    await dot(page, /^decoder.*half/).focus();
    expect(
      await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      ),
    ).toBeLessThanOrEqual(0);
  });

  it.each([false, true])("is read as easily as other text (dark: %s)", async (dark) => {
    const page = await open(bundle(), { dark });
    for (const [where, property, least] of [
      [".tick", "fill", 4.5],
      [".ceiling text", "fill", 4.5],
      [".ceiling line", "stroke", 3],
      [".memory-roof", "stroke", 3],
      [".dot", "stroke", 3],
    ] as const)
      expect(await contrast(page, `.roofline ${where}`, property), where).toBeGreaterThanOrEqual(
        least,
      );
  });

  it("is not there where nothing was measured for it", async () => {
    const page = await open(bundleOf([{ pid: 1, ranges: [{ name: "a", start: 0, end: 9 }] }]));
    expect(await section(page).count()).toBe(0);
    expect(await page.getByRole("heading", { name: "Roofline" }).count()).toBe(0);
  });

  /** Pixels by value, told from the ticks that a reader would go by. */
  async function scaleOf(page: Page, axis: "x" | "y", [low, high]: readonly [number, number]) {
    const label = (value: number) =>
      axis === "x"
        ? String(value)
        : value < 1e12
          ? `${value / 1e9} GFLOP/s`
          : `${value / 1e12} TFLOP/s`;
    const from = middle(await boxOf(text(page, label(low))))[axis];
    const to = middle(await boxOf(text(page, label(high))))[axis];
    return (value: number) => from + ((to - from) * Math.log(value / low)) / Math.log(high / low);
  }
});

/** Of a line, in pixels of the page. */
const edgesOf = (line: Locator) =>
  line.evaluate((element) => {
    const of = (name: string) => Number(element.getAttribute(name));
    const { ownerSVGElement } = element as unknown as {
      ownerSVGElement: { getBoundingClientRect(): { x: number; y: number } };
    };
    const { x, y } = ownerSVGElement.getBoundingClientRect();
    return { x1: x + of("x1"), y1: y + of("y1"), x2: x + of("x2"), y2: y + of("y2") };
  });

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** By the formula of WCAG 2, between what is drawn and the page behind it. */
async function contrast(page: Page, selector: string, property: "fill" | "stroke") {
  const [drawn, behind] = (await page.evaluate(
    `[getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property},
      getComputedStyle(document.body).backgroundColor]`,
  )) as readonly [string, string];
  const [light, dark] = [luminance(drawn), luminance(behind)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
