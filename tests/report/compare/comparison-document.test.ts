import { describe, expect, it } from "vitest";
import { cellText, type Table } from "../../../src/pages/blocks.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import type { Comparison } from "../../../src/report/compare/comparison.ts";
import {
  type ComparisonMedium,
  type ComparisonSection,
  comparisonDocument,
} from "../../../src/report/compare/comparison-document.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import type { KernelRecord, NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { regionKey } from "../../../src/report/model/report-files.ts";
import { bundleOf, firstReport, repeated } from "../bundles.ts";

const MS = 1_000_000;

/** Calls of each region, in ms, one after the other. */
function reportOf(calls: Readonly<Record<string, readonly number[]>>): NCUProfileRegionReport {
  let end = 0;
  const ranges = Object.entries(calls).flatMap(([name, lengths]) =>
    lengths.map((ms) => {
      const start = end;
      end += ms * MS;
      return { name, start, end };
    }),
  );
  return firstReport(bundleOf([{ ranges }], { labels: { fold: null } }));
}

/** Kernels by name, each with its time in ms and its calls, in the first region. */
function withKernels(
  report: NCUProfileRegionReport,
  kernels: Readonly<Record<string, readonly [ms: number | null, calls: number]>>,
): NCUProfileRegionReport {
  const records = Object.entries(kernels).map(
    ([kernel_name, [total_ms, calls]]): KernelRecord => ({
      ...{ kernel_name, kind: "gpu_kernel", total_ms, calls, device: "cuda:0" },
      mean_ms: total_ms === null ? null : total_ms / calls,
    }),
  );
  return {
    ...report,
    regions: report.regions.map((region, at) => ({ ...region, kernels: at === 0 ? records : [] })),
  };
}

const comparisonOf = (a: NCUProfileRegionReport, b: NCUProfileRegionReport): Comparison => ({
  names: { a: "before", b: "after" },
  reports: compareReports(a, b),
  config: null,
  gates: [],
});

const PAGE: ComparisonMedium = { layout: "page", parts: 10 };
const MARKDOWN: ComparisonMedium = { layout: "markdown", parts: 10, kernels: 2 };
const TERMINAL: ComparisonMedium = {
  ...{ layout: "terminal", parts: 10, kernels: 2, regions: 10 },
  facts: { regions: 2, kernels: 2 },
  options: { regions: "--regions", kernels: "--kernels" },
};

function sectionOf(
  comparison: Comparison,
  medium: ComparisonMedium,
  id: ComparisonSection["id"],
): ComparisonSection {
  const section = comparisonDocument(comparison, medium).sections.find((one) => one.id === id);
  if (section === undefined) throw new Error(`no section ${id}`);
  return section;
}

const titlesOf = (table: Table | null) => table?.columns.map(({ title }) => title);

const rowsOf = (table: Table | null) =>
  [...(table?.rows ?? [])].map(({ cells }) =>
    cells.map((cell, at) => {
      const column = table?.columns[at];
      return column === undefined ? "" : cellText(cell, column);
    }),
  );

const before = reportOf({ load: [10, 10], step: [100], save: [5] });
const after = reportOf({ load: [10], step: [150], save: [5] });

describe("the document of a comparison", () => {
  it("links the names to the pages that are known", () => {
    const names = (links?: Comparison["links"]) =>
      comparisonDocument({ ...comparisonOf(before, after), ...(links && { links }) }, PAGE).names;
    expect(names()).toEqual({ a: "before", b: "after" });
    expect(names({ a: null, b: "b/report.html" })).toEqual({
      a: "before",
      b: { kind: "link", text: "after", path: "b/report.html" },
    });
  });

  it("has gates only with conditions, and tells an absent value from an empty one", () => {
    const comparison = comparisonOf(before, after);
    expect(comparisonDocument(comparison, PAGE).gates).toBeNull();
    const gates = checkGates(parseGates("region_count>0"), comparison.reports);
    expect(comparisonDocument({ ...comparison, gates }, PAGE).gates).toEqual({
      ...{ summary: "gates passed: 1 checked", results: gates },
    });
    const other = { ...before, environment: { ...before.environment, gpus: ["NVIDIA H100"] } };
    const differences = (a: typeof before, b: typeof before) =>
      comparisonDocument(comparisonOf(a, b), PAGE).differences;
    expect(differences(before, other)).toEqual({
      ...{ machines: [{ key: "GPUs", a: null, b: "NVIDIA H100" }], config: null },
    });
    expect(differences(other, before).machines).toEqual([
      { key: "GPUs", a: "NVIDIA H100", b: null },
    ]);
  });

  it("has no table of times where none can be compared", () => {
    const nothing = firstReport(bundleOf([]));
    expect(comparisonDocument(comparisonOf(before, after), PAGE).overall).not.toBeNull();
    const { overall, sections } = comparisonDocument(comparisonOf(nothing, nothing), PAGE);
    expect(overall).toBeNull();
    expect(sections.map(({ table }) => table)).toEqual([null, null, null, null, null, null]);
  });
});

