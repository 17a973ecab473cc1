import { describe, expect, it } from "vitest";
import { gpuSummary } from "../../../src/report/conclusions/gpu-summary.ts";
import type { ProcessSketch } from "../../profile/analysis/timelines.ts";
import { bundleOf, firstReport } from "../bundles.ts";

const MS = 1_000_000;
const step = { name: "step", start: MS, end: 11 * MS };
/** Kernels and copies of a sketch begin 1,000 ns after their launch. */
const at = (ms: number) => ms * MS - 1000;

const told = (process: ProcessSketch) => gpuSummary(firstReport(bundleOf([process])));

describe("what the GPU did, in plain words", () => {
  it("puts first what took longest, and says what that means", () => {
    const kernels = [
      { name: "k", launch: at(1), ns: 2 * MS },
      { name: "copy", launch: at(2), ns: 6.5 * MS, kind: "memcpy", bytes: 1 },
    ] as const;
    expect(told({ ranges: [step], kernels })).toBe(
      [
        "In the outermost regions (10.00 ms) the GPU",
        "- only copied or set memory: 55.0 % (5.50 ms)\n- was idle: 25.0 % (2.50 ms)\n- ran kernels: 20.0 % (2.00 ms)",
        "Most of this time is copies without a kernel running at the same time.",
      ].join("\n\n"),
    );
  });

  it("calls nothing most of the time that is not more than half of it", () => {
    const kernels = [{ name: "k", launch: at(1), ns: 5 * MS }];
    expect(told({ ranges: [step], kernels })).toMatch(/50.0 % .*\n- .*50.0 %/);
    expect(told({ ranges: [step], kernels })).not.toContain("Most");
  });

  it("tells a program that waits for its host from one that waits for its kernels", () => {
    const kernel = (ns: number) => [{ name: "k", launch: at(1), ns }];
    expect(told({ ranges: [step], kernels: kernel(MS) })).toMatch(/the GPU waited for the host/);
    expect(told({ ranges: [step], kernels: kernel(9 * MS) })).toMatch(/this time is kernels/);
  });

  it("does not call a GPU idle that works when the regions have closed", () => {
    const kernels = [{ name: "k", launch: at(10.5), ns: 8 * MS }];
    expect(told({ ranges: [step], kernels })).toMatch(
      /^- was idle: 95.0 %.*\n- ran kernels: 5.0 %/m,
    );
    expect(told({ ranges: [step], kernels })).toMatch(/Most kernels ran after the regions/);
  });

  it("counts the time of a region inside another once", () => {
    const inner = { name: "inner", start: 2 * MS, end: 10 * MS };
    const kernels = [{ name: "k", launch: at(1), ns: 9 * MS }];
    expect(told({ ranges: [step, inner], kernels })).toBe(told({ ranges: [step], kernels }));
  });

  it("says that regions which were open at once are added up", () => {
    const kernels = [{ name: "k", launch: at(1), ns: 5 * MS }];
    const ranges = [step, { ...step, name: "beside it", thread: 2 }];
    expect(told({ ranges, kernels })).toMatch(
      /^In .* \(20.00 ms, added up over processes and threads\) the GPU\n\n- .*: 50.0 %/,
    );
  });

  it("says nothing where no GPU was seen, or no region, or none that took time", () => {
    const marker = { name: "marker", start: MS, end: MS };
    expect(told({ ranges: [marker], kernels: [{ name: "k", launch: at(1), ns: 1 }] })).toBeNull();
    expect(told({ ranges: [step] })).toBeNull();
    expect(told({ ranges: [], kernels: [{ name: "k", launch: 0, ns: 1 }] })).toBeNull();
  });
});
