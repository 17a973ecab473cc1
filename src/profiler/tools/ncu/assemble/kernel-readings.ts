/**
 * Counter readings of a kernel's launches in one region: the few metrics that determine limits, occupancy and tensor
 * core use, added up under the rules of all metrics. There can be as many of these sums as launches, so each is one row
 * of numbers.
 */

import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import type { KernelHardware } from "../../../../report/model/document.ts";
import { isHardwareMetric, kernelHardware } from "../../../../report/view/kernel-hardware.ts";
import type { RegionIdentity } from "../../../analysis/path-tree.ts";
import {
  createMetricColumns,
  type MetricColumns,
  type NcuResult,
} from "../../../model/counters.ts";
import { type ColumnSums, createMetricTally, emptySums, KINDS, planOf } from "./metric-tally.ts";

/** Sums over launches that counted for the same regions and have the same metric columns. */
export interface KernelReading {
  readonly regions: readonly RegionIdentity[];
  readonly source: MetricColumns;
  readonly table: ReadingTable;
  readonly sums: Float64Array;
}

/** The metrics of a table that are read here. */
interface ReadingTable {
  /** The metrics, and the weights of their means. */
  readonly columns: MetricColumns;
  readonly counters: readonly Counter[];
  /** Index of the GPU time in a result; -1 for none. */
  readonly timeAt: number;
  /** The length of a row of sums. */
  readonly length: number;
}

interface Counter {
  readonly isMean: boolean;
  /** Indices of the metric and of its weight (-1: none) in a result. */
  readonly place: number;
  readonly weightAt: number;
  /** Index of the metric in `columns`. */
  readonly to: number;
  /** Index of its sums in a row. */
  readonly offset: number;
}

/** Offsets of the sums of a metric; those of a minimum end after the value. */
const COUNT = 0;
const VALUE = 1;
const WEIGHT = 2;
const PLAIN = 3;
const TIMED = 4;
const TIMES = 5;
const MEAN_LENGTH = 6;
const MINIMUM_LENGTH = 2;

const TABLES = new WeakMap<MetricColumns, ReadingTable>();

function createTable(columns: MetricColumns): ReadingTable {
  const { kinds, weightAt, timeAt } = planOf(columns);
  const isMean = (place: number): boolean => kinds[place] === KINDS.mean;
  const counted = columns.names.flatMap((name, place) =>
    isHardwareMetric(name) && (isMean(place) || kinds[place] === KINDS.minimum) ? [place] : [],
  );
  const weights = counted.map((place) => weightAt[place] ?? -1);
  const needed = [...new Set([...counted, ...weights, timeAt])].filter((place) => place >= 0);
  let length = 0;
  return {
    columns: createMetricColumns(
      needed.map((place) => columns.names[place] ?? ""),
      needed.map((place) => columns.units[place] ?? ""),
    ),
    counters: counted.map((place, to) => {
      const offset = length;
      length += isMean(place) ? MEAN_LENGTH : MINIMUM_LENGTH;
      return { isMean: isMean(place), place, weightAt: weights[to] ?? -1, to, offset };
    }),
    timeAt,
    length,
  };
}

export function createReading(
  columns: MetricColumns,
  regions: readonly RegionIdentity[],
): KernelReading {
  const table = getOrCreate(TABLES, columns, () => createTable(columns));
  return { source: columns, regions, table, sums: new Float64Array(table.length) };
}

/** Whether a launch with these metrics, which counted for these regions, belongs to a reading. */
export const isOf = (
  reading: KernelReading,
  columns: MetricColumns,
  regions: readonly RegionIdentity[],
): boolean =>
  reading.source === columns &&
  (reading.regions === regions ||
    (reading.regions.length === regions.length &&
      reading.regions.every((region, level) => region === regions[level])));

/** Adds a launch. The arithmetic is that of `metric-tally.ts`. */
export function addToReading({ table, sums }: KernelReading, { values }: NcuResult): void {
  const { counters, timeAt } = table;
  if (counters.length === 0) return;
  const time = valueAt(values, timeAt);
  for (const { isMean, place, weightAt, offset } of counters) {
    const value = valueAt(values, place);
    if (Number.isNaN(value)) continue;
    if (isMean) addMean(sums, offset, value, weightAt < 0 ? 1 : valueAt(values, weightAt));
    else addMinimum(sums, offset, value);
    increase(sums, offset + COUNT, 1);
    if (!isMean || weightAt === timeAt || !(time > 0)) continue;
    increase(sums, offset + TIMED, value * time);
    increase(sums, offset + TIMES, time);
  }
}

function addMean(sums: Float64Array, offset: number, value: number, weight: number): void {
  increase(sums, offset + PLAIN, value);
  if (!(weight > 0)) return;
  increase(sums, offset + VALUE, value * weight);
  increase(sums, offset + WEIGHT, weight);
}

function addMinimum(sums: Float64Array, offset: number, value: number): void {
  const least = sums[offset + VALUE] ?? 0;
  if (sums[offset + COUNT] === 0 || value < least) sums[offset + VALUE] = value;
}

function mergeInto(sums: Float64Array, { counters }: ReadingTable, from: Float64Array): void {
  for (const { isMean, offset } of counters) {
    const count = from[offset + COUNT] ?? 0;
    if (count === 0) continue;
    if (isMean)
      for (let slot = VALUE; slot < MEAN_LENGTH; slot++)
        increase(sums, offset + slot, from[offset + slot] ?? 0);
    else addMinimum(sums, offset, from[offset + VALUE] ?? 0);
    increase(sums, offset + COUNT, count);
  }
}

/** The combined result of several readings of one kernel; undefined without values. */
export function hardwareOf(readings: readonly KernelReading[]): KernelHardware | undefined {
  const byTable = new Map<ReadingTable, Float64Array>();
  for (const { table, sums } of readings) {
    const whole = byTable.get(table);
    if (whole === undefined) byTable.set(table, sums.slice());
    else mergeInto(whole, table, sums);
  }
  const tally = createMetricTally();
  for (const [table, sums] of byTable)
    tally.merge({ parts: new Map([[table.columns, columnSums(table, sums)]]) });
  return kernelHardware(Object.fromEntries(tally.metrics()));
}

/** Converts a row to the sums of a metric tally. */
function columnSums({ columns, counters }: ReadingTable, sums: Float64Array): ColumnSums {
  const found = emptySums(columns.names.length);
  for (const { isMean, to, offset } of counters) {
    found.counts[to] = sums[offset + COUNT] ?? 0;
    found.values[to] = sums[offset + VALUE] ?? 0;
    if (!isMean) continue;
    found.weights[to] = sums[offset + WEIGHT] ?? 0;
    found.plain[to] = sums[offset + PLAIN] ?? 0;
    found.timed[to] = sums[offset + TIMED] ?? 0;
    found.times[to] = sums[offset + TIMES] ?? 0;
  }
  return found;
}

const valueAt = (values: Float64Array, place: number): number =>
  place < 0 ? Number.NaN : (values[place] ?? Number.NaN);

function increase(sums: Float64Array, offset: number, by: number): void {
  sums[offset] = (sums[offset] ?? 0) + by;
}
