/**
 * What the GPU did in a region beside kernels, and how long the host waited for it. Kept apart from
 * kernels: copies run on engines of their own and would make kernel times incomparable with those
 * of other tools.
 */
import type { RegionIdentity } from "./path-tree.ts";

/** What is no kernel: copies and sets of memory, and waits of the host. */
export type GpuActivity = "memcpy" | "memset" | "synchronization";

/** How often, how long, and how many bytes. */
export interface ActivityTotals {
  readonly calls: number;
  readonly ns: number;
  /** Copied or set; 0 for waits. */
  readonly bytes: number;
}

export interface ActivityTally extends ActivityTotals {
  readonly activity: GpuActivity;
  /** `cuda:N`; null for waits, which may be for several devices. */
  readonly device: string | null;
}

export interface ActivityTallies {
  add(
    regions: readonly RegionIdentity[],
    activity: GpuActivity,
    device: string | null,
    ns: number,
    bytes: number,
  ): void;
  readonly byRegion: ReadonlyMap<RegionIdentity, readonly ActivityTally[]>;
}

export function createActivityTallies(): ActivityTallies {
  type Draft = { -readonly [K in keyof ActivityTally]: ActivityTally[K] };
  const byRegion = new Map<RegionIdentity, Draft[]>();
  const tallyOf = (region: RegionIdentity, activity: GpuActivity, device: string | null): Draft => {
    let ofRegion = byRegion.get(region);
    if (ofRegion === undefined) {
      ofRegion = [];
      byRegion.set(region, ofRegion);
    }
    const known = ofRegion.find((one) => one.activity === activity && one.device === device);
    if (known !== undefined) return known;
    const created: Draft = { activity, device, calls: 0, ns: 0, bytes: 0 };
    ofRegion.push(created);
    return created;
  };
  return {
    byRegion,
    add(regions, activity, device, ns, bytes) {
      for (const region of regions) {
        const tally = tallyOf(region, activity, device);
        tally.calls++;
        tally.ns += ns;
        tally.bytes += bytes;
      }
    },
  };
}

/** Sums by activity. A scope of one device has no waits: nobody knows which device they were for. */
export function totalActivities(
  tallies: readonly ActivityTally[],
  device: string | null,
): ReadonlyMap<GpuActivity, ActivityTotals> {
  const totals = new Map<GpuActivity, ActivityTotals>();
  for (const tally of tallies) {
    if (device !== null && tally.device !== device) continue;
    const sum = totals.get(tally.activity) ?? { calls: 0, ns: 0, bytes: 0 };
    totals.set(tally.activity, {
      calls: sum.calls + tally.calls,
      ns: sum.ns + tally.ns,
      bytes: sum.bytes + tally.bytes,
    });
  }
  return totals;
}
