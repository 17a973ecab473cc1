/**
 * Adds up the ranges of a process by region as they close, so that memory grows with regions, not with calls. Times in
 * nanoseconds.
 */
import { createColumn, createLongList, doubles, words } from "../model/columns.ts";
import type { CounterSeries, ThreadCounts } from "../model/timeline.ts";
import { type GpuTimelines, type GpuUse, useBetween } from "./gpu-activity.ts";
import { createUnion, type Union } from "./interval-union.ts";
import type { RegionInstance } from "./open-ranges.ts";
import { latestRegion, type RegionIdentity } from "./path-tree.ts";
import { addProgramNumbers, mergeProgramNumbers, type ProgramNumbers } from "./program-numbers.ts";
import { addToSample, createSample, mergeSample, type Sample } from "./region-model.ts";

export interface RangeTally {
  /** While calls are added, only those before `threads` has them. */
  durations: Sample;
  /** Start and duration of the first call. */
  firstStartNs: number;
  firstNs: number;
  wallNs: number;
  exclusiveWallNs: number;
  unclosed: number;
  /** Sums over the calls whose processor time is known; null if none is. */
  cpu: CpuTally | null;
  counts: CountTally | null;
  instructions: InstructionTally | null;
  /** Payloads and counters; null without any. */
  numbers: ProgramNumbers | null;
  /** Names of categories; null without any. */
  categories: ReadonlySet<string> | null;
  /** The thread of all calls; null without push/pop ranges, and if there are several. */
  threadId: number | null;
  /** The calls of each thread; null if there are not several. Of one process, whose numbers of threads these are. */
  threads: ThreadTallies | null;
  /** Parts of `wallNs`; null without a GPU. */
  gpu: { -readonly [K in keyof GpuUse]: GpuUse[K] } | null;
}

/** The calls of one thread. */
export interface ThreadTally {
  readonly durations: Sample;
  wallNs: number;
  /** Processor time of the calls for which it is known, and their number. */
  cpuNs: number;
  timedCalls: number;
}

export interface ThreadTallies {
  readonly byThread: Map<number, ThreadTally>;
  /** Calls of more threads than are told apart. */
  readonly others: ThreadTally & { readonly threadIds: Set<number> };
}

interface CpuTally {
  readonly times: Sample;
  ns: number;
  exclusiveNs: number;
}

/** Sums over the calls whose instructions are known. */
interface InstructionTally {
  calls: number;
  count: number;
  exclusive: number;
}

interface CountTally {
  /** Of those counts that all calls have. */
  readonly sums: number[];
  /** The number of calls with known values. */
  calls: number;
}

/** The union of the outermost ranges of a process. */
export interface RootSpans {
  readonly coveredNs: number;
  /** Start of the first and end of the last; null without ranges. */
  readonly startNs: number | null;
  readonly endNs: number | null;
  /** The union, if it was kept for unions with other processes; otherwise null. */
  readonly union: Union | null;
  /** GPU use during these ranges, by device and in total (null). */
  readonly gpu: ReadonlyMap<string | null, GpuUse>;
}

/** Tallies by region; those of regions with a single call are created when they are read. */
export interface TallyTable extends Iterable<readonly [RegionIdentity, RangeTally]> {
  readonly get: (region: RegionIdentity) => RangeTally | undefined;
}

export interface RangeTallies {
  readonly byRegion: TallyTable;
  readonly roots: RootSpans;
  /** Times of ranges during which a device was active, by device. */
  readonly onDevice: ReadonlyMap<string, DeviceRanges>;
}

export interface DeviceRanges {
  readonly byRegion: TallyTable;
  readonly roots: Union;
  readonly rootCount: number;
}

export interface RangeTallyBuilder {
  /** Must be called when a range opens, in order of time. */
  readonly open: (instance: RegionInstance) => void;
  /** Must be called when a range closes, or at the end if it was never closed. */
  readonly add: (instance: RegionInstance, endNs: number, isClosed: boolean) => void;
  /** Called once, after all ranges. */
  readonly finish: () => RangeTallies;
}

