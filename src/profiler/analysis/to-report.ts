/** Converts the region model to the report document, with the names of the contract and times in milliseconds. */

import {
  anything,
  checkOptions,
  listOf,
  type OptionChecks,
  optional,
  text,
} from "../../engine/values/check-options.ts";
import { firstFewOf, partOf, plural } from "../../foundation/text/plural.ts";
import {
  CONTRACT,
  type NCUProfileRegion,
  type NCUProfileRegionReport,
  type RegionCopyStream,
  type RegionGpuActivity,
  type RegionHostCalls,
  type RegionReportBundle,
  type RegionSelection,
  type RegionThreadSamples,
  type ReportEnvironment,
  type ReportSelection,
  type RunTotals,
} from "../../report/model/document.ts";
import { storedFamily } from "../../report/model/families.ts";
import { pathLines } from "../../report/model/region-path.ts";
import { THREAD_COUNTS, THREAD_STATES } from "../model/timeline.ts";
import type { CallTally } from "./call-tally.ts";
import type { GpuUse } from "./gpu-activity.ts";
import type {
  RegionModel,
  RegionModelEntry,
  RunSpan,
  ScopeModel,
  SectionModel,
  Statistics,
} from "./region-model.ts";
import type { SampleTally } from "./sample-tally.ts";

/** The contents of a report in addition to the measurement. */
export interface ReportContext {
  /** ISO 8601 in UTC. */
  readonly generatedAt: string;
  /** `sha256:` and the hash of the resolved config. */
  readonly configFingerprint: string;
  readonly collectorVersion: string;
  readonly environment: ReportEnvironment;
  /** Why the run ended early; absent if it succeeded. */
  readonly failure?: string;
  /** Notes about the whole run, which precede those of every scope. */
  readonly notes?: readonly string[];
}

const REPORT_CONTEXT: OptionChecks<ReportContext> = {
  generatedAt: text,
  configFingerprint: text,
  collectorVersion: text,
  environment: anything,
  failure: optional(text),
  notes: optional(listOf("strings", text, '["interrupted"]')),
};

/** Converts the model to a document of the contract. */
export function toReportBundle(model: RegionModel, context: ReportContext): RegionReportBundle {
  checkOptions("toReportBundle", context, REPORT_CONTEXT);
  return {
    contract: CONTRACT,
    reports: model.scopes.map((scope) => toReport(scope, model, context)),
  };
}

function toReport(
  entry: ScopeModel,
  model: RegionModel,
  context: ReportContext,
): NCUProfileRegionReport {
  const { scope, regions, totals, notes } = entry;
  const real = regions.filter(({ kind }) => kind !== "outside");
  return {
    scope,
    regions: regions.map((region) => toRegion(region, model)),
    ...(entry.families !== undefined && {
      families: entry.families.map((family) => toRegion(family, model)),
    }),
    totals: {
      region_count: real.length,
      invocations: real.reduce((sum, { invocations }) => sum + invocations, 0),
      kernel_count: totals.kernelCount,
      total_ms: milliseconds(totals.kernelNs),
      outside_ms: milliseconds(totals.outsideNs),
      outside_kernel_count: totals.outsideKernelCount,
      wall_ms: milliseconds(totals.wallNs),
      ...(totals.cpuNs !== undefined && { cpu_ms: milliseconds(totals.cpuNs) }),
      ...(totals.instructions !== undefined && { instructions: totals.instructions }),
      ...(totals.run && { run: runTotals(totals.run) }),
      ...(totals.repeats && { repeats: totals.repeats }),
    },
    ...(entry.ranks !== undefined && { ranks: entry.ranks }),
    ...(entry.kernelRepeats !== undefined && { kernel_repeats: entry.kernelRepeats }),
    ...(entry.unshownRegions !== undefined && { unshown_regions: entry.unshownRegions }),
    generated_at: context.generatedAt,
    config_fingerprint: context.configFingerprint,
    collector: {
      name: model.collector,
      version: context.collectorVersion,
      wall_clock: totals.wallNs === null ? null : model.clock,
      kernel_clock: kernelClock(totals.kernelKinds),
    },
    environment: context.environment,
    selection: reportSelection(model),
    ...(context.failure !== undefined && { failure: context.failure }),
    notes: [...new Set([...(context.notes ?? []), ...notes, ...dataNotes(entry, model)])],
  };
}

