import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGpuClock, spanOnTimeline } from "../../../../src/profiler/tools/recorder/clocks.ts";
import { runs } from "../../../runs.ts";

const sample = (gpuNs: number, timeNs: number) => ({ kind: "clock", gpuNs, timeNs }) as const;

describe("what the GPU did", () => {
  it("takes the time that the GPU says, however the samples of the clocks are off", () => {
    const offNs = fc.integer({ min: -400_000, max: 400_000 });
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(1e9), offNs, offNs, (start, took, first, last) => {
        const clock = createGpuClock([sample(0, first), sample(2e9, 2e9 + last)]);
        const { startNs, endNs } = spanOnTimeline(clock, start, start + took);
        expect(startNs).toBe(clock(start));
        expect(endNs - startNs).toBe(took);
      }),
      { numRuns: runs(200) },
    );
  });

  it("ends where the timeline says when the clock was set meanwhile", () => {
    const clock = createGpuClock([sample(0, 0), sample(1e9, 1e9), sample(11e9, 2e9)]);
    expect(spanOnTimeline(clock, 0.5e9, 11e9)).toEqual({ startNs: 0.5e9, endNs: 2e9 });
    expect(spanOnTimeline(clock, 11e9, 0.5e9)).toEqual({ startNs: 2e9, endNs: 2e9 });
  });
});
