/** Builds the report of a sweep from the reports of its jobs. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import {
  type HostInterval,
  overlappingIntervals,
} from "../../foundation/system/overlapping-intervals.ts";
import { dateTime } from "../../foundation/text/date-time.ts";
import { agreeing, plural } from "../../foundation/text/plural.ts";
import { splitAtEquals } from "../../foundation/text/shell-words.ts";
import type { Measured } from "../compare/change.ts";
import { totalWall, totalWork } from "../compare/compare-reports.ts";
import type { NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { regionKey } from "../model/report-files.ts";
import { concurrentJobsNote } from "../view/notes.ts";
import { reportKernelWords } from "../view/times.ts";
import { SWEEP_CONTRACT } from "./sweep-document.ts";
import type {
  SweepCalls,
  SweepJob,
  SweepParameter,
  SweepReport,
  SweepWork,
} from "./sweep-types.ts";
import { rankedJobs } from "./tables.ts";

/** A job as stored in the directory of a sweep. */
export interface JobInput {
  readonly name: string;
  /** The overrides in `overrides.yaml`. */
  readonly overrides: readonly string[];
  /** Where and when it ran; absent if unknown. */
  readonly interval?: HostInterval;
  /** Its page, relative to the report of the sweep. */
  readonly page?: string;
  /** The amount of work, in the unit of `work`; absent if unknown. */
  readonly amount?: number;
  /** The main report of one collector, or why there is none. */
  readonly result:
    | { readonly report: JobReport }
    | { readonly report: null; readonly problem: string };
}

/**
 * The part of a job's report that the sweep's report needs: all kernels, metrics and sections of 1,000 jobs would take
 * gigabytes.
 */
export interface JobReport extends Pick<NCUProfileRegionReport, "totals"> {
  readonly hostname: string;
  /** The term for the entries of its kernel lists; null if there are none. */
  readonly kernels: string | null;
  /** Half of the 95 % interval of each time of the whole job over its runs; null for fewer than three. */
  readonly half: Readonly<Record<SweepReport["basis"], number | null>>;
  /** Places, kinds and times of regions; the other members are empty. */
  readonly regions: readonly NCUProfileRegion[];
}

type Place = Pick<NCUProfileRegion, "name" | "path" | "parent" | "domain" | "path_domains">;

/**
 * Regions' places by their stored form: the jobs of a sweep share them, because copies would take most of the memory.
 */
export type SharedPlaces = Map<string, Place>;

/** @param places the places that the jobs of a sweep share */
export const jobReport = (
  report: NCUProfileRegionReport,
  places: SharedPlaces = new Map(),
): JobReport => ({
  totals: report.totals,
  hostname: report.environment.hostname,
  kernels: reportKernelWords(report)?.plural ?? null,
  half: { total_ms: halfOf(totalWork(report)), wall_ms: halfOf(totalWall(report)) },
  regions: report.regions.map((region) => timesOnly(region, sharedPlace(region, places))),
});

/** The spread of the calls of one run is not that of runs, which has degrees of freedom. */
const halfOf = (measured: Measured | null): number | null =>
  measured?.freedom === undefined ? null : measured.uncertainty;

/** Written member by member: an object built with spreads takes three times as much memory. */
function timesOnly(
  { depth, kind, invocations, total_ms, wall_ms, cpu_ms, kernel_count, ...rest }: NCUProfileRegion,
  { name, path, parent, domain, path_domains }: Place,
): NCUProfileRegion {
  const region: NCUProfileRegion = {
    name,
    path,
    parent,
    depth,
    domain,
    kind,
    device: null,
    process_id: null,
    invocations,
    total_ms,
    exclusive_ms: null,
    wall_ms,
    wall_exclusive_ms: null,
    // A single call has no spread.
    invocation_wall_ms: invocations > 1 ? rest.invocation_wall_ms : null,
    kernel_count,
    metrics: NOTHING_ELSE.metrics,
    sections: NOTHING_ELSE.sections,
    kernels: NOTHING_ELSE.kernels,
    selection: NOTHING_ELSE.selection,
    notes: NOTHING_ELSE.notes,
    ...(cpu_ms !== undefined && { cpu_ms }),
  };
  return path_domains === undefined ? region : { ...region, path_domains };
}

