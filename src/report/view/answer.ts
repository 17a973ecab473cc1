/**
 * Where the time of a run went, why, and what to do first: the facts of the first screen of the page, and of the first
 * lines on the terminal and in Markdown.
 */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { firstFewOf, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Bar,
  type Block,
  code,
  familyLink,
  list,
  listIfAny,
  numeral,
  paragraph,
  regionLink,
  type Span,
  strong,
  withHeading,
} from "../../pages/blocks.ts";
import { formatDuration, formatShare, percentOf } from "../../pages/numbers.ts";
import { shortenPath } from "../../pages/shorten-path.ts";
import type {
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
  RunTotals,
} from "../model/document.ts";
import { familyKey, withFamilies } from "../model/families.ts";
import { startsAt } from "../model/region-path.ts";
import { speedOfLight } from "./gpu-utilization.ts";
import { type Measurement, measurementsOf } from "./measurements.ts";
import { coveredWords, isLongestOnly } from "./notes.ts";
import {
  type ContextSwitches,
  type CopyFacts,
  type DiskBlocks,
  type Explained,
  type OwnActivity,
  type Reason,
  type RegionFacts,
  reasonFor,
  titleWithSection,
} from "./reasons.ts";
import { samplesOf, threadTimeOf } from "./thread-time.ts";
import {
  type AtOnce,
  atOnceIn,
  atOnceWords,
  exclusiveMs,
  isOfRanges,
  RANGE_TIME,
  shareOf,
  totalMs,
  wholeMs,
} from "./times.ts";
import { indicesOfLargest, regionLabels, treeRows } from "./tree-rows.ts";

export interface Answer {
  /** One or two sentences: what takes the time. */
  readonly headline: string;
  /** Why the run ended early; null where it succeeded. */
  readonly failure: string | null;
  /** What the numbers of a failed run cover. */
  readonly covered: string;
  /** The run first, then its processes and devices if there are several; empty if only kernels were measured. */
  readonly runs: readonly RunBar[];
  /** The regions with the most wall time of their own; empty if wall times were not measured. */
  readonly byWall: readonly RankedRegion[];
  /** The regions whose own kernels ran longest; empty without GPU kernels. */
  readonly byGpu: readonly RankedRegion[];
  /** The advice, most important first. */
  readonly first: readonly Advice[];
  /** Measurements that would tell more. */
  readonly more: readonly Measurement[];
}

/** The time of a run, a process or a device, in parts that add up to its wall time. */
export interface RunBar {
  /** `run`, or the name of the scope. */
  readonly name: string;
  /** The sum of the parts. */
  readonly ms: number;
  /** Wall time from the first start to the last end; differs from `ms`, which adds up several processes. */
  readonly wallMs: number;
  readonly processes: number;
  readonly parts: readonly BarPart[];
}

export interface BarPart {
  readonly kind: PartKind;
  readonly ms: number;
}

export type PartKind = keyof typeof PART_WORDS;

/** The parts: kernels, and copies and sets of memory, wherever they ran; the remaining time by whether a range was open. */
const PART_WORDS = {
  kernels: "kernels",
  both: "kernels beside copies or sets",
  copies: "copies or sets alone",
  idle_inside: "GPU idle, in ranges",
  idle_outside: "GPU idle, outside ranges",
  inside: "in ranges",
  outside: "outside ranges",
} as const;

/** A region or a family. */
export interface RankedRegion {
  readonly region: NCUProfileRegion;
  /** The whole path of the region, safe to print. */
  readonly label: string;
  readonly ms: number;
  /** In percent; null if the whole is unknown, and for more than the whole. */
  readonly share: number | null;
  /** How many threads, calls or kernels were busy with it on average; null if that is at most one. */
  readonly atOnce: AtOnce | null;
  /** The threads whose wall times are added up; null for one, and for times of kernels. */
  readonly threads: number | null;
  /** The member of a family that takes most of it; null for a region, and if members are unknown. */
  readonly longest: LongestMember | null;
  /** What the share refers to. */
  readonly base: ShareOf;
  /** Null if no reason was found. */
  readonly reason: Reason | null;
}

/** What shares refer to: ranges that were measured as a whole have GPU time, in which kernels may as well not have run. */
type ShareOf = "run" | "kernel time" | typeof RANGE_TIME;

/** The region that takes most of the time of its family. */
export interface LongestMember {
  readonly region: NCUProfileRegion;
  readonly label: string;
  readonly ms: number;
  /** Whether it takes at least half of the family's time, and three times the mean of the others. */
  readonly standsOut: boolean;
}

export interface Advice {
  readonly region: NCUProfileRegion;
  readonly label: string;
  readonly text: string;
}

/** How many regions are ranked. */
const TOP = 3;
/** Regions with a smaller share, in percent of the run, are not ranked, except for the first and those of unknown share. */
const LEAST_SHARE = 1;
const MOST_SCOPES = 8;
const MOST_NAME = 80;