/** GPU kernels are timed by the GPU; CPU operations are ranges, timed like ranges on the CPU. */
function kernelClock(kinds: ScopeModel["totals"]["kernelKinds"]): "gpu" | "cpu" | null {
  if (kinds.includes("gpu_kernel")) return "gpu";
  return kinds.includes("cpu_operation") ? "cpu" : null;
}

function toRegion(region: RegionModelEntry, model: RegionModel): NCUProfileRegion {
  const { path } = region;
  return {
    name: path.at(-1) ?? "",
    path,
    parent: path.at(-2) ?? null,
    depth: path.length - 1,
    domain: region.domain,
    ...(region.path_domains !== undefined && { path_domains: region.path_domains }),
    ...storedFamily(path),
    ...(region.members !== undefined && { members: region.members }),
    kind: region.kind,
    device: region.device,
    process_id: region.processId,
    invocations: region.invocations,
    total_ms: milliseconds(region.kernelNs),
    exclusive_ms: milliseconds(region.exclusiveKernelNs),
    wall_ms: milliseconds(region.wallNs),
    wall_exclusive_ms: milliseconds(region.exclusiveWallNs),
    invocation_wall_ms: statisticsInMilliseconds(region.invocationWallNs),
    ...(region.cpu !== undefined && {
      cpu_ms: milliseconds(region.cpu.ns),
      cpu_exclusive_ms: milliseconds(region.cpu.exclusiveNs),
      invocation_cpu_ms: statisticsInMilliseconds(region.cpu.invocationNs),
    }),
    ...(region.instructions !== undefined && {
      instructions: region.instructions.count,
      instructions_exclusive: region.instructions.exclusive,
    }),
    ...(region.unclosed !== undefined && { unclosed: region.unclosed }),
    kernel_count: region.kernelCount,
    ...(region.gpuUse !== undefined && { gpu_activity: gpuActivity(region.gpuUse) }),
    ...(region.samples !== undefined && { thread_samples: threadSamples(region.samples) }),
    ...copyStreams(region),
    ...(region.hostCalls !== undefined && { host_calls: region.hostCalls.map(hostCalls) }),
    ...(region.threads !== undefined && { threads: region.threads }),
    metrics: {
      ...countMetrics(region),
      ...activityMetrics(region),
      ...Object.fromEntries(region.metrics ?? []),
    },
    sections: sectionsOf(region.sections ?? []),
    kernels: region.kernels,
    ...(region.repeats !== undefined && { repeats: region.repeats }),
    ...(region.ranks !== undefined && { ranks: region.ranks }),
    ...(region.categories !== undefined && { categories: region.categories }),
    ...(region.payloads !== undefined && { payloads: region.payloads }),
    ...(region.counters !== undefined && { counters: region.counters }),
    selection: regionSelection(model),
    notes: region.notes,
  };
}

const regionSelection = ({ selection, kernelSelection }: RegionModel): RegionSelection => ({
  include_patterns: selection.include,
  exclude_patterns: selection.exclude,
  ...(kernelSelection !== undefined && {
    kernel_include_patterns: kernelSelection.include,
    kernel_exclude_patterns: kernelSelection.exclude,
    kernel_name_base: kernelSelection.nameBase,
    ...(kernelSelection.top != null && { kernel_top_names: kernelSelection.top }),
  }),
});

/** If ncu filtered by its own expressions, they and not the patterns decided what was measured. */
function reportSelection(model: RegionModel): ReportSelection {
  const { measuredSelection: measured } = model;
  if (measured === undefined) return { applies_to: "report", ...regionSelection(model) };
  const { patterns, expressions } = measured;
  return {
    applies_to: "measurement",
    ...regionSelection({ ...model, selection: patterns }),
    ...(expressions.include.length > 0 && { ncu_include_expressions: expressions.include }),
    ...(expressions.exclude.length > 0 && { ncu_exclude_expressions: expressions.exclude }),
  };
}

const sectionsOf = (sections: readonly SectionModel[]): NCUProfileRegion["sections"] =>
  Object.fromEntries(
    sections.map(({ name, metrics, messages }) => [
      name,
      { metrics: Object.fromEntries(metrics), messages },
    ]),
  );

