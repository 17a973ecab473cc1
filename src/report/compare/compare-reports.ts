/** Two region reports side by side: regions and kernels matched by their paths and names. */

import type { NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { familyKey } from "../model/families.ts";
import { regionKey } from "../model/report-files.ts";
import { totalMs, wholeMs } from "../view/times.ts";
import {
  type Change,
  type Changes,
  changesIf,
  countChange,
  type Measured,
  pairedChange,
  present,
  timeChange,
} from "./change.ts";
import {
  comparisonNotes,
  type Difference,
  environmentDifferences,
  leftOutNotes,
  otherWorkNotes,
} from "./comparison-notes.ts";
import {
  type BothReports,
  type KernelChange,
  type KernelPair,
  kernelLeftOut,
  kernelPairs,
  kernelSpread,
  kernelsCoveredByBoth,
  reportKernels,
} from "./kernel-changes.ts";
import {
  measuredAlone,
  measuredCpu,
  measuredTogether,
  measuredWall,
  measuredWork,
} from "./noise.ts";
import { type RegionChange, regionChange, sameWork } from "./region-change.ts";
import { keysOfBoth, matchRegions, type OfBoth, regionsByKey } from "./region-matching.ts";
import { selectionCoverage } from "./selection-coverage.ts";

export interface ReportComparison {
  readonly a: ReportFacts;
  readonly b: ReportFacts;
  /** The time that is judged and shown: in the headline, in what contributed, in trees and tables. */
  readonly main_time: MainTime;
  readonly totals: Changes;
  /** In the order of B's tree; regions that only A has keep their place in A's tree. */
  readonly regions: readonly RegionChange[];
  /**
   * Families of regions, where `regions` has the members because both reports have the same ones. Their times count
   * again what those have.
   */
  readonly families: readonly RegionChange[];
  /** Members of the families that `regions` has as one; in no document. */
  readonly members: readonly RegionChange[];
  /** Kernels of regions that both selections include; the largest difference first. */
  readonly kernels: readonly KernelChange[];
  /** Pairs of kernels, one only in A and one only in B, whose names differ only in numbers. */
  readonly kernel_pairs: readonly KernelPair[];
  /** Differences in how the two were measured; a fact that is unknown for one of them is no difference. */
  readonly differences: readonly Difference[];
  /** Why the two may not be comparable. */
  readonly notes: readonly string[];
}

export type MainTime = "total_ms" | "wall_ms" | "cpu_ms";

export interface ReportFacts {
  readonly scope: string;
  readonly collector: string;
  readonly device: string | null;
  readonly fingerprint: string;
  readonly generatedAt: string;
  /** Why its run ended early; absent if it succeeded. */
  readonly failure?: string;
}

/** Logarithms of B / A for pairs of runs, by the names of the numbers. */
export interface PairedRatios {
  readonly totals: LogRatios;
  /** By `regionKey`; of families by `familyKey`. */
  readonly regions: ReadonlyMap<string, LogRatios>;
}

export type LogRatios = Readonly<Record<string, readonly number[]>>;

const withPairs = (changes: Changes, pairs: LogRatios | undefined): Changes =>
  pairs === undefined
    ? changes
    : Object.fromEntries(
        Object.entries(changes).map(([name, change]) => [
          name,
          pairedChange(change, pairs[name] ?? []),
        ]),
      );

/** @param pairs if both programs ran in pairs */
export function compareReports(
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
  pairs?: PairedRatios,
): ReportComparison {
  const known = { a: a.regions, b: b.regions };
  const matched = matchRegions(a, b);
  const ofA = regionsByKey([...known.a, ...matched.rows.a]);
  const ofB = regionsByKey([...known.b, ...matched.rows.b]);
  const looked = selectionCoverage(a, b);
  const same = sameWork(
    { report: a, regions: [...ofA.values()] },
    { report: b, regions: [...ofB.values()] },
    looked,
  );
  // What both reports have, both selections include.
  const shared: BothReports = {
    a: { ...a, regions: known.a.filter((one) => ofB.has(regionKey(one)) || looked.b.region(one)) },
    b: { ...b, regions: known.b.filter((one) => ofA.has(regionKey(one)) || looked.a.region(one)) },
  };
  const isShared =
    shared.a.regions.length === known.a.length && shared.b.regions.length === known.b.length;
  const found = isShared
    ? reportKernels({ a, b }, looked)
    : kernelsCoveredByBoth({ a, b }, shared, looked);
  const kernels = same.inKernels ? found : found.map(kernelLeftOut);
  const isSameTotal = same.inTotals(found);
  const spread = kernelSpread({ a, b }, false);
  const changesOf = (compared: OfBoth<readonly NCUProfileRegion[]>): readonly RegionChange[] => {
    const [inA, inB] = [regionsByKey(compared.a), regionsByKey(compared.b)];
    return keysOfBoth(compared.a, compared.b).map((key) => {
      const region = regionChange(inA.get(key) ?? null, inB.get(key) ?? null, looked, same, spread);
      const ratios = pairs?.regions.get(key) ?? pairs?.regions.get(familyKey(region));
      return { ...region, changes: withPairs(region.changes, ratios) };
    });
  };
  const { rows, shown, others, hasMembers } = matched;
  const regions = changesOf(shown);
  const families = changesOf({ a: rows.a.filter(hasMembers), b: rows.b.filter(hasMembers) });
  const counts = isShared
    ? regionCounts(a.totals, b.totals)
    : regionCounts(counted(shared.a), counted(shared.b));
  const changes = { ...totalChanges({ a, b }, isSameTotal), ...counts };
  const totals = present(withPairs(changes, pairs?.totals));
  return {
    a: facts(a),
    b: facts(b),
    main_time: mainTimeOf(totals, pairs !== undefined),
    totals,
    regions,
    families,
    members: changesOf(others),
    kernels,
    kernel_pairs: kernelPairs(kernels, kernelSpread({ a, b }, isShared)),
    differences: environmentDifferences(a, b),
    notes: [
      ...leftOutNotes(regions, kernels, looked),
      ...(isSameTotal ? [] : otherWorkNotes(regions, looked)),
      ...comparisonNotes(a, b),
    ],
  };
}

/** Kernel time depends on the kernels, which may be of different work; wall time is that of the whole run. */
const totalChanges = ({ a, b }: BothReports, isSameWork: boolean): Changes => ({
  ...changesIf(isSameWork, { total_ms: timeChange(totalWork(a), totalWork(b)) }),
  wall_ms: timeChange(totalWall(a), totalWall(b)),
  ...present({ cpu_ms: timeChange(totalCpu(a), totalCpu(b)) }),
  ...changesIf(isSameWork, {
    outside_ms: timeChange(measuredAlone(a.totals.outside_ms), measuredAlone(b.totals.outside_ms)),
    kernel_count: countChange(a.totals.kernel_count, b.totals.kernel_count),
  }),
});

/**
 * Runs in pairs are judged by processor time, which varies least; others by the time of kernels if both have it. Else by
 * wall time.
 */
function mainTimeOf(totals: Changes, isPaired: boolean): MainTime {
  const first = isPaired ? "cpu_ms" : "total_ms";
  return hasBoth(totals[first]) ? first : "wall_ms";
}

const hasBoth = (change: Change | undefined): boolean =>
  change !== undefined && change.a !== null && change.b !== null;

/**
 * The comparison with the time of the first condition that names one both reports have: what decides is what is shown.
 *
 * @param names numbers of conditions, such as `cpu_exclusive_ms`
 */
export function judgedBy(reports: ReportComparison, names: readonly string[]): ReportComparison {
  const [named] = names.flatMap((name) => TIME_OF[name] ?? []);
  return named !== undefined && hasBoth(reports.totals[named])
    ? { ...reports, main_time: named }
    : reports;
}

const TIME_OF: Readonly<Record<string, MainTime>> = {
  total_ms: "total_ms",
  exclusive_ms: "total_ms",
  wall_ms: "wall_ms",
  wall_exclusive_ms: "wall_ms",
  median_ms: "wall_ms",
  p95_ms: "wall_ms",
  cpu_ms: "cpu_ms",
  cpu_exclusive_ms: "cpu_ms",
};

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

/** The outermost regions include everything measured inside regions. */
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

const totalCpu = (report: NCUProfileRegionReport): Measured | null =>
  measuredTogether(
    report.totals.cpu_ms ?? null,
    roots(report).map((region) => {
      const ms = region.cpu_ms ?? null;
      return { ms, measured: measuredCpu(region, ms) };
    }),
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