describe("the regions of a comparison", () => {
  const section = (medium: ComparisonMedium, a = before, b = after) =>
    sectionOf(comparisonOf(a, b), medium, "regions");

  it("have the whole below them, or beside the table that a page sorts", () => {
    expect(rowsOf(section(MARKDOWN).table).map(([name]) => name)).toEqual([
      ...["load", "step", "save", "regions together"],
    ]);
    expect(rowsOf(section(PAGE).table).map(([name]) => name)).toEqual(["load", "step", "save"]);
    expect([section(MARKDOWN).footer, section(TERMINAL).footer]).toEqual([null, null]);
    expect(section(PAGE).footer).toBe(
      "regions together: 125.000 ms before, 165.000 ms after: +40.000 ms (+32.0 %), unclear",
    );
    const [a, b] = [repeated(before, 0.01), repeated(after, 0.01)];
    expect(section(PAGE, a, b).footer).toMatch(/: \+40\.000 ±1\.\d{3} ms \(\+32\.0 %\), slower$/);
  });

  it("have the interval of pairs for the whole", () => {
    const ratios = { wall_ms: Array.from({ length: 8 }, (_, at) => Math.log(1.3) + at / 100) };
    const regions = new Map(before.regions.map((region) => [regionKey(region), ratios]));
    const reports = compareReports(before, after, { totals: ratios, regions });
    const { footer } = sectionOf({ ...comparisonOf(before, after), reports }, PAGE, "regions");
    expect(footer).toMatch(/: \+40\.000 ms \(\+34\.6 %; \+\d+\.\d…\+\d+\.\d %\), slower$/);
    expect(rowsOf(section(PAGE).table)[1]?.[4]).toBe("+50.0");
  });

  it("say that nothing is known of the whole where neither has a time", () => {
    const { reports, ...comparison } = comparisonOf(before, after);
    const untimed = { ...comparison, reports: { ...reports, totals: {} } };
    expect(sectionOf(untimed, PAGE, "regions").footer).toBe(
      "regions together: – ms before, – ms after: – ms (– %), same",
    );
  });

  it("have counts where some differ: in a column on a page, beside the verdict on a terminal", () => {
    expect(titlesOf(section(PAGE).table)).toEqual([
      ...["Name", "A ms", "B ms", "Change ms", "%", "Verdict", "Counts"],
    ]);
    expect(rowsOf(section(PAGE).table).map((cells) => cells.slice(5))).toEqual([
      ...[
        ["unclear", "calls 2 -> 1"],
        ["unclear", ""],
      ],
      ["same", ""],
    ]);
    expect(titlesOf(section(PAGE, before, before).table)).not.toContain("Counts");
    expect(titlesOf(section(MARKDOWN).table)).toEqual([
      ...["Region", "A ms", "B ms", "Change ms", "%", ""],
    ]);
    const [load] = rowsOf(section(TERMINAL).table);
    expect(load?.at(-1)).toBe("unclear, calls 2 -> 1");
  });

  it("are those that changed where there are too many, with what shows the others", () => {
    const left = (regions: number) => {
      const { table, left: words } = section({ ...TERMINAL, regions });
      return [rowsOf(table).map(([name]) => name), words];
    };
    const together = "regions together";
    expect(left(3)).toEqual([["load", "step", "save", together], null]);
    expect(left(2)).toEqual([
      ["load", "step", together],
      "regions not shown: 1 same; --regions 3 shows all",
    ]);
    expect(left(1)).toEqual([
      ["step", together],
      "regions not shown: 1 unclear, 1 same; --regions 3 shows all",
    ]);
    const { options: _, ...unnamed } = { ...TERMINAL, regions: 2 };
    expect(section(unnamed).left).toBe("regions not shown: 1 same");
  });

  it("count first what is new or gone, and what has no time last", () => {
    const many = (names: string, ms: number) =>
      Object.fromEntries([...names].map((name) => [name, [ms]]));
    const reports = compareReports(reportOf(many("abcd", 10)), reportOf(many("cdef", 20)));
    const untimed = reports.regions.map((region) =>
      region.path[0] === "d" ? { ...region, changes: {} } : region,
    );
    const comparison = {
      ...comparisonOf(before, after),
      reports: { ...reports, regions: untimed },
    };
    const { left } = sectionOf(comparison, { ...TERMINAL, regions: 1 }, "regions");
    expect(left).toBe(
      "regions not shown: 1 new, 2 gone, 1 unclear, 1 without times; --regions 6 shows all",
    );
  });

  it("have a legend of their time and of its interval", () => {
    expect(section(PAGE).legend).toBe(
      "Numbers are wall time; too few runs to be certain: use repeats=5 for both, or deep-profile ab.",
    );
  });
});

