/** Two region reports side by side: regions and kernels matched by their paths and names. */

import type { NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { familyKey, storedFamily } from "../model/families.ts";
import { startsAt } from "../model/region-path.ts";
import { regionKey } from "../model/report-files.ts";
import { isLongestOnly } from "../view/notes.ts";
import { totalMs, wholeMs } from "../view/times.ts";
import {
  changeOf,
  changesIf,
  countChange,
  type Measured,
  pairedChange,
  present,
  timeChange,
} from "./change.ts";
import {
  comparisonNotes,
  environmentDifferences,
  leftOutNotes,
  notWholeNotes,
  otherWorkNotes,
} from "./comparison-notes.ts";
import type {
  Change,
  Changes,
  MainTime,
  RegionChange,
  ReportFacts,
  StoredComparison,
} from "./comparison-types.ts";
import {
  type BothReports,
  kernelLeftOut,
  kernelPairs,
  kernelsCoveredByBoth,
  reportKernels,
  spreadInRegions,
  spreadOfReport,
} from "./kernel-changes.ts";
import {
  measuredAlone,
  measuredCpu,
  measuredInstructions,
  measuredTogether,
  measuredWall,
  measuredWork,
  overRuns,
  type Part,
} from "./noise.ts";
import { regionChange, sameWork } from "./region-change.ts";
import { keysOfBoth, matchRegions, type OfBoth, regionsByKey } from "./region-matching.ts";
import { selectionCoverage } from "./selection-coverage.ts";

/** A stored comparison without what is known of its reports besides: their names, configurations and conditions. */
export interface ReportComparison
  extends Omit<StoredComparison, "contract" | "names" | "config" | "gates" | "families"> {
  /** Absent in documents of 1.6 alone. */
  readonly main_time: MainTime;
  /**
   * Families of regions, where `regions` has the members because both reports have the same ones. Their times count
   * again what those have. Absent in documents before 1.8 alone.
   */
  readonly families: readonly RegionChange[];
  /** Members of the families that `regions` has as one; in no document. */
  readonly members: readonly RegionChange[];
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

/**
 * The report with regions that only other runs have than the one shown, each after what is shown of the region around
 * it. They have statistics over the runs that have them, or the times of the only one.
 */
function withUnshown(report: NCUProfileRegionReport): NCUProfileRegionReport {
  const { unshown_regions = [], regions: shown } = report;
  // One of which a report has only the longest may have had the others, too.
  if (unshown_regions.length === 0 || isLongestOnly(report.notes)) return report;
  const regions = [...shown];
  for (const { repeats, only_run, ...placed } of unshown_regions) {
    const { path } = placed;
    const around = { ...placed, path: path.slice(0, -1) };
    const place = regions.findLastIndex(
      (region) => around.path.length > 0 && startsAt(region, around),
    );
    regions.splice(place < 0 ? regions.length : place + 1, 0, {
      ...NOTHING_SHOWN,
      ...only_run,
      ...placed,
      ...storedFamily(path),
      name: path.at(-1) ?? "",
      parent: path.at(-2) ?? null,
      depth: path.length - 1,
      repeats,
    });
  }
  return { ...report, regions };
}

const NOTHING_SHOWN = {
  device: null,
  process_id: null,
  invocations: 0,
  total_ms: null,
  exclusive_ms: null,
  wall_ms: null,
  wall_exclusive_ms: null,
  invocation_wall_ms: null,
  kernel_count: 0,
  metrics: {},
  sections: {},
  kernels: [],
  selection: { include_patterns: [], exclude_patterns: [] },
  notes: [],
} satisfies Partial<NCUProfileRegion>;

/** @param pairs if both programs ran in pairs */
export function compareReports(
  reportA: NCUProfileRegionReport,
  reportB: NCUProfileRegionReport,
  pairs?: PairedRatios,
): ReportComparison {
  const [a, b] = [withUnshown(reportA), withUnshown(reportB)];
  const original = { a: a.regions, b: b.regions };
  const matched = matchRegions(a, b);
  const ofA = regionsByKey([...original.a, ...matched.rows.a]);
  const ofB = regionsByKey([...original.b, ...matched.rows.b]);
  const looked = selectionCoverage(a, b);
  const same = sameWork(
    { report: a, regions: [...ofA.values()] },
    { report: b, regions: [...ofB.values()] },
    looked,
  );
  // What both reports have, both selections include.
  const shared: BothReports = {
    a: {
      ...a,
      regions: original.a.filter((region) => ofB.has(regionKey(region)) || looked.b.region(region)),
    },
    b: {
      ...b,
      regions: original.b.filter((region) => ofA.has(regionKey(region)) || looked.a.region(region)),
    },
  };
  const isShared =
    shared.a.regions.length === original.a.length && shared.b.regions.length === original.b.length;
  const spread = isShared
    ? { a: spreadOfReport(a), b: spreadOfReport(b) }
    : { a: spreadInRegions(shared.a.regions), b: spreadInRegions(shared.b.regions) };
  const found = isShared
    ? reportKernels({ a, b }, looked, spread)
    : kernelsCoveredByBoth({ a, b }, shared, looked, spread);
  const mayBeInOther = { added: !looked.a.isWhole, removed: !looked.b.isWhole };
  const kernels = found.map((kernel) =>
    same.inKernels &&
    !(kernel.presence === "added" && mayBeInOther.added) &&
    !(kernel.presence === "removed" && mayBeInOther.removed)
      ? kernel
      : kernelLeftOut(kernel),
  );
  const isSameTotal = same.inTotals(found);
  const changesOf = (compared: OfBoth<readonly NCUProfileRegion[]>): readonly RegionChange[] => {
    const [inA, inB] = [regionsByKey(compared.a), regionsByKey(compared.b)];
    return keysOfBoth(compared.a, compared.b).map((key) => {
      const region = regionChange(inA.get(key) ?? null, inB.get(key) ?? null, looked, same);
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
    kernel_pairs: kernelPairs(kernels, spread),
    differences: environmentDifferences(a, b),
    notes: [
      ...leftOutNotes(regions, kernels, looked),
      ...notWholeNotes(regions, looked),
      ...(isSameTotal ? [] : otherWorkNotes(regions, looked)),
      ...comparisonNotes(a, b),
    ],
  };
}

/** Kernel time depends on the kernels, which may be of different work; wall time is that of the whole run. */
const totalChanges = ({ a, b }: BothReports, isSameWork: boolean): Changes => ({
  ...changesIf(isSameWork, { total_ms: timeChange(totalWork(a), totalWork(b)) }),
  wall_ms: wallChange(a, b),
  ...present({
    cpu_ms: timeChange(totalCpu(a), totalCpu(b)),
    instructions: changeOf(totalInstructions(a), totalInstructions(b)),
  }),
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
  const real = regions.filter(({ kind, invocations }) => kind !== "outside" && invocations > 0);
  return {
    invocations: real.reduce((sum, { invocations }) => sum + invocations, 0),
    region_count: real.length,
  };
}

/** The outermost regions include everything measured inside regions. */
const roots = ({ regions }: NCUProfileRegionReport): readonly NCUProfileRegion[] =>
  regions.filter(({ depth, kind }) => depth === 0 && kind !== "outside");

/** Of two programs without any range, the time outside of them is all there is. */
function wallChange(a: NCUProfileRegionReport, b: NCUProfileRegionReport): Change {
  const ofRanges = timeChange(wallOfRanges(a), wallOfRanges(b));
  return ofRanges.a === null && ofRanges.b === null
    ? timeChange(wallOutside(a), wallOutside(b))
    : ofRanges;
}

/** Of the ranges together; without any, of what ran outside. */
export const totalWall = (report: NCUProfileRegionReport): Measured | null =>
  wallOfRanges(report) ?? wallOutside(report);

const wallOfRanges = (report: NCUProfileRegionReport): Measured | null =>
  overRuns(report.totals.repeats, "wall_ms") ??
  measuredTogether(report.totals.wall_ms, wallParts(roots(report)));

function wallOutside({ regions }: NCUProfileRegionReport): Measured | null {
  const parts = wallParts(regions.filter(({ kind }) => kind === "outside"));
  const measured = parts.flatMap(({ ms }) => ms ?? []);
  const whole = measured.length === 0 ? null : measured.reduce((sum, ms) => sum + ms, 0);
  return measuredTogether(whole, parts);
}

const wallParts = (regions: readonly NCUProfileRegion[]): readonly Part[] =>
  regions.map((region) => ({ ms: region.wall_ms, measured: measuredWall(region, region.wall_ms) }));

const totalCpu = (report: NCUProfileRegionReport): Measured | null =>
  overRuns(report.totals.repeats, "cpu_ms") ??
  measuredTogether(
    report.totals.cpu_ms ?? null,
    roots(report).map((region) => {
      const ms = region.cpu_ms ?? null;
      return { ms, measured: measuredCpu(region, ms) };
    }),
  );

const totalInstructions = (report: NCUProfileRegionReport): Measured | null =>
  overRuns(report.totals.repeats, "instructions") ??
  measuredTogether(
    report.totals.instructions ?? null,
    roots(report).map((region) => {
      const count = region.instructions ?? null;
      return { ms: count, measured: measuredInstructions(region, count) };
    }),
  );

/** Of kernels or CPU operations. */
export const totalWork = (report: NCUProfileRegionReport): Measured | null =>
  overRuns(report.totals.repeats, "total_ms") ??
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
