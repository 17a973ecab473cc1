/** Aggregates the metrics of a region. */
import type { MetricColumns, NcuResult } from "../../../model/counters.ts";
import { DURATIONS, type MetricRule, ruleOf } from "./metric-rules.ts";

/** Metrics of a region, by ncu's names. */
export type RegionMetrics = ReadonlyMap<string, RegionMetric>;

export interface RegionMetric {
  /** Null if no kernel has a number, or if kernels differ and the metric has no common value. */
  readonly value: number | null;
  readonly unit: string;
  /** How many results contributed, and how many could have. */
  readonly counted: number;
  readonly results: number;
  /** False for a mean over tables without a common weight, which is a plain mean. */
  readonly weighted: boolean;
}

/** Adds up the metrics of many results under their rules; memory does not grow with results. */
export interface MetricTally {
  add(result: NcuResult): void;
  /** Adds the sums of another tally, which stays unchanged. */
  merge(other: Pick<MetricTally, "parts">): void;
  readonly parts: ReadonlyMap<MetricColumns, ColumnSums>;
  metrics(): RegionMetrics;
}

/** Sums of one table's metrics, by index. */
export interface ColumnSums {
  results: number;
  /** Sum, extreme or first value; for a mean the sum of value times weight. */
  readonly values: Float64Array;
  /** For a mean the sum of weights; for a constant, 1 after a differing value. */
  readonly weights: Float64Array;
  /** For a mean the sum of values, for kernels without a weight. */
  readonly plain: Float64Array;
  /** As `values` and `weights`, weighted by time, for a mean with another weight. */
  readonly timed: Float64Array;
  readonly times: Float64Array;
  readonly counts: Uint32Array;
}

/** The rules of a table's metrics as numbers, because each metric of each kernel uses them. */
interface ColumnPlan {
  readonly kinds: Uint8Array;
  /** Index of the metric that weights a mean; -1 for none. */
  readonly weightAt: Int32Array;
  /** Index of the GPU time; -1 for none. */
  readonly timeAt: number;
}

export const KINDS: Readonly<Record<MetricRule["kind"], number>> = {
  sum: 0,
  maximum: 1,
  minimum: 2,
  constant: 3,
  mean: 4,
};

const PLANS = new WeakMap<MetricColumns, ColumnPlan>();

export function planOf(columns: MetricColumns): ColumnPlan {
  const cached = PLANS.get(columns);
  if (cached !== undefined) return cached;
  const placeOf = (names: readonly string[]): number => {
    const found = names.find((name) => columns.index.has(name));
    return found === undefined ? -1 : (columns.index.get(found) ?? -1);
  };
  const rules = columns.names.map((name, place) => ruleOf(name, columns.units[place] ?? ""));
  const plan: ColumnPlan = {
    kinds: Uint8Array.from(rules, ({ kind }) => KINDS[kind]),
    weightAt: Int32Array.from(rules, (rule) => (rule.kind === "mean" ? placeOf(rule.weights) : -1)),
    timeAt: placeOf(DURATIONS),
  };
  PLANS.set(columns, plan);
  return plan;
}

export function createMetricTally(): MetricTally {
  const parts = new Map<MetricColumns, ColumnSums>();
  const partOf = (columns: MetricColumns): ColumnSums => {
    let part = parts.get(columns);
    if (part === undefined) {
      part = emptySums(columns.names.length);
      parts.set(columns, part);
    }
    return part;
  };
  return {
    parts,
    add: ({ columns, values }) => addResult(partOf(columns), planOf(columns), values),
    merge(other) {
      for (const [columns, sums] of other.parts) mergeSums(partOf(columns), planOf(columns), sums);
    },
    metrics: () => metricsOf(parts),
  };
}

export const emptySums = (length: number): ColumnSums => ({
  results: 0,
  values: new Float64Array(length),
  weights: new Float64Array(length),
  plain: new Float64Array(length),
  timed: new Float64Array(length),
  times: new Float64Array(length),
  counts: new Uint32Array(length),
});

