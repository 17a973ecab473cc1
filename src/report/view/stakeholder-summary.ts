/** The summary for readers who do not profile: where the time goes, and how certain that is. */
import { createNameNumbers } from "../../foundation/text/name-numbers.ts";
import { agreeing, capitalized, grouped, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Block,
  heading,
  list,
  numeral,
  paragraph,
  type Span,
  withHeading,
} from "../../pages/blocks.ts";
import { formatDuration, formatShare } from "../../pages/numbers.ts";
import type {
  InvocationStatistics,
  KernelRecord,
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionGpuActivity,
} from "../model/document.ts";
import { withFamilies } from "../model/families.ts";
import { limitInWords, speedOfLight } from "./gpu-utilization.ts";
import { passBoundMs, peakContradiction, rooflineBound } from "./layer-work.ts";
import { isPart } from "./notes.ts";
import { mainReport, ownTime, type RunSummary, timedSection } from "./run-summary.ts";
import {
  atOnceIn,
  atOnceWords,
  reportKernelWords,
  shareBase,
  wholeMs,
  wordsOfKinds,
} from "./times.ts";
import { indicesOfLargest, regionLabels, treeRows } from "./tree-rows.ts";

/** How many regions and kernels are listed, the longest first. */
const TOP = 5;

/** The summary in plain words. */
export function stakeholderSummary(run: RunSummary): readonly Block[] {
  const section = timedSection(run.sections);
  const report = section === undefined ? undefined : mainReport(section);
  if (report === undefined)
    return [
      heading(1, "Summary"),
      paragraph("Nothing was measured: no collector ran."),
      ...(run.notes.length === 0 ? [] : [caveatList(run.notes)]),
    ];
  return [
    heading(1, "Summary"),
    paragraph(whatRan(report)),
    heading(2, "Where the time goes"),
    ...whereTimeGoes(report),
    ...whatGpusDid(run),
    ...topKernels(report),
    ...whatLimits(run),
    ...roomLeft(run),
    heading(2, "How steady it is"),
    ...variation(report, regionWords(report.regions), TOP),
    heading(2, "What to keep in mind"),
    caveatList([...run.notes, ...caveats(report), ...report.notes]),
  ];
}

function whatRan(report: NCUProfileRegionReport): string {
  const { environment, collector } = report;
  const program = environment.command[0]?.split(/[/\\]/).at(-1) ?? "The program";
  const device = environment.device === null ? "" : ` on ${deviceInWords(environment.device)}`;
  const { cpu, gpus } = environment;
  const where = [
    ...(cpu === "unknown" ? [] : [cpu]),
    ...(gpus.length === 0 ? [] : [gpus.join(", ")]),
  ];
  const machine = where.length === 0 ? "" : ` on ${where.join(" with ")}`;
  return `${printableLabel(program)} ran${device}; ${span(report)}. Measured by the collector ${collector.name}${machine}.`;
}

/** ncu reports which ranges were open, but not for how long. */
function span({ totals, notes }: NCUProfileRegionReport): string {
  const { wall_ms, region_count } = totals;
  if (isPart(notes) && wall_ms !== null)
    return `${formatDuration(wall_ms)} passed in named regions, of which this report has ${grouped(String(region_count))}`;
  if (region_count === 0) return "no named region was seen";
  const regions = plural(region_count, "named region");
  return wall_ms === null
    ? `${regions} ${agreeing(region_count, "was", "were")} seen`
    : `${formatDuration(wall_ms)} passed in ${regions}`;
}

const deviceInWords = (device: string): string =>
  device === "cpu" ? "the CPU" : `the GPU ${device}`;