/** @param beside reports of other collectors of the same run, whose counters can give reasons */
export function answerOf(
  { reports }: RegionReportBundle,
  beside: readonly RegionReportBundle[] = [],
): Answer | null {
  const [report, ...others] = reports;
  if (report === undefined) return null;
  const { run } = report.totals;
  const families = withFamilies(report);
  const ranking: Ranking = {
    report: families,
    members: membersOf(report),
    facts: factsOf(families, beside),
  };
  const byWall = topByWall(ranking);
  const byGpu = topByGpu(ranking);
  const runs = run === undefined ? [] : [barOf("run", run), ...barsOf(others)];
  const devices = others.filter(({ scope }) => scope.startsWith("device:")).length;
  const story = runs[0] === undefined ? null : storyOf(runs[0], devices);
  return {
    headline: headlineOf(ranking, story, byWall, byGpu),
    failure: report.failure === undefined ? null : `${report.failure}${openWords(report)}`,
    covered: coveredWords(report.notes),
    runs,
    byWall,
    byGpu,
    first: adviceOf([...byWall, ...byGpu]),
    more: measurementsOf(report, byGpu, beside),
  };
}

/** The innermost ranges that were still open at the end of the run. */
function openWords({ regions }: NCUProfileRegionReport): string {
  const open = regions.filter(({ unclosed }) => unclosed !== undefined);
  const innermost = open.filter(
    (region) => !open.some((other) => other.depth > region.depth && startsAt(other, region)),
  );
  return innermost.length === 0
    ? ""
    : `, with ${firstFewOf(innermost, TOP, regionLabels(regions))} open`;
}

// The bar.

function barOf(name: string, run: RunTotals): RunBar {
  const { gpu_activity: gpu, gpu_activity_in_ranges: inside } = run;
  const outsideMs = Math.max(0, run.process_ms - run.in_ranges_ms);
  const parts: readonly BarPart[] =
    gpu === undefined
      ? [
          { kind: "inside", ms: run.in_ranges_ms },
          { kind: "outside", ms: outsideMs },
        ]
      : [
          { kind: "kernels", ms: gpu.kernel_ms - gpu.overlap_ms },
          { kind: "both", ms: gpu.overlap_ms },
          { kind: "copies", ms: gpu.copy_ms - gpu.overlap_ms },
          { kind: "idle_inside", ms: run.in_ranges_ms - (inside?.busy_ms ?? 0) },
          { kind: "idle_outside", ms: outsideMs - (gpu.busy_ms - (inside?.busy_ms ?? 0)) },
        ];
  return {
    name,
    ms: run.process_ms,
    wallMs: run.wall_ms,
    processes: run.process_count,
    parts: parts.map(({ kind, ms }) => ({ kind, ms: Math.max(0, ms) })).filter(({ ms }) => ms > 0),
  };
}

/** The bars of processes and of devices, if there are several. With one device per process, the devices get none. */
function barsOf(reports: readonly NCUProfileRegionReport[]): readonly RunBar[] {
  const bars = ["process:", "device:"].flatMap((kind) => {
    const some = reports.filter(({ scope }) => scope.startsWith(kind));
    if (some.length < 2) return [];
    return some
      .slice(0, MOST_SCOPES)
      .flatMap(({ scope, totals: { run } }) => (run === undefined ? [] : [barOf(scope, run)]));
  });
  return bars.filter((bar, index) => !bars.slice(0, index).some((earlier) => isSame(earlier, bar)));
}

const isSame = (a: RunBar, b: RunBar): boolean =>
  a.ms === b.ms &&
  a.parts.length === b.parts.length &&
  a.parts.every(
    ({ kind, ms }, index) => b.parts[index]?.kind === kind && b.parts[index]?.ms === ms,
  );

// Facts of regions.

type FactsOf = (place: number) => RegionFacts;

/**
 * The facts about each region of a report that reasons are derived from, by the region's index.
 *
 * @param beside reports of other collectors of the same run, whose counters can give reasons
 */
export const factsOf = (
  report: NCUProfileRegionReport,
  beside: readonly RegionReportBundle[] = [],
): FactsOf =>
  createFacts(
    report,
    beside.flatMap(({ reports: [main] }) => (main === undefined ? [] : withFamilies(main))),
  );

