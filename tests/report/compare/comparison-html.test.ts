import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import type { Comparison } from "../../../src/report/compare/comparison.ts";
import { renderComparisonHtml } from "../../../src/report/compare/comparison-html.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import type { NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { regionKey } from "../../../src/report/model/report-files.ts";
import type { ComparisonPageData } from "../../../src/report/view/page-data.ts";
import { runs } from "../../runs.ts";
import { bundleOf, firstReport, repeated } from "../bundles.ts";

type Lengths = Readonly<Record<string, number>>;

const MS = 1_000_000;

/** One range of each name, one after the other, in ms; `outer/inner` is inside the range before it. */
function reportOf(lengths: Lengths): NCUProfileRegionReport {
  let [start, inside] = [0, 0];
  const ranges = Object.entries(lengths).flatMap(([path, ms]) => {
    const isInside = path.includes("/");
    const first = isInside ? inside : start;
    inside = isInside ? first + ms * MS : first;
    if (!isInside) start += ms * MS;
    return { name: path.split("/").at(-1) ?? "", start: first, end: first + ms * MS };
  });
  return firstReport(bundleOf([{ ranges }], { labels: { fold: null } }));
}

const withWall = (report: NCUProfileRegionReport, wall_ms: number): NCUProfileRegionReport => ({
  ...report,
  totals: { ...report.totals, wall_ms },
});

const comparisonOf = (a: NCUProfileRegionReport, b: NCUProfileRegionReport): Comparison => ({
  names: { a: "before", b: "after" },
  reports: compareReports(a, b),
  config: null,
  gates: [],
});

const pageOf = (a: NCUProfileRegionReport, b: NCUProfileRegionReport, more = {}): string =>
  renderComparisonHtml({ ...comparisonOf(a, b), ...more }, { script: "", style: "" });

const dataOf = (html: string): ComparisonPageData =>
  JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "");

interface Step {
  readonly label: string;
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const stepsOf = (html: string): readonly Step[] =>
  [
    ...html.matchAll(
      /<th scope="row">([^<]*)<\/th><td><svg[^>]*><rect class="([^"]*)" x="([\d.]+)" y="2" width="([\d.]+)" height="16"\/><\/svg><\/td><td>([^<]*)<\/td>/g,
    ),
  ].map(([, label = "", kind = "", x = "", width = "", text = ""]) => ({
    ...{ label, kind, text },
    from: Number(x),
    to: Number((Number(x) + Number(width)).toFixed(1)),
  }));

const barsOf = (html: string) =>
  stepsOf(html).map(({ label, kind, from, to }) => `${label}: ${kind} ${from}-${to}`);