/**
 * @param keepsSpans whether the times of outermost ranges are kept, which takes 16 bytes for each disjoint range
 * @param counters counters of the process
 */
export function createRangeTallies(
  gpu: GpuTimelines,
  keepsSpans: boolean,
  counters: readonly CounterSeries[] | undefined,
): RangeTallyBuilder {
  const byRegion = createTallyTable();
  const devices = new Map<string, DeviceBuilder>();
  const roots = createRoots(gpu, keepsSpans);
  const addTo = (
    tallies: TallyTableBuilder,
    instance: RegionInstance,
    endNs: number,
    isClosed: boolean,
    device: string | null,
  ): void => {
    const region = latestRegion(instance.region);
    const timeline = gpu.timelineOf(device);
    const { category, counts, instructions, values } = instance;
    const isUncounted = counts === null && instructions === null;
    const isPlain = isClosed && isUncounted && values === null && category === null;
    if (isPlain && counters === undefined && timeline === null) {
      tallies.add(region, instance, endNs);
      return;
    }
    const tally = tallies.tallyOf(region);
    addInstance(tally, instance, endNs, isClosed);
    tally.numbers = addProgramNumbers(tally.numbers, instance, endNs, counters);
    if (category !== null) tally.categories = withCategories(tally.categories, [category]);
    if (timeline !== null) addUse(tally, useBetween(timeline, instance.startNs, endNs));
  };
  return {
    open(instance) {
      if (instance.isRoot) roots.open(instance.startNs);
    },
    add(instance, endNs, isClosed) {
      if (instance.isRoot) roots.close(endNs);
      addTo(byRegion, instance, endNs, isClosed, null);
      for (const device of instance.devices) {
        let builder = devices.get(device);
        if (builder === undefined) {
          builder = { byRegion: createTallyTable(), roots: createUnion(), rootCount: 0 };
          devices.set(device, builder);
        }
        addTo(builder.byRegion, instance, endNs, isClosed, device);
        if (!instance.isRoot) continue;
        builder.rootCount++;
        builder.roots.add(instance.startNs, endNs);
      }
    },
    finish: () => ({
      byRegion: byRegion.finish(),
      roots: roots.finish(),
      onDevice: new Map(
        [...devices].map(([device, builder]) => [
          device,
          {
            byRegion: builder.byRegion.finish(),
            roots: builder.roots.finish(),
            rootCount: builder.rootCount,
          },
        ]),
      ),
    }),
  };
}

interface DeviceBuilder {
  readonly byRegion: TallyTableBuilder;
  readonly roots: ReturnType<typeof createUnion>;
  rootCount: number;
}

export const emptyRangeTally = (): RangeTally => ({
  durations: createSample(),
  firstStartNs: 0,
  firstNs: 0,
  wallNs: 0,
  exclusiveWallNs: 0,
  unclosed: 0,
  cpu: null,
  counts: null,
  instructions: null,
  numbers: null,
  categories: null,
  threadId: null,
  threads: null,
  gpu: null,
});

function withCategories(
  categories: ReadonlySet<string> | null,
  names: Iterable<string>,
): ReadonlySet<string> {
  const all = categories ?? new Set<string>();
  const more = [...names].filter((name) => !all.has(name));
  return more.length === 0 ? all : new Set([...all, ...more]);
}

function addInstance(
  tally: RangeTally,
  instance: RegionInstance,
  endNs: number,
  isClosed: boolean,
): void {
  const ns = endNs - instance.startNs;
  if (instance.kind === "push_pop") addToThread(tally, instance.threadId, ns, instance.cpuNs);
  addCall(tally, instance.startNs, ns, instance.inner.coveredNs);
  addCpu(tally, instance.cpuNs, instance.innerCpuNs);
  addInstructions(tally, instance);
  if (!isClosed) tally.unclosed++;
  const { counts } = instance;
  if (counts === null) return;
  addCounts(tally, counts, 1);
}

// The threads of a region. Those of a region on one thread are in the tally itself.

/** A program can start a thread for each request; most of these are added up. */
const MOST_THREADS = 64;
/** How many threads beyond that are counted. */
const MOST_COUNTED = 10_000;