/** Subtracts the values of child regions: a report counts GPU activity while a region was open, including that of its children. */
function createFacts(
  report: NCUProfileRegionReport,
  beside: readonly NCUProfileRegionReport[],
): FactsOf {
  const { regions } = report;
  const children = childrenOf(regions);
  const counters = countersBeside(beside);
  const isSampled = regions.some((region) => samplesOf(region) > 0);
  const copiesOf = copiesIn(regions, children);
  return (place) => {
    const region = regions[place];
    if (region === undefined) throw new RangeError(`no region ${place}`);
    const inner = (children.get(place) ?? []).flatMap((child) => regions[child] ?? []);
    const isKnown = !hidesInner(region, inner);
    const gpuKinds = region.kernels.some(({ kind }) => kind === "gpu_kernel");
    const work = region.kernels.length === 0 ? null : gpuKinds ? "gpu_kernel" : "cpu_operation";
    const count = Math.max(
      0,
      region.kernel_count - sumOf(inner, ({ kernel_count }) => kernel_count),
    );
    return {
      ...counters(region),
      wallMs: region.wall_exclusive_ms,
      workMs: exclusiveMs(region),
      work: count === 0 ? null : work,
      count,
      gpu: isKnown ? ownActivity(region, inner) : null,
      waitMs: isKnown ? ownCount(region, inner, "synchronization_time") : null,
      cpuMs: cpuMs(region),
      switches: isKnown ? ownSwitches(region, inner) : null,
      blocks: isKnown ? ownBlocks(region, inner) : null,
      threads: threadTimeOf(region, region.wall_exclusive_ms, cpuMs(region)),
      samples: isSampled ? samplesOf(region) : null,
      longest: ownLongest(region, inner),
      copies: copiesOf(place),
      run: region.kind === "outside" ? (report.totals.run ?? null) : null,
      calls: report.totals.invocations,
      command: report.environment.command,
    };
  };
}

/** The part of a region's own time up to which regions inside that are not shown do not matter. */
const LITTLE = 0.1;

/** Whether a selection, or the limit of a report, leaves out regions inside, whose numbers then cannot be subtracted. */
function hidesInner(
  { wall_ms, wall_exclusive_ms }: NCUProfileRegion,
  inner: readonly NCUProfileRegion[],
): boolean {
  if (wall_ms === null || wall_exclusive_ms === null) return false;
  const hiddenMs = wall_ms - wall_exclusive_ms - sumOf(inner, (child) => child.wall_ms ?? 0);
  return hiddenMs > wall_exclusive_ms * LITTLE;
}

/** The longest kernel or operation of a region's own: each in the region's list has the time and calls of regions inside, too. */
function ownLongest(
  region: NCUProfileRegion,
  inner: readonly NCUProfileRegion[],
): KernelRecord | null {
  if (inner.every(({ kernels }) => kernels.length === 0)) return region.kernels[0] ?? null;
  const keyOf = ({ kernel_name, kind, device }: KernelRecord) =>
    JSON.stringify([kernel_name, kind, device]);
  const within = new Map<string, { readonly ms: number; readonly calls: number }>();
  for (const { kernels } of inner)
    for (const record of kernels) {
      const { ms, calls } = within.get(keyOf(record)) ?? { ms: 0, calls: 0 };
      within.set(keyOf(record), {
        ms: ms + (record.total_ms ?? 0),
        calls: calls + record.calls,
      });
    }
  const ownRecords = region.kernels.flatMap((record) => {
    const { ms, calls } = within.get(keyOf(record)) ?? { ms: 0, calls: 0 };
    const count = record.calls - calls;
    const total = (record.total_ms ?? 0) - ms;
    return count > 0 ? [{ ...record, total_ms: total, calls: count, mean_ms: total / count }] : [];
  });
  // What belongs to two regions inside that overlap would be subtracted twice.
  const sum = sumOf(ownRecords, ({ total_ms }) => total_ms);
  const expected = exclusiveMs(region);
  if (expected === null || Math.abs(sum - expected) > expected / 100) return null;
  return ownRecords.reduce<KernelRecord | null>(
    (longest, record) =>
      longest !== null && (longest.total_ms ?? 0) >= record.total_ms ? longest : record,
    null,
  );
}

/** Who issues copies, besides the region of an index. */
function copiesIn(
  regions: readonly NCUProfileRegion[],
  children: ReturnType<typeof childrenOf>,
): (place: number) => CopyFacts {
  const copyMs = ({ metrics }: NCUProfileRegion) => metrics["memory_copy_time"]?.value ?? 0;
  const setMs = ({ metrics }: NCUProfileRegion) => metrics["memory_set_time"]?.value ?? 0;
  const labelOf = regionLabels(regions);
  const inner = new Set([...children.values()].flat());
  const ownTimes = (timeOf: typeof copyMs) =>
    regions.map((region, place) => {
      const within = (children.get(place) ?? []).flatMap((child) => regions[child] ?? []);
      return Math.max(0, timeOf(region) - sumOf(within, timeOf));
    });
  const [times, setTimes] = [ownTimes(copyMs), ownTimes(setMs)];
  const outer = regions.filter((_, place) => !inner.has(place));
  const outermost = outer.filter((region) => copyMs(region) > 0);
  const longest = indicesOfLargest(times, 2);
  return (place) => {
    const other = longest.find((candidate) => candidate !== place && (times[candidate] ?? 0) > 0);
    const region = other === undefined ? undefined : regions[other];
    return {
      ownMs: times[place] ?? 0,
      wholeMs: sumOf(outermost, copyMs),
      ownSetMs: setTimes[place] ?? 0,
      setMs: sumOf(outer, setMs),
      other:
        other === undefined || region === undefined
          ? null
          : {
              region,
              label: region.kind === "outside" ? OUTSIDE : labelOf(region),
              ms: times[other] ?? 0,
            },
      outermost,
    };
  };
}

