import { describe, expect, it } from "vitest";
import { textWidth } from "../../../src/foundation/text/text-width.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import {
  COMPARISON_CONTRACT,
  type Comparison,
  comparisonJsonPieces,
} from "../../../src/report/compare/comparison.ts";
import { renderComparisonHtml } from "../../../src/report/compare/comparison-html.ts";
import { comparisonMarkdownPieces } from "../../../src/report/compare/comparison-markdown.ts";
import { renderComparison } from "../../../src/report/compare/comparison-terminal.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import { bundleOf, firstReport, hostileNames, repeated, resnet } from "../bundles.ts";
import { joined } from "../joined.ts";

const OPERATIONS = { operationDomains: ["shallow_resnet.ops"] };
const scaled = (factor: number) =>
  firstReport(
    bundleOf(
      [
        {
          ...resnet,
          ranges: (resnet.ranges ?? []).map((range) => ({
            ...range,
            start: range.start * factor,
            end: (range.end ?? 0) * factor,
          })),
        },
      ],
      OPERATIONS,
    ),
  );
const reports = compareReports(repeated(scaled(1)), repeated(scaled(2)));
const comparison: Comparison = {
  names: { a: "runs/before", b: "runs/after" },
  reports,
  config: [{ key: "infer.batch_size", a: "4", b: "8" }],
  gates: checkGates(parseGates("total_ms>5%,kernel_count>0"), reports),
};
const hostileReport = firstReport(
  bundleOf([
    {
      pid: 1,
      ranges: hostileNames.map((name, at) => ({ name, start: at * 10, end: at * 10 + 9 })),
    },
  ]),
);
const hostile: Comparison = {
  names: { a: hostileNames[0] ?? "", b: hostileNames[4] ?? "" },
  reports: compareReports(hostileReport, hostileReport),
  config: hostileNames.map((name) => ({ key: name, a: name, b: null })),
  gates: [],
};

describe("comparisonMarkdownPieces", () => {
  it.each([
    ["the same in both", [], "The configurations are the same."],
    ["different", comparison.config, "## Configuration"],
  ])("says of configurations that are %s so", (_what, config, said) => {
    expect(joined(comparisonMarkdownPieces({ ...comparison, config }))).toContain(`\n${said}\n`);
  });

  it("says nothing of configurations that are not known", () => {
    expect(joined(comparisonMarkdownPieces({ ...comparison, config: null }))).not.toMatch(
      /configuration/i,
    );
  });
});

describe("renderComparison", () => {
  it("aligns regions, kernels, configuration and gates", () => {
    expect(
      `\n${renderComparison(comparison, { width: 100, color: false, regions: 60, kernels: 2 })}`,
    ).toMatchSnapshot();
  });

  it.each([40, 60, 100])("stays within %i columns", (width) => {
    for (const { reports: compared, gates } of [comparison, hostile]) {
      const shown = { names: { a: "a", b: "b" }, reports: compared, config: null, gates };
      const text = renderComparison(shown, { width, color: false, regions: 60, kernels: 5 });
      const lines = text.split("\n");
      expect(lines.length).toBeGreaterThan(8);
      for (const line of lines) expect(textWidth(line), line).toBeLessThanOrEqual(width);
      expect(text).toContain("%");
    }
  });

  it("leaves out what matters least on a narrow terminal", () => {
    const headingAt = (width: number) =>
      renderComparison(comparison, { width, color: false, regions: 60, kernels: 0 })
        .split("\n")
        .find((line) => line.startsWith("Region"))
        ?.split(/ {2,}/);
    expect(headingAt(100)).toEqual(["Region", "A ms", "B ms", "Change ms", "%"]);
    expect(headingAt(56)).toEqual(["Region", "A ms", "B ms", "Change ms"]);
    expect(headingAt(40)).toEqual(["Region", "Change ms"]);
  });

  it("colours only where it may", () => {
    const escapeCode = String.fromCharCode(27);
    expect(
      renderComparison(comparison, { width: 100, color: false, regions: 60, kernels: 2 }),
    ).not.toContain(escapeCode);
    expect(
      renderComparison(comparison, { width: 100, color: true, regions: 60, kernels: 2 }),
    ).toContain(escapeCode);
    expect(
      renderComparison(hostile, { width: 100, color: false, regions: 60, kernels: 2 }),
    ).not.toContain(escapeCode);
  });
});

