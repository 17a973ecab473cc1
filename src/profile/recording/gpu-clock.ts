import type { ClockEvent } from "./events.ts";

/**
 * Makes numbers of the 64-bit times that GPU records hold: nanoseconds since one moment for the whole
 * file. That is the origin of the timeline where the GPU's times are on our clock, else the first
 * time asked for: CUPTI's own clock is decades away, where numbers are no longer exact.
 */
export type GpuTimes = (low: number, high: number) => number;

const WORD = 2 ** 32;
const EXACT = 2 ** 52;

export function createGpuTimes(originNs: bigint): GpuTimes {
  let baseLow = Number(originNs & 0xffffffffn);
  let baseHigh = Number(originNs >> 32n);
  let decided = false;
  return (low, high) => {
    if (!decided) {
      decided = true;
      if (Math.abs((high - baseHigh) * WORD) > EXACT) {
        baseLow = low;
        baseHigh = high;
      }
    }
    return (high - baseHigh) * WORD + (low - baseLow);
  };
}

/** GPU time to nanoseconds since the origin of the timeline. */
export type GpuClock = (gpuNs: number) => number;

/**
 * Without samples the GPU's times are CLOCK_MONOTONIC. With samples the difference of the clocks at
 * a moment lies between those of the samples around it: CUPTI's own clock may be set and slewed
 * while the program runs.
 */
export function createGpuClock(samples: readonly ClockEvent[]): GpuClock {
  const points = samples
    .map(({ gpuNs, timeNs }) => ({ at: gpuNs, shift: timeNs - gpuNs }))
    .sort((a, b) => a.at - b.at);
  if (points.length === 0) return (gpuNs) => gpuNs;
  let near = 0;
  return (gpuNs) => {
    // Records come nearly in order, so the right place is where the last one was, or close by.
    while (near > 0 && (points[near]?.at ?? 0) > gpuNs) near--;
    while (near + 1 < points.length && (points[near + 1]?.at ?? 0) <= gpuNs) near++;
    const before = points[near] ?? { at: 0, shift: 0 };
    const after = points[near + 1];
    if (after === undefined || gpuNs <= before.at) return gpuNs + before.shift;
    const share = (gpuNs - before.at) / (after.at - before.at);
    return Math.round(gpuNs + before.shift + share * (after.shift - before.shift));
  };
}

/** Beyond this a clock was set: reading two clocks at once is off by microseconds, slewing by 500 ppm. */
const MOST_SLEWED = 1e-3;
const MOST_MISREAD_NS = 1e6;

/**
 * Where something that the GPU did lies on the timeline. It takes the time that the GPU says, which is more exact
 * than the samples, unless the clock was set meanwhile.
 */
export function spanOnTimeline(
  clock: GpuClock,
  gpuStartNs: number,
  gpuEndNs: number,
): { readonly startNs: number; readonly endNs: number } {
  const startNs = clock(gpuStartNs);
  const endNs = Math.max(startNs, clock(gpuEndNs));
  const took = gpuEndNs - gpuStartNs;
  const differs = Math.abs(endNs - startNs - took);
  const isSet = took < 0 || differs > MOST_MISREAD_NS + MOST_SLEWED * took;
  return { startNs, endNs: isSet ? endNs : startNs + took };
}