function whereTimeGoes(report: NCUProfileRegionReport): readonly Block[] {
  const words = reportKernelWords(report);
  const { regions } = withFamilies(report);
  const { whole, basis, label } = shareBase(report);
  // Ranges that were measured as a whole: the share of inner ranges is unknown.
  const isWhole = regions.every((region) => ownTime(report, region) === null);
  const timeOf = (region: NCUProfileRegion) =>
    isWhole ? region.total_ms : ownTime(report, region);
  const ranked = regions
    .map((region) => ({ region, time: timeOf(region) ?? 0 }))
    .filter(({ time }) => time > 0)
    .sort((a, b) => b.time - a.time);
  if (ranked.length === 0)
    return [
      paragraph(
        wholeMs(report) === null && words !== null
          ? `${capitalized(words.plural)} were counted, not timed, so where the time goes is unknown.`
          : "No region took measurable time of its own.",
      ),
    ];
  const inWords = regionWords(regions);
  const shown = ranked.slice(0, TOP);
  const rest = ranked.length - shown.length;
  return [
    paragraph(
      `Each line gives the ${basis === "wall" || words === null ? "wall time" : words.time} ${isWhole ? "of the region, including its inner regions" : "of the region itself, without its inner regions"}${label === null ? "" : `, as a share of the ${label}`}.`,
    ),
    list(
      shown.map(({ region, time }) => {
        const calls =
          region.invocations === 0
            ? ""
            : ` in ${plural(region.invocations, "call")}${basis === "total" || region.threads === undefined ? "" : ` of ${plural(region.threads.count, "thread")}`}`;
        const atOnce = atOnceIn(region, time, whole, basis === "wall" ? "wall" : "gpu");
        return [
          `${inWords(region)}: `,
          atOnce === null
            ? shareInWords(time, whole, calls)
            : numeral(`${atOnceWords(atOnce)} (${formatDuration(time)}${calls})`),
        ];
      }),
    ),
    ...(rest === 0
      ? []
      : [paragraph(`${plural(rest, "more region is", "more regions are")} in the full report.`)]),
  ];
}

/** `12.5 % (3.00 ms)`. */
const shareInWords = (ms: number, whole: number | null, more = ""): Span =>
  numeral(`${formatShare(ms, whole)} % (${formatDuration(ms)}${more})`);

function regionWords(regions: readonly NCUProfileRegion[]): (region: NCUProfileRegion) => string {
  const labelOf = regionLabels(regions);
  return (region) => (region.kind === "outside" ? "Outside every region" : labelOf(region));
}

function topKernels(report: NCUProfileRegionReport): readonly Block[] {
  const names: string[] = [];
  const times: number[] = [];
  const kinds = new Set<KernelRecord["kind"]>();
  const { numberOf } = createNameNumbers(
    (name) => names.push(name) - 1,
    (number) => names[number] ?? "",
  );
  for (const { region, level } of treeRows(report.regions))
    if (level === 0)
      for (const { kernel_name, kind, total_ms } of region.kernels) {
        const number = numberOf(kernel_name);
        times[number] = (times[number] ?? 0) + (total_ms ?? 0);
        kinds.add(kind);
      }
  const words = wordsOfKinds([...kinds]);
  if (words === null || wholeMs(report) === null) return [];
  return [
    heading(2, `The longest ${words.plural}`),
    list(
      indicesOfLargest(times, TOP).map((place) => [
        `${printableLabel(names[place] ?? "")}: `,
        shareInWords(times[place] ?? 0, report.totals.total_ms),
      ]),
    ),
  ];
}

/** Uses the first collector with GPU activity, because ncu, which may provide the run's times, does not record it. */
function whatGpusDid({ sections }: RunSummary): readonly Block[] {
  for (const section of sections) {
    const report = mainReport(section);
    const blocks = withHeading(
      "What the GPU did meanwhile",
      report === undefined ? [] : gpuActivity(report),
    );
    if (blocks.length > 0) return blocks;
  }
  return [];
}

/** Uses the first collector that measured it, which need not be the one that provides the run's times. */
function whatLimits({ sections }: RunSummary): readonly Block[] {
  for (const section of sections) {
    const report = mainReport(section);
    const measured = (report?.regions ?? []).flatMap((region) => {
      const found = speedOfLight(region);
      return found === null ? [] : [{ region, found }];
    });
    if (report === undefined || measured.length === 0) continue;
    const inWords = regionWords(report.regions);
    const times = measured.map(({ region }) => ownTime(report, region) ?? region.total_ms ?? 0);
    const lines = indicesOfLargest(times, TOP).flatMap((place) => {
      const each = measured[place];
      return each === undefined
        ? []
        : [[`${inWords(each.region)}: `, numeral(limitInWords(each.found))]];
    });
    return [
      heading(2, "What limits it"),
      paragraph(
        `By the hardware counters of ${report.collector.name}, of the regions with the most time:`,
      ),
      list(lines),
    ];
  }
  return [];
}

