/** The ranks of a parallel program: how evenly they share a region's time, and which rank the others wait for. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { plural } from "../../foundation/text/plural.ts";
import type { RankInfo, RegionRanks } from "../../report/model/document.ts";
import { familyKey, familyRows } from "../../report/model/families.ts";
import { regionKey } from "../../report/model/report-files.ts";
import type { HostCallList } from "../model/host-calls.ts";
import {
  forEachRange,
  type KernelInstance,
  type KernelList,
  type ProcessTimeline,
  type RangeInstance,
  type RangeStream,
  type RankIdentity,
  type Timeline,
} from "../model/timeline.ts";
import type { CallTimes, ProcessAttribution } from "./attribute.ts";
import { coveredNs, createUnion, type Union, unionOf } from "./interval-union.ts";
import { latestRegion, type PathNode, rangePath } from "./path-tree.ts";
import type { RegionModelEntry, ScopeModel } from "./region-model.ts";

/** Processes by rank, in order; empty for fewer than two ranks. */
export function groupByRank(
  processes: readonly ProcessAttribution[],
): ReadonlyMap<number, readonly ProcessAttribution[]> {
  const groups = new Map<number, ProcessAttribution[]>();
  for (const attribution of processes) {
    const { rank } = attribution.process;
    if (rank !== undefined) getOrCreate(groups, rank.rank, () => []).push(attribution);
  }
  return groups.size < 2 ? new Map() : new Map([...groups].sort(([a], [b]) => a - b));
}

type RankGroups = ReturnType<typeof groupByRank>;

/** The ranks as members of the report. */
function rankInfos(groups: RankGroups): readonly RankInfo[] {
  return [...groups].flatMap(([rank, processes]) => {
    const identity = identityOf(processes);
    return identity === undefined
      ? []
      : [
          {
            rank,
            host: identity.host,
            local_rank: identity.localRank,
            process_ids: processes.map(({ process }) => process.pid),
            ...exposedCommunication(processes),
          },
        ];
  });
}

const identityOf = ([first]: readonly ProcessAttribution[]): RankIdentity | undefined =>
  first?.process.rank;

/** Notes about all ranks together. */
function rankNotes(groups: RankGroups): readonly string[] {
  const size = Math.max(
    0,
    ...[...groups.values()].map((attributions) => identityOf(attributions)?.size ?? 0),
  );
  const missing = Array.from({ length: size }, (_, rank) => rank).filter(
    (rank) => !groups.has(rank),
  );
  const machines = new Set(
    [...groups.values()].flatMap((attributions) =>
      attributions.map(({ process }) => process.machine),
    ),
  );
  return [
    ...(missing.length === 0
      ? []
      : [
          `of ${plural(size, "rank")} ${groups.size} recorded something; missing: ${missing.slice(0, 10).join(", ")}${missing.length > 10 ? ", ..." : ""}`,
        ]),
    ...(machines.size < 2
      ? []
      : [
          "ranks of several machines are lined up by their clocks of the day: what they wait for each other is as exact as those",
        ]),
  ];
}

/**
 * Adds statistics over ranks to the regions of the scope of all processes.
 * @param ofRanks the scopes of `groups`, in the same order
 */
export function withRanks(
  scope: ScopeModel,
  ofRanks: readonly ScopeModel[],
  groups: RankGroups,
): ScopeModel {
  if (groups.size === 0) return scope;
  const numbers = [...groups.keys()];
  const shared = (
    keyOf: typeof regionKey,
    entriesOf: (scope: ScopeModel) => readonly RegionModelEntry[],
  ): ((entry: RegionModelEntry) => RegionModelEntry) => {
    const walls = ofRanks.map(
      (scope) => new Map(entriesOf(scope).map((entry) => [keyOf(entry), entry.wallNs])),
    );
    const waits = waitsOf(groups, keyOf);
    return (entry) => {
      const key = keyOf(entry);
      const ranks = regionRanks(
        numbers,
        walls.map((wall) => wall.get(key) ?? null),
        waits.get(key),
      );
      return ranks === null ? entry : { ...entry, ranks };
    };
  };
  const { families = [] } = scope;
  return {
    ...scope,
    ranks: rankInfos(groups),
    regions: scope.regions.map(shared(regionKey, ({ regions }) => regions)),
    ...(families.length > 0 && {
      families: families.map(
        shared(familyKey, (scope) => familyRows(scope.regions, scope.families ?? [])),
      ),
    }),
    notes: [...scope.notes, ...rankNotes(groups)],
  };
}

const NS_PER_MS = 1e6;