describe("a terminal in colours", () => {
  const ESCAPE = String.fromCharCode(27);
  const wide = { width: 200, color: true, regions: 60, kernels: 2 };

  it("has the result in bold, notes in yellow, and legends and what is left out dim", () => {
    const text = renderComparison({ ...comparison, gates: [] }, { ...wide, regions: 2 });
    const codeBefore = (words: string) =>
      text
        .split("\n")
        .find((line) => line.includes(words))
        ?.split(words, 1)[0];
    expect(codeBefore("B is slower")).toBe(`${ESCAPE}[1m`);
    expect(codeBefore("note: ")).toBe(`${ESCAPE}[33m`);
    for (const start of ["Numbers are ", "regions not shown: ", "1 more CPU operation "])
      expect(codeBefore(start), start).toBe(`${ESCAPE}[2m`);
  });

  it("has what holds in green, what does not in red, and doubts in yellow", () => {
    const [gate] = comparison.gates;
    if (gate === undefined) throw new Error("no gate");
    for (const [outcome, code] of [
      ["passed", 32],
      ["breached", 31],
      ["unclear", 33],
      ["unchecked", 33],
    ] as const) {
      const gates = [{ ...gate, outcome, reason: "told" }];
      expect(renderComparison({ ...comparison, gates }, wide)).toContain(
        `${ESCAPE}[${code}m${outcome}: told${ESCAPE}[39m`,
      );
    }
  });
});

describe("what differs on a terminal", () => {
  const report = scaled(1);
  const other = { ...report, environment: { ...report.environment, gpus: ["NVIDIA H100"] } };
  const text = (config: Comparison["config"], b: typeof report = other) =>
    renderComparison(
      { names: { a: "a", b: "b" }, reports: compareReports(report, b), config, gates: [] },
      { width: 100, color: false, regions: 60, kernels: 2 },
    );

  it("is machines and versions, then the configuration", () => {
    expect(text([{ key: "batch", a: "1", b: null }])).toContain(
      "\nnot the same:\n  GPUs: (none) -> NVIDIA H100\nconfiguration:\n  batch: 1 -> (none)\n",
    );
    expect(text(null)).toContain("\n  GPUs: (none) -> NVIDIA H100\n\n");
    expect(text(null, report)).not.toMatch(/not the same|configuration/);
  });

  it("is up to thirty values of the configuration", () => {
    const values = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ key: `k${at}`, a: "1", b: "2" }));
    expect(text(values(30))).toMatch(/ {2}k29: 1 -> 2\n\n/);
    expect(text(values(31))).toMatch(/ {2}k29: 1 -> 2\n {2}and 1 more\n/);
  });

  it("is in a table of Markdown, with the machines under a heading of their own", () => {
    const markdown = (config: Comparison["config"], b: typeof report) =>
      joined(
        comparisonMarkdownPieces({
          ...{ names: { a: "a", b: "b" }, reports: compareReports(report, b), config, gates: [] },
        }),
      );
    const row = "| GPUs |  | NVIDIA H100 |";
    const same = "The configurations are the same.";
    expect(markdown([{ key: "batch", a: "1", b: "2" }], other)).toMatch(
      /\n## What differs\n[^#]*\| GPUs \|[^#]*\| batch \| 1 \| 2 \|/,
    );
    expect(markdown(null, other)).toContain(row);
    expect(markdown(null, other)).not.toContain(same);
    expect(markdown([], other)).toContain(row);
    expect(markdown([], other)).toContain(same);
    expect(markdown(null, report)).not.toMatch(/What differs|## Configuration/);
  });
});

it("a terminal has the table of all times only where there are several", () => {
  const texts = [scaled(1), { ...scaled(1), totals: { ...scaled(1).totals, total_ms: null } }].map(
    (report) =>
      renderComparison(
        {
          names: { a: "a", b: "b" },
          reports: compareReports(report, report),
          config: null,
          gates: [],
        },
        { width: 100, color: false, regions: 60, kernels: 2 },
      ),
  );
  expect(texts.map((text) => text.includes("\nOverall "))).toEqual([true, false]);
});

describe("what is left out", () => {
  const values = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ key: `k${at}`, a: null, b: `${at}` }));
  const wide = { width: 100, color: false, regions: 60, kernels: 3 };

  it.each([
    [0, ["configurations are the same"]],
    [1, ["configuration:", "  k0: (none) -> 0"]],
  ])("is nothing of %i differences of the configuration", (count, lines) => {
    const text = renderComparison({ ...comparison, config: values(count), gates: [] }, wide);
    expect(text).toContain(`\n${lines.join("\n")}\n`);
    expect(text).not.toContain("more");
  });

  it("is told in every form", () => {
    const many = { ...comparison, config: values(2001), gates: [] };
    expect(renderComparison(many, wide)).toMatch(/ {2}k29: \(none\) -> 29\n {2}and 1971 more\n/);
    const page = (of: Comparison) =>
      /Left out of this page: [^<]*/.exec(renderComparisonHtml(of))?.[0];
    expect(page(many)).toBe("Left out of this page: 1 configuration value.");
    expect(page(comparison)).toBeUndefined();
    const [kernel] = reports.kernels;
    const kernels = Array.from({ length: 2022 }, () => kernel ?? []).flat();
    const long = { ...comparison, reports: { ...reports, kernels } };
    expect(page(long)).toBe("Left out of this page: 22 CPU operations.");
    expect(joined(comparisonMarkdownPieces(long))).toContain(
      "\n2,002 more CPU operations changed.\n",
    );
  });
});

