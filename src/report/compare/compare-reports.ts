/** Two region reports side by side: regions and kernels matched by their paths and names. */
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../document.ts";
import { kernelsOfReport } from "../kernels-of-report.ts";
import { type Change, changeOf, countChange, type Measured } from "./change.ts";
import {
  measuredAlone,
  measuredMedian,
  measuredTogether,
  measuredWall,
  measuredWork,
} from "./noise.ts";

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
  const ofA = byKey(a.regions);
  const ofB = byKey(b.regions);
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
    regions: merged(a.regions, b.regions).map((key) =>
      regionChange(ofA.get(key) ?? null, ofB.get(key) ?? null),
    ),
    kernels: kernelChanges(kernelsOfReport(a).longest(), kernelsOfReport(b).longest()),
    notes: [
      ...nothingMeasured(a, b),
      ...differencesOfKind(a, b),
      ...repeatNotes(a, b),
      ...ownNotes("A", a, b),
      ...ownNotes("B", b, a),
    ],
  };
}

/** Process and device are left out: they name the run, not the place in the program. */
const keyOf = ({ path, domain, kind }: NCUProfileRegion): string =>
  JSON.stringify([domain, kind, path]);

function byKey(regions: readonly NCUProfileRegion[]): Map<string, NCUProfileRegion> {
  return new Map(regions.map((region) => [keyOf(region), region]));
}

/**
 * The keys of B in order, and those of A alone behind the one that stands before them in A: inside it,
 * or else behind all that is inside it.
 */
function merged(a: readonly NCUProfileRegion[], b: readonly NCUProfileRegion[]): readonly string[] {
  const inB = new Set(b.map(keyOf));
  const behind = new Map<string | null, NCUProfileRegion[]>();
  let anchor: string | null = null;
  for (const region of a) {
    const key = keyOf(region);
    if (inB.has(key)) {
      anchor = key;
      continue;
    }
    const there = behind.get(anchor);
    if (there === undefined) behind.set(anchor, [region]);
    else there.push(region);
  }
  const keys = (behind.get(null) ?? []).map(keyOf);
  /** The regions around the place, the outermost first, each with what stands behind all of it. */
  const open: { readonly region: NCUProfileRegion; readonly after: string[] }[] = [];
  const closeDownTo = (depth: number) => {
    for (const { after } of open.splice(depth).reverse()) keys.push(...after);
  };
  const around = (region: NCUProfileRegion): number => {
    const outermost = open.findIndex((other) => !isInside(region, other.region));
    return outermost < 0 ? open.length : outermost;
  };
  for (const region of b) {
    closeDownTo(around(region));
    const key = keyOf(region);
    keys.push(key);
    open.push({ region, after: [] });
    for (const removed of behind.get(key) ?? [])
      (open[around(removed)]?.after ?? keys).push(keyOf(removed));
  }
  closeDownTo(0);
  return keys;
}

const isInside = ({ path }: NCUProfileRegion, around: NCUProfileRegion): boolean =>
  path.length > around.path.length && around.path.every((name, index) => path[index] === name);

function regionChange(a: NCUProfileRegion | null, b: NCUProfileRegion | null): RegionChange {
  const shown = b ?? a;
  if (shown === null) throw new Error("a region of neither report");
  const wall = (of: "wall_ms" | "wall_exclusive_ms") =>
    changeOf(a && measuredWall(a, a[of]), b && measuredWall(b, b[of]));
  const work = (of: "total_ms" | "exclusive_ms") =>
    changeOf(a && measuredWork(a, a[of]), b && measuredWork(b, b[of]));
  const percentile = (region: NCUProfileRegion | null) =>
    measuredAlone(region?.invocation_wall_ms?.p95 ?? null);
  return {
    path: shown.path,
    domain: shown.domain,
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
      return {
        kernel_name,
        kind,
        presence: presenceOf(before, after),
        changes: present({
          total_ms: changeOf(measuredAlone(before?.ms ?? null), measuredAlone(after?.ms ?? null)),
          calls: countChange(before?.calls ?? null, after?.calls ?? null),
        }),
      };
    })
    .sort((x, y) => weight(y) - weight(x));
}

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
    report.totals.total_ms,
    roots(report).map((region) => ({
      ms: region.total_ms,
      measured: measuredWork(region, region.total_ms),
    })),
  );

const facts = (report: NCUProfileRegionReport): ReportFacts => ({
  scope: report.scope,
  collector: `${report.collector.name} ${report.collector.version}`,
  device: report.environment.device,
  fingerprint: report.config_fingerprint,
  generatedAt: report.generated_at,
});

/** A table without rows, or of what only one has, must not look like an answer. */
function nothingMeasured(a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] {
  const measured = ({ regions }: NCUProfileRegionReport) =>
    regions.some(({ kind }) => kind !== "outside");
  if (measured(a) && measured(b)) return [];
  if (measured(a)) return ["B measured no region: nothing of A can be compared with it"];
  if (measured(b)) return ["A measured no region: nothing of B can be compared with it"];
  return ["neither A nor B measured a region: there is nothing to compare"];
}

/** Of repeated runs a comparison takes other numbers than a report shows. */
function repeatNotes(a: NCUProfileRegionReport, b: NCUProfileRegionReport): readonly string[] {
  const runs = ({ regions }: NCUProfileRegionReport) =>
    Math.max(0, ...regions.map(({ repeats }) => repeats?.runs ?? 0));
  const repeated = [["A", runs(a)] as const, ["B", runs(b)] as const].filter(
    ([, count]) => count > 0,
  );
  if (repeated.length === 0) return [];
  const which = repeated.map(([name, count]) => `${name}: ${count}`).join(", ");
  return [
    `times of regions are means of repeated runs (${which}); kernels, operations and counts are those of the run with the median time`,
  ];
}

/** What a report says of its own numbers. */
const ABOUT_MEDIAN_RUN = /^numbers are those of the median run of \d+; /;

/** What is said of one report alone, such as that its run failed. */
const ownNotes = (
  name: string,
  { notes }: NCUProfileRegionReport,
  other: NCUProfileRegionReport,
): readonly string[] => {
  const own = notes.filter((note) => !other.notes.includes(note) && !ABOUT_MEDIAN_RUN.test(note));
  const shown = own.slice(0, MOST_NOTES).map((note) => `${name}: ${note}`);
  const left = own.length - shown.length;
  return left > 0 ? [...shown, `${name}: ${left} more notes in its report`] : shown;
};

const MOST_NOTES = 5;

/** Numbers of different origin can be put side by side, but the reader must know. */
function differencesOfKind(
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): readonly string[] {
  const pairs: readonly (readonly [string, string | null, string | null])[] = [
    ["collectors", a.collector.name, b.collector.name],
    ["clocks of kernels", a.collector.kernel_clock, b.collector.kernel_clock],
    ["devices", a.environment.device, b.environment.device],
    ["machines", a.environment.hostname, b.environment.hostname],
    ["GPUs", a.environment.gpus.join(", "), b.environment.gpus.join(", ")],
    ["scopes", a.scope.replace(/\d+$/, ""), b.scope.replace(/\d+$/, "")],
  ];
  return pairs.flatMap(([what, before, after]) =>
    before === after ? [] : [`the ${what} differ: ${before || "none"} and ${after || "none"}`],
  );
}
