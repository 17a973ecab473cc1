/** Maps the GPU's times and each machine's monotonic clock to one timeline. */
import type { ClockEvent } from "./events.ts";
import type { FileHeader } from "./format.ts";

/**
 * Converts the 64-bit times of GPU records to numbers: nanoseconds since one moment for the whole file. This is the
 * origin of the timeline if the GPU's times are on our clock, else the first converted time: CUPTI's own clock is
 * decades away, where numbers are no longer exact.
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

/** Converts GPU times to nanoseconds since the origin of the timeline. */
export type GpuClock = (gpuNs: number) => number;

/**
 * Without samples the GPU's times are CLOCK_MONOTONIC. With samples, the offset of the clocks at a time is interpolated
 * between the samples around it: CUPTI's own clock may be set and slewed while the program runs.
 */
export function createGpuClock(samples: readonly ClockEvent[]): GpuClock {
  const points = samples
    .map(({ gpuNs, timeNs }) => ({ gpuNs, shift: timeNs - gpuNs }))
    .sort((a, b) => a.gpuNs - b.gpuNs);
  if (points.length === 0) return (gpuNs) => gpuNs;
  let near = 0;
  return (gpuNs) => {
    // Records come nearly in order, so the search starts from the last position.
    while (near > 0 && (points[near]?.gpuNs ?? 0) > gpuNs) near--;
    while (near + 1 < points.length && (points[near + 1]?.gpuNs ?? 0) <= gpuNs) near++;
    const previous = points[near] ?? { gpuNs: 0, shift: 0 };
    const after = points[near + 1];
    if (after === undefined || gpuNs <= previous.gpuNs) return gpuNs + previous.shift;
    const share = (gpuNs - previous.gpuNs) / (after.gpuNs - previous.gpuNs);
    return Math.round(gpuNs + previous.shift + share * (after.shift - previous.shift));
  };
}

/** Beyond this, a clock was set: reading two clocks at once is off by microseconds, slewing by 500 ppm. */
const MOST_SLEWED = 1e-3;
const MOST_MISREAD_NS = 1e6;

/**
 * The span of a GPU activity on the timeline. Its duration is that of the GPU's clock, which is more exact than the
 * samples, unless the clock was set meanwhile.
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

/** Adjustments of a machine's clock while a program runs are smaller. */
const MOST_APART_NS = 60_000_000_000n;

/** The origins of the times of recordings. */
export interface Origins {
  /** On each recording's own clock, in the order of the recordings. */
  readonly origins: readonly bigint[];
  /** The number of each recording's clock, from 0 in order of appearance; undefined if unknown. */
  readonly clocks: readonly (number | undefined)[];
  readonly notes: readonly string[];
}

type ClockFacts = Pick<FileHeader, "startNs" | "startRealtimeNs" | "bootId">;

interface Clock {
  /** Its zero point on CLOCK_REALTIME; null if unknown. */
  readonly baseNs: bigint | null;
  readonly bootId: string | null;
}

/**
 * CLOCK_MONOTONIC starts anew with each boot of a machine: recordings of several have no common time. Clocks whose
 * recordings began within a minute by wall-clock time, as the processes of one job on several machines do, are aligned
 * by it; all others are placed side by side: the first recording of each clock begins at 0, however many days are
 * between them.
 */