describe("the waterfall of a page", () => {
  const before = repeated(reportOf({ load: 100, save: 50 }));
  const after = repeated(reportOf({ load: 150, save: 30, send: 20 }));

  it("leads from A to B, each bar from where the one before it ends", () => {
    expect(stepsOf(pageOf(before, after))).toEqual([
      { label: "A", kind: "step-whole", from: 0, to: 750, text: "150.000 ms" },
      { label: "load", kind: "step-more", from: 750, to: 1000, text: expect.any(String) },
      { label: "save", kind: "step-less", from: 900, to: 1000, text: expect.any(String) },
      { label: "send", kind: "step-more", from: 900, to: 1000, text: "+20.000 ms, new" },
      { label: "B", kind: "step-whole", from: 0, to: 1000, text: "200.000 ms" },
    ]);
    expect(stepsOf(pageOf(before, after))[1]?.text).toBe("+50.000 ±0.180 ms, slower");
  });

  it("is pale where it is unclear whether a region changed, or where it is the same", () => {
    const kinds = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
      stepsOf(pageOf(a, b)).map(({ label, kind }) => `${label}: ${kind}`);
    expect(
      kinds(reportOf({ load: 100, save: 50 }), reportOf({ load: 150, save: 50.1, send: 20 })),
    ).toEqual([
      "A: step-whole",
      "load: step-more step-unclear",
      "send: step-more",
      "save: step-more step-unclear",
      "B: step-whole",
    ]);
  });

  it("does not begin at zero where the change is small beside the whole, and says where", () => {
    const page = pageOf(repeated(reportOf({ load: 1000 })), repeated(reportOf({ load: 1010 })));
    expect(barsOf(page)).toEqual([
      ...["A: step-whole 0-500", "load: step-more 500-1000", "B: step-whole 0-1000"],
    ]);
    expect(page).toContain(", from A to B. The bars begin at 990.000 ms. Pale:");
    expect(pageOf(before, after)).toContain(", from A to B. Pale:");
    // A quarter of the whole is no small change.
    const quarter = pageOf(repeated(reportOf({ load: 75 })), repeated(reportOf({ load: 100 })));
    expect(quarter).not.toContain("The bars begin at");
    expect(barsOf(quarter)[0]).toBe("A: step-whole 0-750");
  });

  it("shows every bar, however short", () => {
    const page = pageOf(
      repeated(reportOf({ load: 1000, save: 1000 })),
      repeated(reportOf({ load: 1000.001, save: 2000 })),
    );
    expect(stepsOf(page).map(({ label, from, to }) => [label, to - from])).toEqual([
      ...[
        ["A", expect.closeTo(666.7, 1)],
        ["save", expect.closeTo(333.3, 1)],
      ],
      ...[
        ["load", 2],
        ["B", 1000],
      ],
    ]);
  });

  it("has one bar for what is left beyond fourteen regions", () => {
    const many = (ms: number, count: number) =>
      reportOf(
        Object.fromEntries(
          Array.from({ length: count }, (_, at) => [String.fromCharCode(97 + at), ms + at]),
        ),
      );
    const steps = stepsOf(pageOf(many(10, 17), many(20, 17)));
    expect(steps).toHaveLength(17);
    expect(steps.at(-2)).toMatchObject({
      ...{ label: "3 other regions", kind: "step-more step-unclear", text: "+30.000 ms" },
    });
    expect(stepsOf(pageOf(many(10, 14), many(20, 14))).map(({ label }) => label)).not.toContain(
      expect.stringContaining("other"),
    );
  });

  it("has one for what regions do not explain, and says what that is", () => {
    const page = pageOf(withWall(before, 140), after);
    expect(stepsOf(page).at(-2)).toMatchObject({
      ...{
        label: "(overlap, or in none of these regions)",
        kind: "step-more step-unclear",
        text: "+10.000 ms",
      },
    });
    expect(page).toContain("Overlap: what runs at the same time");
    expect(page).toContain("In none of these regions: what a selection");
    expect(pageOf(before, after)).not.toContain("verlap");
  });

  it("is none where the whole cannot be compared", () => {
    const nothing = firstReport(bundleOf([]));
    expect(pageOf(nothing, after)).not.toContain("What contributed");
    expect(pageOf(before, after)).toContain("Wall time of each region without the regions inside");
  });

  it("is one chain of bars within the page, whatever changed", () => {
    const anyLengths = fc.dictionary(
      fc.constantFrom("load", "save", "send", "wait"),
      fc.integer({ min: 1, max: 1000 }),
      { minKeys: 1 },
    );
    fc.assert(
      fc.property(anyLengths, anyLengths, (a, b) => {
        const steps = stepsOf(pageOf(reportOf(a), reportOf(b)));
        const [first, ...others] = steps;
        const last = others.pop();
        if (first === undefined || last === undefined) return;
        let end = first.to;
        for (const { kind, from, to } of others) {
          const [start, next] = kind.startsWith("step-more") ? [from, to] : [to, from];
          // Bars of no length are drawn two wide; positions have one digit.
          expect(Math.abs(start - end)).toBeLessThanOrEqual(2.15);
          expect(to).toBeLessThanOrEqual(1002);
          end = next;
        }
        expect(Math.abs(end - last.to)).toBeLessThanOrEqual(2.15);
      }),
      { numRuns: runs(50) },
    );
  });
});