describe("the kernels of a comparison", () => {
  const KERNELS = { gemm: [5, 1], relu: [3, 2], copy: [1, 1] } as const;
  const OTHERS = { gemm: [9, 1], relu: [4, 3], copy: [1.5, 1] } as const;
  const kernelsOf = (medium: ComparisonMedium, a = KERNELS, b: typeof a = OTHERS as never) =>
    sectionOf(comparisonOf(withKernels(before, a), withKernels(before, b)), medium, "kernels");

  it("are all on a page, else those that changed most, and the others are counted", () => {
    expect(kernelsOf(PAGE)).toMatchObject({ title: "Kernels", left: null, row: ["kernel"] });
    expect(rowsOf(kernelsOf(PAGE).table).map(([name]) => name)).toEqual(["gemm", "relu", "copy"]);
    const markdown = kernelsOf(MARKDOWN);
    expect(markdown).toMatchObject({
      ...{ title: "Kernels that differ", left: "1 more kernel changed." },
    });
    expect(rowsOf(markdown.table).map(([name]) => name)).toEqual(["gemm", "relu"]);
    expect(kernelsOf(TERMINAL).left).toBe("1 more kernel changed: --kernels 3 shows all");
    expect(kernelsOf({ ...TERMINAL, kernels: 3 }).left).toBeNull();
    expect(kernelsOf(PAGE).legend).toMatch(/^Kernels are judged by the intervals of at least/);
  });

  it("have counts that differ in a column, on a terminal beside the verdict", () => {
    expect(titlesOf(kernelsOf(PAGE).table)).toEqual([
      ...["Name", "A ms", "B ms", "Change ms", "%", "Verdict", "Counts"],
    ]);
    expect(titlesOf(kernelsOf(MARKDOWN).table)).toEqual([
      ...["Kernel", "A ms", "B ms", "Change ms", "%", "", "Counts"],
    ]);
    expect(rowsOf(kernelsOf(MARKDOWN).table).map((cells) => cells.at(-1))).toEqual([
      ...["", "calls 2 -> 3"],
    ]);
    expect(titlesOf(kernelsOf(TERMINAL).table)).not.toContain("Counts");
    expect(rowsOf(kernelsOf(TERMINAL).table)[1]?.at(-1)).toBe("unclear, calls 2 -> 3");
    expect(titlesOf(kernelsOf(PAGE, KERNELS, KERNELS).table)).not.toContain("Counts");
  });

  it("say where there is none, if all would be shown", () => {
    const none = {} as typeof KERNELS;
    expect(kernelsOf(PAGE, none, none)).toMatchObject({ table: null, empty: "No kernels." });
    expect(kernelsOf(MARKDOWN, KERNELS, KERNELS)).toMatchObject({ table: null, empty: null });
  });

  it("share a row where they have other shapes, in the order of their differences", () => {
    const shaped = (
      a: Parameters<typeof withKernels>[1],
      b: Parameters<typeof withKernels>[1],
    ): readonly (readonly (string | undefined)[])[] => {
      const { table } = sectionOf(
        comparisonOf(withKernels(before, a), withKernels(before, b)),
        PAGE,
        "kernels",
      );
      return rowsOf(table).map((cells) => [cells[0], cells[1], cells[2], cells.at(-1)]);
    };
    expect(
      shaped(
        { "gemm 2x4": [3, 1], "gemm 2x8": [1, 1], relu: [1, 1], "conv 16": [2, 1] },
        { "gemm 4x4": [2, 1], relu: [8, 1], "conv 32": [3, 4] },
      ),
    ).toEqual([
      ["relu", "1.000", "8.000", ""],
      ["gemm *", "4.000", "2.000", "other shapes, names 2 -> 1, calls 2 -> 1"],
      ["conv *", "2.000", "3.000", "other shapes, calls 1 -> 4"],
    ]);
    expect(shaped({ "gemm 2": [3, 1] }, { "gemm 4": [5, 1] })).toEqual([
      ["gemm *", "3.000", "5.000", "other shapes"],
    ]);
  });
});

