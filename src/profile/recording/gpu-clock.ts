import type { ClockEvent } from "./events.ts";

/** GPU time to nanoseconds since the origin of the timeline. */
export type GpuClock = (gpuNs: bigint) => number;

/**
 * Without samples the GPU's times are CLOCK_MONOTONIC. With samples the difference of the clocks at
 * a moment lies between those of the samples around it: CUPTI's own clock may be set and slewed
 * while the program runs.
 */
export function createGpuClock(samples: readonly ClockEvent[], originNs: bigint): GpuClock {
  const sorted = [...samples].sort((a, b) => Number(a.gpuNs - b.gpuNs));
  const [first] = sorted;
  if (first === undefined) return (gpuNs) => Number(gpuNs - originNs);
  // Times since the first sample are small enough for exact numbers.
  const base = first.gpuNs;
  const points = sorted.map(({ gpuNs, monotonicNs }) => {
    const at = Number(gpuNs - base);
    return { at, shift: Number(monotonicNs - originNs) - at };
  });
  let near = 0;
  return (gpuNs) => {
    const at = Number(gpuNs - base);
    // Records come nearly in order, so the right place is where the last one was, or close by.
    while (near > 0 && (points[near]?.at ?? 0) > at) near--;
    while (near + 1 < points.length && (points[near + 1]?.at ?? 0) <= at) near++;
    const before = points[near] ?? { at: 0, shift: 0 };
    const after = points[near + 1];
    if (after === undefined || at <= before.at) return at + before.shift;
    const share = (at - before.at) / (after.at - before.at);
    return Math.round(at + before.shift + share * (after.shift - before.shift));
  };
}
