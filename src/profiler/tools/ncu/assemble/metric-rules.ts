/** How each metric of ncu is aggregated over kernels. */
import { isMetricName } from "../rep/units.ts";

/**
 * How a metric is aggregated over the kernels of a region. Counters are summed; a share of a peak is averaged over
 * kernels, weighted with what it is a share of. So a region's value is the one that a single launch doing all of its
 * work would have had.
 *
 * Names follow ncu's scheme `unit__counter.rollup.submetric` ("Metrics Structure" in the Kernel Profiling Guide).
 */
export type MetricRule =
  | { readonly kind: "sum" | "maximum" | "minimum" }
  /** The value if it is equal for all kernels; otherwise none. */
  | { readonly kind: "constant" }
  /** Weighted with the first of these metrics that was collected; a plain mean without any. */
  | { readonly kind: "mean"; readonly weights: readonly string[] };

/** Time on the GPU, by preference. `Duration` is its label in ncu's details page. */
export const DURATIONS: readonly string[] = [
  "gpu__time_duration.sum",
  "gpu__time_duration.avg",
  "gpu__time_duration.max",
  // For GPUs before Volta, in reports of 2018 and 2019.
  "gpu__time_duration",
  "Duration",
];

interface RuleEntry {
  readonly name: RegExp;
  readonly rule: (match: RegExpExecArray) => MetricRule;
}

const SUM: MetricRule = { kind: "sum" };
const MAXIMUM: MetricRule = { kind: "maximum" };
const MINIMUM: MetricRule = { kind: "minimum" };
const CONSTANT: MetricRule = { kind: "constant" };
const TIME_WEIGHTED: MetricRule = { kind: "mean", weights: DURATIONS };

const weightedBy = (...weights: readonly string[]): MetricRule => ({
  kind: "mean",
  weights: [...weights, ...DURATIONS],
});

const rollups = (counter: string): readonly string[] =>
  ["sum", "avg", "max"].map((rollup) => `${counter}.${rollup}`);

