/** The summary for people who do not profile: where the time goes, how sure that is. */

import { createNameNumbers } from "../../text/name-numbers.ts";
import { agreeing, plural } from "../../text/plural.ts";
import { capitalized } from "../capitalized.ts";
import { gpuSummary } from "../conclusions/gpu-summary.ts";
import { limitInWords, speedOfLight } from "../conclusions/speed-of-light.ts";
import { passBoundMs, peakContradiction, rooflineBound } from "../conclusions/static-analysis.ts";
import { steadiness } from "../conclusions/steadiness.ts";
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../document.ts";
import { reportKernelWords, wordsOfKinds } from "../kernels/kernel-words.ts";
import { placesOfLargest } from "../longest.ts";
import { wholeMs } from "../measured-time.ts";
import { formatDuration, formatShare } from "../numbers.ts";
import { checkRun, mainReport, ownTime, type RunSummary, tellingSection } from "../run-summary.ts";
import { shareBase } from "../share.ts";
import { regionLabels, treeRows } from "../tree-rows.ts";
import { escapeMarkdown, markdownDocument, markdownLabel, markdownList } from "./markdown.ts";

/** Of regions and kernels, the longest. */
const TOP = 5;

/** `stakeholder_summary.md`: in plain words where the time goes. */
export function renderStakeholderSummary(run: RunSummary): string {
  checkRun("renderStakeholderSummary", run);
  const section = tellingSection(run.sections);
  const report = section === undefined ? undefined : mainReport(section);
  if (report === undefined)
    return markdownDocument([
      "# Summary",
      "Nothing was measured: no collector ran.",
      ...(run.notes.length === 0 ? [] : [caveatList(run.notes)]),
    ]);
  return markdownDocument([
    "# Summary",
    whatRan(report),
    "## Where the time goes",
    whereTimeGoes(report),
    ...whatGpusDid(run),
    ...topKernels(report),
    ...whatLimits(run),
    ...roomLeft(run),
    "## How steady it is",
    steadiness(report, regionWords(report.regions), TOP),
    "## What to keep in mind",
    caveatList([...run.notes, ...caveats(report), ...report.notes]),
  ]);
}

function whatRan(report: NCUProfileRegionReport): string {
  const { environment, totals, collector } = report;
  const program = environment.command[0]?.split(/[/\\]/).at(-1) ?? "The program";
  const device =
    environment.device === null ? "" : ` on ${escapeMarkdown(deviceInWords(environment.device))}`;
  const { cpu, gpus } = environment;
  const where = [
    ...(cpu === "unknown" ? [] : [cpu]),
    ...(gpus.length === 0 ? [] : [gpus.join(", ")]),
  ];
  return `${markdownLabel(program)} ran${device}; ${span(totals)}. Measured by the collector ${escapeMarkdown(collector.name)}${where.length === 0 ? "" : ` on ${escapeMarkdown(where.join(" with "))}`}.`;
}

/** ncu says which ranges were open, and not for how long. */
function span({ wall_ms, region_count }: NCUProfileRegionReport["totals"]): string {
  if (region_count === 0) return "no named region was seen";
  const regions = plural(region_count, "named region");
  return wall_ms === null
    ? `${regions} ${agreeing(region_count, "was", "were")} seen`
    : `${formatDuration(wall_ms)} passed in ${regions}`;
}

const deviceInWords = (device: string): string =>
  device === "cpu" ? "the CPU" : `the GPU ${device}`;

function whereTimeGoes(report: NCUProfileRegionReport): string {
  const words = reportKernelWords(report);
  const { whole } = shareBase(report);
  // Ranges that were measured as a whole: what the inner ones have of the outer is not known.
  const isWhole = report.regions.every((region) => ownTime(report, region) === null);
  const timeOf = (region: NCUProfileRegion) =>
    isWhole ? region.total_ms : ownTime(report, region);
  const ranked = report.regions
    .map((region) => ({ region, time: timeOf(region) ?? 0 }))
    .filter(({ time }) => time > 0)
    .sort((a, b) => b.time - a.time);
  if (ranked.length === 0)
    return wholeMs(report) === null && words !== null
      ? `${capitalized(words.many)} were counted, not timed, so where the time goes is unknown.`
      : "No region took measurable time of its own.";
  const inWords = regionWords(report.regions);
  const lines = ranked
    .slice(0, TOP)
    .map(
      ({ region, time }) =>
        `${inWords(region)}: ${formatShare(time, whole)} % (${formatDuration(time)}${region.invocations === 0 ? "" : ` in ${plural(region.invocations, "call")}`})`,
    );
  const rest = ranked.length - lines.length;
  return [
    `Each line gives the ${words === null ? "wall time" : words.time} ${isWhole ? "of the region, including its inner regions" : "of the region itself, without its inner regions"}.`,
    markdownList(lines),
    ...(rest === 0
      ? []
      : [`${plural(rest, "more region is", "more regions are")} in the full report.`]),
  ].join("\n\n");
}

