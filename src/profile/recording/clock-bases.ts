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

/**
 * CLOCK_MONOTONIC begins with each start of a machine: recordings of several have no time in common. Those that began
 * within a minute by the wall clock, as processes of one job do on several machines, lie as that says; all others lie
 * side by side: the first recording of each clock begins at 0, however many days are between them.
 */
export function originsOf(
  recordings: readonly Pick<FileHeader, "startNs" | "startRealtimeNs">[],
): Origins {
  const bases = recordings.map(clockBaseNs);
  const clocks = clocksOf(bases);
  const earliest = new Map<bigint, bigint>();
  for (const [at, { startNs }] of recordings.entries()) {
    const clock = clocks[at] ?? 0n;
    earliest.set(clock, lesser(earliest.get(clock) ?? startNs, startNs));
  }
  const numbers = [...earliest.keys()];
  const begins = [...earliest].map(([clock, startNs]) => clock + startNs);
  const first = begins.reduce(lesser, begins[0] ?? 0n);
  const isAtOnce = begins.every((begin) => !isFar(begin - first));
  return {
    clocks: bases.map((base, at) =>
      base === null ? undefined : numbers.indexOf(clocks[at] ?? 0n),
    ),
    origins: clocks.map((clock) => (isAtOnce ? first - clock : (earliest.get(clock) ?? 0n))),
    notes: earliest.size <= 1 ? [] : [`${SEVERAL_CLOCKS}; ${isAtOnce ? AT_ONCE : SIDE_BY_SIDE}`],
  };
}

/** When the clock that counts a recording's times began, on CLOCK_REALTIME; null where the recording does not say. */
const clockBaseNs = ({
  startNs,
  startRealtimeNs,
}: Pick<FileHeader, "startNs" | "startRealtimeNs">): bigint | null =>
  startRealtimeNs === 0n ? null : startRealtimeNs - startNs;

/** The same number for recordings of one clock; one that does not say counts to the first. */
function clocksOf(bases: readonly (bigint | null)[]): readonly bigint[] {
  const main = bases.find((base) => base !== null) ?? 0n;
  const known: bigint[] = [];
  return bases.map((base) => {
    const own = base ?? main;
    const same = known.find((one) => !isFar(own - one));
    if (same === undefined) known.push(own);
    return same ?? own;
  });
}

const lesser = (a: bigint, b: bigint): bigint => (b < a ? b : a);

const isFar = (ns: bigint): boolean => ns > MOST_APART_NS || ns < -MOST_APART_NS;

const SEVERAL_CLOCKS =
  "the recordings' clocks started at different times: they are from several machines or boots, or the machine slept in between; times within a process are right, their order across processes is unknown";
const AT_ONCE =
  "the recordings began within a minute of each other, so traces use the machines' wall clocks";
const SIDE_BY_SIDE = "traces show each clock from 0, side by side";
