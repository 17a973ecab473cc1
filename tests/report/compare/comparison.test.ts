import { describe, expect, it } from "vitest";
import { countChange } from "../../../src/report/compare/change.ts";
import {
  compareReports,
  judgedBy,
  type ReportComparison,
} from "../../../src/report/compare/compare-reports.ts";
import {
  countNotes,
  gateSummary,
  kernelHeading,
  mainTime,
  overallSentence,
  waterfallOf,
} from "../../../src/report/compare/comparison.ts";
import type { GateResult } from "../../../src/report/compare/comparison-types.ts";
import { parseGates } from "../../../src/report/compare/gates.ts";
import { renderComparison } from "../../../src/report/compare/terminal.ts";
import { regionKey } from "../../../src/report/model/report-files.ts";
import { bundleOf, firstReport, reportOfCalls, resnet } from "../bundles.ts";

const operations = firstReport(bundleOf([resnet], { operationDomains: ["shallow_resnet.ops"] }));
const walls = firstReport(bundleOf([resnet], { operationDomains: [] }));
const launched = firstReport(
  bundleOf([
    {
      ranges: [{ name: "step", start: 0, end: 10 }],
      kernels: [{ name: "gemm", launch: 5, ns: 1 }],
    },
  ]),
);

it("is about the time of kernels where both have it, else about wall time", () => {
  expect(mainTime(compareReports(operations, operations))).toBe("total_ms");
  expect(mainTime(compareReports(operations, walls))).toBe("wall_ms");
  expect(mainTime(compareReports(walls, operations))).toBe("wall_ms");
  expect(mainTime(compareReports(walls, walls))).toBe("wall_ms");
});

describe("what decides", () => {
  const ofCpu = (ms: number) => {
    const report = reportOfCalls([100]);
    return {
      ...report,
      regions: report.regions.map((region) =>
        region.kind === "outside"
          ? region
          : { ...region, cpu_ms: ms, cpu_exclusive_ms: ms, wall_exclusive_ms: 100 },
      ),
      totals: { ...report.totals, cpu_ms: ms },
    };
  };
  const [key] = ofCpu(10).regions.map(regionKey);
  const ratio = (ms: number) => Array.from({ length: 8 }, (_, at) => Math.log(ms) + at / 1e4);
  const times = { cpu_ms: ratio(2), cpu_exclusive_ms: ratio(2), wall_ms: ratio(1) };
  const pairs = { totals: times, regions: new Map([[key ?? "", times]]) };
  const shownAs = (reports: ReportComparison) =>
    renderComparison(
      { names: { a: "a", b: "b" }, reports, config: null, gates: [] },
      { width: 120, color: false, regions: 10, kernels: 10 },
    );

  it("is shown of pairs: the processor time, in headline, contributions and tables", () => {
    const reports = compareReports(ofCpu(10), ofCpu(20), pairs);
    expect(mainTime(reports)).toBe("cpu_ms");
    expect(overallSentence(reports)).toMatch(
      /^B is slower: \+10\.000 ms .* \(processor time in ranges\)/,
    );
    expect(waterfallOf(reports, 5)?.parts).toMatchObject([{ label: "step", ms: 10 }]);
    const text = shownAs(reports);
    expect(text).toMatch(/^step +10\.000 +20\.000 .* slower$/m);
    expect(text).toMatch(/^Numbers are processor time in ranges; /m);
  });

  it("is shown of conditions: the time of the first that names one", () => {
    const reports = compareReports(ofCpu(10), ofCpu(20), pairs);
    const judged = (...names: readonly string[]) => mainTime(judgedBy(reports, names));
    expect(judged("kernel_count", "wall_ms", "cpu_ms")).toBe("wall_ms");
    expect(judged("kernel_count")).toBe("cpu_ms");
    expect(judged("total_ms")).toBe("cpu_ms");
    const single = compareReports(ofCpu(10), ofCpu(20));
    expect(mainTime(single)).toBe("wall_ms");
    expect(mainTime(judgedBy(single, ["cpu_exclusive_ms"]))).toBe("cpu_ms");
  });
});

it("calls nothing a CPU operation but what is one", () => {
  expect(kernelHeading(compareReports(operations, operations))).toBe("CPU operation");
  expect(kernelHeading(compareReports(operations, launched))).toBe("Kernel");
  expect(kernelHeading(compareReports(launched, launched))).toBe("Kernel");
  expect(kernelHeading(compareReports(walls, walls))).toBe("Kernel");
});

it("tells counts that differ, those of both sides, and no others", () => {
  const reports = compareReports(operations, operations);
  const of = (a: number | null, b: number | null) => ({
    invocations: countChange(a, b),
    calls: countChange(a, b),
    kernel_count: countChange(a, b),
  });
  expect(countNotes(of(2, 3), reports)).toBe("calls 2 -> 3, calls 2 -> 3, CPU operations 2 -> 3");
  expect(countNotes({ calls: countChange(4, 0) }, reports)).toBe("calls 4 -> 0");
  for (const changes of [of(2, 2), of(null, 2), of(2, null), {}])
    expect(countNotes(changes, reports)).toBe("");
});

describe("the summary of gates", () => {
  const result = (outcome: GateResult["outcome"], reason: string): GateResult[] =>
    parseGates("wall_ms>5%").map((gate) => ({ gate, outcome, reason }));

  it.each([
    ["gates passed: 1 checked", [...result("passed", "x")]],
    [
      "gates passed: 3 checked, 2 past the limit but within noise",
      [...result("unclear", "x"), ...result("passed", "y"), ...result("unclear", "z")],
    ],
    ["gate breached: y", [...result("unclear", "x"), ...result("breached", "y")]],
    ["gate breached: x (and 1 more)", [...result("breached", "x"), ...result("breached", "y")]],
  ])("%s", (summary, gates) => {
    expect(gateSummary(gates)).toBe(summary);
  });
});