/** From this share of the wall time on, what a range that never closed computed at least tells what it did most. */
const MOSTLY = 0.8;

/**
 * Processor time without child regions. Only recorders that read the clocks of threads provide it. That of a range that
 * never closed is known up to the last event of its thread: what is missing is no wait.
 */
function cpuMs({ cpu_exclusive_ms, wall_exclusive_ms, unclosed }: NCUProfileRegion): number | null {
  const ms = cpu_exclusive_ms ?? null;
  const isKnown = unclosed === undefined || (ms ?? 0) >= (wall_exclusive_ms ?? 0) * MOSTLY;
  return isKnown ? ms : null;
}

/** A count or time of the region without inner ones; null if it was not measured. */
function ownCount(
  region: NCUProfileRegion,
  inner: readonly NCUProfileRegion[],
  name: string,
): number | null {
  const countOf = ({ metrics }: NCUProfileRegion) => metrics[name]?.value ?? null;
  const all = countOf(region);
  return all === null ? null : Math.max(0, all - sumOf(inner, (child) => countOf(child) ?? 0));
}

function ownSwitches(
  region: NCUProfileRegion,
  inner: readonly NCUProfileRegion[],
): ContextSwitches | null {
  const voluntary = ownCount(region, inner, "voluntary_context_switches");
  const involuntary = ownCount(region, inner, "involuntary_context_switches");
  return voluntary === null || involuntary === null ? null : { voluntary, involuntary };
}

function ownBlocks(
  region: NCUProfileRegion,
  inner: readonly NCUProfileRegion[],
): DiskBlocks | null {
  const read = ownCount(region, inner, "blocks_read");
  const written = ownCount(region, inner, "blocks_written");
  return read === null || written === null ? null : { read, written };
}

/** The direct children of each region among those shown, by index. */
function childrenOf(regions: readonly NCUProfileRegion[]): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  const around: number[] = [];
  for (const [place, { level }] of treeRows(regions).entries()) {
    around.length = level;
    const parent = around.at(-1);
    if (parent !== undefined) {
      const existing = children.get(parent);
      if (existing === undefined) children.set(parent, [place]);
      else existing.push(place);
    }
    around.push(place);
  }
  return children;
}

const sumOf = <Part>(parts: readonly Part[], measure: (part: Part) => number): number =>
  parts.reduce((sum, part) => sum + measure(part), 0);

function ownActivity(
  { gpu_activity: activity, wall_exclusive_ms: wall }: NCUProfileRegion,
  inner: readonly NCUProfileRegion[],
): OwnActivity | null {
  if (activity === undefined || wall === null) return null;
  const exclusive = (
    measure: (gpuActivity: NonNullable<NCUProfileRegion["gpu_activity"]>) => number,
  ) =>
    Math.min(
      wall,
      Math.max(
        0,
        measure(activity) -
          sumOf(inner, ({ gpu_activity }) => (gpu_activity ? measure(gpu_activity) : 0)),
      ),
    );
  return {
    busyMs: exclusive(({ busy_ms }) => busy_ms),
    kernelMs: exclusive(({ kernel_ms }) => kernel_ms),
    copyOnlyMs: exclusive(({ copy_ms, overlap_ms }) => copy_ms - overlap_ms),
  };
}

/** A region, together with the metrics and sections that another collector has for it, and what these are of. */
function countersBeside(
  beside: readonly NCUProfileRegionReport[],
): (region: NCUProfileRegion) => Pick<RegionFacts, "region" | "counted"> {
  const byFamily = new Map<string, NCUProfileRegion>();
  for (const { regions } of beside)
    for (const region of regions)
      if (speedOfLight(region) !== null || Object.keys(region.sections).length > 0)
        byFamily.set(familyKey(region), region);
  return (region) => {
    const other = byFamily.get(familyKey(region));
    const [total, exclusive] = [totalMs(region) ?? 0, exclusiveMs(region)];
    const counted = {
      insideShare: exclusive === null || total === 0 ? 0 : Math.max(0, total - exclusive) / total,
      isWholeRange: (other ?? region).kernels.length === 0,
    };
    if (other === undefined) return { region, counted };
    return {
      counted,
      region: {
        ...region,
        metrics: { ...other.metrics, ...region.metrics },
        sections: { ...other.sections, ...region.sections },
      },
    };
  };
}

// Ranks.

/** The regions that are ranked, and what is known about them. */
interface Ranking {
  readonly report: NCUProfileRegionReport;
  readonly members: MembersOf;
  readonly facts: FactsOf;
}

/** The members of a family that the report has; empty for a region of none. */
type MembersOf = (family: NCUProfileRegion) => readonly NCUProfileRegion[];