function regionRanks(
  ranks: readonly number[],
  walls: readonly (number | null)[],
  wait: Waits | undefined,
): RegionRanks | null {
  if (walls.every((ns) => ns === null)) return null;
  // A rank without the region does other work: a region of rank 0 alone is no imbalance.
  const times = walls.flatMap((ns) => (ns === null ? [] : ns / NS_PER_MS));
  const max = times.reduce((most, ms) => Math.max(most, ms), 0);
  const min = times.reduce((least, ms) => Math.min(least, ms), max);
  const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  const most = walls.findIndex((ns) => ns !== null && ns / NS_PER_MS === max);
  const slowest = wait === undefined ? ranks[most] : wait.waitedFor;
  if (slowest === undefined) return null;
  return {
    wall_ms: walls.map((ns) => (ns === null ? null : ns / NS_PER_MS)),
    min_ms: min,
    mean_ms: mean,
    max_ms: max,
    imbalance: mean === 0 ? 1 : max / mean,
    load_balance: max === 0 ? 1 : mean / max,
    slowest_rank: slowest,
    ...(wait !== undefined && { waiting_ms: wait.ns / NS_PER_MS }),
  };
}

// Waiting times: in a call that every rank makes, ranks that enter early wait for the last one.

interface Waits {
  /** The total of all ranks. */
  readonly ns: number;
  /** The rank that the others waited for longest. */
  readonly waitedFor: number;
}

/**
 * Names of ranges in which all ranks communicate. Point-to-point calls do not count, since other ranks do not wait for
 * them.
 */
const COMMUNICATION =
  /^p?mpi_|nccl|^shmem|all.?reduce|all.?gather|reduce.?scatter|all.?to.?all|broadcast|bcast|barrier|collective|communicat|halo|exchange|(?:^|[^a-z])(?:comm|sync|reduce|gather|scatter)(?:$|[^a-z])/i;
const BETWEEN_TWO = /send|recv|receive/i;

const isCommunication = (text: string): boolean =>
  COMMUNICATION.test(text) && !BETWEEN_TWO.test(text);

/** By key, for regions or families with communication that all ranks enter equally often. */
function waitsOf(groups: RankGroups, keyOf: typeof regionKey): ReadonlyMap<string, Waits> {
  const calls = new Map<string, Map<number, CallTimes[]>>();
  for (const [rank, processes] of groups)
    for (const { communication } of processes)
      for (const [region, times] of communication) {
        const { node, kind } = latestRegion(region);
        const key = keyOf({ ...rangePath(node), kind });
        const ofKey = getOrCreate(calls, key, () => new Map());
        getOrCreate(ofKey, rank, (): CallTimes[] => []).push(times);
      }
  const waits = new Map<string, Waits>();
  for (const [key, byRank] of calls) {
    const wait = byRank.size === groups.size ? waitsFor(byRank) : null;
    if (wait !== null) waits.set(key, wait);
  }
  return waits;
}

// Exposed communication: time in communication that no computation of the same rank hides, as Holistic Trace Analysis and
// the recipes of Nsight Systems define it: of GPUs, kernels of communication and all others.

/** Names of kernels that communicate; those of other libraries compute (`reduce_kernel`). */
const COMMUNICATION_KERNEL =
  /nccl|rccl|nvshmem|cross_device_reduce|all.?reduce|all.?gather|reduce.?scatter|all.?to.?all/i;

/** Absent without communication. Without kernels of communication, the ranges of communication are what computation hides. */
function exposedCommunication(
  processes: readonly ProcessAttribution[],
): Pick<RankInfo, "communication_ms" | "exposed_communication_ms"> {
  const kinds = new Map<string, boolean>();
  const inKernels = createUnion();
  const computation = createUnion();
  for (const { process } of processes)
    for (const { kind = "kernel", name, startNs, endNs } of process.kernels) {
      if (kind !== "kernel") continue;
      const isCommunicating = getOrCreate(kinds, name, () => COMMUNICATION_KERNEL.test(name));
      (isCommunicating ? inKernels : computation).add(startNs, endNs);
    }
  const ofKernels = inKernels.finish();
  const communication = ofKernels.length > 0 ? ofKernels : communicationRanges(processes);
  if (communication.length === 0) return {};
  const hidden = computation.finish();
  const ns = wholeNs(communication);
  return {
    communication_ms: ns / NS_PER_MS,
    exposed_communication_ms:
      Math.min(ns, wholeNs(unionOf([communication, hidden])) - wholeNs(hidden)) / NS_PER_MS,
  };
}

function communicationRanges(processes: readonly ProcessAttribution[]): Union {
  const ranges = createUnion();
  for (const { communication } of processes)
    for (const { length, starts, ends } of communication.values())
      for (let index = 0; index < length; index++) ranges.add(starts.get(index), ends.get(index));
  return ranges.finish();
}

