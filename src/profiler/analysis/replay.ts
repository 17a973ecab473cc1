/**
 * The order in which the events of a process are replayed: by time. For equal times, the recorded sequence decides if a
 * collector provides it; otherwise closings come before openings, and openings before launches, so that a range is open
 * from its start up to, but not including, its end.
 */
import type { HostCall, HostCallList } from "../model/host-calls.ts";
import type {
  KernelInstance,
  KernelList,
  RangeInstance,
  RangeStream,
  SynchronizationInstance,
  ThreadSample,
} from "../model/timeline.ts";

export interface ReplayHandlers {
  /**
   * @param endNs null if a stream does not know it yet: then its ranges of a thread close in the reverse order of
   * opening
   */
  readonly rangeOpens: (range: RangeInstance, endNs: number | null) => void;
  /** Called only for ranges that `closesLater` accepts and, in a stream, for all that were closed. */
  readonly rangeCloses: (range: RangeInstance) => void;
  readonly kernelIsLaunched: (kernel: KernelInstance) => void;
  readonly threadWaits: (wait: SynchronizationInstance) => void;
  readonly threadIsSampled: (sample: ThreadSample) => void;
  readonly hostIsCalled: (call: HostCall) => void;
}

export interface ReplayedEvents {
  readonly ranges: readonly RangeInstance[];
  readonly kernels: KernelList;
  readonly waits: readonly SynchronizationInstance[];
  readonly samples: readonly ThreadSample[];
  readonly hostCalls: HostCallList;
}

/** @param lastEventNs the end of ranges that were never closed */
export function replay(
  { ranges, ...events }: ReplayedEvents,
  lastEventNs: number,
  handlers: ReplayHandlers,
): void {
  const { rangeOpens, rangeCloses } = handlers;
  const openings = inOpeningOrder(ranges);
  // Of ranges with the same end, the one opened last is the inner one, and closes first.
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
  const callUntil = createCalls(events, handlers, (timeNs) => closeUntil(timeNs, undefined));

  for (const range of openings) {
    callUntil(range.startNs);
    closeUntil(range.startNs, range.startSequence);
    rangeOpens(range, Math.max(range.endNs ?? lastEventNs, range.startNs));
  }
  callUntil(Number.POSITIVE_INFINITY);
  closeUntil(Number.POSITIVE_INFINITY, undefined);
}

/**
 * The same for ranges that arrive in order of time and are not kept.
 * @param lastEventNs as in `replay`
 */
export function replayStream(
  ranges: RangeStream,
  events: Omit<ReplayedEvents, "ranges">,
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
 * Reports launches, waits and samples before a given time.
 *
 * @param beforeEvent called with the time of each event, before the event
 */
function createCalls(
  { kernels, waits, samples, hostCalls }: Omit<ReplayedEvents, "ranges">,
  handlers: ReplayHandlers,
  beforeEvent: (timeNs: number) => void,
): (timeNs: number) => void {
  const launches =
    kernels.isOrdered === true ? kernels : inOrder(kernels, ({ launchNs }) => launchNs);
  const calls = inOrder(waits, ({ callNs }) => callNs);
  const looks = inOrder(samples, ({ timeNs }) => timeNs);
  let nextLaunch = 0;
  let kernel = launches.at(0);
  let nextCall = 0;
  let nextLook = 0;
  let nextHostCall = 0;
  let hostCall = hostCalls.at(0);
  const { kernelIsLaunched, threadWaits, threadIsSampled, hostIsCalled } = handlers;
  return (timeNs) => {
    for (;;) {
      const wait = calls[nextCall];
      const launchNs = kernel?.launchNs ?? Number.POSITIVE_INFINITY;
      const callNs = wait?.callNs ?? Number.POSITIVE_INFINITY;
      const look = looks[nextLook];
      const lookNs = look?.timeNs ?? Number.POSITIVE_INFINITY;
      const nextNs = Math.min(
        launchNs,
        callNs,
        lookNs,
        hostCall?.startNs ?? Number.POSITIVE_INFINITY,
      );
      if (nextNs >= timeNs || nextNs === Number.POSITIVE_INFINITY) return;
      beforeEvent(nextNs);
      if (hostCall !== undefined && hostCall.startNs === nextNs) {
        hostIsCalled(hostCall);
        hostCall = hostCalls.at(++nextHostCall);
      } else if (look !== undefined && lookNs === nextNs) {
        nextLook++;
        threadIsSampled(look);
      } else if (kernel !== undefined && launchNs <= callNs) {
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
 * Whether events can lie between a range's opening and its closing. For a range without duration, only the recorded
 * sequence can show that; without a sequence, the range closes as soon as it opens.
 */
export const closesLater = (range: RangeInstance): boolean =>
  range.endNs !== null && (range.endNs > range.startNs || range.endSequence !== undefined);

interface List<T> extends Iterable<T> {
  readonly at: (index: number) => T | undefined;
}

/** Sorted by time, unless the collector delivers them in this order. */
function inOrder<T, L extends List<T>>(
  events: L & List<T>,
  timeOf: (event: T) => number,
): L | readonly T[] {
  let previous = Number.NEGATIVE_INFINITY;
  for (const event of events) {
    const time = timeOf(event);
    if (time < previous) return [...events].sort((a, b) => timeOf(a) - timeOf(b));
    previous = time;
  }
  return events;
}

/** In the order that timelines guarantee; sorted only if a collector violates it. */
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
