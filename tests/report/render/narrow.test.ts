/** Every page at the widths of a telephone, a tablet, a desk and a sheet of paper. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { renderComparisonHtml } from "../../../src/report/compare/comparison-html.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { renderSweepHtml } from "../../../src/report/sweep/writers.ts";
import { pageOf, pageSweepOf, searchRows } from "../../app/sweep/page/sweeps.ts";
import { bundleOf, firstReport, hostileNames } from "../bundles.ts";
import { grid, jobOf, sweepOf } from "../sweep/sweeps.ts";
import { describeInBrowser } from "./browser.ts";

const NAMES = [
  "forward",
  "decoder.layers.11.self_attention.query_key_value.projection",
  "void at::native::vectorized_elementwise_kernel<4,at::native::CUDAFunctor_add<float>>(int)",
  ...hostileNames,
];
/** One inside the other, so that the last stand far to the right. */
const nested = bundleOf([
  {
    pid: 1,
    ranges: NAMES.map((name, at) => ({ name, start: at, end: 1000 - at })),
    kernels: NAMES.map((name, at) => ({ name, launch: at, ns: 1e6 })),
  },
]);
const [first, ...others] = firstReport(nested).regions;
if (first === undefined) throw new Error("the report has regions");
const measured = {
  ...first,
  metrics: {
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": { value: 12.5, unit: "%" },
  },
  sections: {
    MemoryWorkloadAnalysis: {
      "Memory Throughput": { "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct": "12.5 %" },
    },
    // As ncu gives them.
    SpeedOfLight: {
      metrics: { "Memory Throughput": { value: 12.5, unit: "%" } },
      messages: [
        {
          rule: "SOLBottleneck",
          type: "OPT",
          text: "This kernel exhibits low compute throughput and memory bandwidth utilization. ".repeat(
            3,
          ),
          speedup: 87.5,
          results: 1,
        },
      ],
    },
  },
};
const bundle = {
  ...nested,
  reports: [
    { ...firstReport(nested), regions: [measured, ...others] },
    ...bundleOf([{ pid: 2, ranges: [{ name: "other", start: 0, end: 9 }] }]).reports.slice(1),
  ],
};

const comparison = {
  names: { a: "runs/before", b: "x".repeat(300) },
  reports: compareReports(firstReport(nested), firstReport(nested)),
  config: [{ key: "pipeline.ncu.ncu_cli.kernel_name_base", a: "demangled", b: "y".repeat(200) }],
  gates: [],
};
const sweep = sweepOf([
  ...NAMES.map((name, at) => jobOf(String(at), [`key=${at + 1}`, `text=${name}`], at + 1, name)),
  jobOf("last", ["key=99", "text=x"], null),
]);

const PAGES = [
  [
    "a report",
    renderHtmlReport(bundle, {
      title: "Region report: recorder",
      config: [{ key: "pipeline.ncu.ncu_cli.nvtx.include", value: "z".repeat(90), origin: "a:1" }],
    }),
  ],
  ["a comparison", renderComparisonHtml(comparison)],
  ["a sweep", renderSweepHtml(sweep)],
  ["a sweep of numbers", renderSweepHtml(grid)],
  ["a sweep's jobs", pageOf(pageSweepOf(searchRows(60)))],
  [
    "jobs with any names",
    pageOf(
      pageSweepOf(
        searchRows(30).map((row, at) => {
          const name = NAMES[at % NAMES.length] ?? "";
          const swept = { ...row.swept, [name]: at, text: name };
          return { ...row, swept, error: name, result: { [name]: at, val: { loss: at } } };
        }),
      ),
    ),
  ],
] as const;

describeInBrowser("pages at several widths", (open) => {
  describe.each(PAGES)("%s", (_, html) => {
    async function openAt(width: number): Promise<Page> {
      const { page, complaints } = await open(html, { viewport: { width, height: 900 } });
      expect(complaints).toEqual([]);
      // What is closed must fit, too.
      await page.evaluate(
        "document.querySelectorAll('details').forEach((each) => (each.open = true))",
      );
      return page;
    }

    it.each([390, 800, 1280, 1440, 1920])(
      "keeps names whole and the page still at %i px",
      async (width) => {
        const page = await openAt(width);
        expect(await overflow(page)).toBeLessThanOrEqual(0);
        const names = await linesOfNames(page);
        expect(names.length).toBeGreaterThan(0);
        for (const { text, lines } of names) {
          // Whoever reads a name reads at least a dozen signs in a line.
          expect(lines, text.slice(0, 60)).toBeLessThanOrEqual(Math.ceil(text.length / 12));
        }
      },
    );

    it("shows a selected region and a metric at 390 px without scrolling the page", async () => {
      const page = await openAt(390);
      for (const chooser of await page.getByLabel("Metric as a column").all())
        await chooser.selectOption({ index: 1 });
      for (const region of await page
        .locator("button.name")
        .all()
        .then((all) => all.slice(0, 2)))
        await region.click();
      await page.evaluate(
        "document.querySelectorAll('details').forEach((each) => (each.open = true))",
      );
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      // Text in tables of tables would be a letter wide.
      for (const cell of await page.locator("details td").all())
        expect((await cell.boundingBox())?.width).toBeGreaterThan(100);
    });

    it("gives every control a name", async () => {
      const page = await openAt(820);
      const controls = page.locator("button, select, input, a");
      expect(await controls.count()).toBeGreaterThan(0);
      const nameless = await controls.evaluateAll((elements) =>
        elements.flatMap((element) => {
          const { labels } = element as unknown as { labels?: ArrayLike<{ textContent: string }> };
          const name =
            element.getAttribute("aria-label") ?? labels?.[0]?.textContent ?? element.textContent;
          return (name ?? "").trim() === "" ? [element.outerHTML] : [];
        }),
      );
      expect(nameless).toEqual([]);
    });
  });

  it("a report of usual names fits A4, black on white", async () => {
    // 190 mm at 96 pixels per inch.
    const usual = bundleOf([
      {
        pid: 1,
        ranges: ["forward", "residual.block.conv1"].map((name, at) => ({
          name,
          start: at,
          end: 10 - at,
        })),
        kernels: [{ name: NAMES[2] ?? "", launch: 1, ns: 1e6 }],
      },
    ]);
    const { page } = await open(renderHtmlReport(usual, { title: "Region report" }), {
      viewport: { width: 718, height: 900 },
      colorScheme: "dark",
    });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    const widest = await page.evaluate(
      "Math.max(...[...document.querySelectorAll('table')].map((each) => each.getBoundingClientRect().right))",
    );
    expect(widest).toBeLessThanOrEqual(718);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      "rgb(255, 255, 255)",
    );
    const cell = "getComputedStyle(document.querySelector('tbody td'))";
    expect(await page.evaluate(`${cell}.color`)).toBe("rgb(0, 0, 0)");
  });
});

/** Pixels by which the page is wider than its window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  ) as Promise<number>;

/** Every name in a table, with the lines that it takes. */
const linesOfNames = (page: Page) =>
  page.locator("td .label").evaluateAll((elements) =>
    elements.map((element) => {
      const box = element as unknown as {
        getClientRects(): { length: number };
        offsetHeight: number;
      };
      const { lineHeight } = (
        globalThis as unknown as { getComputedStyle(of: unknown): { lineHeight: string } }
      ).getComputedStyle(element);
      return {
        text: element.textContent ?? "",
        lines: Math.round(box.offsetHeight / Number.parseFloat(lineHeight)),
      };
    }),
  );
