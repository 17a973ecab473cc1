import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createGpuClock,
  createGpuTimes,
  createProgramClocks,
  originsOf,
  spanOnTimeline,
} from "../../../../src/profiler/tools/recorder/clocks.ts";
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

  it("never ends before it starts, and may take what slewing explains", () => {
    expect(spanOnTimeline((ns) => ns, 10, 5)).toEqual({ startNs: 10, endNs: 10 });
    const slewed = createGpuClock([sample(0, 0), sample(1e9, 1e9 + 1.5e6)]);
    expect(spanOnTimeline(slewed, 0, 1e9)).toEqual({ startNs: 0, endNs: 1e9 });
    const set = createGpuClock([sample(0, 0), sample(1e9, 1e9 + 2.5e6)]);
    expect(spanOnTimeline(set, 0, 1e9)).toEqual({ startNs: 0, endNs: 1e9 + 2.5e6 });
  });
});

describe("the times of GPU records", () => {
  const words = (ns: bigint) => [Number(ns & 0xffffffffn), Number(ns >> 32n)] as const;

  it("are since the origin where the GPU's clock is ours, before it and after", () => {
    const origin = (7n << 32n) + 5n;
    const times = createGpuTimes(origin);
    for (const since of [1000n, -6n, 0n, 3n << 40n])
      expect(times(...words(origin + since))).toBe(Number(since));
  });

  it("are since the first of them where that is too far away to be exact", () => {
    const origin = 5n << 32n;
    const far = origin + (1n << 53n) + 17n;
    const times = createGpuTimes(origin);
    expect([far, far + 5_000_000_001n, far - 3n].map((ns) => times(...words(ns)))).toEqual([
      0, 5_000_000_001, -3,
    ]);
    // Decided by the first: what comes near the origin later is on the same clock.
    expect(times(...words(origin))).toBe(-Number((1n << 53n) + 17n));
    expect(createGpuTimes(origin)(...words(origin + (1n << 52n)))).toBe(2 ** 52);
  });
});

describe("the origins of recordings", () => {
  const facts = (startNs: bigint, startRealtimeNs: bigint, bootId: string | null = null) => ({
    startNs,
    startRealtimeNs,
    bootId,
  });
  const MINUTE = 60_000_000_000n;

  it("are aligned by wall clocks up to a minute, and side by side beyond", () => {
    const of = (apart: bigint) =>
      originsOf([facts(5n, 1000n, "a"), facts(70n, 1000n + apart, "b")]);
    expect(of(MINUTE)).toMatchObject({ clocks: [0, 1], origins: [5n, 70n - MINUTE] });
    expect(of(MINUTE + 1n)).toMatchObject({ clocks: [0, 1], origins: [5n, 70n] });
    expect(of(MINUTE).notes[0]).toContain("within a minute");
    expect(of(MINUTE + 1n).notes[0]).toContain("side by side");
  });

  it("count a clock as known by its boot alone, and by a boot at nearly the same time", () => {
    expect(originsOf([facts(5n, 0n, "a")])).toEqual({ clocks: [0], origins: [5n], notes: [] });
    expect(originsOf([facts(5n, 0n)])).toEqual({ clocks: [undefined], origins: [5n], notes: [] });
    const clocks = (...booted: readonly bigint[]) =>
      originsOf(booted.map((at) => facts(10n, 10n + at))).clocks;
    expect(clocks(MINUTE, 2n * MINUTE)).toEqual([0, 0]);
    expect(clocks(MINUTE, 2n * MINUTE + 1n)).toEqual([0, 1]);
    // The nearest of two clocks that are near enough.
    const near = [
      facts(10n, MINUTE, "a"),
      facts(10n, 2n * MINUTE, "b"),
      facts(10n, 2n * MINUTE - 9n),
    ];
    expect(originsOf(near).clocks).toEqual([0, 1, 1]);
  });
});

