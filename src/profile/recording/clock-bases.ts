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
  const isAtOnce = begins.every((begin) => apart(begin, first) <= MOST_APART_NS);
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
  // Those with a boot id come first: beside one without, two machines that were started together would be one.
  for (const clock of [...own.filter(({ bootId }) => bootId !== null), ...own])
    if (findClock(known, clock) === undefined) known.push(clock);
  return own.map((clock) => {
    const wanted = isUnknown(clock) ? (main ?? clock) : clock;
    return findClock(known, wanted) ?? wanted;
  });
}

/**
 * By the boot id where there is one: machines that were started together differ in nothing else, and a clock that was
 * set, or a machine that slept, seems to have been started at another time. Else the one that began at nearly that time.
 */
function findClock(known: readonly Clock[], wanted: Clock): Clock | undefined {
  if (wanted.bootId !== null) return known.find(({ bootId }) => bootId === wanted.bootId);
  const far = ({ baseNs }: Clock): bigint => apart(baseNs ?? 0n, wanted.baseNs ?? 0n);
  const [nearest] = known
    .filter((clock) => far(clock) <= MOST_APART_NS)
    .sort((a, b) => (far(a) < far(b) ? -1 : 1));
  return nearest;
}

const lesser = (a: bigint, b: bigint): bigint => (b < a ? b : a);

const apart = (a: bigint, b: bigint): bigint => (a < b ? b - a : a - b);

const SEVERAL_CLOCKS =
  "the recordings' clocks started at different times: they are from several machines or boots, or the machine slept in between; times within a process are right, their order across processes is unknown";
const AT_ONCE =
  "the recordings began within a minute of each other, so traces use the machines' wall clocks";
const SIDE_BY_SIDE = "traces show each clock from 0, side by side";