it("Markdown has no piece that grows with the regions or gates", () => {
  const [region] = reports.regions;
  const [gate] = comparison.gates;
  const many = <T>(one: T | undefined) => Array.from({ length: 3000 }, () => one ?? []).flat();
  const large = {
    ...comparison,
    reports: { ...reports, regions: many(region) },
    gates: many(gate),
  };
  const lengths = [...comparisonMarkdownPieces(large)].map(({ length }) => length);
  expect(lengths.length).toBeGreaterThan(6000);
  expect(lengths.reduce((most, length) => Math.max(most, length), 0)).toBeLessThan(500);
});

it("the page has the gates that do not hold first where there are very many", () => {
  const [gate] = comparison.gates;
  if (gate === undefined) throw new Error("no gate");
  const of = (outcome: typeof gate.outcome, count: number) =>
    Array.from({ length: count }, (_, at) => ({ ...gate, outcome, reason: `r${at}` }));
  const gates = [...of("passed", 2000), ...of("unclear", 1), ...of("breached", 2)];
  const html = renderComparisonHtml({ ...comparison, gates });
  const shown = [...html.matchAll(/<li>((?:breached|unclear|passed): r\d+)<\/li>/g)].map(
    ([, text]) => text,
  );
  expect(shown).toHaveLength(2000);
  expect(shown.slice(0, 4)).toEqual(["breached: r0", "breached: r1", "unclear: r0", "passed: r0"]);
  expect(html).toContain("Left out of this page: 3 gates.");
});

it("a region without the time that is compared has an empty row, and no verdict", () => {
  const regions = reports.regions.map((region, at) =>
    at === 0 ? { ...region, changes: {} } : region,
  );
  const some = { ...comparison, reports: { ...reports, regions } };
  expect(renderComparison(some, { width: 100, color: false, regions: 60, kernels: 0 })).toMatch(
    /^forward *$/m,
  );
  expect(joined(comparisonMarkdownPieces(some))).toContain("| forward |  |  |  |  |  |");
});

it("gates that hold are summed up in the terminal; the breached are on standard error", () => {
  const shown = (text: string) => {
    const gates = checkGates(parseGates(text), reports);
    return renderComparison(
      { ...comparison, gates },
      { width: 100, color: false, regions: 60, kernels: 0 },
    );
  };
  expect(shown("kernel_count>0,total_ms<0")).toMatch(/\ngates passed: 2 checked\n$/);
  expect(shown("kernel_count>0,total_ms>0")).not.toContain("gate breached");
});

describe("other forms", () => {
  it("Markdown holds the same facts", () => {
    expect(joined(comparisonMarkdownPieces(comparison))).toMatchSnapshot();
    expect(joined(comparisonMarkdownPieces(hostile))).not.toContain("<script>");
  });

  it("JSON holds everything under a versioned contract", () => {
    const document = JSON.parse(joined(comparisonJsonPieces(comparison)));
    expect(document.contract).toBe(COMPARISON_CONTRACT);
    expect(document.names).toEqual(comparison.names);
    expect(document.regions).toEqual(JSON.parse(JSON.stringify(reports.regions)));
    expect(document.gates[0]).toMatchObject({ outcome: "breached", gate: { text: "total_ms>5%" } });
  });

  it("the page makes no element of names", () => {
    const elements = (html: string) => [...html.matchAll(/<[a-z][a-z0-9-]*/gi)].map(String);
    const plain = { ...hostile, names: { a: "a", b: "b" } };
    expect(elements(renderComparisonHtml(hostile))).toEqual(elements(renderComparisonHtml(plain)));
  });
});

describe("runs that measured nothing", () => {
  const nothing = firstReport(bundleOf([]));
  const forms = (a: typeof nothing, b: typeof nothing) => {
    const compared = { ...comparison, reports: compareReports(a, b), gates: [], config: null };
    return [
      renderComparison(compared, { width: 100, color: false, regions: 60, kernels: 5 }),
      joined(comparisonMarkdownPieces(compared)),
      joined(comparisonJsonPieces(compared)),
      renderComparisonHtml(compared),
    ];
  };

  it("are said to have measured nothing in every form, without an empty table", () => {
    const texts = forms(nothing, nothing);
    expect(texts).toHaveLength(4);
    for (const text of texts) {
      expect(text).toContain("neither A nor B measured a region: there is nothing to compare");
      expect(text).not.toMatch(/^(?:all|regions together) /m);
      expect(text).not.toMatch(/^\| Region/m);
    }
  });

  it.each([
    ["A", nothing, scaled(1)],
    ["B", scaled(1), nothing],
  ])("are named where it is %s alone", (name, a, b) => {
    for (const text of forms(a, b)) expect(text).toContain(`${name} measured no region: nothing`);
  });
});

