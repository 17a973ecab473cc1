import { describe, expect, it } from "vitest";
import { renderRunMarkdown, renderStakeholderSummary } from "../../../src/report/index.ts";
import {
  type DevicePeaks,
  passBoundMs,
  peakContradiction,
  rooflineBound,
  type StaticAnalysis,
} from "../../../src/report/view/layer-work.ts";
import { bundleOf, resnet } from "../bundles.ts";

/** 1 TFLOP/s and 100 GB/s: the lines meet at 10 FLOP/byte. */
const peaks: DevicePeaks = {
  gflops_per_second: 1000,
  gbytes_per_second: 100,
  source: "measured on this machine",
};

const analysis = (changes: Partial<StaticAnalysis> = {}): StaticAnalysis => ({
  parameters: { count: 1234, bytes: 4936 },
  layers: [
    { name: "stem.0", operation: "conv2d", range: "stem", flops: 2e9, bytes: 1e7 },
    { name: "stem.1", operation: "batch_norm", range: "stem", flops: 1e6, bytes: 1e8 },
  ],
  peaks,
  passMs: 12,
  ...changes,
});

const run = (staticAnalysis?: StaticAnalysis) => ({
  sections: [
    {
      collector: "recorder",
      directory: "recorder",
      bundle: bundleOf([resnet]),
      regionDirectories: new Map(),
    },
  ],
  notes: [],
  ...(staticAnalysis !== undefined && { staticAnalysis }),
});

describe("rooflineBound", () => {
  it("is the slower of arithmetic and memory", () => {
    expect(rooflineBound({ flops: 2e9, bytes: 1e7 }, peaks)).toEqual({
      ms: 2,
      limit: "arithmetic",
    });
    expect(rooflineBound({ flops: 1e6, bytes: 1e8 }, peaks)).toEqual({ ms: 1, limit: "memory" });
    expect(rooflineBound({ flops: 1, bytes: 1 }, null)).toBeNull();
    expect(rooflineBound({ flops: 1, bytes: 1 }, { ...peaks, gflops_per_second: null })).toBeNull();
  });

  it("adds up over the layers of a pass", () => {
    expect(passBoundMs(analysis())).toBe(3);
    expect(passBoundMs(analysis({ peaks: null }))).toBeNull();
  });
});

describe("the section of report.md", () => {
  it("has parameters, work and bound per layer, and where the peaks come from", () => {
    const text = renderRunMarkdown(run(analysis()));
    expect(text).toContain("1,234 parameters (0.005 MB in float32)");
    expect(text).toContain("1000.0 GFLOP/s and 100.0 GB/s of memory (measured on this machine)");
    expect(text).toContain("A pass took 12.00 ms (median); its bound is 3.00 ms.");
    expect(text).toMatch(/stem\.0 .*2000\.000 .*10\.000 .*200\.00 .*2\.00 ms .*arithmetic/);
    expect(text).toMatch(/stem\.1 .*1\.00 ms .*memory/);
  });

  it("has a row per layer and one for all, with a bound where it is known", () => {
    const table = (changes: Partial<StaticAnalysis>) =>
      renderRunMarkdown(run(analysis(changes)))
        .split("\n")
        .filter((line) => /^\| (Layer|stem\.0|all) .*\| (FLOP|\d)/.test(line));
    expect(table({})).toEqual([
      "| Layer | Operation | Region | MFLOP | MB | FLOP/byte | Bound | Limited by |",
      "| stem.0 | conv2d | stem | 2000.000 | 10.000 | 200.00 | 2.00 ms | arithmetic |",
      "| all |  |  | 2001.000 | 110.000 | 18.19 | 3.00 ms |  |",
    ]);
    expect(table({ peaks: null })).toEqual([
      "| Layer | Operation | Region | MFLOP | MB | FLOP/byte |",
      "| stem.0 | conv2d | stem | 2000.000 | 10.000 | 200.00 |",
      "| all |  |  | 2001.000 | 110.000 | 18.19 |",
    ]);
    expect(renderRunMarkdown(run(analysis({ passMs: null })))).toContain(
      "The bound of a pass is 3.00 ms.",
    );
  });

  it("goes without a bound where the peaks are not known, and is absent when switched off", () => {
    const unknown = renderRunMarkdown(
      run(analysis({ peaks: { ...peaks, gbytes_per_second: null } })),
    );
    expect(unknown).toContain("There is no roofline");
    expect(unknown).not.toContain("Limited by");
    expect(renderRunMarkdown(run())).not.toContain("Static analysis");
  });
});

describe("a pass that did more than the measured peak", () => {
  // 2.001 GFLOP in 1.5 ms are 1334 GFLOP/s.
  const tooFast = run(analysis({ passMs: 1.5 }));

  it("is told as what it is: the peak is an underestimate", () => {
    expect(renderRunMarkdown(tooFast)).toContain(
      "The pass did 1334.0 GFLOP/s, more than the peak of 1000.0 GFLOP/s (measured on this machine): that peak is underestimated",
    );
    const summary = renderStakeholderSummary(tooFast);
    expect(summary).toContain("so the estimate is too low: the machine was busy");
    expect(summary).not.toContain("times the shortest possible time");
    expect(summary).not.toContain("cache");
  });

  it("is none where it is only faster than memory", () => {
    // The bound of 3 ms holds 1 ms for memory; arithmetic alone needs 2 ms.
    const cached = run(analysis({ passMs: 2.5 }));
    expect(renderRunMarkdown(cached)).not.toContain("underestimate");
    expect(renderStakeholderSummary(cached)).toContain("stayed in a cache");
    expect(peakContradiction(analysis({ peaks: null }))).toBeNull();
    expect(peakContradiction(analysis({ passMs: null }))).toBeNull();
  });
});

describe("the summary in plain words", () => {
  it("says how much room there is", () => {
    expect(renderStakeholderSummary(run(analysis()))).toContain(
      "One forward pass took 12.00 ms. Given the sizes of the model, it needs at least about 3.00 ms on this device, most of it for arithmetic. That is 4.0 times the shortest possible time.",
    );
    expect(renderStakeholderSummary(run(analysis({ passMs: 2.5 })))).toContain("stayed in a cache");
    expect(renderStakeholderSummary(run())).not.toContain("How much room");
    expect(renderStakeholderSummary(run(analysis({ passMs: null })))).not.toContain(
      "How much room",
    );
  });
});
