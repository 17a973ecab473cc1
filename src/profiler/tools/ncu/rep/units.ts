/** Units of metrics: conversions, and the units that names of metrics imply. */
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";

/**
 * Units as ncu prints them, in both spellings (`nsecond` up to 2024.1, `ns` since), with or without prefixes: ncu
 * chooses a prefix per column unless `--print-units base` is given. Everything is converted to base units, so that
 * values of several kernels or files can be added.
 */
export interface UnitConversion {
  /** E.g. `ns`, `byte`, `cycle/s`, `%`, `register/thread`; empty for a pure number. */
  readonly unit: string;
  /** The factor for values. */
  readonly factor: number;
}

/** The base unit of time is the nanosecond, as in ncu for durations. */
const TIMES: Readonly<Record<string, number>> = {
  second: 1e9,
  s: 1e9,
  msecond: 1e6,
  ms: 1e6,
  usecond: 1e3,
  us: 1e3,
  nsecond: 1,
  ns: 1,
};

/** ncu's prefixes are decimal, also for bytes. */
const PREFIXES: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/** Units that take prefixes; `Kinst` is one thousand of them, but `Kelvin` would not be. */
const COUNTED =
  /^([KMGTP])(byte|inst|cycle|sector|request|warp|thread|block|register|sample|flop|hz|Hz)s?$/;

/**
 * Caches conversions for tables with a unit in every row: there are few units, and parsing one takes as long as its
 * row.
 */
export function createUnitConverter(): (text: string) => UnitConversion {
  const cache = new Map<string, UnitConversion>();
  return (text) => getOrCreate(cache, text, () => convertUnit(text));
}

/** Never throws: an unknown unit stays unchanged. */
export function convertUnit(text: string): UnitConversion {
  const slash = text.indexOf("/");
  if (slash < 0) return single(text);
  const above = single(text.slice(0, slash));
  const below = text.slice(slash + 1);
  const time = TIMES[below];
  // Rates are per second; 1e9 ns are one second.
  if (time !== undefined) return { unit: `${above.unit}/s`, factor: (above.factor * 1e9) / time };
  const per = single(below);
  return { unit: `${above.unit}/${per.unit}`, factor: above.factor / per.factor };
}

function single(text: string): UnitConversion {
  const time = TIMES[text];
  if (time !== undefined) return { unit: "ns", factor: time };
  // In the old spelling a frequency is in cycles per second.
  if (/^hz$/i.test(text)) return { unit: "cycle/s", factor: 1 };
  const [, prefix = "", counted] = COUNTED.exec(text) ?? [];
  if (counted === undefined) return { unit: text === "sectors" ? "sector" : text, factor: 1 };
  const base = single(counted);
  return { unit: base.unit, factor: base.factor * (PREFIXES[prefix] ?? 1) };
}

/** Several times the longest name of a metric in ncu. */
const LONGEST_NAME = 1024;

/**
 * Whether a name can be that of a metric. A longer one comes from a damaged file, and is not matched against patterns,
 * whose time grows more than linearly with its length.
 */
export const isMetricName = (name: string): boolean => name.length <= LONGEST_NAME;

/**
 * Derives the unit of a metric from its name, because reports store none: ncu derives them from its knowledge of the
 * chip. Most follow from the scheme of metric names: `unit__counter.rollup.submetric`, where the submetric makes a
 * rate, a ratio or a percentage of the counter. Otherwise the metric is a pure number.
 */
export function unitOfMetric(name: string): string {
  if (!isMetricName(name)) return "";
  const [, counter = name, submetric = ""] =
    /^(?:.*[.:])?(\w+?__\w+)\.(?:sum|avg|max|min)(?:\.([\w.]+))?$/.exec(name) ?? [];
  if (/\.pct$|_pct$/.test(name) || submetric.startsWith("pct_of_peak")) return "%";
  if (/\.(?:ratio|max_rate)$/.test(name)) return ratioUnit(name);
  const counted = countedBy(counter);
  // Also for a peak per second: `peak_sustained_elapsed.per_second`.
  if (/(?:^|\.)per_second$/.test(submetric)) return `${counted}/s`;
  if (/^(?:per_cycle|peak_sustained)/.test(submetric)) {
    if (counted === "warp") return "warp";
    return counted === "cycle" ? "" : `${counted}/cycle`;
  }
  return counted;
}

function ratioUnit(name: string): string {
  if (/_sectors_per_request_/.test(name)) return "sector/request";
  if (/_bytes_per_sector_/.test(name)) return "byte/sector";
  if (/_per_issue_active\.ratio$/.test(name)) return "inst";
  return /__average_warp\w*_per_inst_\w+\.ratio$/.test(name) ? "cycle" : "";
}

/** The first match counts; names of counters end with the counted unit, or have it before a filter. */
const COUNTERS: readonly (readonly [name: RegExp, unit: string])[] = [
  [/^device__|^launch__(?:block_size|grid_|context|device|stream|uses|waves)/, ""],
  [/_per_opcode/, ""],
  [/^derived__pct_occupancy_per_block_size$/, "%/"],
  [/^derived__pct_occupancy_per_register_count$/, "%/register"],
  [/^derived__pct_occupancy_per_shared_mem_size$/, "%/byte"],
  [/^launch__sm_count$/, "SM"],
  [/^launch__cluster_max_active$/, "cluster"],
  [/^launch__cluster_max_potential_size$/, "block"],
  [/__pmsampler_interval_time$/, "ns"],
  [/__pmsampler_\w+_samples$/, "sample"],
  // For a counter of instructions, it is the number of operations over all threads.
  [/_pred_on_x\d$|__threads_launched$|__avg_thread_executed/, "thread"],
  [/__ctas_launched/, "block"],
  [/_writeback_active(?:_|$)|__issue_active$/, "cycle"],
  [/_passes(?:_|$)/, "pass"],
  [/_interval_cycles$/, "cycle"],
  [/_stalled_no_instructions/, "inst"],
  [/pcsamp_warps_|__maximum_warps_avg_/, "warp"],
  [/^launch__block_dim_/, "block"],
  [/^launch__shared_mem_config_size$/, "byte"],
  [/__time_duration|__time_active/, "ns"],
  [/_bytes(?:_|$)/, "byte"],
  [/_sectors(?:_|$)/, "sector"],
  [/_requests(?:_|$)/, "request"],
  [/_cycles_(?:active|elapsed)/, "cycle"],
  [/__cycles_(?:active|elapsed)/, "cycle"],
  [/__(?:sass_)?(?:thread_)?inst_(?:executed|issued)|^(?:thread_)?inst_executed/, "inst"],
  [/__mioc?_inst_issued/, "inst"],
  [/__warps_/, "warp"],
  [/^launch__thread_count$/, "thread"],
  [/^launch__registers_per_thread/, "register/thread"],
  [/^launch__shared_mem_per_block/, "byte/block"],
  [/^launch__occupancy_limit/, "block"],
];

const countedBy = (counter: string): string =>
  COUNTERS.find(([pattern]) => pattern.test(counter))?.[1] ?? "";
