import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapedControls } from "../../src/foundation/text/printable.ts";
import { renderCsv } from "../../src/pages/csv.ts";
import { kernelRecords, regionRecords } from "../../src/report/view/region-records.ts";
import { twoLibraries } from "../profiler/analysis/timelines.ts";
import { anyName, bundleOf, firstReport, hostileNames, resnet } from "../report/bundles.ts";
import { readCsv } from "../report/read-csv.ts";
import { runs } from "../runs.ts";

const table = (pieces: Iterable<string>) => {
  const [head = [], ...rows] = readCsv([...pieces].join(""));
  return rows.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at]])));
};

/** Kernels outside every range are of no domain. */
const oneDomain = {
  ranges: [{ name: "step", start: 0, end: 10, domain: "D" }],
  kernels: [
    { name: "in", launch: 5, ns: 1 },
    { name: "out", launch: 20, ns: 1 },
  ],
};

const named = (names: readonly string[]) =>
  bundleOf([
    { pid: 1, ranges: names.map((name, at) => ({ name, start: at * 10, end: at * 10 + 9 })) },
  ]);

const couldBeFormula = (text: string) =>
  /^[=+\-@\t\r]/.test(text) && !/^[+-](\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);

describe("CSV", () => {
  it("has a row per region and report with its numbers", () => {
    const bundle = bundleOf([resnet], { operationDomains: ["shallow_resnet.ops"] });
    const rows = table(renderCsv(regionRecords(bundle)));
    expect(rows).toHaveLength(bundle.reports.flatMap(({ regions }) => regions).length);
    expect(rows[2]).toMatchObject({
      scope: "aggregate",
      path: "forward / residual",
      parent: "forward",
      depth: "1",
      total_ms: "10",
      wall_ms: "20",
      call_min_ms: "10",
      call_median_ms: "10",
      call_p95_ms: "10",
      call_max_ms: "10",
    });
    const kernels = table(renderCsv(kernelRecords(bundle)));
    expect(kernels.find(({ path }) => path === "forward / stem")).toMatchObject({
      kernel_name: "conv2d 4x3x64x64",
      kind: "cpu_operation",
      calls: "2",
      device: "cpu",
    });
  });

  it("names metrics with their units, and leaves unmeasured cells empty", () => {
    const bundle = bundleOf([resnet], { operationDomains: [] });
    const [region, ...others] = firstReport(bundle).regions;
    if (region === undefined) throw new Error("no region");
    const measured = { ...region, metrics: { "dram__bytes.sum": { value: 5, unit: "byte" } } };
    const report = { ...firstReport(bundle), regions: [measured, ...others] };
    const rows = table(renderCsv(regionRecords({ ...bundle, reports: [report] })));
    expect(rows[0]).toMatchObject({ "dram__bytes.sum [byte]": "5", total_ms: "" });
    expect(rows[1]).toMatchObject({ "dram__bytes.sum [byte]": "" });
  });

  it("has the domains of paths where regions have several, and only there", () => {
    const bundle = bundleOf([twoLibraries]);
    const domains = (rows: ReturnType<typeof table>) =>
      rows.filter(({ scope }) => scope === "aggregate").map((row) => row["path_domains"]);
    const all = ["A", "A / io", "B", "B / io"];
    expect(domains(table(renderCsv(regionRecords(bundle))))).toEqual(all);
    expect(domains(table(renderCsv(kernelRecords(bundle))))).toEqual(all);
    const usual = bundleOf([{ ...resnet, ranges: (resnet.ranges ?? []).slice(0, 2) }]);
    for (const pieces of [
      renderCsv(regionRecords(usual)),
      renderCsv(kernelRecords(bundleOf([oneDomain]))),
    ])
      expect([...pieces][0]).not.toContain("path_domains");
  });

  it("tells any names apart, shows their controls, and lets none become a formula", () => {
    const check = (names: readonly string[]) => {
      const read = table(renderCsv(regionRecords(named(names)))).map(({ name }) => name ?? "");
      for (const name of names) {
        const shown = escapedControls(name);
        expect(read).toContain(couldBeFormula(shown) ? `'${shown}` : shown);
      }
      expect(read.join("")).not.toMatch(/\p{Cc}/u);
      for (const name of read) expect(couldBeFormula(name)).toBe(false);
    };
    check([...hostileNames, "=1+1", "@SUM(A1)", "-2", "+3", "a=b", "x - y", "'quoted'"]);
    fc.assert(fc.property(fc.uniqueArray(anyName, { minLength: 1, maxLength: 5 }), check), {
      numRuns: runs(60),
    });
  });
});