/** Shared by all regions. */
const NOTHING_ELSE = {
  metrics: {},
  sections: {},
  kernels: [],
  selection: { include_patterns: [], exclude_patterns: [] },
  notes: [],
} as const satisfies Partial<NCUProfileRegion>;

function sharedPlace(
  { name, path, parent, domain, path_domains }: Place,
  places: SharedPlaces,
): Place {
  return getOrCreate(places, JSON.stringify([domain, path, path_domains]), () => ({
    name,
    path,
    parent,
    domain,
    ...(path_domains !== undefined && { path_domains }),
  }));
}

export function buildSweepReport(
  inputs: readonly JobInput[],
  {
    collector,
    generatedAt,
    work,
  }: { readonly collector: string; readonly generatedAt: Date; readonly work?: SweepWork },
): SweepReport {
  const set = inputs.map(({ overrides }) => new Map(overrides.map(keyAndValue)));
  const parameters = sweptKeys(set).map((key): SweepParameter => {
    const values = set.map((overrides) => overrides.get(key));
    return { key, numeric: values.every((value) => value !== undefined && isNumber(value)) };
  });
  const reports = inputs.flatMap(({ result: { report } }) => (report === null ? [] : [report]));
  const basis = reports.every(({ totals }) => totals.total_ms !== null) ? "total_ms" : "wall_ms";
  const jobs = inputs.map(({ name, result, page, amount }, index): SweepJob => {
    const { totals, half } = result.report ?? {};
    return {
      name,
      values: parameters.map(({ key }) => set[index]?.get(key) ?? null),
      total_ms: totals?.[basis] ?? null,
      ...(totals?.cpu_ms !== undefined && { cpu_ms: totals.cpu_ms }),
      ...(half?.[basis] != null && { ci95_half_ms: half[basis] }),
      ...throughputOf(amount, totals?.wall_ms ?? totals?.run?.wall_ms ?? null, half?.wall_ms),
      ...(page !== undefined && { page }),
      problem: result.report === null ? result.problem : null,
    };
  });
  return {
    contract: SWEEP_CONTRACT,
    generated_at: dateTime(generatedAt),
    collector,
    basis,
    parameters,
    jobs,
    ...(work !== undefined && { work }),
    best: bestOf(jobs, work),
    regions: regionsOf(inputs, basis),
    notes: [
      ...notesOf(reports, jobs),
      ...throughputNotes(jobs, work),
      ...concurrentJobsNote(timedConcurrently(inputs, jobs)),
    ],
  };
}

/** @param half half of the 95 % interval of the elapsed time */
function throughputOf(
  amount: number | undefined,
  elapsedMs: number | null,
  half: number | null | undefined,
): Pick<SweepJob, "wall_ms" | "per_second" | "per_second_ci95_half"> {
  if (elapsedMs === null) return {};
  if (amount === undefined || elapsedMs === 0) return { wall_ms: elapsedMs };
  const perSecond = (amount / elapsedMs) * 1000;
  return {
    wall_ms: elapsedMs,
    per_second: perSecond,
    ...(half != null && { per_second_ci95_half: perSecond * (half / elapsedMs) }),
  };
}

function keyAndValue(override: string): readonly [string, string] {
  const [key, value = ""] = splitAtEquals(override);
  return [key.replace(/^(?:\+{1,2}|~)/, ""), value];
}

/** The keys whose values differ between jobs. */
function sweptKeys(set: readonly ReadonlyMap<string, string>[]): readonly string[] {
  const keys = [...new Set(set.flatMap((overrides) => [...overrides.keys()]))];
  return keys.filter((key) => new Set(set.map((overrides) => overrides.get(key))).size > 1);
}