/** The contract has no members for GPU activity beside kernels, so it is reported as metrics. */
function activityMetrics({ activities }: RegionModelEntry): NCUProfileRegion["metrics"] {
  const time = (ns: number) => ({ value: milliseconds(ns), unit: "ms" });
  const copies = activities?.get("memcpy");
  const sets = activities?.get("memset");
  const waits = activities?.get("synchronization");
  return {
    ...(copies && {
      memory_copy_time: time(copies.ns),
      memory_copy_bytes: { value: copies.bytes, unit: "byte" },
      ...(copies.knownNs > 0 && { memory_copy_pageable_time: time(copies.pageableNs) }),
    }),
    ...(sets && { memory_set_time: time(sets.ns) }),
    ...(waits && { synchronization_time: time(waits.ns) }),
  };
}

/** How many streams of its copies a report lists for a region. */
const MOST_STREAMS = 4;

function copyStreams({ activities }: RegionModelEntry): Pick<NCUProfileRegion, "copy_streams"> {
  const sums = new Map<string, RegionCopyStream>();
  for (const [stream, ns] of activities?.get("memcpy")?.streams ?? []) {
    const { number, isDefault, runsKernels } = stream;
    const key = `${number} ${isDefault} ${runsKernels}`;
    sums.set(key, {
      stream: number,
      ...(isDefault !== null && { is_default: isDefault }),
      runs_kernels: runsKernels,
      total_ms: (sums.get(key)?.total_ms ?? 0) + milliseconds(ns),
    });
  }
  const longest = [...sums.values()].sort((a, b) => b.total_ms - a.total_ms);
  return longest.length === 0 ? {} : { copy_streams: longest.slice(0, MOST_STREAMS) };
}

const countMetrics = ({ counts }: RegionModelEntry): NCUProfileRegion["metrics"] =>
  counts === undefined
    ? {}
    : Object.fromEntries(
        THREAD_COUNTS.slice(0, counts.length).map((name, which) => [
          name,
          { value: counts[which] ?? null, unit: "" },
        ]),
      );

function gpuActivity({ busyNs, kernelNs, copyNs }: GpuUse): RegionGpuActivity {
  return {
    busy_ms: milliseconds(busyNs),
    kernel_ms: milliseconds(kernelNs),
    copy_ms: milliseconds(copyNs),
    overlap_ms: milliseconds(Math.max(0, kernelNs + copyNs - busyNs)),
  };
}

const hostCalls = ({ api, name, calls, ns, minNs, maxNs, alone }: CallTally): RegionHostCalls => ({
  api,
  name,
  calls,
  total_ms: milliseconds(ns),
  min_ms: milliseconds(minNs),
  max_ms: milliseconds(maxNs),
  ...(alone !== undefined && {
    first_thread: { calls: alone.calls, total_ms: milliseconds(alone.ns) },
  }),
});

const threadSamples = (samples: SampleTally): RegionThreadSamples => ({
  states: Object.fromEntries(
    THREAD_STATES.flatMap((state) => {
      const count = samples.states.get(state);
      return count === undefined ? [] : [[state, count]];
    }),
  ),
  counted_ms: milliseconds(samples.countedNs),
  queued_ms: milliseconds(samples.queuedNs),
  slices: samples.slices,
  system_ms: milliseconds(samples.systemNs),
  minor_page_faults: samples.minorFaults,
  major_page_faults: samples.majorFaults,
  children_cpu_ms: milliseconds(samples.childrenNs),
});

const runTotals = (run: RunSpan): RunTotals => ({
  wall_ms: milliseconds(run.wallNs),
  process_ms: milliseconds(run.processNs),
  process_count: run.processCount,
  in_ranges_ms: milliseconds(run.inRangesNs),
  before_ranges_ms: milliseconds(run.beforeRangesNs),
  after_ranges_ms: milliseconds(run.afterRangesNs),
  ...(run.gpu && { gpu_activity: gpuActivity(run.gpu) }),
  ...(run.gpuInRanges && { gpu_activity_in_ranges: gpuActivity(run.gpuInRanges) }),
});

const NS_PER_MS = 1e6;

