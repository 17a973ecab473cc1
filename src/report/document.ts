/**
 * The region report contract as TypeScript types: a leaf module without dependencies, so that
 * anyone can import it. `schemas/region-report.openapi.yaml` is the same contract for other
 * languages; a test keeps the two in step. Times are milliseconds.
 */

/** Version of the contract; `major.minor`, a minor only adds. */
export const CONTRACT = "hydraconf.region-report/1.4";

/** Those that are read: all that came before, too. */
export const CONTRACTS: readonly string[] = [
  "hydraconf.region-report/1.0",
  "hydraconf.region-report/1.1",
  "hydraconf.region-report/1.2",
  "hydraconf.region-report/1.3",
  CONTRACT,
];

/** A report file: what one collector saw, scope by scope. */
export interface RegionReportBundle {
  readonly contract: string;
  /** `reports[0]` is the aggregate when it is on; then one per process and one per device. */
  readonly reports: readonly NCUProfileRegionReport[];
}

/** `aggregate`, `process:<pid>` or `device:<id>` with the id `cuda:N` or `cpu`. */
export type ReportScope = "aggregate" | `process:${number}` | `device:${string}`;

/** The regions of one scope. Its name is the contract's; any collector makes it. */
export interface NCUProfileRegionReport {
  readonly scope: ReportScope;
  /**
   * Depth first, parents before children, siblings in order of first appearance; the bucket of
   * kernels outside every range last.
   */
  readonly regions: readonly NCUProfileRegion[];
  readonly totals: ReportTotals;
  /** ISO 8601 in UTC. */
  readonly generated_at: string;
  /** `sha256:` and the hash of the resolved config. */
  readonly config_fingerprint: string;
  readonly collector: CollectorInfo;
  readonly environment: ReportEnvironment;
  /** What chose the regions, also where it took none. Added in 1.3: reports of older contracts lack it. */
  readonly selection?: ReportSelection;
  /**
   * Why the run ended before all was measured, in words; the report covers what was recorded until then.
   * Absent where it ended well. Added in 1.3.
   */
  readonly failure?: string;
  readonly notes: readonly string[];
}

/**
 * Numbers of the whole scope, also of regions that the selection leaves out, unless that applies to the
 * measurement.
 */
export interface ReportTotals {
  /** Regions in this report, the outside bucket not counted. */
  readonly region_count: number;
  /** Range instances in all regions of this report. */
  readonly invocations: number;
  readonly kernel_count: number;
  /** Sum of all kernels (or CPU operations), each counted once; null where none were recorded. */
  readonly total_ms: number | null;
  /** The part of `total_ms` that ran outside every range. */
  readonly outside_ms: number | null;
  readonly outside_kernel_count: number;
  /**
   * Time covered by at least one root range; overlaps count once. Null where no range was timed, and
   * in the bundle of a single region, whose own `wall_ms` says it.
   */
  readonly wall_ms: number | null;
}

/** What recorded the numbers, and by which clocks. */
export interface CollectorInfo {
  /** `recorder`, `nsys` or `ncu`. */
  readonly name: string;
  readonly version: string;
  /** Clock of the wall times, e.g. `CLOCK_MONOTONIC`; null where there are none. */
  readonly wall_clock: string | null;
  /** Clock of kernel times, e.g. `gpu`, or `cpu` for CPU operations; null where there are none. */
  readonly kernel_clock: string | null;
}

/** Where the numbers come from. Never the variables of the process environment. */
export interface ReportEnvironment {
  readonly hostname: string;
  readonly os: string;
  readonly cpu: string;
  readonly gpus: readonly string[];
  /** The profiled command line. */
  readonly command: readonly string[];
  /** `cpu` or `cuda:N`, as the workload ran. Null when the workload did not say. */
  readonly device: string | null;
  readonly hydraconf_version: string;
}

/** An NVTX range as it was seen at run time: all its invocations at one place of the nesting. */
export interface NCUProfileRegion {
  readonly name: string;
  /** Names from the outermost open range; ends with `name`. */
  readonly path: readonly string[];
  /** Name of the enclosing region, null at a root. */
  readonly parent: string | null;
  /** 0 at a root. */
  readonly depth: number;
  /** NVTX domain; empty for the default domain. */
  readonly domain: string;
  /**
   * NVTX domains of the ranges on `path`, the last of them `domain`; null: not known. Absent where all
   * are of `domain`. Added in 1.2: reports of older contracts do not tell them.
   */
  readonly path_domains?: readonly (string | null)[];
  readonly kind: "push_pop" | "start_end" | "outside";
  /** `cuda:N` or `cpu`; null where nothing ran, or in an aggregate over several devices. */
  readonly device: string | null;
  /** Null in an aggregate over several processes. */
  readonly process_id: number | null;
  readonly invocations: number;
  /** Kernels or CPU operations in the region, children included; null where none were recorded. */
  readonly total_ms: number | null;
  /** The same without children, whether the selection shows them or not. */
  readonly exclusive_ms: number | null;
  /** Wall time of the range, summed over invocations; recursion counts once. */
  readonly wall_ms: number | null;
  readonly wall_exclusive_ms: number | null;
  readonly invocation_wall_ms: InvocationStatistics | null;
  /** Kernels in the region, children included, each once; CPU operations when there is no GPU. */
  readonly kernel_count: number;
  /** What GPUs did while the range was open; absent where that is not known. Added in 1.4. */
  readonly gpu_activity?: RegionGpuActivity;
  readonly metrics: Readonly<Record<string, MetricValue>>;
  readonly sections: Readonly<Record<string, unknown>>;
  /** Longest first. */
  readonly kernels: readonly KernelRecord[];
  /** How the region varied over repeated runs; absent where there was one run. Added in 1.1. */
  readonly repeats?: RegionRepeats;
  readonly selection: RegionSelection;
  readonly notes: readonly string[];
}