function membersOf({ regions, families = [] }: NCUProfileRegionReport): MembersOf {
  if (families.length === 0) return () => [];
  const byFamily = new Map<string, NCUProfileRegion[]>();
  for (const region of regions) getOrCreate(byFamily, familyKey(region), () => []).push(region);
  return (family) => (family.members === undefined ? [] : (byFamily.get(familyKey(family)) ?? []));
}

/** The time by which regions are ranked. */
interface RankedTime {
  readonly explained: Explained;
  readonly base: RankedRegion["base"];
  readonly whole: number | null;
  /** The time in which at least one kernel ran; null if unknown, and for wall times. */
  readonly kernelsRanMs: number | null;
  /** Of its own. */
  readonly timeOf: (region: NCUProfileRegion) => number | null;
  /** With inner regions. */
  readonly insideOf: (region: NCUProfileRegion) => number | null;
}

const wallTime = (report: NCUProfileRegionReport): RankedTime => ({
  explained: "wall",
  base: "run",
  whole: report.totals.run?.process_ms ?? report.totals.wall_ms,
  kernelsRanMs: null,
  timeOf: ({ wall_exclusive_ms }) => wall_exclusive_ms,
  insideOf: ({ wall_ms }) => wall_ms,
});

function gpuTime(report: NCUProfileRegionReport): RankedTime {
  const isWhole = report.regions.every(({ exclusive_ms }) => exclusive_ms === null);
  const { run } = report.totals;
  const base = isOfRanges(report) ? RANGE_TIME : "kernel time";
  return {
    explained: "gpu",
    base: run === undefined ? base : "run",
    whole: run?.process_ms ?? wholeMs(report),
    kernelsRanMs: run?.gpu_activity?.kernel_ms ?? null,
    timeOf: isWhole ? totalMs : exclusiveMs,
    insideOf: totalMs,
  };
}

const topByWall = (ranking: Ranking): readonly RankedRegion[] =>
  topBy(ranking, wallTime(ranking.report));

/** Only kernels count: operations of a CPU are wall time. */
const topByGpu = (ranking: Ranking): readonly RankedRegion[] =>
  ranking.report.collector.kernel_clock === "cpu" ? [] : topBy(ranking, gpuTime(ranking.report));

function topBy({ report, members, facts }: Ranking, time: RankedTime): readonly RankedRegion[] {
  const { explained, base, whole, timeOf } = time;
  const times = report.regions.map((region) => timeOf(region) ?? 0);
  const labelOf = regionLabels(report.regions);
  return indicesOfLargest(times, TOP).flatMap((place, index): readonly RankedRegion[] => {
    const region = report.regions[place];
    const ms = times[place] ?? 0;
    const share = percentOf(ms, whole);
    if (region === undefined || ms === 0 || (index > 0 && (share ?? 100) < LEAST_SHARE)) return [];
    return [
      {
        region,
        label: region.kind === "outside" ? OUTSIDE : labelOf(region),
        ms,
        ...shareOrThreads(region, ms, time),
        longest: longestMember(members(region), timeOf, labelOf),
        base,
        reason: reasonFor(facts(place), explained),
      },
    ];
  });
}

const OUTSIDE = "outside every range";

const shareOrThreads = (
  region: NCUProfileRegion,
  ms: number,
  { explained, whole, kernelsRanMs }: RankedTime,
): Pick<RankedRegion, "share" | "atOnce" | "threads"> => {
  // Kernels of several streams take more time together than passes while they run: no share of the run.
  const atOnce = kernelsRanMs === null ? null : atOnceIn(region, ms, kernelsRanMs, explained);
  return {
    share: atOnce === null ? shareOf(ms, whole) : null,
    atOnce: atOnce ?? atOnceIn(region, ms, whole, explained),
    threads: explained === "wall" ? (region.threads?.count ?? null) : null,
  };
};

/** How many times the mean of the others a member takes that stands out. */
const STANDS_OUT = 3;

function longestMember(
  members: readonly NCUProfileRegion[],
  timeOf: RankedTime["timeOf"],
  labelOf: (region: NCUProfileRegion) => string,
): LongestMember | null {
  const times = members.map((member) => timeOf(member) ?? 0);
  const sum = times.reduce((total, ms) => total + ms, 0);
  const [place] = indicesOfLargest(times, 1);
  const region = place === undefined ? undefined : members[place];
  const ms = place === undefined ? 0 : (times[place] ?? 0);
  if (region === undefined || members.length < 2 || ms === 0) return null;
  const others = (sum - ms) / (members.length - 1);
  const standsOut = ms >= sum * MOST && ms >= others * STANDS_OUT;
  return { region, label: labelOf(region), ms, standsOut };
}

// Sentences.

/** "Most" is more than this share: of the run for a part of its bar, of all own times for a region. */
const MOST = 0.5;
/** A region leads from this share of all own times on, if it takes at least twice as long as the next one. */
const LEAD = 0.2;