const wholeNs = (union: Union): number =>
  coveredNs(union, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);

/** Recognises regions in which ranks wait for each other; undefined for programs that are not parallel. */
export function communicationOf({
  processes,
}: Pick<Timeline, "processes">): ((node: PathNode) => boolean) | undefined {
  if (processes.every(({ rank }) => rank === undefined)) return undefined;
  const categories = communicationLabels(processes);
  return ({ name, domain }) =>
    isCommunication(name) || /^(?:nccl|mpi)$/i.test(domain) || categories.has(`${domain}\0${name}`);
}

/** Labels of ranges whose category the program names as communication. */
function communicationLabels(processes: Timeline["processes"]): ReadonlySet<string> {
  const labels = new Set<string>();
  for (const process of processes) {
    const { categoryNames = [] } = process;
    const named = categoryNames.filter(({ name }) => isCommunication(name));
    if (named.length === 0) continue;
    forEachRange(process, ({ domain, name, category }) => {
      if (
        named.some(
          (categoryName) => categoryName.domain === domain && categoryName.category === category,
        )
      )
        labels.add(`${domain}\0${name}`);
    });
  }
  return labels;
}

function waitsFor(byRank: ReadonlyMap<number, readonly CallTimes[]>): Waits | null {
  const counts = [...byRank.values()].map((parts) =>
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  const [count = 0] = counts;
  if (counts.some((other) => other !== count)) return null;
  const ranks = [...byRank].map(([rank, parts]) => ({ rank, calls: callsInOrder(parts) }));
  const [first] = ranks;
  if (first === undefined) return null;
  const blamed = new Map<number, number>();
  let ns = 0;
  for (let call = 0; call < count; call++) {
    let [last, latest] = [first.rank, Number.NEGATIVE_INFINITY];
    for (const { rank, calls } of ranks) {
      const start = calls.startNs(call);
      if (start > latest) [last, latest] = [rank, start];
    }
    let waited = 0;
    for (const { calls } of ranks) {
      waited += Math.max(0, Math.min(latest, calls.endNs(call)) - calls.startNs(call));
    }
    ns += waited;
    blamed.set(last, (blamed.get(last) ?? 0) + waited);
  }
  const [worst] = [...blamed].sort((a, b) => b[1] - a[1]);
  return { ns, waitedFor: worst?.[0] ?? first.rank };
}

interface CallsInOrder {
  readonly startNs: (call: number) => number;
  readonly endNs: (call: number) => number;
}

/** Sorted by start. */
function callsInOrder(parts: readonly CallTimes[]): CallsInOrder {
  const start = ({ which, index }: { readonly which: number; readonly index: number }) =>
    parts[which]?.starts.get(index) ?? 0;
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0 && isOrdered(only))
    return { startNs: only.starts.get, endNs: only.ends.get };
  const places = parts.flatMap((part, which) =>
    Array.from({ length: part.length }, (_, index) => ({ which, index })),
  );
  places.sort((a, b) => start(a) - start(b));
  const placeOfCall = (call: number) => places[call] ?? { which: 0, index: 0 };
  return {
    startNs: (call) => start(placeOfCall(call)),
    endNs: (call) => parts[placeOfCall(call).which]?.ends.get(placeOfCall(call).index) ?? 0,
  };
}

function isOrdered({ length, starts }: CallTimes): boolean {
  for (let index = 1; index < length; index++)
    if (starts.get(index) < starts.get(index - 1)) return false;
  return true;
}

// Combines files of the ranks of one run, one per rank.

/**
 * The rank numbers in file names: names that differ in one number, which counts from 0 and is marked as a rank
 * (`app.rank0.sqlite`). Null if they do not.
 */
export function rankNumbers(names: readonly string[]): readonly number[] | null {
  const found = names.map((name) => /^(.*?rank[^0-9a-z]*)(\d{1,6})(?!\d)(.*)$/is.exec(name));
  const [first] = found;
  if (first == null) return null;
  const numbers: number[] = [];
  for (const match of found) {
    if (match === null || match[1] !== first[1] || match[3] !== first[3]) return null;
    numbers.push(Number(match[2]));
  }
  const isWhole = new Set(numbers).size === names.length && Math.max(...numbers) < names.length;
  return isWhole ? numbers : null;
}

export interface RankFile {
  readonly rank: number;
  readonly timeline: Timeline;
  /** Empty if the file does not contain it. */
  readonly host: string;
}

/**
 * Aligned by the wall-clock times at which their sessions began. If one of them is unknown, all begin at 0, and a note
 * says so.
 *
 * @param files at least one
 */
