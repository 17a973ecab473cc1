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
  readonly maxNs: number;
}

/** By API and name. */
export type CallTallies = ReadonlyMap<string, CallTally>;

export function createCallTallies() {
  const byRegion = new Map<RegionIdentity, Map<string, CallTally>>();
  return {
    add(region: RegionIdentity, { api, name, startNs, endNs }: HostCall): void {
      const ns = endNs - startNs;
      addTally(getOrCreate(byRegion, region, newTallies), { api, name, calls: 1, ns, maxNs: ns });
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

function addTally(into: Map<string, CallTally>, tally: CallTally): void {
  const key = `${tally.api} ${tally.name}`;
  const known = into.get(key);
  into.set(
    key,
    known === undefined
      ? tally
      : {
          ...known,
          calls: known.calls + tally.calls,
          ns: known.ns + tally.ns,
          maxNs: Math.max(known.maxNs, tally.maxNs),
        },
  );
}

/** Of several processes together, the longest first. */
export function mergedCalls(parts: readonly CallTallies[]): readonly CallTally[] {
  const sums = newTallies();
  for (const part of parts) for (const tally of part.values()) addTally(sums, tally);
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}