/** How far a pass of the built-in model is from the device's limits, if known. */
function roomLeft({ staticAnalysis }: RunSummary): readonly Block[] {
  if (staticAnalysis === undefined || staticAnalysis.passMs === null) return [];
  const bound = passBoundMs(staticAnalysis);
  if (bound === null || bound === 0) return [];
  const byLimit = (limit: "arithmetic" | "memory") =>
    staticAnalysis.layers
      .map((layer) => rooflineBound(layer, staticAnalysis.peaks))
      .reduce((sum, each) => sum + (each?.limit === limit ? each.ms : 0), 0);
  const limit =
    byLimit("memory") >= byLimit("arithmetic") ? "moving data to and from memory" : "arithmetic";
  const times = staticAnalysis.passMs / bound;
  const verdict =
    peakContradiction(staticAnalysis) !== null
      ? "The pass was faster than the estimated speed of the device allows, so the estimate is too low: the machine was busy when its speed was measured, or changed its clock."
      : times < 1
        ? "That is less than the estimate allows: the data stayed in a cache."
        : `That is ${times.toFixed(1)} times the shortest possible time.`;
  return [
    heading(2, "How much room there is"),
    paragraph(
      `One forward pass took ${formatDuration(staticAnalysis.passMs)}. Given the sizes of the model, it needs at least about ${formatDuration(bound)} on this device, most of it for ${limit}. ${verdict}`,
    ),
  ];
}

/** Caveats that follow from the numbers themselves. */
function caveats(report: NCUProfileRegionReport): readonly string[] {
  const { totals, regions } = report;
  const words = reportKernelWords(report);
  const outside = (totals.outside_ms ?? 0) / (totals.total_ms || 1);
  const single = regions.filter(
    ({ invocations, repeats }) => invocations === 1 && (repeats?.runs ?? 1) === 1,
  ).length;
  return [
    ...(words?.singular === "CPU operation"
      ? ["these are operations on the CPU; a GPU may give a different picture"]
      : []),
    ...(outside >= 0.05
      ? [
          `${formatShare(totals.outside_ms, totals.total_ms)} % of the ${words?.time ?? "time"} is in no region`,
        ]
      : []),
    ...(single > 0
      ? [
          `${plural(single, "region was", "regions were")} measured only once; first calls are often slower`,
        ]
      : []),
  ];
}

const caveatList = (notes: readonly string[]): Block =>
  notes.length === 0 ? paragraph("Nothing unusual.") : list([...new Set(notes)]);

// What the GPU did while named regions were open, in plain words.

/** Parts that add up to the time in regions, in milliseconds. */
interface Spent {
  readonly ms: number;
  readonly does: string;
  /** The conclusion if this part is more than half. */
  readonly meaning: string;
}

/** Empty if no region has the times. Inner regions are left out: their time is part of the outer region's. */
export function gpuActivity(report: NCUProfileRegionReport): readonly Block[] {
  const all = treeRows(report.regions).flatMap(({ region, level }) =>
    level > 0 || region.gpu_activity === undefined || region.wall_ms === null
      ? []
      : [{ region, wallMs: region.wall_ms, activity: region.gpu_activity }],
  );
  const inRanges = all.filter(({ region }) => region.kind !== "outside");
  const measured = inRanges.length === 0 ? all : inRanges;
  const wallMs = measured.reduce((sum, each) => sum + each.wallMs, 0);
  if (wallMs === 0) return [];
  const sum = (name: keyof RegionGpuActivity): number =>
    measured.reduce((total, { activity }) => total + activity[name], 0);
  const launchedMs = measured.reduce((total, { region }) => total + (region.total_ms ?? 0), 0);
  const spent: readonly Spent[] = [
    {
      ms: sum("kernel_ms"),
      does: "ran kernels",
      meaning: "Most of this time is kernels: they decide how fast the program is.",
    },
    {
      ms: sum("busy_ms") - sum("kernel_ms"),
      does: "only copied or set memory",
      meaning:
        "Most of this time memory is copied or set without a kernel running at the same time.",
    },
    {
      ms: Math.max(0, wallMs - sum("busy_ms")),
      does: "was idle",
      meaning:
        sum("kernel_ms") * 2 < launchedMs && runMostlyOutside(report)
          ? "Most kernels ran after the regions that launched them had closed: synchronize with the GPU at the end of regions to see them there."
          : "Most of this time the GPU waited for the host: for launches, for data, or for other work of the CPU.",
    },
  ];
  const parts = spent.filter(({ ms }) => ms > 0).sort((a, b) => b.ms - a.ms);
  // Regions that were open at the same time are all counted, so the shares are averages over them.
  const isMore = inRanges.length > 0 && wallMs > (report.totals.wall_ms ?? wallMs) * 1.01;
  const where = inRanges.length > 0 ? "In the outermost regions" : "Outside every range";
  return [
    paragraph(
      `${where} (${formatDuration(wallMs)}${isMore ? ", added up over processes and threads" : ""}) the GPU`,
    ),
    list(parts.map(({ ms, does }) => [`${does}: `, shareInWords(ms, wallMs)])),
    ...parts.filter(({ ms }) => ms * 2 > wallMs).map(({ meaning }) => paragraph(meaning)),
  ];
}