/**
 * Parts of a region's `wall_ms`, in milliseconds: what the GPUs of its process ran meanwhile, whichever range
 * launched it. Of several GPUs at least one did; reports of one device count that one alone.
 */
export interface RegionGpuActivity {
  /** A kernel, a copy or a set of memory ran; the rest of `wall_ms` the GPUs were idle. */
  readonly busy_ms: number;
  /** A kernel ran. */
  readonly kernel_ms: number;
  /** A copy or a set of memory ran. */
  readonly copy_ms: number;
  /** Both ran: `kernel_ms + copy_ms - busy_ms`. */
  readonly overlap_ms: number;
}

/** How the wall time of one invocation varies, in milliseconds. */
export interface InvocationStatistics {
  readonly min: number;
  /** The middle value, or the mean of the two middle ones. */
  readonly median: number;
  readonly max: number;
  /** Nearest-rank 95th percentile. */
  readonly p95: number;
}

/** Over the runs of `repeats=N`. The region's other numbers are those of the median run. */
export interface RegionRepeats {
  /** Runs in which the region was seen. */
  readonly runs: number;
  /** Null where not all runs measured it. */
  readonly total_ms: RepeatStatistics | null;
  readonly wall_ms: RepeatStatistics | null;
}

/** A time over several runs, in milliseconds. */
export interface RepeatStatistics {
  readonly mean: number;
  /** Sample standard deviation. */
  readonly std: number;
  /** The 95 % interval of the mean, by Student's t. */
  readonly ci95_low: number;
  readonly ci95_high: number;
  /** Whether that interval lies within 5 % of the mean. */
  readonly stable: boolean;
}

/** A metric in the unit it names; null where kernels have no common value. */
export interface MetricValue {
  readonly value: number | null;
  readonly unit: string;
}

/**
 * Globs that chose the regions shown; this never changes the numbers of a region. What chose the
 * kernels that count does: those keys are there only where kernels were selected, and were added in 1.1.
 */
export interface RegionSelection {
  readonly include_patterns: readonly string[];
  readonly exclude_patterns: readonly string[];
  /** Exact names, globs, or `regex:` with an expression; empty means all. */
  readonly kernel_include_patterns?: readonly string[];
  /** Wins over what is included. */
  readonly kernel_exclude_patterns?: readonly string[];
  /** The name of a kernel that the patterns are matched against. */
  readonly kernel_name_base?: "function" | "demangled" | "mangled";
  /** The only kernels that count beside the patterns: those with the most GPU time, longest first. */
  readonly kernel_top_names?: readonly string[];
}

/** The selection of a report as a whole. */
export interface ReportSelection extends RegionSelection {
  /**
   * `report`: everything was measured, and the patterns chose what is shown. `measurement`: ncu's filter
   * kept the rest from being measured, so that totals, and regions around what is excluded, lack it.
   */
  readonly applies_to: "report" | "measurement";
  /** In ncu's own grammar (`A/`, `regex:...`): what one of them takes is taken beside the include patterns. */
  readonly ncu_include_expressions?: readonly string[];
  /** The same, left out beside what the exclude patterns leave out. */
  readonly ncu_exclude_expressions?: readonly string[];
}

/** All launches of one kernel, or calls of one CPU operation, on a device. */
export interface KernelRecord {
  readonly kernel_name: string;
  readonly kind: "gpu_kernel" | "cpu_operation";
  /** Summed over calls; a CPU operation counts without the operations inside it. */
  readonly total_ms: number;
  readonly calls: number;
  readonly mean_ms: number;
  /** `cuda:N` or `cpu`. */
  readonly device: string;
  /** What hardware counters tell of these calls; absent where nothing of it was measured. Added in 1.4. */
  readonly hardware?: KernelHardware;
}

/** What is nearest to its peak: below 60 % of both `latency`, less than 10 points apart `both`. */
export type Limit = "compute" | "memory" | "both" | "latency";

/** What there is not enough of for another block on a multiprocessor. */
export type OccupancyLimit = "registers" | "shared_memory" | "warps" | "blocks" | "barriers";

/**
 * Counters of one kernel, by the names of Nsight Compute; several calls are put together as those of a region
 * are. Percent; null where it was not measured.
 */
export interface KernelHardware {
  /** `sm__throughput.avg.pct_of_peak_sustained_elapsed`. */
  readonly sm_pct: number | null;
  /** `gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed`, or the largest of its parts. */
  readonly memory_pct: number | null;
  /** Null where one of the two was not measured. */
  readonly limited_by: Limit | null;
  /** `sm__pipe_tensor_cycles_active`, or the busiest kind of tensor instruction; 0: tensor cores were not used. */
  readonly tensor_pct: number | null;
  /** Achieved: `sm__warps_active.avg.pct_of_peak_sustained_active`. */
  readonly occupancy_pct: number | null;
  /** Theoretical, the most that the launch allows: `sm__maximum_warps_per_active_cycle_pct`. */
  readonly occupancy_limit_pct: number | null;
  /**
   * The smallest of `launch__occupancy_limit_*`, all of them where several are; empty where the theoretical
   * occupancy is 100 %, or the limits were not measured.
   */
  readonly occupancy_limited_by: readonly OccupancyLimit[];
}
