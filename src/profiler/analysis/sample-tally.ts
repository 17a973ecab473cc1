/** What threads did in the own time of regions, from samples of them. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { ThreadSample, ThreadState } from "../model/timeline.ts";
import type { RegionInstance } from "./open-ranges.ts";
import { latestRegion, type RegionIdentity } from "./path-tree.ts";

/** Sums over the samples of a region. Times in nanoseconds. */
export interface SampleTally {
  readonly states: ReadonlyMap<ThreadState, number>;
  /** Time between two looks in which a thread was in this region alone: the numbers below are of this time. */
  readonly countedNs: number;
  readonly queuedNs: number;
  readonly slices: number;
  readonly systemNs: number;
  readonly minorFaults: number;
  readonly majorFaults: number;
  readonly childrenNs: number;
}

type Draft = { -readonly [K in keyof SampleTally]: SampleTally[K] } & {
  readonly states: Map<ThreadState, number>;
};

/** A region while samples are added. */
interface Sampled {
  readonly tally: Draft;
  /** Counts between looks at different calls of the region, between which there may have been others. */
  readonly between: Draft;
  /** How often a thread was in the region at the next look, too, and how often it was not. */
  stayed: number;
  left: number;
}

interface SampleTallies {
  /** @param range the innermost open range of the thread; null outside of all ranges */
  readonly add: (
    region: RegionIdentity,
    range: RegionInstance | null,
    sample: ThreadSample,
  ) => void;
  /** By the regions that theirs were merged into. */
  readonly finish: () => ReadonlyMap<RegionIdentity, SampleTally>;
}

/** A region in which threads stay from one look to the next for at least this part is all that they do. */
const STAYING = 0.9;

export function createSampleTallies(): SampleTallies {
  const byRegion = new Map<RegionIdentity, Sampled>();
  /** Where each thread was at the last look. */
  const places = new Map<number, { readonly in: Sampled; readonly range: RegionInstance | null }>();
  return {
    add(region, range, sample) {
      const here = getOrCreate(byRegion, region, () => ({
        tally: emptyTally(),
        between: emptyTally(),
        stayed: 0,
        left: 0,
      }));
      const { tally, between } = here;
      tally.states.set(sample.state, (tally.states.get(sample.state) ?? 0) + 1);
      const previous = places.get(sample.threadId);
      if (previous?.in === here) here.stayed++;
      else if (previous !== undefined) previous.in.left++;
      if (previous?.in === here)
        addCounts(previous.range === range ? tally : between, {
          ...sample,
          countedNs: sample.timeNs - sample.sinceNs,
        });
      places.set(sample.threadId, { in: here, range });
    },
    finish() {
      const latest = new Map<RegionIdentity, Draft>();
      for (const [region, { tally, between, stayed, left }] of byRegion) {
        const into = getOrCreate(latest, latestRegion(region), emptyTally);
        mergeInto(into, tally);
        if (stayed >= (stayed + left) * STAYING) addCounts(into, between);
      }
      return latest;
    },
  };
}

const emptyTally = (): Draft => ({
  states: new Map(),
  countedNs: 0,
  queuedNs: 0,
  slices: 0,
  systemNs: 0,
  minorFaults: 0,
  majorFaults: 0,
  childrenNs: 0,
});

function addCounts(tally: Draft, part: Omit<SampleTally, "states">): void {
  tally.countedNs += part.countedNs;
  tally.queuedNs += part.queuedNs;
  tally.slices += part.slices;
  tally.systemNs += part.systemNs;
  tally.minorFaults += part.minorFaults;
  tally.majorFaults += part.majorFaults;
  tally.childrenNs += part.childrenNs;
}

function mergeInto(into: Draft, from: SampleTally): void {
  for (const [state, count] of from.states)
    into.states.set(state, (into.states.get(state) ?? 0) + count);
  addCounts(into, from);
}

/** The sums of the same region in several processes; undefined without any. */
export function mergedSamples(tallies: readonly SampleTally[]): SampleTally | undefined {
  if (tallies.length < 2) return tallies[0];
  const sum = emptyTally();
  for (const tally of tallies) mergeInto(sum, tally);
  return sum;
}