function addResult(sums: ColumnSums, plan: ColumnPlan, row: Float64Array): void {
  const { values, weights, plain, timed, times, counts } = sums;
  const { kinds, weightAt, timeAt } = plan;
  const time = timeAt < 0 ? Number.NaN : (row[timeAt] ?? Number.NaN);
  sums.results++;
  for (let place = 0; place < row.length; place++) {
    const value = row[place] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    const isFirst = counts[place] === 0;
    counts[place] = (counts[place] ?? 0) + 1;
    switch (kinds[place]) {
      case KINDS.sum:
        addAt(values, place, value);
        break;
      case KINDS.maximum:
        if (isFirst || value > (values[place] ?? 0)) values[place] = value;
        break;
      case KINDS.minimum:
        if (isFirst || value < (values[place] ?? 0)) values[place] = value;
        break;
      case KINDS.constant:
        if (isFirst) values[place] = value;
        else if (value !== values[place]) weights[place] = 1;
        break;
      default: {
        const weightIndex = weightAt[place] ?? -1;
        const weight = weightIndex < 0 ? 1 : (row[weightIndex] ?? Number.NaN);
        addAt(plain, place, value);
        if (weightIndex !== timeAt && time > 0) {
          addAt(timed, place, value * time);
          addAt(times, place, time);
        }
        // A kernel without the weight counts only if no kernel has one.
        if (!(weight > 0)) break;
        addAt(values, place, value * weight);
        addAt(weights, place, weight);
      }
    }
  }
}

function addAt(sums: Float64Array, place: number, value: number): void {
  sums[place] = (sums[place] ?? 0) + value;
}

function mergeSums(into: ColumnSums, { kinds }: ColumnPlan, from: ColumnSums): void {
  into.results += from.results;
  for (let place = 0; place < from.counts.length; place++) {
    if (from.counts[place] === 0) continue;
    const isFirst = into.counts[place] === 0;
    into.counts[place] = (into.counts[place] ?? 0) + (from.counts[place] ?? 0);
    const current = into.values[place] ?? 0;
    const other = from.values[place] ?? 0;
    switch (kinds[place]) {
      case KINDS.maximum:
        into.values[place] = isFirst ? other : Math.max(current, other);
        break;
      case KINDS.minimum:
        into.values[place] = isFirst ? other : Math.min(current, other);
        break;
      case KINDS.constant:
        into.weights[place] =
          !isFirst && current !== other
            ? 1
            : Math.max(into.weights[place] ?? 0, from.weights[place] ?? 0);
        if (isFirst) into.values[place] = other;
        break;
      default:
        into.values[place] = current + other;
        addAt(into.weights, place, from.weights[place] ?? 0);
        addAt(into.plain, place, from.plain[place] ?? 0);
        addAt(into.timed, place, from.timed[place] ?? 0);
        addAt(into.times, place, from.times[place] ?? 0);
    }
  }
}

/** Metrics by name over all tables; a metric with different units in two tables has no value. */
function metricsOf(parts: ReadonlyMap<MetricColumns, ColumnSums>): RegionMetrics {
  const [only, ...others] = parts;
  if (only === undefined) return new Map();
  const weighting = others.length > 0 ? commonWeights(parts) : new Map<string, Weighting>();
  const [columns, sums] = others.length > 0 ? unite(parts, weighting) : only;
  const { kinds } = planOf(columns);
  const metrics = new Map<string, RegionMetric>();
  for (const [place, name] of columns.names.entries()) {
    const counted = sums.counts[place] ?? 0;
    const value = counted === 0 ? Number.NaN : valueAt(sums, kinds[place], place);
    metrics.set(name, {
      value: Number.isFinite(value) ? value : null,
      unit: columns.units[place] ?? "",
      counted,
      results: sums.results,
      weighted: weighting.get(name) !== "plain",
    });
  }
  return metrics;
}

