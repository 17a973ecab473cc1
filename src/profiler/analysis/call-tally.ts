/** Calls of CUDA and of the system that threads made in the own time of regions. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { HostApi, HostCall } from "../model/host-calls.ts";
import { latestRegion, type RegionIdentity } from "./path-tree.ts";

/** The calls of one function. Times in nanoseconds. */
export interface CallTally {
  readonly api: HostApi;
  readonly name: string;
  readonly calls: number;
  readonly ns: number;
  readonly minNs: number;
  readonly maxNs: number;
  /** Of calls outside of ranges: those of the process's first thread, while no thread had a range open. */
  readonly alone?: AloneCalls;
}

export interface AloneCalls {
  readonly calls: number;
  readonly ns: number;
}

/** By API and name. */
export type CallTallies = ReadonlyMap<string, CallTally>;

export function createCallTallies() {
  const byRegion = new Map<RegionIdentity, Map<string, CallTally>>();
  return {
    add(region: RegionIdentity, { api, name, startNs, endNs }: HostCall): void {
      const ns = endNs - startNs;
      const tally = { api, name, calls: 1, ns, minNs: ns, maxNs: ns };
      addTally(getOrCreate(byRegion, region, newTallies), tally);
    },
    /** @param ns the part of a call of this region in which no range was open */
    addAlone(region: RegionIdentity, { api, name }: HostCall, ns: number): void {
      const tallies = getOrCreate(byRegion, region, newTallies);
      const existing = tallies.get(keyOf({ api, name }));
      if (existing !== undefined)
        tallies.set(keyOf(existing), {
          ...existing,
          alone: sumOfAlone(existing.alone, { calls: 1, ns }),
        });
    },
    /** By the regions that theirs were merged into. */
    finish(): ReadonlyMap<RegionIdentity, CallTallies> {
      const latest = new Map<RegionIdentity, Map<string, CallTally>>();
      for (const [region, tallies] of byRegion) {
        const into = getOrCreate(latest, latestRegion(region), newTallies);
        for (const tally of tallies.values()) addTally(into, tally);
      }
      return latest;
    },
  };
}

const newTallies = () => new Map<string, CallTally>();

const keyOf = ({ api, name }: Pick<CallTally, "api" | "name">): string => `${api} ${name}`;

const sumOfAlone = (a: AloneCalls | undefined, b: AloneCalls): AloneCalls => ({
  calls: (a?.calls ?? 0) + b.calls,
  ns: (a?.ns ?? 0) + b.ns,
});

function addTally(into: Map<string, CallTally>, tally: CallTally): void {
  const key = keyOf(tally);
  const existing = into.get(key);
  into.set(
    key,
    existing === undefined
      ? tally
      : {
          ...existing,
          calls: existing.calls + tally.calls,
          ns: existing.ns + tally.ns,
          minNs: Math.min(existing.minNs, tally.minNs),
          maxNs: Math.max(existing.maxNs, tally.maxNs),
          ...(tally.alone !== undefined && { alone: sumOfAlone(existing.alone, tally.alone) }),
        },
  );
}

/** Of several processes together, the longest first. */
export function mergedCalls(parts: readonly CallTallies[]): readonly CallTally[] {
  const sums = newTallies();
  for (const part of parts) for (const tally of part.values()) addTally(sums, tally);
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}