describe("the program's own clocks", () => {
  const ORIGIN = 100n;
  const OWN = 1n << 24n;
  const create = () => createProgramClocks((ns) => Number(ns - ORIGIN));
  const defined = (id: bigint, type = 0n, resolution = 0, domain = 1) => {
    const clocks = create();
    clocks.define({ domain, id, type, resolution });
    return clocks;
  };

  it("are ours where a program names none, or CLOCK_MONOTONIC by any name", () => {
    for (const id of [0n, 1n, 14n, 16n, 50n]) expect(create().timeOf(1, id, 1100n)).toBe(1000);
    for (const id of [2n, 10n, 12n, 15n, OWN]) expect(create().timeOf(1, id, 1100n)).toBeNull();
  });

  it("follow the factor of a pair in either direction, before and after it", () => {
    const from = create();
    from.pair({ domain: 1, ids: [OWN, 14n], times: [1000n, 5100n], factor: 10 });
    expect([900n, 1000n, 1100n].map((at) => from.timeOf(1, OWN, at))).toEqual([4000, 5000, 6000]);
    const to = create();
    to.pair({ domain: 1, ids: [14n, OWN], times: [5100n, 1000n], factor: 0.1 });
    expect([900n, 1100n].map((at) => to.timeOf(1, OWN, at))).toEqual([4000, 6000]);
    const standing = create();
    standing.pair({ domain: 1, ids: [14n, OWN], times: [5100n, 1000n], factor: 0 });
    expect(standing.timeOf(1, OWN, 1000n)).toBeNull();
  });

  it("belong to a domain from the first id of programs on, others to all", () => {
    const clocks = create();
    clocks.pair({ domain: 1, ids: [OWN, 14n], times: [0n, 100n], factor: 1 });
    clocks.pair({ domain: 1, ids: [OWN - 1n, 14n], times: [0n, 100n], factor: 1 });
    expect([1, 2].map((domain) => clocks.timeOf(domain, OWN, 7n))).toEqual([7, null]);
    expect([1, 2].map((domain) => clocks.timeOf(domain, OWN - 1n, 7n))).toEqual([7, 7]);
  });

  it("follow their resolution where no factor is told, else two pairs", () => {
    const told = defined(OWN, 0n, 1e6);
    told.pair({ domain: 1, ids: [OWN, 14n], times: [10n, 100n] });
    expect(told.timeOf(1, OWN, 12n)).toBe(2000);
    const measured = defined(OWN);
    measured.pair({ domain: 1, ids: [OWN, 14n], times: [2000n, 7100n] });
    expect(measured.timeOf(1, OWN, 2000n)).toBeNull();
    // Asked before all is known, and in the reverse order.
    measured.pair({ domain: 1, ids: [OWN, 14n], times: [1000n, 5100n] });
    expect([500n, 1500n, 3000n].map((at) => measured.timeOf(1, OWN, at))).toEqual([
      4000, 6000, 9000,
    ]);
  });

  it("start from the nearest pair", () => {
    const clocks = defined(OWN, 0n, 0.5e9);
    clocks.pair({ domain: 1, ids: [OWN, 14n], times: [1000n, 3100n] });
    clocks.pair({ domain: 1, ids: [OWN, 14n], times: [0n, 100n] });
    expect([100n, 499n, 501n, 900n, 1100n].map((at) => clocks.timeOf(1, OWN, at))).toEqual([
      200, 998, 2002, 2800, 3200,
    ]);
  });

  it.each([
    [11n, 10n],
    [13n, 12n],
    [51n, 12n],
    [52n, 12n],
  ])("are one under the names %i and %i", (name, other) => {
    const clocks = create();
    clocks.pair({ domain: 1, ids: [name, 14n], times: [0n, 100n], factor: 2 });
    expect(clocks.timeOf(1, other, 5n)).toBe(10);
  });

  it.each([12n, 15n, 17n])("count nanoseconds by the name %i", (id) => {
    const clocks = create();
    clocks.pair({ domain: 1, ids: [id, 14n], times: [50n, 100n] });
    expect(clocks.timeOf(1, id, 57n)).toBe(7);
    const own = defined(OWN, id);
    own.pair({ domain: 1, ids: [id, 14n], times: [50n, 100n] });
    expect(own.timeOf(1, OWN, 57n), "as the type of a clock of the program").toBe(7);
  });

  it("without a type or a pair are not taken for one that has them", () => {
    const clocks = defined(OWN);
    clocks.pair({ domain: 1, ids: [OWN + 1n, 14n], times: [10n, 100n], factor: 1 });
    expect([OWN, OWN + 2n].map((id) => clocks.timeOf(1, id, 11n))).toEqual([null, null]);
    expect(clocks.timeOf(1, OWN + 1n, 11n)).toBe(1);
  });

  it("are related through others, and not to themselves alone", () => {
    const clocks = defined(OWN + 1n, 0n, 1e8);
    const pair = { domain: 1, ids: [OWN, OWN + 1n], times: [0n, 30n], factor: 2 } as const;
    clocks.pair(pair);
    expect(clocks.timeOf(1, OWN, 5n)).toBeNull();
    clocks.pair({ domain: 1, ids: [OWN + 1n, 14n], times: [10n, 100n] });
    // 30 ticks of the other clock, of 10 ns each, are 20 after its pair; a tick of this one is two of them.
    expect(clocks.timeOf(1, OWN, 5n)).toBe(300);
  });
});