function headlineOf(
  ranking: Ranking,
  story: string | null,
  byWall: readonly RankedRegion[],
  byGpu: readonly RankedRegion[],
): string {
  const { report } = ranking;
  const ranked = byWall.length > 0 ? byWall : byGpu;
  const time = byWall.length > 0 ? wallTime(report) : gpuTime(report);
  // Inclusive times count inner regions twice.
  const sum =
    time.timeOf === time.insideOf ? 0 : sumOf(report.regions, (region) => time.timeOf(region) ?? 0);
  // A region that waits for the end of threads has their time again: they are in regions, too, if all take that much more than the run.
  const isTheirs = ({ reason, ms }: RankedRegion): boolean =>
    reason?.rule === "join" && sum - (time.whole ?? sum) >= ms * MOST;
  const all = ranked.reduce((left, entry) => left - (isTheirs(entry) ? entry.ms : 0), sum);
  const [top, next] = ranked.filter((entry) => !isTheirs(entry));
  if (top === undefined) return story ?? nothingWords(report);
  const isCovered = top.region.kind === "outside" && story !== null && story.includes("outside");
  if (isCovered) return [story, reasonSentence(top)].filter((text) => text !== null).join(" ");
  const base = Math.max(all, time.whole ?? 0);
  const lead =
    top.ms > base * MOST
      ? "most"
      : top.ms >= base * LEAD && top.ms >= 2 * (next?.ms ?? 0)
        ? "largest"
        : null;
  return [
    story,
    ...(lead === null && !hasKernelsAlone(top, report)
      ? spreadSentences(ranking, time)
      : [rankedSentence(top, report, lead)]),
  ]
    .filter((sentence) => sentence !== null)
    .join(" ");
}

/** A program without ranges has only kernels to name. */
const hasKernelsAlone = (
  { base, region }: RankedRegion,
  { regions }: NCUProfileRegionReport,
): boolean =>
  base === "kernel time" &&
  region.kernels.length > 0 &&
  regions.every(({ kind }) => kind === "outside");

function nothingWords({ totals }: NCUProfileRegionReport): string {
  return totals.kernel_count > 0
    ? "Kernels were counted, not timed: where the time goes is not known."
    : "Nothing was measured that takes time.";
}

/** @param devices the GPUs that were used */
function storyOf({ parts, ms, processes }: RunBar, devices: number): string | null {
  const part = parts.find((each) => each.ms > ms * MOST);
  if (part === undefined) return null;
  const wholeName =
    processes > 1 ? `the ${plural(processes, "process", "processes")}' time` : "the run";
  const beside = part.kind === "kernels" ? parts.find(({ kind }) => kind === "both") : undefined;
  const all = part.ms + (beside?.ms ?? 0);
  const share = `${formatShare(all, ms)} % of ${wholeName} (${formatDuration(all)} of ${formatDuration(ms)})`;
  // Of several processes each has a GPU of its own, or shares one.
  return STORIES[part.kind](share, processes > 1 || devices < 2 ? ONE_GPU : severalGpus(devices));
}

interface GpuWords {
  /** `on at least one of 2 GPUs `. */
  readonly somewhere: string;
  readonly every: string;
  readonly copies: string;
}

const ONE_GPU: GpuWords = {
  somewhere: "",
  every: "the GPU",
  copies: "the GPU copies or sets memory and runs no kernel",
};

const severalGpus = (devices: number): GpuWords => ({
  somewhere: `on at least one of ${devices} GPUs `,
  every: `each of ${devices} GPUs`,
  copies: `some of ${devices} GPUs copy or set memory, and none runs a kernel`,
});

const STORIES: Readonly<Record<PartKind, (share: string, gpu: GpuWords) => string>> = {
  kernels: (share, { somewhere }) => `Kernels run ${somewhere}for ${share}.`,
  both: (share, { somewhere }) =>
    `Kernels run ${somewhere}beside copies or sets of memory for ${share}.`,
  copies: (share, { copies }) => `For ${share} ${copies}.`,
  idle_inside: (share, { every }) => `For ${share} ranges are open and ${every} is idle.`,
  idle_outside: (share, { every }) => `${share} pass outside every range, with ${every} idle.`,
  inside: (share) => `Ranges cover ${share}.`,
  outside: (share) => `${share} pass outside every range.`,
};

/** What is less, in percent, is shown as less than a tenth. */
const LEAST_SHOWN = 0.05;

/** In a headline, the end of a long path; the list below has all of it. */
const shortName = (label: string): string =>
  shortenPath({ label: label.split(" / ").at(-1) ?? label, path: label }, MOST_NAME);

/** `91.8 % of the run (300.00 ms)`, or how many threads were busy on average. */
function timeWords({
  ms,
  share,
  atOnce,
  base,
  threads,
}: Pick<RankedRegion, "ms" | "share" | "atOnce" | "base" | "threads">): string {
  if (atOnce !== null) return `${atOnceWords(atOnce)} (${formatDuration(ms)})`;
  if (share === null) return formatDuration(ms);
  return `${formatShare(share, 100)} % of the ${base} (${formatDuration(ms)}${threads === null ? "" : ` in ${plural(threads, "thread")}`})`;
}