describe("the two trees of a page", () => {
  const before = reportOf({ step: 100, "step/load": 30, "step/save": 20, end: 10 });
  const after = reportOf({ step: 120, "step/load": 30, "step/send": 1 / 3, end: 10 });

  it("have a row for each region, with its time in both and the row around it", () => {
    const { trees } = dataOf(pageOf(before, after));
    expect(trees).toEqual({
      label: ["step", "load", "save", "send", "end"],
      path: ["step", "step / load", "step / save", "step / send", "end"],
      parent: [-1, 0, 0, 0, -1],
      a: [100, 30, 20, null, 10],
      b: [120, 30, null, 0.3333333, 10],
      verdict: ["unclear", "same", "removed", "added", "same"],
      change: [
        ...["unclear, +20.000 ms (+20.0 %)", "same, 0.000 ms (0.0 %)", "gone", "new"],
        "same, 0.000 ms (0.0 %)",
      ],
    });
  });

  it("are none where fewer than two regions took time", () => {
    expect(dataOf(pageOf(reportOf({ step: 1 }), reportOf({ step: 2 }))).trees).toBeNull();
    const two = reportOf({ step: 1, end: 2 });
    expect(dataOf(pageOf(two, two)).trees).not.toBeNull();
    const one = reportOf({ step: 1, end: 0 });
    expect(dataOf(pageOf(one, one)).trees).toBeNull();
    const one2 = reportOf({ step: 1 });
    expect(dataOf(pageOf(one2, reportOf({ end: 1 }))).trees).toMatchObject({
      ...{ a: [1, null], b: [null, 1] },
    });
  });

  it("hold what ran outside all ranges only where the time of kernels is compared", () => {
    const launched = firstReport(
      bundleOf([
        {
          ranges: [
            { name: "step", start: 0, end: 9 * MS },
            { name: "end", start: 9 * MS, end: 10 * MS },
          ],
          kernels: [
            { name: "gemm", launch: MS, ns: MS },
            { name: "copy", launch: 20 * MS, ns: MS },
          ],
        },
      ]),
    );
    const labels = (report: NCUProfileRegionReport, main_time: "total_ms" | "wall_ms") => {
      const { reports } = comparisonOf(report, report);
      return dataOf(pageOf(report, report, { reports: { ...reports, main_time } })).trees?.label;
    };
    expect(labels(launched, "total_ms")).toHaveLength(3);
    expect(labels(launched, "wall_ms")).toEqual(["step", "end"]);
  });

  it("say nothing of a region without the compared time", () => {
    const { reports } = comparisonOf(before, after);
    const [, ...others] = reports.regions;
    const [step] = reports.regions;
    if (step === undefined) throw new Error("no region");
    const regions = [{ ...step, changes: {} }, ...others];
    const { trees } = dataOf(pageOf(before, after, { reports: { ...reports, regions } }));
    expect([trees?.a[0], trees?.b[0], trees?.verdict[0], trees?.change[0]]).toEqual([
      ...[null, null, "same", "same"],
    ]);
  });
});