function milliseconds(ns: number): number;
function milliseconds(ns: number | null): number | null;
function milliseconds(ns: number | null): number | null {
  return ns === null ? null : ns / NS_PER_MS;
}

function statisticsInMilliseconds(statistics: Statistics): Statistics;
function statisticsInMilliseconds(statistics: Statistics | null): Statistics | null;
function statisticsInMilliseconds(statistics: Statistics | null): Statistics | null {
  return (
    statistics && {
      min: milliseconds(statistics.min),
      median: milliseconds(statistics.median),
      max: milliseconds(statistics.max),
      p95: milliseconds(statistics.p95),
      ...(statistics.first !== undefined && { first: milliseconds(statistics.first) }),
    }
  );
}

// Explanations of numbers that are zero or absent, once per report, for all collectors.

function dataNotes(scope: ScopeModel, { collector }: RegionModel): readonly string[] {
  const regions = scope.regions.filter(({ kind }) => kind !== "outside");
  const names = namesIn(scope.regions);
  return [
    ...kindNotes(scope),
    ...(collector === "ncu" ? withoutCounters(regions, names) : freeRunNotes(scope)),
    ...emptyNotes(regions, scope, names),
    ...ownNotes(regions, names),
  ];
}

const hasKernels = ({ totals: { kernelCount, kernelKinds } }: ScopeModel): boolean =>
  kernelCount > 0 && kernelKinds.includes("gpu_kernel");

function kindNotes({ totals: { kernelKinds } }: ScopeModel): readonly string[] {
  if (!kernelKinds.includes("cpu_operation")) return [];
  return kernelKinds.includes("gpu_kernel")
    ? ["the kernel lists hold GPU kernels and CPU operations; each record has its kind"]
    : ["no kernels were recorded on a GPU: the kernel lists hold CPU operations instead"];
}

/** The recorder and nsys do not influence the GPU's clocks. */
const freeRunNotes = (scope: ScopeModel): readonly string[] =>
  hasKernels(scope)
    ? [
        "GPU clocks are not locked by this collector: times vary with temperature, power and other load; it reads no hardware counters (pipeline.ncu.enable=true does both)",
      ]
    : [];

function withoutCounters(regions: readonly RegionModelEntry[], names: NamesOf): readonly string[] {
  const without = regions.filter(({ metrics }) => (metrics?.size ?? 0) === 0);
  if (without.length === 0) return [];
  return [
    `no hardware counter has a value in ${partOf(without.length, regions.length, "region")}: ${names(without)}`,
  ];
}

/** Ranges that were measured as a whole have a time but no kernels, which needs no note. */
function emptyNotes(
  regions: readonly RegionModelEntry[],
  { totals }: ScopeModel,
  names: NamesOf,
): readonly string[] {
  if (totals.kernelCount === 0) return [];
  const empty = regions.filter(({ kernelCount }) => kernelCount === 0);
  if (empty.length === 0) return [];
  const what =
    totals.kernelKinds.length > 1
      ? "GPU kernel or CPU operation"
      : totals.kernelKinds.includes("gpu_kernel")
        ? "GPU kernel"
        : "CPU operation";
  return [`no ${what} ran in ${partOf(empty.length, regions.length, "region")}: ${names(empty)}`];
}

function ownNotes(regions: readonly RegionModelEntry[], names: NamesOf): readonly string[] {
  const noted = regions.filter(({ notes }) => notes.length > 0);
  if (noted.length === 0) return [];
  const who = plural(noted.length, "region has its", "regions have their");
  return [`${who} own notes in the reports: ${names(noted)}`];
}

const MAX_NAMES = 5;
const MAX_NAME = 60;

/** The names of the first few of some regions. */
type NamesOf = (regions: readonly RegionModelEntry[]) => string;

/** Labels are chosen by the program, and may be long. */
function namesIn(all: readonly RegionModelEntry[]): NamesOf {
  const lineOf = pathLines(all);
  const nameOf = (region: RegionModelEntry) => {
    const text = lineOf(region);
    return text.length > MAX_NAME ? `…${text.slice(-MAX_NAME)}` : text;
  };
  return (regions) => firstFewOf(regions, MAX_NAMES, nameOf);
}