describe("a comparison of many regions", () => {
  const COUNT = 200;
  type LengthsOf = (at: number) => readonly number[];
  /** Regions with calls of these lengths in ns, usually one of 100; the first ten are inside `step`. */
  const run = (lengthsOf: LengthsOf) => {
    const ranges = Array.from({ length: COUNT }, (_, at) =>
      lengthsOf(at).map((length, call) => {
        const start = at * 1_000 + call * 400;
        return { name: `r${at}`, start, end: start + length };
      }),
    );
    const step = { name: "step", start: 0, end: 10_000 };
    // Their numbers are the places that lines are compared by.
    const labels = { fold: null };
    return firstReport(bundleOf([{ pid: 1, ranges: [step, ...ranges.flat()] }], { labels }));
  };
  const before = run(() => [100]);
  const linesOf = (lengthsOf: LengthsOf, regions: number): readonly string[] => {
    const compared = compareReports(repeated(before, 0.03), repeated(run(lengthsOf), 0.03));
    return renderComparison(
      { names: { a: "a", b: "b" }, reports: compared, config: null, gates: [] },
      { width: 100, color: false, regions, kernels: 0 },
    ).split("\n");
  };
  /** The lines of the tree. */
  const labelled = (lines: readonly string[]) =>
    lines
      .slice(lines.findIndex((line) => line.startsWith("Region ")))
      .filter((line) => /^ *(?:step |r\d|regions together)/.test(line))
      .map((line) => line.split(/ {2,}/)[0]);

  it("has lines for what changed, in their places, and says what of the rest", () => {
    const changed = new Map([
      [3, 300],
      [150, 50],
      [160, 102],
    ]);
    const lines = linesOf((at) => [changed.get(at) ?? 100], 60);
    expect(labelled(lines)).toEqual(["step / r3", "r150", "r160", "regions together"]);
    expect(lines).toContain("regions not shown: 198 same; --regions 201 shows all");
  });

  it("prefers sure changes to unclear ones, and large to small ones", () => {
    const lines = linesOf((at) => [at < 20 ? 103 : at === 30 ? 90 : at === 40 ? 400 : 100], 2);
    expect(labelled(lines)).toEqual(["r30", "r40", "regions together"]);
    expect(lines).toContain("regions not shown: 20 unclear, 179 same; --regions 201 shows all");
    const most = linesOf((at) => [at === 40 ? 400 : 90], 1);
    expect(labelled(most)).toEqual(["r40", "regions together"]);
    expect(most).toContain("regions not shown: 199 faster, 1 same; --regions 201 shows all");
  });

  it("has lines for other numbers of calls, too", () => {
    const lines = linesOf((at) => (at === 7 ? [50, 50] : [100]), 60);
    expect(labelled(lines)).toEqual(["step / r7", "regions together"]);
    expect(lines.find((line) => line.includes("r7"))).toMatch(/same, calls 1 -> 2$/);
  });

  it("has the whole alone where nothing changed", () => {
    const lines = linesOf(() => [100], 60);
    expect(labelled(lines)).toEqual(["regions together"]);
    expect(lines).toContain("regions not shown: 201 same; --regions 201 shows all");
  });

  it("is whole where there is room", () => {
    const lines = linesOf((at) => [at === 3 ? 300 : 100], COUNT + 1);
    expect(labelled(lines)).toHaveLength(COUNT + 2);
    expect(lines.join("\n")).not.toContain("not shown");
  });
});

describe("a comparison on a narrow terminal", () => {
  it.each([80, 60, 50, 40])("of %i columns shows A and B, or neither", (width) => {
    const text = renderComparison(comparison, { width, color: false, regions: 60, kernels: 10 });
    const heading = text.split("\n").find((line) => line.startsWith("Region ")) ?? "";
    expect(heading.includes("A ms")).toBe(heading.includes("B ms"));
    if (width >= 60) expect(heading).toContain("A ms");
  });
});

describe("the gates on a page", () => {
  it.each([
    ["kernel_count>0", true],
    ["total_ms>5%", false],
  ])("of %s are marked as nothing to note: %s", (text, isNeutral) => {
    const page = renderComparisonHtml({
      ...comparison,
      gates: checkGates(parseGates(text), reports),
    });
    expect(page.includes('<section class="notice neutral"')).toBe(isNeutral);
  });
});