const isNumber = (text: string): boolean =>
  text.trim() !== "" && Number.isFinite(Number(text)) && !/^0[xob]/i.test(text.trim());

/** The first of several equal jobs; null where a job ran too seldom to know. */
function bestOf(jobs: readonly SweepJob[], work: SweepWork | undefined): string | null {
  const ranked = rankedJobs({ jobs, best: null, ...(work !== undefined && { work }) });
  return ranked.every(({ half }) => half !== null) ? (ranked[0]?.job.name ?? null) : null;
}

/** The regions in the order of the jobs; a region that only later jobs have comes last. */
function regionsOf(inputs: readonly JobInput[], basis: SweepReport["basis"]) {
  interface Found {
    readonly region: NCUProfileRegion;
    readonly times: (number | null)[];
    readonly cpuTimes: (number | null)[];
    readonly calls: (SweepCalls | null)[];
  }
  const found = new Map<string, Found>();
  const none = () => inputs.map(() => null);
  for (const [job, { result }] of inputs.entries())
    for (const region of result.report?.regions ?? []) {
      const key = regionKey(region);
      const entry = found.get(key) ?? { region, times: none(), cpuTimes: none(), calls: none() };
      entry.times[job] = region[basis];
      entry.cpuTimes[job] = region.cpu_ms ?? null;
      entry.calls[job] = callsOf(region);
      found.set(key, entry);
    }
  return [...found.values()].map(
    ({ region: { path, domain, path_domains, kind }, times, cpuTimes, calls }) => ({
      path,
      domain,
      ...(path_domains !== undefined && { path_domains }),
      kind,
      times_ms: times,
      ...(cpuTimes.some((ms) => ms !== null) && { cpu_times_ms: cpuTimes }),
      ...(calls.some((calls) => calls !== null) && { calls_ms: calls }),
    }),
  );
}

function callsOf({ invocations, invocation_wall_ms }: NCUProfileRegion): SweepCalls | null {
  if (invocation_wall_ms === null) return null;
  const { min, median, p95, max } = invocation_wall_ms;
  return { calls: invocations, min, median, p95, max };
}

/** Includes jobs beside a failed one, which also used the machine. */
function timedConcurrently(
  inputs: readonly JobInput[],
  jobs: readonly SweepJob[],
): readonly string[] {
  const intervals = inputs.flatMap(({ name, interval }) =>
    interval === undefined ? [] : [{ name, ...interval }],
  );
  const timed = new Set(jobs.filter(({ total_ms }) => total_ms !== null).map(({ name }) => name));
  return overlappingIntervals(intervals)
    .map(({ name }) => name)
    .filter((name) => timed.has(name));
}

function throughputNotes(
  jobs: readonly SweepJob[],
  work: SweepWork | undefined,
): readonly string[] {
  const without = jobs.filter(
    ({ total_ms, wall_ms }) => total_ms !== null && wall_ms === undefined,
  );
  return work === undefined || without.length === 0
    ? []
    : [
        `no elapsed time was measured, which throughput needs: ${without.map(({ name }) => name).join(", ")}; the recorder and nsys measure it`,
      ];
}

function notesOf(reports: readonly JobReport[], jobs: readonly SweepJob[]): readonly string[] {
  const words = new Set(reports.map(({ kernels }) => kernels ?? "no kernels"));
  const machines = new Set(reports.map(({ hostname }) => hostname));
  const without = jobs.filter(({ total_ms }) => total_ms === null);
  return [
    ...(without.length > 0
      ? [
          `${without.length} of ${plural(jobs.length, "job")} ${agreeing(without.length, "has", "have")} no time: ${without.map(({ name }) => name).join(", ")}`,
        ]
      : []),
    ...(words.size > 1 ? [`the jobs measured different things: ${[...words].join("; ")}`] : []),
    ...(machines.size > 1
      ? [`the jobs ran on different machines: ${[...machines].join(", ")}`]
      : []),
  ];
}
