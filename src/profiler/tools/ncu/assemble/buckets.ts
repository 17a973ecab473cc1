/** Adds up ncu's results by process, device and region. */
import type { DeviceName } from "../../../../report/model/document.ts";
import type { KernelIdentity } from "../../../analysis/kernel-names.ts";
import type { RegionIdentity } from "../../../analysis/path-tree.ts";
import type { NcuResult, RuleMessage } from "../../../model/counters.ts";
import { addToReading, createReading, isOf, type KernelReading } from "./kernel-readings.ts";
import { DURATIONS } from "./metric-rules.ts";
import { createMetricTally, type MetricTally } from "./metric-tally.ts";

/** The tallies of one process on one device, by region: every scope is merged from such buckets. */
export interface Bucket {
  readonly processId: number;
  readonly device: DeviceName;
  readonly regions: Map<RegionIdentity, RegionTally>;
}

/** The launches of a kernel in a region. */
export interface KernelRow {
  calls: number;
  /** The calls whose time is known. */
  timed: number;
  ns: number;
  /** Counter readings of its launches in the region and in nested regions; null: none. */
  readings: KernelReading[] | null;
  /** The readings of launches that no nested region contains. */
  exclusiveReadings: KernelReading[] | null;
}

export interface RegionTally {
  readonly metrics: MetricTally;
  readonly kernels: Map<KernelIdentity, KernelRow>;
  /** Results whose innermost region this is. */
  exclusiveCalls: number;
  exclusiveNs: number;
  /** Range results. */
  ranges: number;
  /** Those that are kernels of a range, measured one by one. */
  parts: number;
  ns: number;
  /** Results without a duration, and those of them that have the metric, without a value that can be read. */
  untimed: number;
  unreadable: number;
  /** Messages of ncu's rules, by text. */
  readonly rules: Map<string, RuleCount>;
}

export interface RuleCount extends RuleMessage {
  readonly results: number;
}

/**
 * A limit, because rules put numbers of the kernel into their messages: a region with many kernels would have an
 * unlimited number of them.
 */
const MAX_RULES = 200;

export const emptyTally = (): RegionTally => ({
  metrics: createMetricTally(),
  kernels: new Map(),
  exclusiveCalls: 0,
  exclusiveNs: 0,
  ranges: 0,
  parts: 0,
  ns: 0,
  untimed: 0,
  unreadable: 0,
  rules: new Map(),
});

/** Adds a result to every region that it counts for; the last one is its exclusive owner. */
export function addResult(
  { regions: tallies }: Bucket,
  regions: readonly RegionIdentity[],
  result: NcuResult,
  kernel: KernelIdentity | null,
): void {
  const ns = durationOf(result);
  const timed = Number.isNaN(ns) ? 0 : ns;
  for (const [level, region] of regions.entries()) {
    let tally = tallies.get(region);
    if (tally === undefined) {
      tally = emptyTally();
      tallies.set(region, tally);
    }
    tally.metrics.add(result);
    tally.ns += timed;
    if (Number.isNaN(ns)) {
      tally.untimed++;
      if (hasDuration(result)) tally.unreadable++;
    }
    if (result.isPart === true) tally.parts++;
    if (kernel === null) tally.ranges++;
    else {
      const row = addCalls(tally.kernels, kernel, {
        calls: 1,
        timed: Number.isNaN(ns) ? 0 : 1,
        ns: timed,
      });
      if (level === regions.length - 1)
        addToReading(ownReading(row, result, kernel, regions, tallies), result);
    }
    for (const rule of result.rules ?? []) addRule(tally.rules, { ...rule, results: 1 });
    if (level < regions.length - 1) continue;
    tally.exclusiveCalls++;
    tally.exclusiveNs += timed;
  }
}

/**
 * The sums that a launch is added to: one reading for all regions that it counts for, since many regions can enclose
 * it. A new reading is registered in the kernel's row in each of them.
 *
 * @param row row of the kernel in the innermost region
 */
function ownReading(
  row: KernelRow,
  { columns }: NcuResult,
  kernel: KernelIdentity,
  regions: readonly RegionIdentity[],
  tallies: Bucket["regions"],
): KernelReading {
  const first = row.exclusiveReadings?.[0];
  if (first !== undefined && isOf(first, columns, regions)) return first;
  const existing = row.exclusiveReadings?.find((reading) => isOf(reading, columns, regions));
  if (existing !== undefined) return existing;
  const created = createReading(columns, regions);
  if (row.exclusiveReadings === null) row.exclusiveReadings = [created];
  else row.exclusiveReadings.push(created);
  for (const region of regions) {
    const around = tallies.get(region)?.kernels.get(kernel);
    if (around !== undefined) addReadings(around, [created]);
  }
  return created;
}

function addReadings(row: KernelRow, readings: readonly KernelReading[]): void {
  if (row.readings === null) row.readings = [...readings];
  else for (const reading of readings) row.readings.push(reading);
}

/** Merges the tally of a part of a scope into that of the whole. */
export function mergeTally(into: RegionTally, from: RegionTally): void {
  into.metrics.merge(from.metrics);
  for (const [kernel, part] of from.kernels) {
    const row = addCalls(into.kernels, kernel, part);
    if (part.readings !== null) addReadings(row, part.readings);
  }
  into.exclusiveCalls += from.exclusiveCalls;
  into.exclusiveNs += from.exclusiveNs;
  into.ranges += from.ranges;
  into.parts += from.parts;
  into.ns += from.ns;
  into.untimed += from.untimed;
  into.unreadable += from.unreadable;
  for (const rule of from.rules.values()) addRule(into.rules, rule);
}

function addCalls(
  kernels: RegionTally["kernels"],
  kernel: KernelIdentity,
  { calls, timed, ns }: Pick<KernelRow, "calls" | "timed" | "ns">,
): KernelRow {
  const existing = kernels.get(kernel);
  if (existing === undefined) {
    const row = { calls, timed, ns, readings: null, exclusiveReadings: null };
    kernels.set(kernel, row);
    return row;
  }
  existing.calls += calls;
  existing.timed += timed;
  existing.ns += ns;
  return existing;
}

function addRule(rules: RegionTally["rules"], rule: RuleCount): void {
  const key = `${rule.section}\0${rule.rule}\0${rule.text}`;
  const existing = rules.get(key);
  if (existing !== undefined)
    rules.set(key, { ...existing, results: existing.results + rule.results });
  else if (rules.size < MAX_RULES) rules.set(key, rule);
}

/** Later times in nanoseconds are negative ones, read without their sign. */
const LONGEST_NS = 2 ** 63;

const hasDuration = ({ columns }: NcuResult): boolean =>
  DURATIONS.some((name) => columns.index.has(name));

/** GPU time in nanoseconds; NaN if it was not measured, or cannot be true. */
function durationOf({ columns, values }: NcuResult): number {
  for (const name of DURATIONS) {
    const place = columns.index.get(name);
    const value = place === undefined ? Number.NaN : (values[place] ?? Number.NaN);
    if (value >= 0 && value < LONGEST_NS) return value;
  }
  return Number.NaN;
}