const emptyThreadTally = (): ThreadTally => ({
  durations: createSample(),
  wallNs: 0,
  cpuNs: 0,
  timedCalls: 0,
});

const emptyThreads = (): ThreadTallies => ({
  byThread: new Map(),
  others: { ...emptyThreadTally(), threadIds: new Set() },
});

/** Must be called before the call is added to the tally. */
function addToThread(tally: RangeTally, threadId: number, ns: number, cpuNs: number | null): void {
  if (tally.threads === null) {
    if (tally.durations.count === 0) tally.threadId = threadId;
    if (tally.threadId === threadId) return;
    tally.threads = threadsOf(tally) ?? emptyThreads();
    tally.threadId = null;
  }
  const thread = threadTally(tally.threads, threadId);
  addToSample(thread.durations, ns);
  thread.wallNs += ns;
  if (cpuNs === null) return;
  thread.cpuNs += cpuNs;
  thread.timedCalls++;
}

function threadTally({ byThread, others }: ThreadTallies, threadId: number): ThreadTally {
  const existing = byThread.get(threadId);
  if (existing !== undefined) return existing;
  if (byThread.size === MOST_THREADS) {
    countOther(others, threadId);
    return others;
  }
  const thread = emptyThreadTally();
  byThread.set(threadId, thread);
  return thread;
}

function countOther({ threadIds }: ThreadTallies["others"], threadId: number): void {
  if (threadIds.size < MOST_COUNTED) threadIds.add(threadId);
}

/** The calls of a region by thread; null without push/pop ranges. */
function threadsOf({ threadId, threads, ...tally }: RangeTally): ThreadTallies | null {
  if (threads !== null || threadId === null) return threads;
  const only = emptyThreads();
  const { cpu, wallNs, durations } = tally;
  mergeThread(threadTally(only, threadId), {
    durations,
    wallNs,
    cpuNs: cpu?.ns ?? 0,
    timedCalls: cpu?.times.count ?? 0,
  });
  return only;
}

function mergeThread(into: ThreadTally, from: ThreadTally): void {
  mergeSample(into.durations, from.durations);
  into.wallNs += from.wallNs;
  into.cpuNs += from.cpuNs;
  into.timedCalls += from.timedCalls;
}

/** Several tallies of one process together by thread; null without push/pop ranges. */
export function threadsTogether(parts: readonly RangeTally[]): ThreadTallies | null {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return threadsOf(only);
  const all = emptyThreads();
  const called = parts.flatMap((part) => threadsOf(part) ?? []);
  for (const { byThread } of called)
    for (const [threadId, thread] of byThread) mergeThread(threadTally(all, threadId), thread);
  for (const { others: beyond } of called) {
    if (beyond.durations.count > 0) mergeThread(all.others, beyond);
    // One part may tell a thread apart that is beyond the limit in another.
    for (const threadId of beyond.threadIds)
      if (!all.byThread.has(threadId)) countOther(all.others, threadId);
  }
  return all.byThread.size === 0 ? null : all;
}

function sampleOfAll({ byThread, others }: ThreadTallies): Sample {
  const all = createSample();
  for (const { durations } of [...byThread.values(), others]) mergeSample(all, durations);
  return all;
}

function addCounts(tally: RangeTally, counts: ThreadCounts, calls: number): void {
  tally.counts ??= { sums: counts.map(() => 0), calls: 0 };
  tally.counts.calls += calls;
  const { sums } = tally.counts;
  sums.length = Math.min(sums.length, counts.length);
  for (const [which, sum] of sums.entries()) sums[which] = sum + (counts[which] ?? 0);
}

function addCall(tally: RangeTally, startNs: number, ns: number, innerNs: number): void {
  const isFirst = tally.durations.count === 0;
  // Each call is sampled once: that of the region follows from those of its threads.
  if (tally.threads === null) addToSample(tally.durations, ns);
  if (isFirst || startNs < tally.firstStartNs) {
    tally.firstStartNs = startNs;
    tally.firstNs = ns;
  }
  tally.wallNs += ns;
  tally.exclusiveWallNs += ns - innerNs;
}