export function timelineOfRanks(files: readonly RankFile[]): Timeline {
  const ordered = files.toSorted((a, b) => a.rank - b.rank);
  const origins = ordered.map(({ timeline }) => timeline.originNs);
  const isKnown = origins.every((origin) => origin > 0n);
  const originNs = isKnown
    ? (origins.toSorted((a, b) => Number(a - b))[0] ?? 0n)
    : (origins[0] ?? 0n);
  const hosts = [...new Set(ordered.map(({ host }) => host))];
  const processes = ordered.flatMap(({ rank, timeline, host }) => {
    const byNs = isKnown ? Number(timeline.originNs - originNs) : 0;
    return timeline.processes.map((process) => ({
      ...shifted(process, byNs),
      machine: hosts.indexOf(host),
      rank: { rank, size: process.rank?.size ?? files.length, localRank: null, host },
    }));
  });
  const [first] = ordered;
  if (first === undefined) throw new Error("no files of ranks");
  return {
    collector: first.timeline.collector,
    clock: first.timeline.clock,
    originNs,
    processes: processes.sort((a, b) => a.startNs - b.startNs),
    notes: [
      ...new Set(ordered.flatMap(({ timeline }) => timeline.notes)),
      ...(isKnown
        ? []
        : [
            "the exports do not all say when their sessions began: how long ranks wait for each other is not known",
          ]),
    ],
  };
}

function shifted(process: ProcessTimeline, byNs: number): ProcessTimeline {
  if (byNs === 0) return process;
  const { synchronizations, counters, allRanges, hostCalls, threadSamples } = process;
  const shift = (range: RangeInstance): RangeInstance => ({
    ...range,
    startNs: range.startNs + byNs,
    endNs: range.endNs === null ? null : range.endNs + byNs,
  });
  return {
    ...process,
    startNs: process.startNs + byNs,
    endNs: process.endNs + byNs,
    ranges: process.ranges.map(shift),
    ...(allRanges && { allRanges: shiftedStream(allRanges, shift, byNs) }),
    marks: process.marks.map((mark) => ({ ...mark, timeNs: mark.timeNs + byNs })),
    kernels: shiftedKernels(process.kernels, byNs),
    ...(hostCalls !== undefined && { hostCalls: shiftedCalls(hostCalls, byNs) }),
    ...(synchronizations !== undefined && {
      synchronizations: synchronizations.map((wait) => ({
        ...wait,
        callNs: wait.callNs + byNs,
        startNs: wait.startNs + byNs,
        endNs: wait.endNs + byNs,
      })),
    }),
    ...(counters !== undefined && {
      counters: counters.map((series) => ({
        ...series,
        timesNs: series.timesNs.map((ns) => ns + byNs),
        ...(series.endsNs && { endsNs: series.endsNs.map((ns) => ns + byNs) }),
      })),
    }),
    ...(threadSamples !== undefined && {
      threadSamples: threadSamples.map((sample) => ({
        ...sample,
        timeNs: sample.timeNs + byNs,
        sinceNs: sample.sinceNs + byNs,
      })),
    }),
  };
}

const shiftedStream = (
  { count, replay }: RangeStream,
  shift: (range: RangeInstance) => RangeInstance,
  byNs: number,
): RangeStream => ({
  count,
  replay({ opens, closes }) {
    const open = new Map<RangeInstance, RangeInstance>();
    replay({
      opens(range, endNs) {
        const moved = shift(range);
        open.set(range, moved);
        opens(moved, endNs === null ? null : endNs + byNs);
      },
      closes(range) {
        closes(Object.assign(open.get(range) ?? {}, shift(range)));
        open.delete(range);
      },
    });
  },
});

/** Converted on demand, like the kernels of the file: there can be millions. */
const shiftedCalls = ({ length, at: callAt }: HostCallList, byNs: number): HostCallList => ({
  length,
  at: (index) => {
    const call = callAt(index);
    return call && { ...call, startNs: call.startNs + byNs, endNs: call.endNs + byNs };
  },
});

function shiftedKernels(kernels: KernelList, byNs: number): KernelList {
  const shift = (kernel: KernelInstance): KernelInstance => ({
    ...kernel,
    launchNs: kernel.launchNs + byNs,
    startNs: kernel.startNs + byNs,
    endNs: kernel.endNs + byNs,
  });
  return {
    length: kernels.length,
    ...(kernels.isOrdered && { isOrdered: true as const }),
    at: (index) => {
      const kernel = kernels.at(index);
      return kernel && shift(kernel);
    },
    *[Symbol.iterator]() {
      for (const kernel of kernels) yield shift(kernel);
    },
  };
}
