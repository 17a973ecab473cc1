/** A comparison of two reports, of which schemas/comparison.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * A time that is compared.
 */
export type MainTime = "total_ms" | "wall_ms" | "cpu_ms";
/**
 * unclear: no larger than what measurements of this kind differ by anyway; of a kernel without repeated runs any difference, and of every time, since 1.7. left_out: one report may lack it only because its selection leaves it out, or because it has only its longest regions. What is less than a point, or a hundredth of wall_ms, is the same for the numbers.
 */
export type Verdict = "more" | "less" | "same" | "unclear" | "added" | "removed" | "left_out";
/**
 * Whether both reports have it. left_out: one may lack it only because its selection leaves it out, or because it has only its longest regions.
 */
export type Presence = "both" | "added" | "removed" | "left_out";
/**
 * All of the report, or the regions or kernels that fit a pattern.
 */
export type GateSubject =
  | {
      /**
       * All of the report.
       */
      readonly kind: "totals";
    }
  | {
      /**
       * What it is about.
       */
      readonly kind: "region" | "kernel";
      /**
       * A label or path, with * and ?.
       */
      readonly pattern: string;
    };

/**
 * What `deep-profile compare --json` prints: two region reports, A before and B after. Times are milliseconds. A minor version only adds.
 */
export interface StoredComparison {
  /**
   * Version of this contract.
   */
  readonly contract:
    | "hydraconf.comparison/1.6"
    | "hydraconf.comparison/1.7"
    | "hydraconf.comparison/1.8";
  /**
   * What the user calls the two.
   */
  readonly names: {
    /**
     * Before.
     */
    readonly a: string;
    /**
     * After.
     */
    readonly b: string;
  };
  readonly a: ReportFacts;
  readonly b: ReportFacts;
  /**
   * The time that is judged and shown: in pairs of runs that of processors, else that of kernels if both have it, else wall time; that of the first condition, if it names one. Since 1.7.
   */
  readonly main_time?: MainTime;
  readonly totals: Changes;
  /**
   * In the order of B's tree; what only A has stands where A's tree has it. A family of which the two have other members, or that one folds, is one region.
   */
  readonly regions: readonly RegionChange[];
  /**
   * Families (regions whose paths differ only in numbers) of which both have the same members, which stand in regions, each as one region. Count either these, or their members. Since 1.8.
   */
  readonly families?: readonly RegionChange[];
  /**
   * Kernels of the whole report, where both looked for its regions; the largest difference first.
   */
  readonly kernels: readonly KernelChange[];
  /**
   * Kernels that only A has and kernels that only B has, of names that differ in numbers alone, such as tiles or dimensions; the largest difference first. They stand in kernels, too.
   */
  readonly kernel_pairs: readonly KernelPair[];
  /**
   * Machines, tools and versions that are not the same; what is not known of one is no difference.
   */
  readonly differences: readonly Difference[];
  /**
   * Why the two may not be comparable.
   */
  readonly notes: readonly string[];
  /**
   * Where the configurations differ; null where they are not at hand.
   */
  readonly config: null | readonly ConfigDifference[];
  /**
   * Conditions of --fail-on, one result for each thing that a condition is about.
   */
  readonly gates: readonly GateResult[];
}
/**
 * One of the two reports.
 */
export interface ReportFacts {
  /**
   * aggregate, process:PID or device:ID.
   */
  readonly scope: string;
  /**
   * Name and version.
   */
  readonly collector: string;
  /**
   * As the workload ran; null where it did not say.
   */
  readonly device: string | null;
  /**
   * Of the resolved config.
   */
  readonly fingerprint: string;
  /**
   * ISO 8601 in UTC.
   */
  readonly generatedAt: string;
  /**
   * Why its run ended before all was measured; absent where it ended well.
   */
  readonly failure?: string;
}
/**
 * Numbers by the names of the region report contract; only those that either report has. Also those of gpu_activity, with gpu_ before their names, gpu_busy_pct (percent of wall_ms), and of kernels the percentages of hardware.
 */
export interface Changes {
  readonly [k: string]: Change;
}
/**
 * One number in the two reports.
 */
export interface Change {
  /**
   * Null where A did not measure it.
   */
  readonly a: number | null;
  /**
   * Null where B did not measure it.
   */
  readonly b: number | null;
  /**
   * b - a; null where either was not measured.
   */
  readonly delta: number | null;
  /**
   * delta / a; null where there is no delta or a is 0. Of runs in pairs: the geometric mean of the ratios of B to A, less 1, which relative_low and relative_high are the interval of.
   */
  readonly relative: number | null;
  /**
   * Half width of the 95 % interval of the delta; null where no spread is known.
   */
  readonly uncertainty: number | null;
  readonly verdict: Verdict;
  /**
   * Degrees of freedom of the uncertainty; absent where no repeated runs tell it.
   */
  readonly freedom?: number;
  /**
   * A time, or a share of times, that fewer than three runs of A or B measured: no difference is certain, and the verdict is same or unclear. Absent elsewhere. Since 1.7.
   */
  readonly too_few_runs?: true;
  /**
   * Of runs in pairs (deep-profile ab): the natural logarithm of B to A in each pair, in their order. The uncertainty is then half of a confidence sequence. Absent elsewhere.
   */
  readonly log_ratios?: readonly number[];
  /**
   * Of runs in pairs: the lower end of the 95 % interval of the ratio of B to A, less 1. The verdict is of this interval, which does not lie evenly around the change. Absent elsewhere, and with too few pairs. Since 1.6.
   */
  readonly relative_low?: number;
  /**
   * The upper end. Since 1.6.
   */
  readonly relative_high?: number;
  /**
   * The smallest change that could have been seen, as a share of a, by a calibration of the program on its machine (deep-profile calibrate); a smaller one is never more or less. Absent without one. Since 1.7.
   */
  readonly smallest_effect?: number;
}
/**
 * A region of either report.
 */