/** The first match decides. */
const RULES: readonly RuleEntry[] = [
  // Properties of the machine and of the measurement.
  { name: /^(?:device__attribute|numa|nvlink|c2clink)_/, rule: () => CONSTANT },
  { name: /\.peak_(?:sustained|burst)(?:_\w+)?$|\.max_rate$/, rule: () => CONSTANT },
  // Twice a peak_sustained (512 times for tensor pipes): ncu's roofline sections derive it.
  { name: /^derived__sm__\w+_x\d+$/, rule: () => CONSTANT },
  { name: /^profiler__replayer_passes/, rule: () => MAXIMUM },
  { name: /(?:pmsampler|pcsamp)_(?:interval|buffer_size|max_passes)/, rule: () => CONSTANT },
  // How kernels were launched.
  { name: /^launch__(?:thread_count|grid_size)$/, rule: () => SUM },
  {
    name: /^launch__(?:registers_per_thread|shared_mem_per_block|stack_size)/,
    rule: () => MAXIMUM,
  },
  { name: /^launch__occupancy_limit_/, rule: () => MINIMUM },
  { name: /^launch__waves_per_multiprocessor$/, rule: () => TIME_WEIGHTED },
  { name: /^launch__/, rule: () => CONSTANT },
  // Ratios: each weighted with its denominator.
  {
    name: /^(\w+?__t_(?:sector|request))(\w*?)_hit_rate\.(?:pct|ratio)$/,
    rule: ([, unit, which]) => weightedBy(`${unit}s${which}.sum`),
  },
  {
    name: /^(\w+?)__average_t_sectors_per_request(\w*)\.(?:pct|ratio)$/,
    rule: ([, unit, which]) => weightedBy(`${unit}__t_requests${which}.sum`),
  },
  {
    name: /^smsp__sass_average_data_bytes_per_sector(_mem_\w+)\.(?:pct|ratio)$/,
    rule: ([, which]) =>
      weightedBy(
        `smsp__sass_l1tex_t_sectors_pipe_lsu${which}.sum`,
        `l1tex__t_sectors_pipe_lsu${which}.sum`,
      ),
  },
  {
    name: /^derived__smsp__inst_executed_op_branch_pct$/,
    rule: () => weightedBy(...rollups("smsp__inst_executed")),
  },
  // A rate per elapsed cycle, twice (512 times for tensor pipes).
  {
    name: /^derived__smsp__\w+_x\d+$/,
    rule: () => weightedBy(...rollups("smsp__cycles_elapsed")),
  },
  {
    name: /^(\w+?)__\w+_per_(inst_issued|inst_executed|issue_active|warps?_active)\.(?:ratio|pct)$/,
    rule: ([, unit, below]) => weightedBy(...rollups(`${unit}__${below}`)),
  },
  {
    name: /(?:^|\.)(\w+?)__\w+\.(?:sum|avg|max|min)\.(?:per_cycle|pct_of_peak_(?:sustained|burst))_active$/,
    rule: ([, unit]) => weightedBy(...rollups(`${unit}__cycles_active`)),
  },
  {
    name: /(?:^|\.)(\w+?)__\w+\.(?:sum|avg|max|min)\.(?:per_cycle|pct_of_peak_(?:sustained|burst))_(?:elapsed|in_region|in_frame)$/,
    rule: ([, unit]) => weightedBy(...rollups(`${unit}__cycles_elapsed`)),
  },
  { name: /\.per_second$|\.(?:ratio|pct)$|_pct$/, rule: () => TIME_WEIGHTED },
  { name: /^derived__avg_|^derived__\w+_nway$/, rule: () => TIME_WEIGHTED },
  { name: /\.pct_of_peak_|\.per_cycle_|maximum_warps_/, rule: () => TIME_WEIGHTED },
  // Rollups over the instances of a unit: the mean over instances of a counter is summed, too.
  { name: /\.(?:sum|avg)$/, rule: () => SUM },
  { name: /\.max$/, rule: () => MAXIMUM },
  { name: /\.min$/, rule: () => MINIMUM },
  // Sums over the points of a curve, which kernels of one launch configuration share.
  { name: /^derived__pct_\w+_per_/, rule: () => CONSTANT },
  // Counters without rollup.
  { name: /^gpu__time_duration$/, rule: () => SUM },
  { name: /^memory_(?:access_)?(?:size_)?type$/, rule: () => CONSTANT },
  { name: /^(?:branch_|thread_)?inst_executed|^(?:memory|sass|derived|idc)_/, rule: () => SUM },
  { name: /__(?:pcsamp|sass|branch|inst|thread)_?\w*$|_(?:dropped|merged)_/, rule: () => SUM },
  // Labels of the details page, whose units do not distinguish counts from ratios: the same rules as for their metrics.
  { name: /^Grid Size$|^Avg\. (?:Executed|Issued|Divergent) /, rule: () => SUM },
  { name: /^Registers Per Thread$|Shared Memory Per Block$|^Stack Size$/, rule: () => MAXIMUM },
  { name: /^Block Limit /, rule: () => MINIMUM },
  { name: /^(?:Maximum|Theoretical Predicated-On|Theoretical DRAM) /, rule: () => CONSTANT },
  { name: /^Stall |^Selected$|^Avg\. | N-Way$| Ratio$/, rule: () => TIME_WEIGHTED },
  { name: / Per (?:Cycle|SM|Scheduler|\w+ Instruction)$/i, rule: () => TIME_WEIGHTED },
];

/** Units of counters, for labels of the details page, whose names follow no scheme. */
const COUNTED = new Set(["ns", "cycle", "byte", "inst", "sector", "request", "thread", "sample"]);

/** Shares and ratios are never summed, even if a counter of that name would be. */
const addsUp = (unit: string): boolean => !/^%|\//.test(unit);

const shareOf = (rule: MetricRule): MetricRule => (rule.kind === "sum" ? TIME_WEIGHTED : rule);

/** @param unit in base units, as `convertUnit` returns it */
export function ruleOf(name: string, unit: string): MetricRule {
  if (!isMetricName(name)) return CONSTANT;
  for (const { name: pattern, rule } of RULES) {
    const match = pattern.exec(name);
    if (match !== null) return addsUp(unit) ? rule(match) : shareOf(rule(match));
  }
  if (unit === "%" || unit.includes("/")) return TIME_WEIGHTED;
  return COUNTED.has(unit) && !name.includes("__") ? SUM : CONSTANT;
}
