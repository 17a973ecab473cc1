/** Two region reports side by side: regions and kernels matched by their paths and names. */
import { regionKey } from "../directory-name.ts";
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../document.ts";
import { kernelsOfReport } from "../kernels-of-report.ts";
import { exclusiveMs, kernelMs, totalMs, wholeMs } from "../measured-time.ts";
import { asLeftOut, type Change, changeOf, countChange, type Measured } from "./change.ts";
import { comparisonNotes, doubtNotes, leftOutNotes, otherWorkNotes } from "./comparison-notes.ts";
import { withKnownDomains } from "./known-domains.ts";
import { type LookedForByBoth, lookedFor } from "./looked-for.ts";
import {
  measuredAlone,
  measuredMedian,
  measuredTogether,
  measuredWall,
  measuredWork,
} from "./noise.ts";
import { keysOfBoth, regionsByKey } from "./region-order.ts";
import { type SameWork, sameWork } from "./same-work.ts";

export interface ReportComparison {
  readonly a: ReportFacts;
  readonly b: ReportFacts;
  readonly totals: Changes;
  /** In the order of B's tree; what only A has stands where A's tree has it. */
  readonly regions: readonly RegionChange[];
  /** Kernels of the whole report, where both looked for its regions; the largest difference first. */
  readonly kernels: readonly KernelChange[];
  /** Why the two may not be comparable. */
  readonly notes: readonly string[];
}

export interface ReportFacts {
  readonly scope: string;
  readonly collector: string;
  readonly device: string | null;
  readonly fingerprint: string;
  readonly generatedAt: string;
  /** Why its run ended before all was measured; absent where it ended well. */
  readonly failure?: string;
}

/** Numbers by the names of the report contract. Only those that either report has. */
export type Changes = Readonly<Record<string, Change>>;

export interface RegionChange {
  readonly path: readonly string[];
  readonly domain: string;
  /** As in the region report: absent where all ranges of the path are of `domain`. */
  readonly path_domains?: readonly (string | null)[];
  readonly kind: NCUProfileRegion["kind"];
  readonly presence: Presence;
  readonly changes: Changes;
  readonly kernels: readonly KernelChange[];
}

export interface KernelChange {
  readonly kernel_name: string;
  readonly kind: KernelRecord["kind"];
  readonly presence: Presence;
  readonly changes: Changes;
}

/** Whether both reports have it; `left_out`: one did not look for it, since its selection leaves it out. */
export type Presence = "both" | "added" | "removed" | "left_out";

export function compareReports(
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): ReportComparison {
  const known = withKnownDomains(a.regions, b.regions);
  const ofA = regionsByKey(known.a);
  const ofB = regionsByKey(known.b);
  const looked = lookedFor(a, b);
  const same = sameWork({ report: a, regions: known.a }, { report: b, regions: known.b }, looked);
  // What both have, both looked for.
  const shared: Shared = {
    a: { ...a, regions: known.a.filter((one) => ofB.has(regionKey(one)) || looked.b.region(one)) },
    b: { ...b, regions: known.b.filter((one) => ofA.has(regionKey(one)) || looked.a.region(one)) },
  };
  const isShared =
    shared.a.regions.length === known.a.length && shared.b.regions.length === known.b.length;
  const found = isShared
    ? kernelChanges(kernelsOfReport(a).longest(), kernelsOfReport(b).longest(), looked)
    : kernelsWhereBothLooked({ a, b }, shared, looked);
  const kernels = same.inKernels ? found : found.map(kernelLeftOut);
  const isSameTotal = same.inTotals(found);
  const regions = keysOfBoth(known.a, known.b).map((key) =>
    regionChange(ofA.get(key) ?? null, ofB.get(key) ?? null, looked, same),
  );
  return {
    a: facts(a),
    b: facts(b),
    totals: present({
      ...changesIf(isSameTotal, { total_ms: changeOf(totalWork(a), totalWork(b)) }),
      wall_ms: changeOf(totalWall(a), totalWall(b)),
      ...changesIf(isSameTotal, {
        outside_ms: changeOf(
          measuredAlone(a.totals.outside_ms),
          measuredAlone(b.totals.outside_ms),
        ),
        kernel_count: countChange(a.totals.kernel_count, b.totals.kernel_count),
      }),
      ...(isShared
        ? regionCounts(a.totals, b.totals)
        : regionCounts(counted(shared.a), counted(shared.b))),
    }),
    regions,
    kernels,
    notes: [
      ...leftOutNotes(regions, kernels, looked),
      ...(isSameTotal ? [] : otherWorkNotes(regions, looked)),
      ...comparisonNotes(a, b),
      ...doubtNotes(known),
    ],
  };
}