export function originsOf(recordings: readonly ClockFacts[]): Origins {
  const fileClocks = recordings.map(clockOf);
  const clocks = clocksOf(fileClocks);
  const earliest = new Map<Clock, bigint>();
  for (const [index, { startNs }] of recordings.entries()) {
    const clock = clocks[index];
    if (clock !== undefined) earliest.set(clock, lesser(earliest.get(clock) ?? startNs, startNs));
  }
  const numbers = [...earliest.keys()];
  const begins = [...earliest].map(([{ baseNs }, startNs]) => (baseNs ?? 0n) + startNs);
  const first = begins.reduce(lesser, begins[0] ?? 0n);
  const isAtOnce = begins.every((begin) => apart(begin, first) <= MOST_APART_NS);
  return {
    clocks: clocks.map((clock, index) =>
      fileClocks[index] === undefined || isUnknown(fileClocks[index])
        ? undefined
        : numbers.indexOf(clock),
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

/** The same object for recordings on one clock; a recording with an unknown clock counts to the first. */
function clocksOf(fileClocks: readonly Clock[]): readonly Clock[] {
  const main = fileClocks.find((clock) => !isUnknown(clock));
  const machineClocks: Clock[] = [];
  // Clocks with a boot id first: otherwise, next to a clock without one, two machines that were booted together would
  // be one.
  for (const clock of [...fileClocks.filter(({ bootId }) => bootId !== null), ...fileClocks])
    if (findClock(machineClocks, clock) === undefined) machineClocks.push(clock);
  return fileClocks.map((clock) => {
    const wanted = isUnknown(clock) ? (main ?? clock) : clock;
    return findClock(machineClocks, wanted) ?? wanted;
  });
}

/**
 * Matches by boot id if there is one: machines that were booted together differ in nothing else, and a machine whose
 * clock was set, or that slept, seems to have been booted at another time. Otherwise by nearly equal boot time.
 */
function findClock(machineClocks: readonly Clock[], wanted: Clock): Clock | undefined {
  if (wanted.bootId !== null) return machineClocks.find(({ bootId }) => bootId === wanted.bootId);
  const far = ({ baseNs }: Clock): bigint => apart(baseNs ?? 0n, wanted.baseNs ?? 0n);
  const [nearest] = machineClocks
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

// The program's own clocks: time stamps of events that it reported later.

/** Time stamps of the same moment in two time domains, given by their ids. */
export interface ClockPair {
  /** Id of the NVTX domain to which the ids of time domains belong. */
  readonly domain: number;
  readonly ids: readonly [bigint, bigint];
  readonly times: readonly [bigint, bigint];
  /** How much the second clock advances while the first advances by 1; absent if unknown. */
  readonly factor?: number | undefined;
}

export interface ProgramClocks {
  readonly define: (clock: {
    readonly domain: number;
    readonly id: bigint;
    /** `NVTX_TIMESTAMP_TYPE_*`. */
    readonly type: bigint;
    /** Ticks per second; 0: unknown. */
    readonly resolution: number;
  }) => void;
  readonly pair: (pair: ClockPair) => void;
  /** Nanoseconds since the origin; null if no known clock pair relates the clock to ours. */
  readonly timeOf: (domain: number, clock: bigint, ticks: bigint) => number | null;
}

/**
 * `NVTX_TIMESTAMP_TYPE_*` on CLOCK_MONOTONIC: the recorder's own time stamps, the clock itself, its coarse form, C++'s
 * steady clock.
 */
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
  readonly ticks: bigint;
  readonly other: string;
  readonly otherAt: bigint;
  readonly factor: number | null;
}

interface ClockLine {
  /** In order of ticks; nanoseconds are absolute. */
  readonly points: readonly { readonly ticks: bigint; readonly ns: number }[];
  readonly nsPerTick: number;
}

export function createProgramClocks(sinceOrigin: (absoluteNs: bigint) => number): ProgramClocks {
  const types = new Map<string, bigint>();
  const rates = new Map<string, number>();
  const points = new Map<string, ClockPoint[]>();
  const lines = new Map<string, ClockLine | null>();

  const keyOf = (domain: number, id: bigint): string => {
    if (id >= FIRST_OWN_CLOCK) return `${domain}:${id}`;
    // Unless it names a clock, a program uses the recorder's time stamps.
    if (id === 0n || OURS.has(id)) return OUR_CLOCK;
    return String(ALIASES.get(id) ?? id);
  };
  const add = (key: string, point: ClockPoint): void => {
    const existing = points.get(key);
    if (existing === undefined) points.set(key, [point]);
    else existing.push(point);
  };
  const lineOf = (key: string): ClockLine | null => {
    const cached = lines.get(key);
    if (cached !== undefined) return cached;
    lines.set(key, null); // while it is looked for: clocks may refer to each other
    const line = makeLine(key);
    lines.set(key, line);
    return line;
  };
  const makeLine = (key: string): ClockLine | null => {
    const clockPoints = points.get(key) ?? [];
    const found = clockPoints.flatMap(({ ticks, other, otherAt, factor }) => {
      const ns = absolute(other, otherAt);
      const rate =
        factor === null
          ? null
          : factor * (other === OUR_CLOCK ? 1 : (lines.get(other)?.nsPerTick ?? Number.NaN));
      return ns === null ? [] : [{ ticks, ns, rate }];
    });
    const sorted = found.sort((a, b) => (a.ticks < b.ticks ? -1 : a.ticks > b.ticks ? 1 : 0));
    const [first] = sorted;
    const last = sorted.at(-1);
    if (first === undefined || last === undefined) {
      const type = types.get(key);
      return type === undefined || type === 0n ? null : lineOf(keyOf(0, type));
    }
    const ticks = Number(last.ticks - first.ticks);
    const measured = ticks > 0 ? (last.ns - first.ns) / ticks : null;
    const said =
      sorted.find(({ rate }) => rate !== null && Number.isFinite(rate))?.rate ??
      rates.get(key) ??
      null;
    const nsPerTick = said ?? measured;
    return nsPerTick === null ? null : { points: sorted, nsPerTick };
  };
  /** Absolute nanoseconds of our clock; numbers are exact for a hundred days. */
  const absolute = (key: string, ticks: bigint): number | null => {
    if (key === OUR_CLOCK) return Number(ticks);
    const line = lineOf(key);
    if (line === null) return null;
    const { points: anchors, nsPerTick } = line;
    const nearest = anchors.reduce((best, point) =>
      distance(point.ticks, ticks) < distance(best.ticks, ticks) ? point : best,
    );
    return nearest.ns + Math.round(Number(ticks - nearest.ticks) * nsPerTick);
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
      add(a, { ticks: firstAt, other: b, otherAt: secondAt, factor: factor ?? null });
      const inverse = factor === undefined || factor === 0 ? null : 1 / factor;
      add(b, { ticks: secondAt, other: a, otherAt: firstAt, factor: inverse });
      lines.clear();
    },
    timeOf: (domain, clock, ticks) => {
      const ns = absolute(keyOf(domain, clock), ticks);
      return ns === null ? null : sinceOrigin(BigInt(Math.round(ns)));
    },
  };
}

const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);
