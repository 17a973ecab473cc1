import { describe, expect, it } from "vitest";
import { countChange } from "../../../src/report/compare/change.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import {
  countNotes,
  gateSummary,
  kernelHeading,
  mainTime,
} from "../../../src/report/compare/comparison.ts";
import { type GateResult, parseGates } from "../../../src/report/compare/gates.ts";
import { bundleOf, firstReport, resnet } from "../bundles.ts";

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
