/** Makes the regions of a scope from ncu's results. */
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import {
  agreeing,
  firstFew,
  firstFewOf,
  partOf,
  plural,
} from "../../../../foundation/text/plural.ts";
import type { DeviceName, KernelRecord, ReportScope } from "../../../../report/model/document.ts";
import type { Placed } from "../../../../report/model/region-path.ts";
import { byTime } from "../../../analysis/kernel-rows.ts";
import type { PathNode, RegionIdentity, SelectedNodes } from "../../../analysis/path-tree.ts";
import type {
  MetricNumber,
  RegionModelEntry,
  ScopeModel,
  ScopeTotals,
  SectionModel,
} from "../../../analysis/region-model.ts";
import { kernelTotals, onlyOne, scopeEntries } from "../../../analysis/scope.ts";
import type { SectionTable } from "../../../model/counters.ts";
import { type Bucket, emptyTally, mergeTally, type RegionTally } from "./buckets.ts";
import { hardwareOf } from "./kernel-readings.ts";
import type { RegionMetrics } from "./metric-tally.ts";

export interface ScopeRequest {
  readonly scope: ReportScope;
  readonly buckets: readonly Bucket[];
  readonly kind: "kernel" | "range";
  readonly sections: SectionTable;
  readonly notes: readonly string[];
}

/** Merges the buckets of a scope and makes its regions. */
export function buildNcuScope(
  request: ScopeRequest,
  root: PathNode,
  selected: SelectedNodes,
): ScopeModel {
  const tallies = mergeBuckets(request.buckets);
  const { regions, families, notes } = scopeEntries(root, selected, {
    weightOf: (identity) => tallies.get(identity)?.ns ?? null,
    entryOf: (place, members) =>
      entryOf(place, members[0].kind, mergeTallies(members, tallies), request),
  });
  return {
    scope: request.scope,
    regions,
    ...(families.length > 0 && { families }),
    totals: totalsOf(tallies, request),
    notes: [...request.notes, ...notes, ...untimedNote(tallies)],
  };
}

/** A note if no result has a time: the notes of regions would be easily missed. */
function untimedNote(tallies: ReadonlyMap<RegionIdentity, ScopeTally>): readonly string[] {
  const all = [...tallies.values()];
  return all.length > 0 && all.every(isUntimed)
    ? [
        `no result has gpu__time_duration with a value that can be read, so there are no times${remedyOf(all)}`,
      ]
    : [];
}

/** Who has collected the metric need not be told to. */
const remedyOf = (tallies: readonly Pick<RegionTally, "untimed" | "unreadable">[]): string =>
  tallies.some(({ untimed, unreadable }) => unreadable < untimed) ? "; collect that metric" : "";

interface ScopeTally extends RegionTally {
  readonly processIds: Set<number>;
  readonly devices: Set<DeviceName>;
}

const emptyScopeTally = (): ScopeTally => ({
  ...emptyTally(),
  processIds: new Set(),
  devices: new Set(),
});

function mergeTallies(
  members: readonly RegionIdentity[],
  tallies: ReadonlyMap<RegionIdentity, ScopeTally>,
): ScopeTally {
  const [first, ...others] = members.flatMap((member) => tallies.get(member) ?? []);
  if (first === undefined || others.length === 0) return first ?? emptyScopeTally();
  const whole = emptyScopeTally();
  for (const tally of [first, ...others]) addTally(whole, tally);
  return whole;
}

function addTally(whole: ScopeTally, part: ScopeTally): void {
  mergeTally(whole, part);
  for (const id of part.processIds) whole.processIds.add(id);
  for (const device of part.devices) whole.devices.add(device);
}

function mergeBuckets(buckets: readonly Bucket[]): ReadonlyMap<RegionIdentity, ScopeTally> {
  const tallies = new Map<RegionIdentity, ScopeTally>();
  for (const { processId, device, regions } of buckets)
    for (const [region, tally] of regions) {
      const whole = getOrCreate(tallies, region, emptyScopeTally);
      mergeTally(whole, tally);
      whole.processIds.add(processId);
      whole.devices.add(device);
    }
  return tallies;
}