const timeName = (base: ShareOf): string => (base === "run" ? "time" : base);

const LEADS = { most: "Most", largest: "The largest part of the" } as const;

/** @param lead null: the region is not said to take most */
function rankedSentence(
  top: RankedRegion,
  report: NCUProfileRegionReport,
  lead: keyof typeof LEADS | null,
): string {
  const reason = top.reason === null ? "" : `, ${top.reason.title}`;
  const time = timeName(top.base);
  if (!hasKernelsAlone(top, report)) {
    const where =
      top.region.kind === "outside" ? `passes ${OUTSIDE}` : `is in ${shortName(top.label)}`;
    return `${LEADS[lead ?? "largest"]} ${time} ${where}: ${timeWords(top)}${reason}.${outlierSentence(top)}`;
  }
  const [kernel] = top.region.kernels;
  const name = printableLabel(kernel?.kernel_name ?? "", MOST_NAME);
  const ms = kernel?.total_ms ?? 0;
  const ofKernel = timeWords({
    ...top,
    ms,
    share: top.share === null ? null : (top.share * ms) / top.ms,
  });
  return ms > top.ms * MOST
    ? `Most kernel time is in ${name}, outside every range: ${ofKernel}${top.reason?.rule === "one_kernel" ? "" : reason}.`
    : `No kernel takes most of the kernel time (${formatDuration(top.ms)}, outside every range): the longest of ${top.region.kernels.length}, ${name}, takes ${ofKernel}.${top.reason === null ? "" : ` Of all together: ${top.reason.title}.`}`;
}

const outlierSentence = ({ longest, ms }: RankedRegion): string =>
  longest?.standsOut === true
    ? ` Of that, ${shortName(longest.label)} alone takes ${formatDuration(longest.ms)} of ${formatDuration(ms)}.`
    : "";

/**
 * That no region takes most of the time, and where it is: the innermost region that has at least half of the time of the
 * one around it, beginning with the longest outermost one, and what is longest in it.
 */
function spreadSentences({ report }: Ranking, time: RankedTime): readonly string[] {
  const { regions } = report;
  const { base, timeOf, insideOf, whole } = time;
  const labelOf = regionLabels(regions);
  const words = (region: NCUProfileRegion, ms: number) =>
    timeWords({ ms, base, ...shareOrThreads(region, ms, time) });
  const real = regions.filter(({ kind }) => kind !== "outside");
  const [longest] = longestOf(real, timeOf, 1);
  if (longest === undefined) return [];
  const outside = regions.find(({ kind }) => kind === "outside");
  const outsideMs = outside === undefined ? 0 : (timeOf(outside) ?? 0);
  const isMostOutside = outside !== undefined && outsideMs > (timeOf(longest) ?? 0);
  const most = isMostOutside ? outside : longest;
  const count = `${isLongestOnly(report.notes) ? "more than " : ""}${plural(real.length, "region")}`;
  const over = isMostOutside ? `${count} and what runs outside of them` : count;
  const [mostMs, ofItsOwn] = [timeOf(most) ?? 0, timeOf === insideOf ? "" : " of its own"];
  const longestOne = shareOrThreads(most, mostMs, time).share;
  const none =
    longestOne !== null && longestOne < LEAST_SHOWN
      ? `none takes more than ${formatDuration(mostMs)}${ofItsOwn}, which is ${formatShare(longestOne, 100)} % of the ${base}`
      : `none takes more than ${words(most, mostMs)}${ofItsOwn}`;
  const spread = `The ${timeName(base)} is spread over ${over}: ${none}.`;
  const children = childrenOf(regions);
  const places = new Map(regions.map((region, place) => [region, place]));
  const inside = (region: NCUProfileRegion) =>
    (children.get(places.get(region) ?? -1) ?? []).flatMap((place) => regions[place] ?? []);
  const inner = new Set([...children.values()].flat());
  let [top] = longestOf(
    real.filter((region) => !inner.has(places.get(region) ?? -1)),
    insideOf,
    1,
  );
  for (let next = top; next !== undefined; ) {
    const around = insideOf(next) ?? 0;
    top = next;
    [next] = longestOf(inside(next), insideOf, 1);
    if (next === undefined || (insideOf(next) ?? 0) < around * MOST) break;
  }
  if (top === undefined || inside(top).length === 0) return [spread];
  const parts = firstFewOf(longestOf(inside(top), insideOf, TOP), TOP, (region) => {
    const ms = insideOf(region) ?? 0;
    const share = shareOrThreads(region, ms, time);
    return `${printableLabel(region.name, MOST_NAME)} ${share.share === null || whole === null ? formatDuration(ms) : `${formatShare(ms, whole)} %`}`;
  });
  return [
    spread,
    `The heaviest subtree is ${shortName(labelOf(top))}: ${words(top, insideOf(top) ?? 0)}; longest inside it: ${parts}.`,
  ];
}

