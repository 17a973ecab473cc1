/**
 * Where the time of a run went, why, and what to do first: the facts of the first screen of the page, and of the first
 * lines on the terminal and in Markdown.
 */
import { firstFewOf, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { formatDuration, formatShare, percentOf } from "../../pages/numbers.ts";
import { shortenPath } from "../../pages/shorten-path.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
  RunTotals,
} from "../model/document.ts";
import { placeKey, startsAt } from "../model/region-path.ts";
import { speedOfLight } from "./gpu-utilization.ts";
import { type Measurement, measurementsOf } from "./measurements.ts";
import {
  type ContextSwitches,
  type Explained,
  type OwnActivity,
  type Reason,
  type RegionFacts,
  reasonFor,
} from "./reasons.ts";
import { threadTimeOf } from "./thread-time.ts";
import { exclusiveMs, wholeMs } from "./times.ts";
import { indicesOfLargest, regionLabels, treeRows } from "./tree-rows.ts";

export interface Answer {
  /** One or two sentences: what takes the time. */
  readonly headline: string;
  /** Why the run ended early; null where it succeeded. */
  readonly failure: string | null;
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

/** The parts: kernels and copies, wherever they ran; the remaining time by whether a range was open. */
export const PART_WORDS = {
  kernels: "kernels",
  both: "kernels and copies",
  copies: "copies alone",
  idle_inside: "GPU idle, in ranges",
  idle_outside: "GPU idle, outside ranges",
  inside: "in ranges",
  outside: "outside ranges",
} as const;

export interface RankedRegion {
  readonly region: NCUProfileRegion;
  /** The whole path of the region, safe to print. */
  readonly label: string;
  readonly ms: number;
  /** In percent; null if the whole is unknown. */
  readonly share: number | null;
  /** What the share refers to. */
  readonly of: "run" | "kernel time";
  /** Null if no reason was found. */
  readonly reason: Reason | null;
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
  const facts = createFacts(
    report,
    beside.flatMap(({ reports: [main] }) => main ?? []),
  );
  const byWall = topByWall(report, facts);
  const byGpu = topByGpu(report, facts);
  const runs = run === undefined ? [] : [barOf("run", run), ...barsOf(others)];
  return {
    headline: headlineOf(report, runs[0], byWall, byGpu),
    failure: report.failure === undefined ? null : `${report.failure}${openWords(report)}`,
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
  return bars.filter((bar, at) => !bars.slice(0, at).some((known) => isSame(known, bar)));
}

const isSame = (a: RunBar, b: RunBar): boolean =>
  a.ms === b.ms &&
  a.parts.length === b.parts.length &&
  a.parts.every(({ kind, ms }, at) => b.parts[at]?.kind === kind && b.parts[at]?.ms === ms);

// Facts of regions.

type FactsOf = (place: number) => RegionFacts;

/** The facts about each region of a report that reasons are derived from, by the region's index. */
export const factsOf = (report: NCUProfileRegionReport): FactsOf => createFacts(report, []);

/** Subtracts the values of child regions: a report counts GPU activity while a region was open, including that of its children. */
function createFacts(
  report: NCUProfileRegionReport,
  beside: readonly NCUProfileRegionReport[],
): FactsOf {
  const { regions } = report;
  const children = childrenOf(regions);
  const counters = countersBeside(beside);
  return (place) => {
    const region = regions[place];
    if (region === undefined) throw new RangeError(`no region ${place}`);
    const inner = (children.get(place) ?? []).flatMap((child) => regions[child] ?? []);
    const gpuKinds = region.kernels.some(({ kind }) => kind === "gpu_kernel");
    const work = region.kernels.length === 0 ? null : gpuKinds ? "gpu_kernel" : "cpu_operation";
    const count = Math.max(
      0,
      region.kernel_count - sumOf(inner, ({ kernel_count }) => kernel_count),
    );
    return {
      region: counters(region),
      wallMs: region.wall_exclusive_ms,
      workMs: exclusiveMs(region),
      work: count === 0 ? null : work,
      count,
      gpu: ownActivity(region, inner),
      waitMs: region.metrics["synchronization_time"]?.value ?? null,
      cpuMs: cpuMs(region),
      switches: ownSwitches(region, inner),
      threads: threadTimeOf(region, region.wall_exclusive_ms, cpuMs(region)),
      longest: region.kernels[0] ?? null,
      run: region.kind === "outside" ? (report.totals.run ?? null) : null,
      calls: report.totals.invocations,
      command: report.environment.command,
    };
  };
}

/** Processor time without child regions. Only recorders that read the clocks of threads provide it. */
const cpuMs = (region: NCUProfileRegion & { readonly cpu_exclusive_ms?: number }): number | null =>
  region.cpu_exclusive_ms ?? null;

const switchesOf = ({ metrics }: NCUProfileRegion): ContextSwitches | null => {
  const voluntary = metrics["voluntary_context_switches"]?.value ?? null;
  const involuntary = metrics["involuntary_context_switches"]?.value ?? null;
  return voluntary === null || involuntary === null ? null : { voluntary, involuntary };
};

function ownSwitches(
  region: NCUProfileRegion,
  inner: readonly NCUProfileRegion[],
): ContextSwitches | null {
  const all = switchesOf(region);
  if (all === null) return null;
  const own = (kind: keyof ContextSwitches) =>
    Math.max(0, all[kind] - sumOf(inner, (one) => switchesOf(one)?.[kind] ?? 0));
  return { voluntary: own("voluntary"), involuntary: own("involuntary") };
}

/** The direct children of each region among those shown, by index. */
function childrenOf(regions: readonly NCUProfileRegion[]): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  const around: number[] = [];
  for (const [place, { level }] of treeRows(regions).entries()) {
    around.length = level;
    const parent = around.at(-1);
    if (parent !== undefined) {
      const known = children.get(parent);
      if (known === undefined) children.set(parent, [place]);
      else known.push(place);
    }
    around.push(place);
  }
  return children;
}

const sumOf = (
  regions: readonly NCUProfileRegion[],
  of: (region: NCUProfileRegion) => number,
): number => regions.reduce((sum, region) => sum + of(region), 0);

function ownActivity(
  { gpu_activity: activity, wall_exclusive_ms: wall }: NCUProfileRegion,
  inner: readonly NCUProfileRegion[],
): OwnActivity | null {
  if (activity === undefined || wall === null) return null;
  const own = (of: (known: NonNullable<NCUProfileRegion["gpu_activity"]>) => number) =>
    Math.min(
      wall,
      Math.max(
        0,
        of(activity) - sumOf(inner, ({ gpu_activity }) => (gpu_activity ? of(gpu_activity) : 0)),
      ),
    );
  return {
    busyMs: own(({ busy_ms }) => busy_ms),
    kernelMs: own(({ kernel_ms }) => kernel_ms),
    copyOnlyMs: own(({ copy_ms, overlap_ms }) => copy_ms - overlap_ms),
  };
}

/** A region, together with the metrics and sections that another collector has for it. */
function countersBeside(
  beside: readonly NCUProfileRegionReport[],
): (region: NCUProfileRegion) => NCUProfileRegion {
  const known = new Map<string, NCUProfileRegion>();
  for (const { regions } of beside)
    for (const region of regions)
      if (speedOfLight(region) !== null || Object.keys(region.sections).length > 0)
        known.set(`${region.kind} ${placeKey(region)}`, region);
  return (region) => {
    const other = known.get(`${region.kind} ${placeKey(region)}`);
    if (other === undefined) return region;
    return {
      ...region,
      metrics: { ...other.metrics, ...region.metrics },
      sections: { ...other.sections, ...region.sections },
    };
  };
}

// Ranks.

function topByWall(report: NCUProfileRegionReport, facts: FactsOf): readonly RankedRegion[] {
  const whole = report.totals.run?.process_ms ?? report.totals.wall_ms;
  return topBy(report, facts, "wall", ({ wall_exclusive_ms }) => wall_exclusive_ms, {
    whole,
    of: "run",
  });
}

/** Only kernels count: operations of a CPU are wall time. */
function topByGpu(report: NCUProfileRegionReport, facts: FactsOf): readonly RankedRegion[] {
  if (report.collector.kernel_clock === "cpu") return [];
  const isWhole = report.regions.every(({ exclusive_ms }) => exclusive_ms === null);
  const run = report.totals.run?.process_ms;
  return topBy(
    report,
    facts,
    "gpu",
    (region) => (isWhole ? region.total_ms : exclusiveMs(region)),
    run === undefined ? { whole: wholeMs(report), of: "kernel time" } : { whole: run, of: "run" },
  );
}

function topBy(
  report: NCUProfileRegionReport,
  facts: FactsOf,
  explained: Explained,
  timeOf: (region: NCUProfileRegion) => number | null,
  { whole, of }: { readonly whole: number | null } & Pick<RankedRegion, "of">,
): readonly RankedRegion[] {
  const times = report.regions.map((region) => timeOf(region) ?? 0);
  const labelOf = regionLabels(report.regions);
  return indicesOfLargest(times, TOP).flatMap((place, at): readonly RankedRegion[] => {
    const region = report.regions[place];
    const ms = times[place] ?? 0;
    const share = percentOf(ms, whole);
    if (region === undefined || ms === 0 || (at > 0 && (share ?? 100) < LEAST_SHARE)) return [];
    const label = region.kind === "outside" ? "outside every range" : labelOf(region);
    return [{ region, label, ms, share, of, reason: reasonFor(facts(place), explained) }];
  });
}

// Sentences.

/** A part of the run above this share determines the headline. */
const MOST = 0.5;

function headlineOf(
  report: NCUProfileRegionReport,
  bar: RunBar | undefined,
  byWall: readonly RankedRegion[],
  byGpu: readonly RankedRegion[],
): string {
  const story = bar === undefined ? null : storyOf(bar);
  const top = byWall[0] ?? byGpu[0];
  if (top === undefined) return story ?? nothingWords(report);
  const isCovered = top.region.kind === "outside" && story !== null && story.includes("outside");
  return [story, isCovered ? reasonSentence(top) : rankedSentence(top)]
    .filter((sentence) => sentence !== null)
    .join(" ");
}

function nothingWords({ totals }: NCUProfileRegionReport): string {
  return totals.kernel_count > 0
    ? "Kernels were counted, not timed: where the time goes is not known."
    : "Nothing was measured that takes time.";
}

function storyOf({ parts, ms, processes }: RunBar): string | null {
  const part = parts.find((each) => each.ms > ms * MOST);
  if (part === undefined) return null;
  const of = processes > 1 ? `the ${plural(processes, "process", "processes")}' time` : "the run";
  const share = `${formatShare(part.ms, ms)} % of ${of} (${formatDuration(part.ms)} of ${formatDuration(ms)})`;
  return STORIES[part.kind](share);
}

const STORIES: Readonly<Record<PartKind, (share: string) => string>> = {
  kernels: (share) => `Kernels run for ${share}.`,
  both: (share) => `Kernels and copies run at once for ${share}.`,
  copies: (share) => `For ${share} the GPU copies and runs no kernel.`,
  idle_inside: (share) => `For ${share} ranges are open and the GPU is idle.`,
  idle_outside: (share) => `${share} pass outside every range, with the GPU idle.`,
  inside: (share) => `Ranges cover ${share}.`,
  outside: (share) => `${share} pass outside every range.`,
};

/** In a headline, the end of a long path; the list below has all of it. */
const shortName = ({ label }: RankedRegion): string =>
  shortenPath({ label: label.split(" / ").at(-1) ?? label, path: label }, MOST_NAME);

function rankedSentence(top: RankedRegion): string {
  const of = top.of === "run" ? "the run" : "the kernel time";
  const timeOf = (ms: number) =>
    top.share === null
      ? formatDuration(ms)
      : `${formatShare((top.share * ms) / top.ms, 100)} % of ${of} (${formatDuration(ms)})`;
  const reason = top.reason === null ? "" : `, ${top.reason.title}`;
  if (top.of === "run") {
    const where =
      top.region.kind === "outside" ? "passes outside every range" : `is in ${shortName(top)}`;
    return `Most time ${where}: ${timeOf(top.ms)}${reason}.`;
  }
  if (top.region.kind !== "outside")
    return `Most kernel time is in ${shortName(top)}: ${timeOf(top.ms)}${reason}.`;
  // A program without ranges has only kernels to name.
  const [kernel] = top.region.kernels;
  if (kernel === undefined)
    return `Most kernel time passes outside every range: ${timeOf(top.ms)}${reason}.`;
  const name = printableLabel(kernel.kernel_name, MOST_NAME);
  return kernel.total_ms > top.ms * MOST
    ? `Most kernel time is in ${name}, outside every range: ${timeOf(kernel.total_ms)}${reason}.`
    : `No kernel takes most of the kernel time (${formatDuration(top.ms)}, outside every range): the longest of ${top.region.kernels.length}, ${name}, takes ${timeOf(kernel.total_ms)}.${top.reason === null ? "" : ` Of all together: ${top.reason.title}.`}`;
}

const reasonSentence = ({ reason }: RankedRegion): string | null =>
  reason === null ? null : `Most of that: ${reason.title} (${reason.evidence}).`;

/** Each piece of advice once, with the region that it is about. */
function adviceOf(ranked: readonly RankedRegion[]): readonly Advice[] {
  const advice: Advice[] = [];
  for (const { region, label, reason } of ranked) {
    const text = reason?.advice ?? null;
    if (text === null || advice.some((known) => known.label === label || known.text === text))
      continue;
    advice.push({ region, label, text });
  }
  return advice.slice(0, TOP);
}