function entryOf(
  place: Placed,
  kind: RegionIdentity["kind"],
  tally: ScopeTally,
  { kind: results, sections }: ScopeRequest,
): RegionModelEntry {
  const kernels = kernelRecords(tally);
  const metrics = tally.metrics.metrics();
  const isRange = results === "range";
  return {
    ...place,
    kind,
    device: onlyOne(tally.devices),
    processId: onlyOne(tally.processIds),
    invocations: kind === "outside" ? 0 : tally.ranges - tally.parts,
    // Kernels without a time stay in the list; by contract the listed times add up to the region's.
    kernelNs: isUntimed(tally) ? null : tally.ns,
    // A range is measured as a whole; ranges inside it were measured in separate runs.
    exclusiveKernelNs: isRange || isUntimed(tally) ? null : tally.exclusiveNs,
    wallNs: null,
    exclusiveWallNs: null,
    invocationWallNs: null,
    kernelCount: kernels.reduce((sum, { calls }) => sum + calls, 0),
    kernels,
    metrics: withValues(metrics),
    sections: sectionsOf(metrics, sections, tally),
    notes: regionNotes(metrics, tally),
  };
}

/** Whether there are results, and none has a time. */
function isUntimed({ kernels, ranges, untimed }: RegionTally): boolean {
  const calls = [...kernels.values()].reduce((sum, row) => sum + row.calls, 0);
  return untimed > 0 && untimed === calls + ranges;
}

function kernelRecords({ kernels }: RegionTally): KernelRecord[] {
  const records = [...kernels].map(
    ([{ name, kind, device }, { calls, timed, ns, readings }]): KernelRecord => {
      const hardware = readings === null ? undefined : hardwareOf(readings);
      return {
        kernel_name: name,
        kind,
        total_ms: timed === 0 ? null : ns / NS_PER_MS,
        calls,
        mean_ms: timed === 0 ? null : ns / calls / NS_PER_MS,
        device,
        ...(hardware !== undefined && { hardware }),
      };
    },
  );
  return records.sort(byTime);
}

const NS_PER_MS = 1e6;

/** Drops metrics that no kernel has a number for. */
const withValues = (metrics: RegionMetrics): ReadonlyMap<string, MetricNumber> =>
  new Map(
    [...metrics]
      .filter(([, { counted }]) => counted > 0)
      .map(([name, { value, unit }]) => [name, { value, unit }]),
  );

function sectionsOf(
  metrics: RegionMetrics,
  sections: SectionTable,
  { rules }: RegionTally,
): readonly SectionModel[] {
  const sectionsByName = new Map<string, SectionModel>();
  for (const [name, members] of sections) {
    const values = members.flatMap((member) => {
      const metric = metrics.get(member);
      if (metric === undefined || metric.counted === 0) return [];
      return [[member, { value: metric.value, unit: metric.unit }] as const];
    });
    sectionsByName.set(name, { name, metrics: new Map(values), messages: [] });
  }
  for (const { section, rule, type, text, speedup, speedupType, results } of rules.values()) {
    const found = sectionsByName.get(section) ?? {
      name: section,
      metrics: new Map(),
      messages: [],
    };
    const message = {
      ...{ rule, type, text, speedup },
      ...(speedupType !== undefined && { speedup_type: speedupType }),
      results,
    };
    sectionsByName.set(section, { ...found, messages: [...found.messages, message] });
  }
  return [...sectionsByName.values()].filter(
    (section) => section.metrics.size > 0 || section.messages.length > 0,
  );
}

function totalsOf(
  tallies: ReadonlyMap<RegionIdentity, ScopeTally>,
  { kind }: ScopeRequest,
): ScopeTotals {
  if (kind === "range") return rangeTotals(tallies);
  const totals = kernelTotals(
    [...tallies].map(([identity, { exclusiveCalls, exclusiveNs }]) => [
      identity,
      { calls: exclusiveCalls, ns: exclusiveNs },
    ]),
  );
  return {
    ...totals,
    ...([...tallies.values()].every(isUntimed) && { kernelNs: null, outsideNs: null }),
    wallNs: null,
    kernelKinds: totals.kernelCount === 0 ? [] : ["gpu_kernel"],
  };
}