const longestOf = (
  regions: readonly NCUProfileRegion[],
  timeOf: (region: NCUProfileRegion) => number | null,
  most: number,
): readonly NCUProfileRegion[] =>
  indicesOfLargest(
    regions.map((region) => timeOf(region) ?? 0),
    most,
  ).flatMap((place) => regions[place] ?? []);

/** Which reasons tell of at least half of the time; others of less of it, or of how it passes. */
const OF_MOST = ["before_ranges", "after_ranges"];

const reasonSentence = ({ reason }: RankedRegion): string | null =>
  reason === null
    ? null
    : `${OF_MOST.includes(reason.rule) ? "Most of that" : "Of that"}: ${reason.title} (${reason.evidence}).`;

/** Each piece of advice once, with the region that it is about. */
function adviceOf(ranked: readonly RankedRegion[]): readonly Advice[] {
  const advice: Advice[] = [];
  for (const { region, label, reason } of ranked) {
    const text = reason?.advice ?? null;
    if (text === null || advice.some((item) => item.label === label || item.text === text))
      continue;
    advice.push({ region, label, text });
  }
  return advice.slice(0, TOP);
}

// As blocks: the page, the terminal and Markdown show the same facts.

export type NameOf = (ranked: Pick<RankedRegion, "region" | "label">) => Span;

export interface AnswerOptions {
  /** Writes the name of a region. Default: a link within the page. */
  readonly nameOf?: NameOf;
  /** The level of its headings. */
  readonly level?: 2 | 3;
}

export function answerBlocks(
  answer: Answer,
  { nameOf = linkInPage, level = 3 }: AnswerOptions = {},
): readonly Block[] {
  const { failure, covered, headline, runs, byWall, byGpu, first, more } = answer;
  const part = (title: string, blocks: readonly Block[]) => withHeading(title, blocks, level);
  const ranked = (regions: readonly RankedRegion[]) =>
    listIfAny(regions.map((region) => [nameOf(region), ": ", ...rankedWords(region, nameOf)]));
  return [
    ...(failure === null
      ? []
      : [paragraph([strong(`The run failed: ${failure}`), `; what follows covers ${covered}.`])]),
    paragraph([strong(headline)]),
    ...runs.map((bar, index) => runBar(bar, index > 0)),
    ...part("Most wall time of their own", ranked(byWall)),
    ...part(GPU_HEADINGS[byGpu[0]?.base ?? "run"], ranked(byGpu)),
    ...part(
      "What to do first",
      first.length === 0 ? [] : [list(first.map((each) => [nameOf(each), `: ${each.text}`]))],
    ),
    ...part(
      "To know more, measure",
      more.length === 0
        ? []
        : [list(more.map(({ why, command }) => [`${why}: `, commandSpan(command)]))],
    ),
  ];
}

const GPU_HEADINGS: Readonly<Record<ShareOf, string>> = {
  run: "Most GPU time of their own kernels",
  "kernel time": "Most GPU time of their own kernels, as a share of kernel time",
  [RANGE_TIME]: `Most GPU time, with regions inside, as a share of the ${RANGE_TIME}`,
};

/** A command may contain any characters, and some readers of Markdown interpret them even in code. */
const commandSpan = (command: string): Span => (/[<>&`|]/.test(command) ? command : code(command));

function rankedWords(ranked: RankedRegion, nameOf: NameOf): readonly Span[] {
  const { region, longest, reason } = ranked;
  const time = numeral(timeWords(ranked));
  const members = region.members === undefined ? "" : ` in ${plural(region.members, "region")}`;
  const most: readonly Span[] =
    longest === null
      ? []
      : longest.standsOut
        ? [", of which ", nameOf(longest), ` alone ${formatDuration(longest.ms)}`]
        : [", the longest ", nameOf(longest), ` ${formatDuration(longest.ms)}`];
  return reason === null
    ? [time, members, ...most, "; no reason found"]
    : [time, members, ...most, ": ", strong(titleWithSection(reason)), `: ${reason.evidence}`];
}

/** A page has the members of a family among its regions, and families in a table. */
const linkInPage: NameOf = ({ region, label }) =>
  region.members === undefined ? regionLink(label) : familyLink(label);

/** The bar of the run, or of the process or device of a scope. */
function runBar({ name, ms, wallMs, processes, parts }: RunBar, isDetail: boolean): Bar {
  const what = name === "run" ? "The run" : name.replace(":", " ");
  const together =
    processes > 1
      ? `${formatDuration(ms)} in ${plural(processes, "process", "processes")}, ${formatDuration(wallMs)} from start to end`
      : formatDuration(ms);
  return {
    type: "bar",
    title: `${what}: ${together}`,
    ...(isDetail && { isDetail }),
    parts: parts.map(({ kind, ms: part }) => ({
      kind,
      text: `${PART_WORDS[kind]} ${formatShare(part, ms)} %${isDetail ? "" : ` (${formatDuration(part)})`}`,
      share: ms === 0 ? 0 : part / ms,
    })),
  };
}
