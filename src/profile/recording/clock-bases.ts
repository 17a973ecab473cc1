import type { FileHeader } from "./file-header.ts";

/** Clocks of one machine are set right by less than that while a program runs. */
const MOST_APART_NS = 60_000_000_000n;

/** What the times of recordings count from. */
export interface Origins {
  /** On each recording's own clock, in their order. */
  readonly origins: readonly bigint[];
  /** The number of the clock of each, from 0 as they come; undefined for recordings that do not say. */
  readonly clocks: readonly (number | undefined)[];
  readonly notes: readonly string[];
}

type ClockFacts = Pick<FileHeader, "startNs" | "startRealtimeNs" | "bootId">;

interface Clock {
  /** When it began, on CLOCK_REALTIME; null where that is not known. */
  readonly baseNs: bigint | null;
  readonly bootId: string | null;
}

/**
 * CLOCK_MONOTONIC begins with each start of a machine: recordings of several have no time in common. Those that began
 * within a minute by the wall clock, as processes of one job do on several machines, lie as that says; all others lie
 * side by side: the first recording of each clock begins at 0, however many days are between them.
 */
export function originsOf(recordings: readonly ClockFacts[]): Origins {
  const own = recordings.map(clockOf);
  const clocks = clocksOf(own);
  const earliest = new Map<Clock, bigint>();
  for (const [at, { startNs }] of recordings.entries()) {
    const clock = clocks[at];
    if (clock !== undefined) earliest.set(clock, lesser(earliest.get(clock) ?? startNs, startNs));
  }
  const numbers = [...earliest.keys()];
  const begins = [...earliest].map(([{ baseNs }, startNs]) => (baseNs ?? 0n) + startNs);
  const first = begins.reduce(lesser, begins[0] ?? 0n);
  const isAtOnce = begins.every((begin) => !isFar(begin - first));
  return {
    clocks: clocks.map((clock, at) =>
      own[at] === undefined || isUnknown(own[at]) ? undefined : numbers.indexOf(clock),
    ),
    origins: clocks.map((clock) =>
      isAtOnce ? first - (clock.baseNs ?? 0n) : (earliest.get(clock) ?? 0n),
    ),
    notes: earliest.size <= 1 ? [] : [`${SEVERAL_CLOCKS}; ${isAtOnce ? AT_ONCE : SIDE_BY_SIDE}`],
  };
}

const clockOf = ({ startNs, startRealtimeNs, bootId }: ClockFacts): Clock => ({
  baseNs: startRealtimeNs === 0n ? null : startRealtimeNs - startNs,
  bootId,
});

const isUnknown = ({ baseNs, bootId }: Clock): boolean => baseNs === null && bootId === null;

/** The same object for recordings of one clock; one that does not say counts to the first. */
function clocksOf(own: readonly Clock[]): readonly Clock[] {
  const main = own.find((clock) => !isUnknown(clock));
  const known: Clock[] = [];
  return own.map((clock) => {
    const wanted = isUnknown(clock) ? (main ?? clock) : clock;
    const same = known.find((one) => isSame(one, wanted));
    if (same === undefined) known.push(wanted);
    return same ?? wanted;
  });
}

/**
 * By the boot id where both have one: machines that were started together differ in nothing else, and a clock that was
 * set, or a machine that slept, seems to have been started at another time.
 */
const isSame = (a: Clock, b: Clock): boolean =>
  a.bootId !== null && b.bootId !== null
    ? a.bootId === b.bootId
    : !isFar((a.baseNs ?? 0n) - (b.baseNs ?? 0n));

const lesser = (a: bigint, b: bigint): bigint => (b < a ? b : a);

const isFar = (ns: bigint): boolean => ns > MOST_APART_NS || ns < -MOST_APART_NS;

const SEVERAL_CLOCKS =
  "the recordings' clocks started at different times: they are from several machines or boots, or the machine slept in between; times within a process are right, their order across processes is unknown";
const AT_ONCE =
  "the recordings began within a minute of each other, so traces use the machines' wall clocks";
const SIDE_BY_SIDE = "traces show each clock from 0, side by side";
