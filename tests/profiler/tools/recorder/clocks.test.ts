import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGpuClock, spanOnTimeline } from "../../../../src/profiler/tools/recorder/clocks.ts";
import { runs } from "../../../runs.ts";

const sample = (gpuNs: number, timeNs: number) => ({ kind: "clock", gpuNs, timeNs }) as const;

describe("the GPU's clock", () => {
  it("is ours without samples", () => {
    expect([0, 5e8].map(createGpuClock([]))).toEqual([0, 5e8]);
  });

  it("keeps the offset of the nearest sample before the first and after the last", () => {
    // Between the samples the clock was set by a second; a line through them would go on with that.
    const clock = createGpuClock([sample(1e9, 3e9), sample(2e9, 5e9)]);
    expect([0, 0.5e9, 1e9].map(clock)).toEqual([2e9, 2.5e9, 3e9]);
    expect([2e9, 2.5e9, 9e9].map(clock)).toEqual([5e9, 5.5e9, 12e9]);
    expect(clock(1.5e9)).toBe(4e9);
  });

  it("says the same of a time whatever it was asked before, and whatever the order of samples", () => {
    const at = fc.integer({ min: 0, max: 1e9 });
    const samples = fc.uniqueArray(fc.record({ at, off: fc.integer({ min: -1e6, max: 1e6 }) }), {
      minLength: 1,
      maxLength: 6,
      selector: (each) => each.at,
    });
    fc.assert(
      fc.property(samples, fc.array(at, { minLength: 1, maxLength: 20 }), (points, times) => {
        const given = points.map(({ at: gpuNs, off }) => sample(gpuNs, gpuNs + off));
        const clock = createGpuClock(given);
        for (const time of times) {
          expect(clock(time)).toBe(createGpuClock([...given].reverse())(time));
          const offs = points.map(({ off }) => off);
          expect(clock(time) - time).toBeGreaterThanOrEqual(Math.min(...offs));
          expect(clock(time) - time).toBeLessThanOrEqual(Math.max(...offs));
        }
        for (const { at: gpuNs, off } of points) expect(clock(gpuNs)).toBe(gpuNs + off);
      }),
      { numRuns: runs(200) },
    );
  });
});

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