describe("the use of the GPU in a comparison", () => {
  const activity = (busy_ms: number) => ({ busy_ms, kernel_ms: 1, copy_ms: 1, overlap_ms: 0 });
  const busy = (report: NCUProfileRegionReport, share: number) => ({
    ...report,
    regions: report.regions.map((region) => ({
      ...region,
      gpu_activity: activity(share * (region.wall_ms ?? 0)),
    })),
  });
  const comparison = comparisonOf(busy(before, 0.2), busy(before, 0.5));
  const facts = (medium: ComparisonMedium) => sectionOf(comparison, medium, "activity");

  it("is one row for each change, below or beside its region", () => {
    expect(titlesOf(facts(TERMINAL).table)).toEqual(["GPU in regions", "A", "B", "Change"]);
    expect(rowsOf(facts(TERMINAL).table).map(([name]) => name?.trim())).toEqual([
      ...["step", "GPU busy %", "load", "GPU busy %"],
    ]);
    expect(rowsOf(facts(TERMINAL).table)[1]?.slice(1)).toEqual(["20.0", "50.0", "+30.0"]);
    expect(rowsOf(facts(TERMINAL).table)[0]?.slice(1)).toEqual(["", "", ""]);
    expect(titlesOf(facts(MARKDOWN).table)).toEqual(["Region", "", "A", "B", "Change"]);
    expect(titlesOf(facts(PAGE).table)).toEqual(["Name", "What", "A", "B", "Change"]);
    expect(rowsOf(facts(PAGE).table).map(([name]) => name)).toEqual(["step", "load", "save"]);
  });

  it("counts what is left out, with what shows it", () => {
    expect(facts(TERMINAL).left).toBe("1 more changed: --regions 3 shows all");
    const { options: _, ...unnamed } = TERMINAL;
    expect(facts(unnamed).left).toBe("1 more changed.");
    expect(facts(PAGE).left).toBeNull();
    expect(sectionOf(comparison, PAGE, "ranks")).toMatchObject({ table: null, left: null });
  });
});

describe("what contributed, as a table", () => {
  const rows = (a: NCUProfileRegionReport, b: NCUProfileRegionReport, parts = 10) =>
    rowsOf(sectionOf(comparisonOf(a, b), { ...TERMINAL, parts }, "contributed").table);

  it("is in ms and as a share of A, with the verdict", () => {
    expect(rows(before, after)).toEqual([
      ["step", "+50.000", "+40.0", "unclear"],
      ["load", "-10.000", "-8.0", "unclear"],
    ]);
    expect(rows(before, after, 1)).toEqual([
      ["step", "+50.000", "+40.0", "unclear"],
      ["1 other region", "-10.000", "-8.0", ""],
    ]);
  });

  it("is no share of nothing, and has what regions do not explain", () => {
    const total = (report: NCUProfileRegionReport, wall_ms: number) => ({
      ...report,
      totals: { ...report.totals, wall_ms },
    });
    expect(rows(total(before, 0), after)).toEqual([
      ["step", "+50.000", "–", "unclear"],
      ["load", "-10.000", "–", "unclear"],
      ["(overlap, or in none of these regions)", "+125.000", "–", ""],
    ]);
  });
});
