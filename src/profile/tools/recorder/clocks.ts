/** Clocks of a recording: from the GPU's times and each machine's monotonic clock to one timeline. */
import type { ClockEvent } from "./events.ts";
import type { FileHeader } from "./format.ts";

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

// Clocks of the program's own: time stamps of events that it handed over later.

/** Two time stamps of one moment, of time domains by their ids. */
export interface ClockPair {
  /** Id of the NVTX domain, in which ids of time domains hold. */
  readonly domain: number;
  readonly ids: readonly [bigint, bigint];
  readonly times: readonly [bigint, bigint];
  /** How much the second advances while the first advances by 1; absent where nothing says. */
  readonly factor?: number | undefined;
}

export interface ProgramClocks {
  readonly define: (clock: {
    readonly domain: number;
    readonly id: bigint;
    /** `NVTX_TIMESTAMP_TYPE_*`. */
    readonly type: bigint;
    /** Ticks per second; 0: not known. */
    readonly resolution: number;
  }) => void;
  readonly pair: (pair: ClockPair) => void;
  /** Nanoseconds since the origin; null where nothing relates the clock to ours. */
  readonly timeOf: (domain: number, clock: bigint, ticks: bigint) => number | null;
}

/** `NVTX_TIMESTAMP_TYPE_*` that are CLOCK_MONOTONIC: what the recorder gives, it itself, its coarse form, C++'s steady clock. */
const OURS: ReadonlySet<bigint> = new Set([1n, 14n, 16n, 50n]);
const OUR_CLOCK = "14";
/** The same clock under two names. */
const ALIASES: ReadonlyMap<bigint, bigint> = new Map([
  [11n, 10n],
  [13n, 12n],
  [51n, 12n],
  [52n, 12n],
]);
const IN_NANOSECONDS: ReadonlySet<bigint> = new Set([12n, 15n, 17n]);
const FIRST_OWN_CLOCK = 1n << 24n;

interface ClockPoint {
  readonly at: bigint;
  readonly other: string;
  readonly otherAt: bigint;
  readonly factor: number | null;
}

interface ClockLine {
  /** By tick; nanoseconds are absolute. */
  readonly points: readonly { readonly at: bigint; readonly ns: number }[];
  readonly nsPerTick: number;
}

export function createProgramClocks(sinceOrigin: (absoluteNs: bigint) => number): ProgramClocks {
  const types = new Map<string, bigint>();
  const rates = new Map<string, number>();
  const points = new Map<string, ClockPoint[]>();
  const lines = new Map<string, ClockLine | null>();

  const keyOf = (domain: number, id: bigint): string => {
    if (id >= FIRST_OWN_CLOCK) return `${domain}:${id}`;
    // Without a word about its clock, a program uses the time stamps that the recorder gives.
    if (id === 0n || OURS.has(id)) return OUR_CLOCK;
    return String(ALIASES.get(id) ?? id);
  };
  const add = (key: string, point: ClockPoint): void => {
    const known = points.get(key);
    if (known === undefined) points.set(key, [point]);
    else known.push(point);
  };
  const lineOf = (key: string): ClockLine | null => {
    const known = lines.get(key);
    if (known !== undefined) return known;
    lines.set(key, null); // while it is looked for: clocks may refer to each other
    const line = makeLine(key);
    lines.set(key, line);
    return line;
  };
  const makeLine = (key: string): ClockLine | null => {
    const own = points.get(key) ?? [];
    const found = own.flatMap(({ at, other, otherAt, factor }) => {
      const ns = absolute(other, otherAt);
      const rate =
        factor === null
          ? null
          : factor * (other === OUR_CLOCK ? 1 : (lines.get(other)?.nsPerTick ?? Number.NaN));
      return ns === null ? [] : [{ at, ns, rate }];
    });
    const sorted = found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    const [first] = sorted;
    const last = sorted.at(-1);
    if (first === undefined || last === undefined) {
      const type = types.get(key);
      return type === undefined || type === 0n ? null : lineOf(keyOf(0, type));
    }
    const ticks = Number(last.at - first.at);
    const measured = ticks > 0 ? (last.ns - first.ns) / ticks : null;
    const said =
      sorted.find(({ rate }) => rate !== null && Number.isFinite(rate))?.rate ??
      rates.get(key) ??
      null;
    const nsPerTick = said ?? measured;
    return nsPerTick === null ? null : { points: sorted, nsPerTick };
  };
  /** Absolute nanoseconds of our clock, which numbers hold exactly for a hundred days. */
  const absolute = (key: string, ticks: bigint): number | null => {
    if (key === OUR_CLOCK) return Number(ticks);
    const line = lineOf(key);
    if (line === null) return null;
    const { points: known, nsPerTick } = line;
    const nearest = known.reduce((best, point) =>
      distance(point.at, ticks) < distance(best.at, ticks) ? point : best,
    );
    return nearest.ns + Math.round(Number(ticks - nearest.at) * nsPerTick);
  };

  for (const type of IN_NANOSECONDS) rates.set(String(type), 1);
  return {
    define: ({ domain, id, type, resolution }) => {
      const key = keyOf(domain, id);
      types.set(key, type);
      if (resolution > 0) rates.set(key, 1e9 / resolution);
      lines.clear();
    },
    pair: ({ domain, ids: [first, second], times: [firstAt, secondAt], factor }) => {
      const [a, b] = [keyOf(domain, first), keyOf(domain, second)];
      add(a, { at: firstAt, other: b, otherAt: secondAt, factor: factor ?? null });
      const inverse = factor === undefined || factor === 0 ? null : 1 / factor;
      add(b, { at: secondAt, other: a, otherAt: firstAt, factor: inverse });
      lines.clear();
    },
    timeOf: (domain, clock, ticks) => {
      const ns = absolute(keyOf(domain, clock), ticks);
      return ns === null ? null : sinceOrigin(BigInt(Math.round(ns)));
    },
  };
}

const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);
