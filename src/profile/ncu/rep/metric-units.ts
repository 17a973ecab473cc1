import { isMetricName } from "../metric-name.ts";

/**
 * A report does not store units: ncu derives them from its knowledge of the chip. The scheme of
 * metric names gives most of them: `unit__counter.rollup.submetric`, where the submetric makes a rate,
 * a ratio or a percentage of the counter. What the name does not tell is a pure number.
 */
export function unitOfMetric(name: string): string {
  if (!isMetricName(name)) return "";
  const [, counter = name, submetric = ""] =
    /^(?:.*[.:])?(\w+?__\w+)\.(?:sum|avg|max|min)(?:\.([\w.]+))?$/.exec(name) ?? [];
  if (/\.pct$|_pct$/.test(name) || submetric.startsWith("pct_of_peak")) return "%";
  if (/\.(?:ratio|max_rate)$/.test(name)) return ratioUnit(name);
  const counted = countedBy(counter);
  // Also a peak per second: `peak_sustained_elapsed.per_second`.
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

/** The first that fits; names of counters end with what they count, or have it before a filter. */
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
  // Of a counter of instructions it is how many operations they are, over all threads.
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