function valueAt(
  { values, weights, plain, counts }: ColumnSums,
  kind: number | undefined,
  place: number,
): number {
  const value = values[place] ?? 0;
  const weight = weights[place] ?? 0;
  if (kind === KINDS.constant) return weight === 0 ? value : Number.NaN;
  if (kind !== KINDS.mean) return value;
  return weight > 0 ? value / weight : (plain[place] ?? 0) / (counts[place] ?? 0);
}

/** The common weight of tables of which some lack the preferred metric. */
type Weighting = "time" | "plain";

/** For means that some tables weight with one metric, and others with another or none. */
function commonWeights(
  parts: ReadonlyMap<MetricColumns, ColumnSums>,
): ReadonlyMap<string, Weighting> {
  const weights = new Map<string, string>();
  const unlike = new Set<string>();
  const untimed = new Set<string>();
  for (const [columns, { counts }] of parts) {
    const { kinds, weightAt, timeAt } = planOf(columns);
    for (const [place, name] of columns.names.entries()) {
      if (kinds[place] !== KINDS.mean || counts[place] === 0) continue;
      const weight = columns.names[weightAt[place] ?? -1] ?? "";
      if ((weights.get(name) ?? weight) !== weight) unlike.add(name);
      weights.set(name, weight);
      if (timeAt < 0) untimed.add(name);
    }
  }
  return new Map([...unlike].map((name) => [name, untimed.has(name) ? "plain" : "time"]));
}

/** Null for a metric with different units; the unit of a table without a number does not count. */
function commonUnits(
  parts: ReadonlyMap<MetricColumns, ColumnSums>,
): ReadonlyMap<string, string | null> {
  const units = new Map<string, string | null>();
  const measured = new Set<string>();
  for (const [{ names, units: partUnits }, { counts }] of parts)
    for (const [place, name] of names.entries()) {
      const unit = partUnits[place] ?? "";
      const hasNumber = (counts[place] ?? 0) > 0;
      if (hasNumber && measured.has(name)) {
        if (units.get(name) !== unit) units.set(name, null);
      } else if (hasNumber || !units.has(name)) units.set(name, unit);
      if (hasNumber) measured.add(name);
    }
  return units;
}

/**
 * Combines all tables into one with the metrics of all; a metric with different units counts as never measured.
 *
 * @param weighting weighting of the means whose own weights cannot be added up
 */
function unite(
  parts: ReadonlyMap<MetricColumns, ColumnSums>,
  weighting: ReadonlyMap<string, Weighting>,
): [MetricColumns, ColumnSums] {
  const units = commonUnits(parts);
  // As in ncu's tables, whose header has the metrics of all results.
  const names = [...units.keys()].sort();
  const index = new Map(names.map((name, place) => [name, place]));
  const columns = { names, units: names.map((name) => units.get(name) ?? ""), index };
  const united = emptySums(names.length);
  const plan = planOf(columns);
  for (const [metricColumns, sums] of parts) {
    const moved = { ...emptySums(names.length), results: sums.results };
    for (const [place, name] of metricColumns.names.entries()) {
      const to = index.get(name);
      if (to === undefined || units.get(name) === null) continue;
      for (const key of ["values", "weights", "plain", "counts"] as const)
        moved[key][to] = sums[key][place] ?? 0;
      const common = weighting.get(name);
      const { weightAt, timeAt } = planOf(metricColumns);
      if (common === "plain") {
        moved.values[to] = sums.plain[place] ?? 0;
        moved.weights[to] = sums.counts[place] ?? 0;
      } else if (common === "time" && weightAt[place] !== timeAt) {
        moved.values[to] = sums.timed[place] ?? 0;
        moved.weights[to] = sums.times[place] ?? 0;
      }
    }
    mergeSums(united, plan, moved);
  }
  return [columns, united];
}