function addCpu(tally: RangeTally, ns: number | null, innerNs: number): void {
  if (ns === null) return;
  tally.cpu ??= { times: createSample(), ns: 0, exclusiveNs: 0 };
  addToSample(tally.cpu.times, ns);
  tally.cpu.ns += ns;
  tally.cpu.exclusiveNs += Math.max(0, ns - innerNs);
}

function addInstructions(
  tally: RangeTally,
  { instructions, innerInstructions }: RegionInstance,
): void {
  if (instructions === null) return;
  const exclusive = Math.max(0, instructions - innerInstructions);
  addInstructionTally(tally, { calls: 1, count: instructions, exclusive });
}

function addInstructionTally(
  tally: RangeTally,
  { calls, count, exclusive }: Readonly<InstructionTally>,
): void {
  tally.instructions ??= { calls: 0, count: 0, exclusive: 0 };
  tally.instructions.calls += calls;
  tally.instructions.count += count;
  tally.instructions.exclusive += exclusive;
}

function addUse(tally: RangeTally, { busyNs, kernelNs, copyNs }: GpuUse): void {
  tally.gpu ??= { busyNs: 0, kernelNs: 0, copyNs: 0 };
  tally.gpu.busyNs += busyNs;
  tally.gpu.kernelNs += kernelNs;
  tally.gpu.copyNs += copyNs;
}

/** Adds the sums of another part, which is not changed; what threads did is kept apart by process. */
export function mergeRangeTally(into: RangeTally, from: RangeTally): void {
  const isFirst = into.durations.count === 0;
  mergeSample(into.durations, from.durations);
  if (isFirst || from.firstStartNs < into.firstStartNs) {
    into.firstStartNs = from.firstStartNs;
    into.firstNs = from.firstNs;
  }
  into.wallNs += from.wallNs;
  into.exclusiveWallNs += from.exclusiveWallNs;
  into.unclosed += from.unclosed;
  if (from.cpu !== null) {
    into.cpu ??= { times: createSample(), ns: 0, exclusiveNs: 0 };
    mergeSample(into.cpu.times, from.cpu.times);
    into.cpu.ns += from.cpu.ns;
    into.cpu.exclusiveNs += from.cpu.exclusiveNs;
  }
  if (from.counts !== null) addCounts(into, from.counts.sums, from.counts.calls);
  if (from.instructions !== null) addInstructionTally(into, from.instructions);
  if (from.numbers !== null) into.numbers = mergeProgramNumbers(into.numbers, from.numbers);
  if (from.categories !== null) into.categories = withCategories(into.categories, from.categories);
  if (from.gpu !== null) addUse(into, from.gpu);
}

interface TallyTableBuilder {
  /** The tally of a region, which can be added to. */
  readonly tallyOf: (region: RegionIdentity) => RangeTally;
  /** Adds a closed call for which only its times are known. */
  readonly add: (region: RegionIdentity, instance: RegionInstance, endNs: number) => void;
  /** Called once, after merging: several regions may have become one. */
  readonly finish: () => TallyTable;
}

/**
 * A region with a single call is stored as a row of numbers: there can be a million of them, and a tally of objects
 * takes ten times the memory.
 */