/** Totals of measured ranges, without those inside another measured range. */
function rangeTotals(tallies: ReadonlyMap<RegionIdentity, ScopeTally>): ScopeTotals {
  const measured = new Set([...tallies.keys()].map(({ node }) => node));
  const isInside = (node: PathNode): boolean => {
    for (let ancestor = node.parent; ancestor !== null; ancestor = ancestor.parent)
      if (measured.has(ancestor)) return true;
    return false;
  };
  const outermost = [...tallies].filter(([{ node }]) => !isInside(node));
  const ns = outermost.reduce((sum, [, tally]) => sum + tally.ns, 0);
  const isTimed = outermost.some(([, { untimed, ranges }]) => untimed < ranges);
  return {
    kernelCount: 0,
    kernelNs: isTimed ? ns : null,
    outsideNs: isTimed ? 0 : null,
    outsideKernelCount: 0,
    wallNs: null,
    kernelKinds: outermost.length === 0 ? [] : ["gpu_kernel"],
  };
}

/** The notes of one region. */
function regionNotes(
  metrics: RegionMetrics,
  { untimed, unreadable, ranges, kernels }: RegionTally,
): readonly string[] {
  const partial = [...metrics].filter(
    ([, { counted, results }]) => counted > 0 && counted < results,
  );
  const result = ranges > 0 && kernels.size === 0 ? "range result" : "kernel";
  const notes: string[] = [];
  if (untimed > 0)
    notes.push(
      `${plural(untimed, result)} ${agreeing(untimed, "has", "have")} no gpu__time_duration that can be read: ${agreeing(untimed, "its", "their")} time is missing in the sums${remedyOf([{ untimed, unreadable }])}`,
    );
  if (partial.length > 0)
    notes.push(
      `${plural(partial.length, "metric has", "metrics have")} no value for some ${result}s and ${agreeing(partial.length, "covers", "cover")} only the others: ${firstFewOf(partial, MAX_METRICS, ([name]) => name)}`,
    );
  const plain = [...metrics].filter(([, { weighted }]) => !weighted).map(([name]) => name);
  if (plain.length > 0)
    notes.push(
      `${plural(plain.length, "metric is a plain mean", "metrics are plain means")}, not weighted by time, since some tables lack gpu__time_duration: ${firstFew(plain, MAX_METRICS)}`,
    );
  return notes;
}

/** How to interpret times of ncu, which differ from those of an ordinary run. */
export const REPLAY_NOTE =
  "GPU times are from ncu's replay: kernels ran one at a time, with clocks and caches controlled by ncu; a run without ncu has other times";

export const RANGE_NOTE =
  "each range was measured as a whole: ncu reports neither names nor a count of its kernels";

export interface OutsideCounts {
  readonly inside: number;
  readonly outside: number;
}

const OTHER_THREADS =
  "if a framework launches them from threads of its own, as in backward passes, use start/end ranges, or --nvtx-push-pop-scope process if ncu --help lists it (for an existing report: deep-profile import --nvtx-scope process)";

/** Kernels of threads without ranges are mostly launched by a framework on behalf of others. */
export function outsideNote({ inside, outside }: OutsideCounts): readonly string[] {
  const all = inside + outside;
  if (outside === 0 || outside < all / 10) return [];
  const where = `launched outside every range of ${agreeing(outside, "its", "their")} thread`;
  if (inside > 0)
    return [
      `${partOf(outside, all, "kernel")} ${agreeing(outside, "was", "were")} ${where}; ${OTHER_THREADS}`,
    ];
  return [
    `${outside === 1 ? "the only kernel was" : `all ${plural(outside, "kernel")} were`} ${where}: the program opened no range around ${agreeing(outside, "it", "them")}, or ncu ran without --nvtx; ${OTHER_THREADS}`,
  ];
}

const MAX_METRICS = 5;
