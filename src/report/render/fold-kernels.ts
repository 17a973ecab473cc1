/** Keeps the longest kernels of a page, and sums the others. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { kernelsOfReport } from "../view/kernel-list.ts";

/**
 * A list of kernels, reduced to what the selection of the shown ones needs: all lists together can have millions of
 * records.
 */
interface KernelSource {
  /** The times in milliseconds, in descending order. */
  readonly times: Float64Array;
  /** The total number of calls. */
  readonly calls: number;
  /** The longest records, in descending order of time. */
  readonly longest: (count: number) => readonly KernelRecord[];
}

/** @param list called again whenever records are shown */
export function sourceOfList(list: () => readonly KernelRecord[]): KernelSource {
  const records = list();
  return {
    times: longestFirst(records.map(timeOf)),
    calls: records.reduce((sum, { calls }) => sum + calls, 0),
    longest: (count) => [...list()].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, count),
  };
}

/** What has no time comes last. */
const timeOf = ({ total_ms }: KernelRecord): number => total_ms ?? 0;

const longestFirst = (times: readonly number[]): Float64Array =>
  Float64Array.from(times).sort().reverse();

export interface FoldedKernels {
  /** In descending order of time. */
  readonly kept: readonly KernelRecord[];
  /** The sum of the others; null if all are kept. */
  readonly other: { readonly rows: number; readonly calls: number; readonly total: number } | null;
}

/**
 * Keeps the longest records of all lists together, and replaces the others by one sum per list.
 *
 * @param limit number of records to keep in all lists together
 */
export function foldKernels(
  lists: readonly KernelSource[],
  limit: number,
): readonly FoldedKernels[] {
  const all = lists.reduce((sum, { times }) => sum + times.length, 0);
  const counts = all <= limit ? lists.map(({ times }) => times.length) : longestOf(lists, limit);
  return lists.map((list, index) => fold(list, counts[index] ?? 0));
}

/**
 * The number of records of each list that are among the longest. Of equal records, the first in their lists are chosen.
 */
function longestOf(lists: readonly KernelSource[], limit: number): readonly number[] {
  const all = allTimes(lists);
  const least = all[all.length - limit] ?? Number.POSITIVE_INFINITY;
  const counts = lists.map(({ times }) => countWhere(times, (ms) => ms > least));
  const equal = lists.map(({ times }) => countWhere(times, (ms) => ms === least));
  let left = limit - counts.reduce((sum, count) => sum + count, 0);
  const ranked = [...counts];
  for (let position = 0; left > 0; position++) {
    let found = false;
    for (let index = 0; index < lists.length && left > 0; index++) {
      const [longer = 0, same = 0] = [counts[index], equal[index]];
      if (position >= longer + same) continue;
      found = true;
      if (position < longer) continue;
      ranked[index] = position + 1;
      left--;
    }
    if (!found) break;
  }
  return ranked;
}

/** In ascending order. */
function allTimes(lists: readonly KernelSource[]): Float64Array {
  const all = new Float64Array(lists.reduce((sum, { times }) => sum + times.length, 0));
  let at = 0;
  for (const { times } of lists) {
    all.set(times, at);
    at += times.length;
  }
  return all.sort();
}

function countWhere(times: Float64Array, test: (ms: number) => boolean): number {
  let count = 0;
  for (const ms of times) if (test(ms)) count++;
  return count;
}

function fold(list: KernelSource, count: number): FoldedKernels {
  const kept = count === 0 ? [] : list.longest(count);
  const rest = list.times.subarray(count);
  return {
    kept,
    other:
      rest.length === 0
        ? null
        : {
            rows: rest.length,
            calls: list.calls - kept.reduce((sum, { calls }) => sum + calls, 0),
            total: rest.reduce((sum, ms) => sum + ms, 0),
          },
  };
}

/** The lists of kernels in the scopes of a page. */
export interface KernelSources {
  readonly ofReport: (report: NCUProfileRegionReport) => KernelSource;
  readonly ofRegion: (region: NCUProfileRegion) => KernelSource;
}

/** Caches the lists, because a page is built at several levels of detail. */
export function createKernelSources(): KernelSources {
  const reports = new Map<NCUProfileRegionReport, KernelSource>();
  const regions = new Map<NCUProfileRegion, KernelSource>();
  return {
    ofReport: (report) => getOrCreate(reports, report, () => sourceOfReport(report)),
    ofRegion: (region) => getOrCreate(regions, region, () => sourceOfList(() => region.kernels)),
  };
}

function sourceOfReport(report: NCUProfileRegionReport): KernelSource {
  const { times, calls, longest } = kernelsOfReport(report);
  return { times: longestFirst(times), calls, longest };
}