/** Whether most of the time in which kernels ran was outside of ranges: those of several streams may as well have run at once. */
function runMostlyOutside({ totals: { run } }: NCUProfileRegionReport): boolean {
  const { gpu_activity: whole, gpu_activity_in_ranges: inside } = run ?? {};
  return whole === undefined || (inside?.kernel_ms ?? 0) * 2 < whole.kernel_ms;
}

// How much times vary from call to call, in plain words.

interface Repeated {
  readonly region: NCUProfileRegion;
  readonly stats: InvocationStatistics;
}

/** Slow calls take at least half as long again as typical ones. */
const SLOW = 1.5;

/** The share of a region's time that slow calls lose if they are too few to be seen in the 95th percentile. */
const COSTLY = 0.1;

/** Whether slow calls are at least a twentieth of the calls, or cost much of the region's time. */
const isUnsteady = (repeated: Repeated): boolean => {
  const { p95, max, median } = repeated.stats;
  const isSlow = (ms: number) => ms > 0 && ms >= median * SLOW;
  const wallMs = repeated.region.wall_ms ?? 0;
  return isSlow(p95) || (isSlow(max) && lostMs(repeated) >= wallMs * COSTLY);
};

/** Names the `top` unsteady regions that lose the most time, and counts the others. */
export function variation(
  report: NCUProfileRegionReport,
  inWords: (region: NCUProfileRegion) => string,
  top: number,
): readonly Block[] {
  const regions = report.regions.filter(({ kind }) => kind !== "outside");
  const repeated = regions.flatMap((region): Repeated[] =>
    region.invocations > 1 && region.invocation_wall_ms !== null
      ? [{ region, stats: region.invocation_wall_ms }]
      : [],
  );
  if (repeated.length === 0) return [paragraph(nothingRepeated(regions))];
  const unsteady = repeated.filter(isUnsteady).sort((a, b) => lostMs(b) - lostMs(a));
  if (unsteady.length === 0)
    return [
      paragraph(
        `${plural(repeated.length, "region")} ran more than once in a run, and lost little time to slow calls.`,
      ),
    ];
  const lines = unsteady
    .slice(0, top)
    .map(
      ({ region, stats }) =>
        `${inWords(region)}: usually ${formatDuration(stats.median)}, at worst ${formatDuration(stats.max)} (${plural(region.invocations, "call")})`,
    );
  const left = unsteady.length - lines.length;
  return [
    paragraph(
      `The time of these regions varies a lot from call to call${lines.length > 1 ? "; those that lose the most time come first" : ""}:`,
    ),
    list(lines),
    ...(left > 0
      ? [paragraph(`${plural(left, "more region does", "more regions do")}, too.`)]
      : []),
  ];
}

/**
 * The time beyond what it would be if every call took the median: little even for thousands of short calls. Calls that
 * are shorter than the median do not make up for the longest one.
 */
const lostMs = ({ region, stats }: Repeated): number =>
  Math.max((region.wall_ms ?? 0) - region.invocations * stats.median, stats.max - stats.median);

function nothingRepeated(regions: readonly NCUProfileRegion[]): string {
  const unknown = "so nothing can be said about how much";
  if (regions.length === 0) return `No named region was seen, ${unknown} their times vary.`;
  const isOnce = regions.every(({ invocations }) => invocations === 1);
  if (isOnce && regions.some(({ repeats }) => (repeats?.runs ?? 1) > 1))
    return "Each region ran once in a run; how its time varies over the runs is in the full report.";
  return isOnce
    ? `Each region ran once, ${unknown} its time varies.`
    : `How long each call of a region took was not measured, ${unknown} it varies.`;
}
