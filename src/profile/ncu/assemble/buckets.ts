import type { KernelIdentity } from "../../regions/kernel-names.ts";
import type { RegionIdentity } from "../../regions/path-tree.ts";
import { DURATIONS } from "../metric-rules.ts";
import { createMetricTally, type MetricTally } from "../metric-tally.ts";
import type { NcuResult, RuleMessage } from "../results.ts";

/** What one process did on one device, by region: the smallest part that every scope is made of. */
export interface Bucket {
  readonly processId: number;
  readonly device: string;
  readonly regions: Map<RegionIdentity, RegionTally>;
}

export interface RegionTally {
  readonly metrics: MetricTally;
  readonly kernels: Map<KernelIdentity, { calls: number; ns: number }>;
  /** Results whose innermost region this is. */
  exclusiveCalls: number;
  exclusiveNs: number;
  /** Range results. */
  ranges: number;
  ns: number;
  /** Results that have no duration. */
  untimed: number;
  /** Messages of ncu's rules, by their words. */
  readonly rules: Map<string, RuleCount>;
}

export interface RuleCount extends RuleMessage {
  readonly results: number;
}

/** Rules word their messages with numbers of the kernel: a region of many kernels has no end of them. */
const MAX_RULES = 200;

export const emptyTally = (): RegionTally => ({
  metrics: createMetricTally(),
  kernels: new Map(),
  exclusiveCalls: 0,
  exclusiveNs: 0,
  ranges: 0,
  ns: 0,
  untimed: 0,
  rules: new Map(),
});

/** Adds one result to every region it counts for; the last of them owns it. */
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
    if (Number.isNaN(ns)) tally.untimed++;
    if (kernel === null) tally.ranges++;
    else addCalls(tally.kernels, kernel, 1, timed);
    for (const rule of result.rules ?? []) addRule(tally.rules, { ...rule, results: 1 });
    if (level < regions.length - 1) continue;
    tally.exclusiveCalls++;
    tally.exclusiveNs += timed;
  }
}

/** Adds what one part of a scope has to the whole. */
export function mergeTally(into: RegionTally, from: RegionTally): void {
  into.metrics.merge(from.metrics);
  for (const [kernel, { calls, ns }] of from.kernels) addCalls(into.kernels, kernel, calls, ns);
  into.exclusiveCalls += from.exclusiveCalls;
  into.exclusiveNs += from.exclusiveNs;
  into.ranges += from.ranges;
  into.ns += from.ns;
  into.untimed += from.untimed;
  for (const rule of from.rules.values()) addRule(into.rules, rule);
}

function addCalls(
  kernels: RegionTally["kernels"],
  kernel: KernelIdentity,
  calls: number,
  ns: number,
): void {
  const row = kernels.get(kernel);
  if (row === undefined) kernels.set(kernel, { calls, ns });
  else {
    row.calls += calls;
    row.ns += ns;
  }
}

function addRule(rules: RegionTally["rules"], rule: RuleCount): void {
  const key = `${rule.section}\0${rule.rule}\0${rule.text}`;
  const known = rules.get(key);
  if (known !== undefined) rules.set(key, { ...known, results: known.results + rule.results });
  else if (rules.size < MAX_RULES) rules.set(key, rule);
}

/** GPU time in nanoseconds; NaN where it was not measured. */
function durationOf({ columns, values }: NcuResult): number {
  for (const name of DURATIONS) {
    const place = columns.index.get(name);
    const value = place === undefined ? Number.NaN : (values[place] ?? Number.NaN);
    if (!Number.isNaN(value)) return value;
  }
  return Number.NaN;
}