/** What of each of two reports the other one looked for. */
type Shared = Readonly<Record<"a" | "b", NCUProfileRegionReport>>;
type RegionCounts = Pick<NCUProfileRegionReport["totals"], "invocations" | "region_count">;

const regionCounts = (a: RegionCounts, b: RegionCounts): Changes => ({
  invocations: countChange(a.invocations, b.invocations),
  region_count: countChange(a.region_count, b.region_count),
});

function counted({ regions }: NCUProfileRegionReport): RegionCounts {
  const real = regions.filter(({ kind }) => kind !== "outside");
  return {
    invocations: real.reduce((sum, { invocations }) => sum + invocations, 0),
    region_count: real.length,
  };
}

/** Those of regions that both looked for, and behind them, as left out, those that are in no such region. */
function kernelsWhereBothLooked(
  whole: Shared,
  shared: Shared,
  looked: LookedForByBoth,
): readonly KernelChange[] {
  const changesOf = ({ a, b }: Shared) =>
    kernelChanges(kernelsOfReport(a).longest(), kernelsOfReport(b).longest(), looked);
  const compared = changesOf(shared);
  const keys = new Set(compared.map(kernelKey));
  const others = changesOf(whole).filter((kernel) => !keys.has(kernelKey(kernel)));
  return [...compared, ...others.map(kernelLeftOut)].sort((x, y) => weight(y) - weight(x));
}

function regionChange(
  a: NCUProfileRegion | null,
  b: NCUProfileRegion | null,
  looked: LookedForByBoth,
  same: SameWork,
): RegionChange {
  const shown = b ?? a;
  if (shown === null) throw new Error("a region of neither report");
  const wall = (of: "wall_ms" | "wall_exclusive_ms") =>
    changeOf(a && measuredWall(a, a[of]), b && measuredWall(b, b[of]));
  const work = (of: "total_ms" | "exclusive_ms") =>
    changeOf(a && measuredWork(a, TIMES[of](a)), b && measuredWork(b, TIMES[of](b)));
  const percentile = (region: NCUProfileRegion | null) =>
    measuredAlone(region?.invocation_wall_ms?.p95 ?? null);
  const presence = presenceOf(a, b, (side) => looked[side].region(shown));
  const found = kernelChanges(a?.kernels ?? [], b?.kernels ?? [], looked);
  const isSame = presence !== "both" || same.inRegion(shown, found);
  const isLeftOut = presence === "left_out" || !(isSame || same.inKernels);
  return {
    path: shown.path,
    domain: shown.domain,
    ...(shown.path_domains !== undefined && { path_domains: shown.path_domains }),
    kind: shown.kind,
    presence,
    changes: changesAs(presence, {
      ...changesIf(isSame, { total_ms: work("total_ms"), exclusive_ms: work("exclusive_ms") }),
      wall_ms: wall("wall_ms"),
      wall_exclusive_ms: wall("wall_exclusive_ms"),
      median_ms: changeOf(a && measuredMedian(a), b && measuredMedian(b)),
      p95_ms: changeOf(percentile(a), percentile(b)),
      ...changesIf(isSame, {
        kernel_count: countChange(a?.kernel_count ?? null, b?.kernel_count ?? null),
      }),
      invocations: countChange(a?.invocations ?? null, b?.invocations ?? null),
      ...changesIf(isSame, metricChanges(a, b)),
    }),
    kernels: isLeftOut ? found.map(kernelLeftOut) : found,
  };
}

const TIMES = { total_ms: totalMs, exclusive_ms: exclusiveMs };

/**
 * Metrics of a region that both have: one that only one report measured there is new, or gone. Values in two
 * units stand side by side, since they cannot be subtracted.
 */
function metricChanges(a: NCUProfileRegion | null, b: NCUProfileRegion | null): Changes {
  if (a === null || b === null) return {};
  const names = new Set([...Object.keys(a.metrics), ...Object.keys(b.metrics)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const [before, after] = [a, b].map(({ metrics }) =>
        Object.hasOwn(metrics, name) ? metrics[name] : undefined,
      );
      const change = changeOf(
        measuredAlone(before?.value ?? null),
        measuredAlone(after?.value ?? null),
      );
      const isOneUnit = before === undefined || after === undefined || before.unit === after.unit;
      return [name, isOneUnit ? change : asLeftOut(change)];
    }),
  );
}

