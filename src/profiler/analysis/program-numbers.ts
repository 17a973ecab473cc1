/** Numbers of a region's ranges: those of their payloads, and of counters while they were open. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { lowerBound } from "../../foundation/system/lower-bound.ts";
import type { CounterStatistics, PayloadStatistics } from "../../report/model/document.ts";
import type { PayloadField } from "../model/payload.ts";
import type { CounterSeries } from "../model/timeline.ts";
import type { RegionInstance } from "./open-ranges.ts";

interface PayloadTally {
  readonly field: PayloadField;
  count: number;
  sum: number;
  min: number;
  max: number;
  /** Wall time of the ranges that have it. */
  ns: number;
}

interface CounterTally {
  readonly series: CounterSeries;
  samples: number;
  min: number;
  max: number;
  /** Numerator and denominator of the weighted mean. */
  sum: number;
  weight: number;
  /** Sum of the values without weights, for ranges without a duration. */
  plain: number;
}

/** The numbers of one region over its ranges. */
export interface ProgramNumbers {
  readonly payloads: Map<string, PayloadTally>;
  readonly counters: Map<string, CounterTally>;
}

/**
 * Adds the numbers of a range.
 * @param total null if no earlier range of the region had any, as for most regions
 */
export function addProgramNumbers(
  total: ProgramNumbers | null,
  instance: RegionInstance,
  endNs: number,
  series: readonly CounterSeries[] | undefined,
): ProgramNumbers | null {
  if (instance.values === null && series === undefined) return total;
  const numbers = total ?? { payloads: new Map(), counters: new Map() };
  const { payloads, counters } = numbers;
  const { startNs } = instance;
  const seen = new Set<PayloadTally>();
  for (const { field, value } of instance.values ?? []) {
    if (field.kind === "label") continue;
    const tally = getOrCreate(payloads, JSON.stringify([field.name, field.unit]), () => ({
      field,
      count: 0,
      sum: 0,
      min: value,
      max: value,
      ns: 0,
    }));
    tally.count++;
    tally.sum += value;
    tally.min = Math.min(tally.min, value);
    tally.max = Math.max(tally.max, value);
    if (!seen.has(tally)) tally.ns += endNs - startNs;
    seen.add(tally);
  }
  for (const counterSeries of series ?? [])
    if (counterSeries.threadId === null || counterSeries.threadId === instance.threadId)
      addSamples(counters, counterSeries, startNs, endNs);
  return numbers;
}

/** Adds the numbers of another part of the region, which is not changed. */
export function mergeProgramNumbers(
  total: ProgramNumbers | null,
  from: ProgramNumbers,
): ProgramNumbers {
  const into = total ?? { payloads: new Map(), counters: new Map() };
  for (const [key, part] of from.payloads) {
    const existing = into.payloads.get(key);
    into.payloads.set(
      key,
      existing === undefined
        ? { ...part }
        : {
            ...existing,
            count: existing.count + part.count,
            sum: existing.sum + part.sum,
            min: Math.min(existing.min, part.min),
            max: Math.max(existing.max, part.max),
            ns: existing.ns + part.ns,
          },
    );
  }
  for (const [key, part] of from.counters) {
    const existing = into.counters.get(key);
    const samples = (existing?.samples ?? 0) + part.samples;
    into.counters.set(
      key,
      existing === undefined
        ? { ...part }
        : {
            ...existing,
            samples,
            min: Math.min(existing.min, part.min),
            max: Math.max(existing.max, part.max),
            sum: existing.sum + part.sum,
            weight: existing.weight + part.weight,
            plain: (existing.plain * existing.samples + part.plain * part.samples) / samples,
          },
    );
  }
  return into;
}

function addSamples(
  counters: Map<string, CounterTally>,
  series: CounterSeries,
  fromNs: number,
  toNs: number,
): void {
  const { timesNs, values, holds, endsNs } = series;
  const first = lowerBound(timesNs, fromNs);
  // A value that was set before the range was opened is its first value, if it still holds.
  const previous = holds && first > 0 && timesNs[first] !== fromNs ? first - 1 : first;
  const begin = (endsNs?.[previous] ?? Number.POSITIVE_INFINITY) > fromNs ? previous : first;
  // A value that ends when the next one begins is no value of what only begins then.
  const isBeyond = (index: number): boolean => {
    const since = timesNs[index] ?? Number.POSITIVE_INFINITY;
    return endsNs !== undefined && toNs > fromNs ? since >= toNs : since > toNs;
  };
  if (begin >= timesNs.length || isBeyond(begin)) return;
  const key = JSON.stringify([series.domain, series.name, series.unit]);
  const tally = getOrCreate(counters, key, () => ({
    series,
    samples: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    sum: 0,
    weight: 0,
    plain: 0,
  }));
  for (let index = begin; index < timesNs.length && !isBeyond(index); index++) {
    const value = values[index] ?? 0;
    const since = Math.max(fromNs, timesNs[index] ?? fromNs);
    const until = Math.min(toNs, endsNs?.[index] ?? timesNs[index + 1] ?? toNs);
    const weight = holds ? Math.max(0, until - since) : 1;
    tally.samples++;
    tally.min = Math.min(tally.min, value);
    tally.max = Math.max(tally.max, value);
    tally.sum += value * weight;
    tally.weight += weight;
    tally.plain += (value - tally.plain) / tally.samples;
  }
}

/** What a counter was between two times; null without a value. */
export function counterBetween(
  series: CounterSeries,
  fromNs: number,
  toNs: number,
): CounterStatistics | null {
  const counters = new Map<string, CounterTally>();
  addSamples(counters, series, fromNs, toNs);
  const [tally] = counters.values();
  return tally === undefined ? null : statisticsOf(tally);
}

const NS_PER_S = 1e9;

/** The numbers as members of a report; absent if there are none. */
export function programNumbersOf(numbers: ProgramNumbers | null): {
  readonly payloads?: readonly PayloadStatistics[];
  readonly counters?: readonly CounterStatistics[];
} {
  if (numbers === null) return {};
  const { payloads, counters } = numbers;
  const ofPayloads = [...payloads.values()].map(
    ({ field: { name, unit, kind }, count, sum, min, max, ns }): PayloadStatistics => ({
      name,
      unit,
      count,
      ...(kind === "amount" && { sum }),
      mean: within(sum / count, min, max),
      min,
      max,
      ...(kind === "amount" && ns > 0 && { per_second: (sum / ns) * NS_PER_S }),
    }),
  );
  const ofCounters = [...counters.values()].map(statisticsOf);
  return {
    ...(ofPayloads.length > 0 && { payloads: ofPayloads }),
    ...(ofCounters.length > 0 && { counters: ofCounters }),
  };
}

const statisticsOf = ({
  series: { domain, name, unit },
  samples,
  min,
  max,
  sum,
  weight,
  plain,
}: CounterTally): CounterStatistics => ({
  name,
  domain,
  unit,
  samples,
  min,
  mean: within(weight > 0 ? sum / weight : plain, min, max),
  max,
});

/** Rounding must not move a mean out of the range of its values. */
const within = (mean: number, min: number, max: number): number =>
  Math.min(max, Math.max(min, mean));
