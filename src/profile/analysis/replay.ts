/**
 * The order in which a process's events are replayed. Time comes first. Between events of equal time
 * the recorded sequence decides where a collector knows it; else closings come before openings, and
 * openings before launches, so that a range is open from its start up to, not including, its end.
 */
import type {
  KernelInstance,
  KernelList,
  RangeInstance,
  RangeStream,
  SynchronizationInstance,
} from "../model/timeline.ts";

export interface ReplayHandlers {
  /** @param endNs null where a stream does not tell yet: then its ranges of a thread close in the reverse order of opening */
  readonly rangeOpens: (range: RangeInstance, endNs: number | null) => void;
  /** Called for ranges of `closesLater` alone, and all of a stream that were closed. */
  readonly rangeCloses: (range: RangeInstance) => void;
  readonly kernelIsLaunched: (kernel: KernelInstance) => void;
  readonly threadWaits: (wait: SynchronizationInstance) => void;
}

export interface ReplayedEvents {
  readonly ranges: readonly RangeInstance[];
  readonly kernels: KernelList;
  readonly waits: readonly SynchronizationInstance[];
}

/** @param lastEventNs when ranges end that were never closed */
export function replay(
  { ranges, kernels, waits }: ReplayedEvents,
  lastEventNs: number,
  handlers: ReplayHandlers,
): void {
  const { rangeOpens, rangeCloses } = handlers;
  const openings = inOpeningOrder(ranges);
  // Of ranges that end together the one opened last is the inner one, which closes first.
  const closings = openings.filter(closesLater).reverse().sort(byClosing);
  let nextClosing = 0;

  const closeUntil = (timeNs: number, sequence: number | undefined) => {
    for (;;) {
      const range = closings[nextClosing];
      if (range === undefined || !closesBefore(range, timeNs, sequence)) return;
      nextClosing++;
      rangeCloses(range);
    }
  };
  const callUntil = createCalls({ kernels, waits }, handlers, (timeNs) =>
    closeUntil(timeNs, undefined),
  );

  for (const range of openings) {
    callUntil(range.startNs);
    closeUntil(range.startNs, range.startSequence);
    rangeOpens(range, Math.max(range.endNs ?? lastEventNs, range.startNs));
  }
  callUntil(Number.POSITIVE_INFINITY);
  closeUntil(Number.POSITIVE_INFINITY, undefined);
}

/** The same of ranges that come in order of time, and are not kept. @param lastEventNs as in `replay` */
export function replayStream(
  ranges: RangeStream,
  events: Pick<ReplayedEvents, "kernels" | "waits">,
  lastEventNs: number,
  handlers: ReplayHandlers,
): void {
  const callUntil = createCalls(events, handlers, () => {});
  ranges.replay({
    opens(range, endNs) {
      callUntil(range.startNs);
      const isOpenToEnd = endNs === Number.POSITIVE_INFINITY;
      handlers.rangeOpens(range, isOpenToEnd ? Math.max(lastEventNs, range.startNs) : endNs);
    },
    closes(range) {
      callUntil(range.endNs ?? range.startNs);
      handlers.rangeCloses(range);
    },
  });
  callUntil(Number.POSITIVE_INFINITY);
}

/**
 * Reports launches and waits until a time, not included.
 *
 * @param before called with the time of each, before it
 */
function createCalls(
  { kernels, waits }: Pick<ReplayedEvents, "kernels" | "waits">,
  { kernelIsLaunched, threadWaits }: ReplayHandlers,
  before: (timeNs: number) => void,
): (timeNs: number) => void {
  const launches =
    kernels.isOrdered === true ? kernels : inOrder(kernels, ({ launchNs }) => launchNs);
  const calls = inOrder(waits, ({ callNs }) => callNs);
  let nextLaunch = 0;
  let kernel = launches.at(0);
  let nextCall = 0;
  return (timeNs) => {
    for (;;) {
      const wait = calls[nextCall];
      const launchNs = kernel?.launchNs ?? Number.POSITIVE_INFINITY;
      const callNs = wait?.callNs ?? Number.POSITIVE_INFINITY;
      const nextNs = Math.min(launchNs, callNs);
      if (nextNs >= timeNs || nextNs === Number.POSITIVE_INFINITY) return;
      before(nextNs);
      if (kernel !== undefined && launchNs <= callNs) {
        kernelIsLaunched(kernel);
        kernel = launches.at(++nextLaunch);
      } else if (wait !== undefined) {
        nextCall++;
        threadWaits(wait);
      }
    }
  };
}

/**
 * Whether anything can happen between a range's opening and its closing. Without a duration, only
 * the recorded sequence can tell; without that, such a range is over as soon as it opens.
 */
export const closesLater = (range: RangeInstance): boolean =>
  range.endNs !== null && (range.endNs > range.startNs || range.endSequence !== undefined);

interface List<T> extends Iterable<T> {
  readonly at: (index: number) => T | undefined;
}

/** By time, as they are where a collector delivers them so. */
function inOrder<T, L extends List<T>>(
  events: L & List<T>,
  timeOf: (event: T) => number,
): L | readonly T[] {
  let before = Number.NEGATIVE_INFINITY;
  for (const event of events) {
    const time = timeOf(event);
    if (time < before) return [...events].sort((a, b) => timeOf(a) - timeOf(b));
    before = time;
  }
  return events;
}

/** As the timeline promises; sorted again only where a collector did not keep the promise. */
export function inOpeningOrder(ranges: readonly RangeInstance[]): readonly RangeInstance[] {
  return inOrder(ranges, ({ startNs }) => startNs);
}

const byClosing = (a: RangeInstance, b: RangeInstance): number =>
  (a.endNs ?? 0) - (b.endNs ?? 0) || (a.endSequence ?? 0) - (b.endSequence ?? 0);

function closesBefore(range: RangeInstance, timeNs: number, sequence: number | undefined): boolean {
  const endNs = range.endNs ?? Number.POSITIVE_INFINITY;
  if (endNs !== timeNs) return endNs < timeNs;
  return sequence === undefined || range.endSequence === undefined || range.endSequence < sequence;
}