function kernelChanges(
  a: readonly KernelRecord[],
  b: readonly KernelRecord[],
  looked: LookedForByBoth,
): readonly KernelChange[] {
  const ofA = summed(a);
  const ofB = summed(b);
  return [...new Set([...ofB.keys(), ...ofA.keys()])]
    .map((key): KernelChange => {
      const before = ofA.get(key) ?? null;
      const after = ofB.get(key) ?? null;
      const [kernel_name, kind] = JSON.parse(key) as [string, KernelRecord["kind"]];
      const [timeA, timeB] = [timeOf(before, kind), timeOf(after, kind)];
      // Of a kernel that both have, a time in one of them is not a kernel that is new, or gone.
      const isTimed = (before === null || timeA !== null) && (after === null || timeB !== null);
      const presence = presenceOf(before, after, (side) =>
        looked[side].kernel({ kernel_name, kind }),
      );
      return {
        kernel_name,
        kind,
        presence,
        changes: changesAs(presence, {
          ...(isTimed && { total_ms: changeOf(timeA, timeB) }),
          calls: countChange(before?.calls ?? null, after?.calls ?? null),
        }),
      };
    })
    .sort((x, y) => weight(y) - weight(x));
}

const kernelLeftOut = (kernel: KernelChange): KernelChange => ({
  ...kernel,
  presence: "left_out",
  changes: changesAs("left_out", kernel.changes),
});

const kernelKey = ({ kernel_name, kind }: Pick<KernelRecord, "kernel_name" | "kind">): string =>
  JSON.stringify([kernel_name, kind]);

const timeOf = (sum: { ms: number } | null, kind: KernelRecord["kind"]) =>
  measuredAlone(sum && kernelMs({ kind, total_ms: sum.ms }));

/** A kernel is one kernel on whichever device it ran. */
function summed(kernels: readonly KernelRecord[]): Map<string, { ms: number; calls: number }> {
  const sums = new Map<string, { ms: number; calls: number }>();
  for (const { kernel_name, kind, total_ms, calls } of kernels) {
    const key = kernelKey({ kernel_name, kind });
    const sum = sums.get(key) ?? { ms: 0, calls: 0 };
    sums.set(key, { ms: sum.ms + total_ms, calls: sum.calls + calls });
  }
  return sums;
}

const weight = ({ changes }: KernelChange): number => {
  const { a, b } = changes["total_ms"] ?? { a: null, b: null };
  return Math.abs((b ?? 0) - (a ?? 0));
};

/** @param isLookedFor whether a report that does not have it looked for it */
function presenceOf(a: unknown, b: unknown, isLookedFor: (side: "a" | "b") => boolean): Presence {
  if (a !== null && b !== null) return "both";
  if (!isLookedFor(a === null ? "a" : "b")) return "left_out";
  return a === null ? "added" : "removed";
}

function changesAs(presence: Presence, changes: Changes): Changes {
  return changesIf(presence !== "left_out", present(changes));
}

/** As they are, or as numbers of which nothing follows, since they are of other work. */
const changesIf = (isSame: boolean, changes: Changes): Changes =>
  isSame
    ? changes
    : Object.fromEntries(Object.entries(changes).map(([name, one]) => [name, asLeftOut(one)]));

/** Without numbers that neither report has. */
const present = (changes: Changes): Changes =>
  Object.fromEntries(Object.entries(changes).filter(([, { a, b }]) => a !== null || b !== null));

/** Outermost regions hold all that was measured inside regions. */
const roots = ({ regions }: NCUProfileRegionReport): readonly NCUProfileRegion[] =>
  regions.filter(({ depth, kind }) => depth === 0 && kind !== "outside");

const totalWall = (report: NCUProfileRegionReport): Measured | null =>
  measuredTogether(
    report.totals.wall_ms,
    roots(report).map((region) => ({
      ms: region.wall_ms,
      measured: measuredWall(region, region.wall_ms),
    })),
  );

const totalWork = (report: NCUProfileRegionReport): Measured | null =>
  measuredTogether(
    wholeMs(report),
    roots(report).map((region) => ({
      ms: totalMs(region),
      measured: measuredWork(region, totalMs(region)),
    })),
  );

const facts = (report: NCUProfileRegionReport): ReportFacts => ({
  scope: report.scope,
  collector: `${report.collector.name} ${report.collector.version}`,
  device: report.environment.device,
  fingerprint: report.config_fingerprint,
  generatedAt: report.generated_at,
  ...(report.failure !== undefined && { failure: report.failure }),
});