function regionWords(regions: readonly NCUProfileRegion[]): (region: NCUProfileRegion) => string {
  const labelOf = regionLabels(regions);
  return (region) =>
    region.kind === "outside" ? "Outside every region" : escapeMarkdown(labelOf(region));
}

function topKernels(report: NCUProfileRegionReport): readonly string[] {
  const names: string[] = [];
  const times: number[] = [];
  const kinds = new Set<KernelRecord["kind"]>();
  const { of } = createNameNumbers(
    (name) => names.push(name) - 1,
    (number) => names[number] ?? "",
  );
  for (const { region, level } of treeRows(report.regions))
    if (level === 0)
      for (const { kernel_name, kind, total_ms } of region.kernels) {
        const number = of(kernel_name);
        times[number] = (times[number] ?? 0) + total_ms;
        kinds.add(kind);
      }
  const words = wordsOfKinds([...kinds]);
  if (words === null || wholeMs(report) === null) return [];
  const lines = placesOfLargest(times, TOP).map((place) => {
    const ms = times[place] ?? 0;
    return `${markdownLabel(names[place] ?? "")}: ${formatShare(ms, report.totals.total_ms)} % (${formatDuration(ms)})`;
  });
  return [`## The longest ${words.many}`, markdownList(lines)];
}

/** From the first collector that knows it: ncu does not, whose times can be the ones that speak for the run. */
function whatGpusDid({ sections }: RunSummary): readonly string[] {
  for (const section of sections) {
    const report = mainReport(section);
    const told = report === undefined ? null : gpuSummary(report);
    if (told !== null) return ["## What the GPU did meanwhile", told];
  }
  return [];
}

/** From the first collector that measured it: another one can be the one that speaks for the run. */
function whatLimits({ sections }: RunSummary): readonly string[] {
  for (const section of sections) {
    const report = mainReport(section);
    const known = (report?.regions ?? []).flatMap((region) => {
      const found = speedOfLight(region);
      return found === null ? [] : [{ region, found }];
    });
    if (report === undefined || known.length === 0) continue;
    const inWords = regionWords(report.regions);
    const times = known.map(({ region }) => ownTime(report, region) ?? region.total_ms ?? 0);
    const lines = placesOfLargest(times, TOP).flatMap((place) => {
      const each = known[place];
      return each === undefined ? [] : [`${inWords(each.region)}: ${limitInWords(each.found)}`];
    });
    return [
      "## What limits it",
      `By the hardware counters of ${escapeMarkdown(report.collector.name)}, of the regions with the most time:`,
      markdownList(lines),
    ];
  }
  return [];
}

/** How far from the device's limits a pass of the built-in model is, where that is known. */
function roomLeft({ staticAnalysis }: RunSummary): readonly string[] {
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
    "## How much room there is",
    `One forward pass took ${formatDuration(staticAnalysis.passMs)}. Given the sizes of the model, it needs at least about ${formatDuration(bound)} on this device, most of it for ${limit}. ${verdict}`,
  ];
}

/** What follows from the numbers themselves. */
function caveats(report: NCUProfileRegionReport): readonly string[] {
  const { totals, regions } = report;
  const words = reportKernelWords(report);
  const outside = (totals.outside_ms ?? 0) / (totals.total_ms || 1);
  const single = regions.filter(({ invocations }) => invocations === 1).length;
  return [
    ...(words?.one === "CPU operation"
      ? ["these are operations on the CPU; a GPU may give a different picture"]
      : []),
    ...(outside >= 0.05
      ? [`${formatShare(totals.outside_ms, totals.total_ms)} % of the time is in no region`]
      : []),
    ...(single > 0
      ? [
          `${plural(single, "region was", "regions were")} measured only once; first calls are often slower`,
        ]
      : []),
  ];
}

const caveatList = (notes: readonly string[]): string =>
  notes.length === 0 ? "Nothing unusual." : markdownList([...new Set(notes)].map(escapeMarkdown));