export interface RegionChange {
  /**
   * Names from the outermost region.
   */
  readonly path: readonly string[];
  /**
   * NVTX domain; empty for the default domain.
   */
  readonly domain: string;
  /**
   * NVTX domains of the ranges on the path, one for each. Absent where all are of domain.
   */
  readonly path_domains?: readonly string[];
  /**
   * The path with # instead of each number; absent if it has none. Since 1.8.
   */
  readonly family?: readonly string[];
  /**
   * How many regions a family has in each report, null where that is not known; absent for a single region. Since 1.8.
   */
  readonly members?: {
    readonly a: number | null;
    readonly b: number | null;
  };
  /**
   * How the range was opened, or what ran outside every range.
   */
  readonly kind: "push_pop" | "start_end" | "outside";
  readonly presence: Presence;
  /**
   * In how many of its runs each report saw the region, of which its times are the means; null for a report of one run, and of a report that does not have the region. Absent where all runs saw it. Since 1.8.
   */
  readonly runs?: {
    readonly a: RunsSeen | null;
    readonly b: RunsSeen | null;
  };
  readonly changes: Changes;
  /**
   * In the region, the largest difference first.
   */
  readonly kernels: readonly KernelChange[];
}
/**
 * Runs that saw a region, of all runs.
 */
export interface RunsSeen {
  /**
   * Runs that saw it.
   */
  readonly seen: number;
  /**
   * All runs.
   */
  readonly total: number;
  /**
   * Of those that did not see it, the runs of which only the longest regions are kept: they may have had it. Absent if there are none.
   */
  readonly cut?: number;
}
/**
 * A kernel, or an operation on the CPU, of either report.
 */
export interface KernelChange {
  /**
   * As in the reports.
   */
  readonly kernel_name: string;
  /**
   * Operations on the CPU are never kernels.
   */
  readonly kind: "gpu_kernel" | "cpu_operation";
  readonly presence: Presence;
  readonly changes: Changes;
  /**
   * What limits the kernel by its counters; absent where neither report has any.
   */
  readonly limits?: {
    /**
     * Null where A has no counters of the kernel.
     */
    readonly a: null | KernelLimits;
    /**
     * Null where B has no counters of the kernel.
     */
    readonly b: null | KernelLimits;
  };
}
/**
 * As in hardware of the region report contract.
 */
export interface KernelLimits {
  /**
   * What is nearest to its peak; null where it was not measured.
   */
  readonly limited_by: "compute" | "memory" | "both" | "latency" | null;
  /**
   * What there is not enough of for another block on a multiprocessor.
   */
  readonly occupancy_limited_by: readonly (
    | "registers"
    | "shared_memory"
    | "warps"
    | "blocks"
    | "barriers"
  )[];
}
/**
 * What probably is one kernel with another shape.
 */
export interface KernelPair {
  /**
   * What the names have in common, with * for numbers.
   */
  readonly name: string;
  /**
   * Operations on the CPU are never kernels.
   */
  readonly kind: "gpu_kernel" | "cpu_operation";
  /**
   * Names that only A has.
   */
  readonly a: readonly string[];
  /**
   * Names that only B has.
   */
  readonly b: readonly string[];
  readonly changes: Changes;
}
/**
 * Something in which the two were measured otherwise.
 */
export interface Difference {
  /**
   * In the plural, e.g. machines.
   */
  readonly what: string;
  /**
   * Empty: it has none.
   */
  readonly a: string;
  /**
   * Empty: it has none.
   */
  readonly b: string;
}
/**
 * A key whose value is not the same.
 */
export interface ConfigDifference {
  /**
   * With dots.
   */
  readonly key: string;
  /**
   * Null: not in that configuration.
   */
  readonly a: string | null;
  /**
   * Null: not in that configuration.
   */
  readonly b: string | null;
}
/**
 * A condition and what came of it.
 */
export interface GateResult {
  readonly gate: Gate;
  /**
   * unclear: past the limit, but within the noise. unchecked: one report did not look for it.
   */
  readonly outcome: "passed" | "breached" | "unclear" | "unchecked";
  /**
   * One line: which number of what, by how much.
   */
  readonly reason: string;
  /**
   * How many numbers the condition tests, for which it is corrected (Holm); absent for one.
   */
  readonly tested?: number;
  /**
   * As in the change: the outcome is passed or unclear. Since 1.7.
   */
  readonly too_few_runs?: true;
  /**
   * Of runs in pairs: whether they prove that the number is past the limit, or that it is not.
   */
  readonly decided?: boolean;
}
/**
 * A condition, read.
 */
export interface Gate {
  /**
   * As written.
   */
  readonly text: string;
  readonly subject: GateSubject;
  /**
   * A number, e.g. total_ms, or a metric.
   */
  readonly name: string;
  /**
   * How the change is held against the limit.
   */
  readonly operator: ">" | ">=" | "<" | "<=";
  /**
   * In ms, a count, or percent of A.
   */
  readonly limit: number;
  /**
   * Whether the limit is in percent of A.
   */
  readonly percent: boolean;
}
