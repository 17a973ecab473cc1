/**
 * The order in which a process's events are replayed. Time comes first. Between events of equal time
 * the recorded sequence decides where a collector knows it; else closings come before openings, and
 * openings before launches, so that a range is open from its start up to, not including, its end.
 */
import type { KernelInstance, RangeInstance } from "../timeline.ts";

export interface ReplayHandlers {
  readonly rangeOpens: (range: RangeInstance) => void;
  /** Called for ranges of `closesLater` alone. */
  readonly rangeCloses: (range: RangeInstance) => void;
  readonly kernelIsLaunched: (kernel: KernelInstance) => void;
}

export function replay(
  ranges: readonly RangeInstance[],
  kernels: readonly KernelInstance[],
  { rangeOpens, rangeCloses, kernelIsLaunched }: ReplayHandlers,
): void {
  const openings = inOpeningOrder(ranges);
  const closings = ranges.filter(closesLater).sort(byClosing);
  const launches = [...kernels].sort((a, b) => a.launchNs - b.launchNs);
  let nextClosing = 0;
  let nextLaunch = 0;

  const closeUntil = (timeNs: number, sequence: number | undefined) => {
    for (;;) {
      const range = closings[nextClosing];
      if (range === undefined || !closesBefore(range, timeNs, sequence)) return;
      nextClosing++;
      rangeCloses(range);
    }
  };
  const launchUntil = (timeNs: number) => {
    for (;;) {
      const kernel = launches[nextLaunch];
      if (kernel === undefined || kernel.launchNs >= timeNs) return;
      nextLaunch++;
      closeUntil(kernel.launchNs, undefined);
      kernelIsLaunched(kernel);
    }
  };

  for (const range of openings) {
    launchUntil(range.startNs);
    closeUntil(range.startNs, range.startSequence);
    rangeOpens(range);
  }
  launchUntil(Number.POSITIVE_INFINITY);
  closeUntil(Number.POSITIVE_INFINITY, undefined);
}

/**
 * Whether anything can happen between a range's opening and its closing. Without a duration, only
 * the recorded sequence can tell; without that, such a range is over as soon as it opens.
 */
export const closesLater = (range: RangeInstance): boolean =>
  range.endNs !== null && (range.endNs > range.startNs || range.endSequence !== undefined);

/** As the timeline promises; sorted again only where a collector did not keep the promise. */
export function inOpeningOrder(ranges: readonly RangeInstance[]): readonly RangeInstance[] {
  const sorted = ranges.every(
    (range, index) => index === 0 || (ranges[index - 1]?.startNs ?? 0) <= range.startNs,
  );
  return sorted ? ranges : [...ranges].sort((a, b) => a.startNs - b.startNs);
}

const byClosing = (a: RangeInstance, b: RangeInstance): number =>
  (a.endNs ?? 0) - (b.endNs ?? 0) || (a.endSequence ?? 0) - (b.endSequence ?? 0);

function closesBefore(range: RangeInstance, timeNs: number, sequence: number | undefined): boolean {
  const endNs = range.endNs ?? Number.POSITIVE_INFINITY;
  if (endNs !== timeNs) return endNs < timeNs;
  return sequence === undefined || range.endSequence === undefined || range.endSequence < sequence;
}
