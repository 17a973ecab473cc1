/** Two region reports side by side: regions and kernels matched by their paths and names. */
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../document.ts";
import { kernelsOfReport } from "../kernels-of-report.ts";
import { exclusiveMs, kernelMs, totalMs, wholeMs } from "../measured-time.ts";
import { type Change, changeOf, countChange, type Measured } from "./change.ts";
import { comparisonNotes, doubtNotes } from "./comparison-notes.ts";
import { withKnownDomains } from "./known-domains.ts";
import {
  measuredAlone,
  measuredMedian,
  measuredTogether,
  measuredWall,
  measuredWork,
} from "./noise.ts";
import { keysOfBoth, regionsByKey } from "./region-order.ts";

export interface ReportComparison {
  readonly a: ReportFacts;
  readonly b: ReportFacts;
  readonly totals: Changes;
  /** In the order of B's tree; what only A has stands where A's tree has it. */
  readonly regions: readonly RegionChange[];
  /** Kernels of the whole report, the largest difference first. */
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
}

/** Numbers by the names of the report contract. Only those that either report has. */
export type Changes = Readonly<Record<string, Change>>;

export interface RegionChange {
  readonly path: readonly string[];
  readonly domain: string;
  /** As in the region report: absent where all ranges of the path are of `domain`. */
  readonly path_domains?: readonly (string | null)[];
  readonly kind: NCUProfileRegion["kind"];
  /** Whether both reports have it. */
  readonly presence: "both" | "added" | "removed";
  readonly changes: Changes;
  readonly kernels: readonly KernelChange[];
}

export interface KernelChange {
  readonly kernel_name: string;
  readonly kind: KernelRecord["kind"];
  readonly presence: "both" | "added" | "removed";
  readonly changes: Changes;
}

export function compareReports(
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): ReportComparison {
  const known = withKnownDomains(a.regions, b.regions);
  const ofA = regionsByKey(known.a);
  const ofB = regionsByKey(known.b);
  return {
    a: facts(a),
    b: facts(b),
    totals: present({
      total_ms: changeOf(totalWork(a), totalWork(b)),
      wall_ms: changeOf(totalWall(a), totalWall(b)),
      outside_ms: changeOf(measuredAlone(a.totals.outside_ms), measuredAlone(b.totals.outside_ms)),
      kernel_count: countChange(a.totals.kernel_count, b.totals.kernel_count),
      invocations: countChange(a.totals.invocations, b.totals.invocations),
      region_count: countChange(a.totals.region_count, b.totals.region_count),
    }),
    regions: keysOfBoth(known.a, known.b).map((key) =>
      regionChange(ofA.get(key) ?? null, ofB.get(key) ?? null),
    ),
    kernels: kernelChanges(kernelsOfReport(a).longest(), kernelsOfReport(b).longest()),
    notes: [...comparisonNotes(a, b), ...doubtNotes(known)],
  };
}

function regionChange(a: NCUProfileRegion | null, b: NCUProfileRegion | null): RegionChange {
  const shown = b ?? a;
  if (shown === null) throw new Error("a region of neither report");
  const wall = (of: "wall_ms" | "wall_exclusive_ms") =>
    changeOf(a && measuredWall(a, a[of]), b && measuredWall(b, b[of]));
  const work = (of: "total_ms" | "exclusive_ms") =>
    changeOf(a && measuredWork(a, TIMES[of](a)), b && measuredWork(b, TIMES[of](b)));
  const percentile = (region: NCUProfileRegion | null) =>
    measuredAlone(region?.invocation_wall_ms?.p95 ?? null);
  return {
    path: shown.path,
    domain: shown.domain,
    ...(shown.path_domains !== undefined && { path_domains: shown.path_domains }),
    kind: shown.kind,
    presence: presenceOf(a, b),
    changes: present({
      total_ms: work("total_ms"),
      exclusive_ms: work("exclusive_ms"),
      wall_ms: wall("wall_ms"),
      wall_exclusive_ms: wall("wall_exclusive_ms"),
      median_ms: changeOf(a && measuredMedian(a), b && measuredMedian(b)),
      p95_ms: changeOf(percentile(a), percentile(b)),
      kernel_count: countChange(a?.kernel_count ?? null, b?.kernel_count ?? null),
      invocations: countChange(a?.invocations ?? null, b?.invocations ?? null),
      ...metricChanges(a, b),
    }),
    kernels: kernelChanges(a?.kernels ?? [], b?.kernels ?? []),
  };
}

const TIMES = { total_ms: totalMs, exclusive_ms: exclusiveMs };

/** Metrics that both have in one unit: anything else cannot be subtracted. */
function metricChanges(a: NCUProfileRegion | null, b: NCUProfileRegion | null): Changes {
  if (a === null || b === null) return {};
  return Object.fromEntries(
    Object.entries(a.metrics).flatMap(([name, before]) => {
      const after = b.metrics[name];
      if (after === undefined || after.unit !== before.unit) return [];
      return [[name, changeOf(measuredAlone(before.value), measuredAlone(after.value))]];
    }),
  );
}

function kernelChanges(
  a: readonly KernelRecord[],
  b: readonly KernelRecord[],
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
      return {
        kernel_name,
        kind,
        presence: presenceOf(before, after),
        changes: present({
          ...(isTimed && { total_ms: changeOf(timeA, timeB) }),
          calls: countChange(before?.calls ?? null, after?.calls ?? null),
        }),
      };
    })
    .sort((x, y) => weight(y) - weight(x));
}

const timeOf = (sum: { ms: number } | null, kind: KernelRecord["kind"]) =>
  measuredAlone(sum && kernelMs({ kind, total_ms: sum.ms }));

/** A kernel is one kernel on whichever device it ran. */
function summed(kernels: readonly KernelRecord[]): Map<string, { ms: number; calls: number }> {
  const sums = new Map<string, { ms: number; calls: number }>();
  for (const { kernel_name, kind, total_ms, calls } of kernels) {
    const key = JSON.stringify([kernel_name, kind]);
    const sum = sums.get(key) ?? { ms: 0, calls: 0 };
    sums.set(key, { ms: sum.ms + total_ms, calls: sum.calls + calls });
  }
  return sums;
}

const weight = ({ changes }: KernelChange): number => {
  const { a, b } = changes["total_ms"] ?? { a: null, b: null };
  return Math.abs((b ?? 0) - (a ?? 0));
};

const presenceOf = (a: unknown, b: unknown): "both" | "added" | "removed" =>
  a === null ? "added" : b === null ? "removed" : "both";

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
});
