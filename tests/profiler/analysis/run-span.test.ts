import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import type { ProgramSpan } from "../../../src/profiler/model/timeline.ts";
import { createReportValidator } from "../../../src/report/index.ts";
import { context } from "../../report/bundles.ts";
import { runs } from "../../runs.ts";
import { anyKernels, anyRanges, type ProcessSketch, timelineOf } from "./timelines.ts";

const scopesOf = (processes: readonly ProcessSketch[], span?: ProgramSpan) =>
  buildRegionModel({ ...timelineOf(processes), ...(span && { span }) }).scopes;

const runOf = (processes: readonly ProcessSketch[], span?: ProgramSpan) =>
  scopesOf(processes, span)[0]?.totals.run;

const outsideOf = (processes: readonly ProcessSketch[], span?: ProgramSpan) =>
  scopesOf(processes, span)[0]?.regions.find(({ kind }) => kind === "outside");

/** A program that sleeps around its ranges. */
const sleeper: ProcessSketch = {
  ranges: [
    { name: "step", start: 300, end: 400 },
    { name: "inner", start: 310, end: 320 },
    { name: "step", start: 500, end: 600 },
    { name: "worker", start: 550, end: 700, thread: 2 },
  ],
  endNs: 1000,
};

describe("the span of a run", () => {
  it("is the process, and what its ranges do not cover is outside of them", () => {
    expect(runOf([sleeper])).toMatchObject({
      wallNs: 1000,
      processNs: 1000,
      processCount: 1,
      inRangesNs: 300,
      beforeRangesNs: 300,
      afterRangesNs: 300,
      gpu: null,
    });
    expect(outsideOf([sleeper])).toMatchObject({
      path: ["(outside)"],
      invocations: 0,
      wallNs: 700,
      exclusiveWallNs: 700,
      invocationWallNs: null,
      processId: 100,
    });
  });

  it("is that of the program that was started, which was there before its first range", () => {
    const program = { pid: 100, startNs: -2000, endNs: 1500 };
    expect(runOf([sleeper], program)).toMatchObject({
      processNs: 3500,
      beforeRangesNs: 2300,
      afterRangesNs: 800,
    });
    // A wrapper of the only process that was recorded.
    expect(runOf([sleeper], { ...program, pid: 1 })?.processNs).toBe(3500);
    const child: ProcessSketch = { ...sleeper, pid: 101 };
    expect(runOf([sleeper, child], program)).toMatchObject({
      wallNs: 3500,
      processNs: 4500,
      processCount: 2,
    });
    expect(runOf([sleeper, child], { ...program, pid: 1 })?.processNs).toBe(2000);
  });

  it("leaves out a bucket in which nothing happened", () => {
    expect(outsideOf([{ ranges: [{ name: "all", start: 0, end: 10_000 }] }])).toBeUndefined();
  });

  it("tells what GPUs did in ranges and outside of them", () => {
    const process: ProcessSketch = {
      // Kernels begin 1,000 ns after their launch.
      ranges: [{ name: "step", start: 0, end: 1500 }],
      kernels: [
        { name: "k", launch: 100, ns: 800 },
        { name: "copy", launch: 700, ns: 400, kind: "memcpy", bytes: 1 },
      ],
      endNs: 3000,
    };
    expect(runOf([process])).toMatchObject({
      gpu: { busyNs: 1000, kernelNs: 800, copyNs: 400 },
      gpuInRanges: { busyNs: 400, kernelNs: 400, copyNs: 0 },
    });
    expect(outsideOf([process])?.gpuUse).toEqual({ busyNs: 600, kernelNs: 400, copyNs: 400 });
  });

  it("of a device is that of the processes that used it", () => {
    const idle: ProcessSketch = { pid: 7, ranges: [{ name: "wait", start: 0, end: 9000 }] };
    const busy: ProcessSketch = {
      ranges: [{ name: "step", start: 0, end: 4000 }],
      kernels: [{ name: "k", launch: 100, ns: 800 }],
    };
    const device = scopesOf([idle, busy]).find(({ scope }) => scope === "device:cuda:0");
    expect(device?.totals.run).toMatchObject({ processCount: 1, processNs: 4000 });
  });

  it("is never less than its ranges, and its parts add up", async () => {
    const validator = createReportValidator();
    fc.assert(
      fc.property(
        anyRanges,
        anyKernels,
        fc.integer({ min: 0, max: 60 }),
        (ranges, kernels, endNs) => {
          const model = buildRegionModel(timelineOf([{ ranges, kernels, endNs }]));
          expect(validator.validate(toReportBundle(model, context))).toEqual([]);
          for (const { totals } of model.scopes) {
            if (totals.run === undefined) continue;
            const { processNs, inRangesNs, beforeRangesNs, afterRangesNs } = totals.run;
            expect(inRangesNs).toBeLessThanOrEqual(processNs);
            expect((beforeRangesNs ?? 0) + (afterRangesNs ?? 0) + inRangesNs).toBeLessThanOrEqual(
              processNs,
            );
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });
});

describe("the first call of a region", () => {
  it("is told apart, which often sets things up", () => {
    const steps = [50, 2, 3].map((length, at) => ({
      name: "step",
      start: at * 100,
      end: at * 100 + length,
    }));
    const find = (processes: readonly ProcessSketch[]) =>
      scopesOf(processes)[0]?.regions.find(({ path }) => path[0] === "step");
    expect(find([{ ranges: steps }])?.invocationWallNs).toMatchObject({ first: 50, median: 3 });
    const both = [{ ranges: steps }, { pid: 7, ranges: steps }];
    expect(find(both)?.invocationWallNs).not.toHaveProperty("first");
  });
});