describe("the tables of a page", () => {
  const report = reportOf({ step: 100, "step/load": 100 / 3 });
  const sectionsOf = (html: string) => dataOf(html).sections;
  const named = (html: string, title: string) =>
    sectionsOf(html).find((section) => section.title === title);

  it("are of regions, kernels and the configuration, and say so where there is none", () => {
    const sections = sectionsOf(pageOf(report, report));
    expect(sections.map(({ title, empty, table }) => [title, empty, table === null])).toEqual([
      ["Regions", "No regions.", false],
      ["Kernels", "No kernels.", true],
      ["Configuration", "No known differences.", true],
    ]);
    // What numbers mean is said where there are some.
    expect(sections.map(({ hint }) => hint === null)).toEqual([false, true, true]);
    expect(sections.map(({ footer }) => footer === null)).toEqual([false, true, true]);
  });

  it("have as many digits as are shown", () => {
    const { rows = [] } = named(pageOf(report, report), "Regions")?.table ?? {};
    expect(rows[1]?.cells.slice(1, 5)).toEqual([
      ...[33.333333, 33.333333],
      { kind: "measured", value: 0, uncertainty: null },
      0,
    ]);
    const [a, b] = [repeated(report, 0.1), repeated(reportOf({ step: 300.5 }), 0.1)];
    expect(named(pageOf(a, b), "Regions")?.table?.rows[0]?.cells[3]).toEqual({
      ...{ kind: "measured", value: 200.5 },
      uncertainty: Number(Math.hypot(10, 30.05).toFixed(6)),
    });
  });

  it("have the interval of pairs, in as many digits", () => {
    const [step] = report.regions;
    if (step === undefined) throw new Error("no region");
    const ratios = { wall_ms: Array.from({ length: 8 }, (_, at) => Math.log(1.5) + at / 100) };
    const pairs = { totals: ratios, regions: new Map([[regionKey(step), ratios]]) };
    const reports = compareReports(report, reportOf({ step: 150 }), pairs);
    const change = reports.regions[0]?.changes["wall_ms"];
    const cells = named(pageOf(report, report, { reports }), "Regions")?.table?.rows[0]?.cells;
    const rounded = (share = 0) => Number(share.toPrecision(7));
    expect(cells?.[4]).toEqual({
      ...{ kind: "measured", value: rounded(change?.relative ?? 0), uncertainty: null },
      interval: { low: rounded(change?.relative_low), high: rounded(change?.relative_high) },
    });
  });

  it("show values of configurations as code, and which one does not have them", () => {
    const config = [{ key: "batch", a: null, b: "8" }];
    expect(named(pageOf(report, report, { config }), "Configuration")?.table?.rows).toEqual([
      {
        cells: ["batch", [{ kind: "code", text: "(none)" }], [{ kind: "code", text: "8" }]],
      },
    ]);
  });
});

describe("the result of a page", () => {
  const report = reportOf({ step: 100 });
  const differing = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ key: `key${at}`, a: "1", b: "2" }));
  const besideOf = (html: string) =>
    /<div class="differs">(.*?)<\/div><\/section>/s.exec(html)?.[1];

  it("lists up to twelve differences, those of machines first, and counts the others", () => {
    const beside = (count: number) =>
      besideOf(pageOf(report, report, { config: differing(count) }));
    expect(beside(12)).toContain("key11");
    expect(beside(12)).not.toContain("more, below");
    expect(beside(13)).not.toContain("key12");
    expect(beside(13)).toContain("And 1 more, below.");
    const other = { ...report, environment: { ...report.environment, cpu: "Other CPU" } };
    const both = besideOf(pageOf(report, other, { config: differing(12) }));
    expect(both).toMatch(/processors.*key0.*key10/s);
    expect(both).not.toContain("key11");
  });

  it.each([
    [null, "Machines and versions are the same; the configurations are not at hand."],
    [[], "Machines, versions and configurations are the same."],
  ])("says what is the same with configurations %j", (config, said) => {
    expect(besideOf(pageOf(report, report, { config }))).toContain(said);
    const other = { ...report, environment: { ...report.environment, cpu: "Other CPU" } };
    expect(besideOf(pageOf(report, other, { config }))).not.toContain("are the same");
  });

  it("has all times where any can be compared", () => {
    expect(pageOf(report, report)).toContain("wall time in ranges</");
    const nothing = firstReport(bundleOf([]));
    expect(pageOf(nothing, nothing)).toContain("There is no overall result");
    expect(pageOf(nothing, nothing)).not.toContain(">Overall<");
  });

  it("has conditions with their outcomes, in their order, and none without them", () => {
    expect(pageOf(report, report)).not.toContain("gates-heading");
    const gates = checkGates(
      parseGates("invocations>0,wall_ms>=0,invocations<1"),
      compareReports(report, report),
    );
    const page = pageOf(report, report, { gates });
    expect(
      [...page.matchAll(/<li>(\w+): (\w+)/g)].map(([, outcome, name]) => [outcome, name]),
    ).toEqual([
      ["passed", "invocations"],
      ["breached", "wall_ms"],
      ["breached", "invocations"],
    ]);
    const most = Array.from({ length: 2000 }, (_, at) => gates[at % 3]);
    const shown = [...pageOf(report, report, { gates: most }).matchAll(/<li>(\w+): /g)];
    expect(shown).toHaveLength(2000);
    expect(shown.slice(0, 4).map(([, outcome]) => outcome)).toEqual([
      ...["passed", "breached", "breached", "passed"],
    ]);
  });
});