function createTallyTable(): TallyTableBuilder {
  const tallies = new Map<RegionIdentity, RangeTally>();
  const regions = createLongList<RegionIdentity>();
  /** By the number of a region: 1 + its row, or 0 if it has none. */
  const rows = createColumn(words);
  const startNs = createColumn(doubles);
  const wallNs = createColumn(doubles);
  const innerNs = createColumn(doubles);
  /** NaN if unknown. */
  const cpuNs = createColumn(doubles, Number.NaN);
  const innerCpuNs = createColumn(doubles);
  /** NaN for start/end ranges. */
  const threadIds = createColumn(doubles, Number.NaN);

  const readRow = (row: number): RangeTally => {
    const tally = emptyRangeTally();
    addCall(tally, startNs.get(row), wallNs.get(row), innerNs.get(row));
    const ns = cpuNs.get(row);
    addCpu(tally, Number.isNaN(ns) ? null : ns, innerCpuNs.get(row));
    const threadId = threadIds.get(row);
    tally.threadId = Number.isNaN(threadId) ? null : threadId;
    return tally;
  };
  const get = (region: RegionIdentity): RangeTally | undefined => {
    const entry = rows.get(region.number);
    return entry === 0 ? tallies.get(region) : readRow(entry - 1);
  };
  const tallyOf = (region: RegionIdentity): RangeTally => {
    let tally = tallies.get(region);
    if (tally !== undefined) return tally;
    tally = get(region) ?? emptyRangeTally();
    rows.set(region.number, 0);
    tallies.set(region, tally);
    return tally;
  };
  function* all(): Generator<readonly [RegionIdentity, RangeTally]> {
    for (let row = 0; row < regions.length(); row++) {
      const region = regions.at(row);
      if (region !== undefined && rows.get(region.number) === row + 1) yield [region, readRow(row)];
    }
    yield* tallies;
  }
  return {
    tallyOf,
    add(region, instance, endNs) {
      if (rows.get(region.number) !== 0 || tallies.has(region)) {
        addInstance(tallyOf(region), instance, endNs, true);
        return;
      }
      const row = regions.length();
      regions.push(region);
      rows.set(region.number, row + 1);
      startNs.set(row, instance.startNs);
      wallNs.set(row, endNs - instance.startNs);
      innerNs.set(row, instance.inner.coveredNs);
      cpuNs.set(row, instance.cpuNs ?? Number.NaN);
      innerCpuNs.set(row, instance.innerCpuNs);
      threadIds.set(row, instance.kind === "push_pop" ? instance.threadId : Number.NaN);
    },
    finish() {
      for (const tally of tallies.values())
        if (tally.threads !== null) tally.durations = sampleOfAll(tally.threads);
      for (const [region, tally] of all()) {
        const latest = latestRegion(region);
        if (latest === region) continue;
        rows.set(region.number, 0);
        tallies.delete(region);
        const into = tallyOf(latest);
        const threads = threadsTogether([into, tally]);
        mergeRangeTally(into, tally);
        const [[threadId] = [null]] = threads?.byThread ?? [];
        const isSeveral = threads !== null && threads.byThread.size > 1;
        into.threads = isSeveral ? threads : null;
        into.threadId = isSeveral ? null : threadId;
      }
      return { get, [Symbol.iterator]: all };
    },
  };
}

/** Computes the union of outermost ranges as they open and close. */
function createRoots(gpu: GpuTimelines, keepsSpans: boolean) {
  const union = keepsSpans ? createUnion() : null;
  const uses = new Map<string | null, GpuUse>();
  let covered = 0;
  let firstNs: number | null = null;
  let lastNs: number | null = null;
  let openCount = 0;
  let fromNs = 0;
  let untilNs = 0;
  const add = (startNs: number, endNs: number): void => {
    covered += endNs - startNs;
    union?.add(startNs, endNs);
    firstNs ??= startNs;
    lastNs = endNs;
    for (const device of [null, ...gpu.devices()]) {
      const timeline = gpu.timelineOf(device);
      if (timeline === null) continue;
      const use = useBetween(timeline, startNs, endNs);
      const sum = uses.get(device) ?? { busyNs: 0, kernelNs: 0, copyNs: 0 };
      uses.set(device, {
        busyNs: sum.busyNs + use.busyNs,
        kernelNs: sum.kernelNs + use.kernelNs,
        copyNs: sum.copyNs + use.copyNs,
      });
    }
  };
  return {
    open(startNs: number): void {
      if (openCount++ === 0) {
        // If a range closed later than expected, the time up to then is covered already.
        fromNs = Math.max(startNs, lastNs ?? startNs);
        untilNs = fromNs;
      }
    },
    close(endNs: number): void {
      untilNs = Math.max(untilNs, endNs);
      if (--openCount === 0) add(fromNs, untilNs);
    },
    finish: (): RootSpans => ({
      coveredNs: covered,
      startNs: firstNs,
      endNs: lastNs,
      union: union?.finish() ?? null,
      gpu: uses,
    }),
  };
}
