/**
 * The region report contract as TypeScript types: a leaf module without dependencies, so that
 * anyone can import it. `schemas/region-report.openapi.yaml` is the same contract for other
 * languages; a test keeps the two in step. Times are milliseconds.
 */

/** Version of the contract, `major.minor`; a minor version only adds. */
export const CONTRACT = "hydraconf.region-report/1.6";

/** The versions that can be read: all that a release has written. */
export const CONTRACTS: readonly string[] = ["hydraconf.region-report/1.5", CONTRACT];

/** A report file: the results of one collector, one report per scope. */
export interface RegionReportBundle {
  readonly contract: string;
  /**
   * The full names of kernels by the short names that the records of the file use; absent if the records have full
   * names, which is the case unless those would take most of the file. Added in 1.5.
   */
  readonly kernel_names?: Readonly<Record<string, string>>;
  /** `reports[0]` is the aggregate when it is on; then one per process and one per device. */
  readonly reports: readonly NCUProfileRegionReport[];
}

/** `aggregate`, `rank:<n>` (since 1.5), `process:<pid>` or `device:<id>` with the id `cuda:N` or `cpu`. */
export type ReportScope = "aggregate" | `rank:${number}` | `process:${number}` | `device:${string}`;

/** The regions of one scope, as every collector produces them. The name of the type is that of the contract. */
export interface NCUProfileRegionReport {
  readonly scope: ReportScope;
  /**
   * Depth first, parents before children, siblings in order of first appearance; the bucket of
   * kernels outside every range last.
   */
  readonly regions: readonly NCUProfileRegion[];
  /**
   * Families of at least two regions, and what is inside them, each as one region: regions whose paths differ only in
   * numbers (`family`). Depth first. Their times are those of their members, and count again what `regions` has. Absent
   * if there are none. Added in 1.6.
   */
  readonly families?: readonly NCUProfileRegion[];
  /**
   * The scope of an earlier report with the same, long lists of kernels for all these regions; the lists in this report
   * are empty then. Added in 1.5.
   */
  readonly kernels_of?: ReportScope;
  readonly totals: ReportTotals;
  /** The ranks of a parallel program, in order; only in the aggregate, and only for several ranks. Added in 1.5. */
  readonly ranks?: readonly RankInfo[];
  /** The variation of kernels over repeated runs; only in the main report, absent for a single run. Added in 1.5. */
  readonly kernel_repeats?: readonly KernelRepeats[];
  /** ISO 8601 in UTC. */
  readonly generated_at: string;
  /** `sha256:` and the hash of the resolved config. */
  readonly config_fingerprint: string;
  readonly collector: CollectorInfo;
  readonly environment: ReportEnvironment;
  /** What selected the regions, even if it selected none. Added in 1.3; absent in older reports. */
  readonly selection?: ReportSelection;
  /**
   * Why the run ended early, in words; the report covers what was recorded until then. Absent if the run succeeded.
   * Added in 1.3.
   */
  readonly failure?: string;
  readonly notes: readonly string[];
}

/**
 * Numbers of the whole scope, including regions that the selection leaves out, unless the selection was applied to the
 * measurement.
 */
export interface ReportTotals {
  /** The number of regions in this report, without the outside bucket. */
  readonly region_count: number;
  /** The number of invocations of all regions of this report. */
  readonly invocations: number;
  readonly kernel_count: number;
  /** Sum of all kernels (or CPU operations), each counted once; null if none were recorded. */
  readonly total_ms: number | null;
  /** The part of `total_ms` that ran outside every range. */
  readonly outside_ms: number | null;
  readonly outside_kernel_count: number;
  /**
   * Time covered by at least one root range; overlaps count once. Null if no range was timed, and in the bundle of a
   * single region, whose own `wall_ms` contains it.
   */
  readonly wall_ms: number | null;
  /** Processor time of threads in ranges, each thread once; absent if unknown. Added in 1.5. */
  readonly cpu_ms?: number;
  /**
   * The run from start to end, with or without ranges. Absent if only kernels were measured, and in the bundle of a
   * single region. Added in 1.5.
   */
  readonly run?: RunTotals;
}

/**
 * Wall time of the processes of a scope, in milliseconds. Times of several processes are added up, like those of
 * regions.
 */
export interface RunTotals {
  /** From the start of the first process to the end of the last, without times in which none ran. */
  readonly wall_ms: number;
  /** The sum of the wall times of all processes, which is the 100 % of shares. Equals `wall_ms` for one process. */
  readonly process_ms: number;
  readonly process_count: number;
  /** The part of `process_ms` in which at least one range was open. */
  readonly in_ranges_ms: number;
  /** The parts of `process_ms` before the first range of a process and after its last one; null without ranges. */
  readonly before_ranges_ms: number | null;
  readonly after_ranges_ms: number | null;
  /** GPU activity during `process_ms`; absent if no GPU activity was recorded. */
  readonly gpu_activity?: RegionGpuActivity;
  /** The part of it during which at least one range was open. */
  readonly gpu_activity_in_ranges?: RegionGpuActivity;
}

/** A rank of a parallel program, as numbered by its launcher. */
export interface RankInfo {
  readonly rank: number;
  readonly host: string;
  /** The rank's number on its host; null if the launcher does not provide it. */
  readonly local_rank: number | null;
  readonly process_ids: readonly number[];
}

/** A region over the ranks of a parallel program. A rank that never entered it counts as 0 ms. */
export interface RegionRanks {
  /** The wall time of each rank, in the order of the report's `ranks`; null if it never entered. */
  readonly wall_ms: readonly (number | null)[];
  readonly min_ms: number;
  readonly mean_ms: number;
  readonly max_ms: number;
  /** `max_ms / mean_ms`; 1 means even. */
  readonly imbalance: number;
  /** `mean_ms / max_ms`; 1 means even. */
  readonly load_balance: number;
  /** The rank with `max_ms`; for communication that all ranks enter, the rank that the others waited for longest. */
  readonly slowest_rank: number;
  /**
   * The total waiting time of all ranks, from when each entered until the last one did. Absent unless the region is
   * communication that all ranks enter equally often.
   */
  readonly waiting_ms?: number;
}

/** The collector that recorded the numbers, and its clocks. */
export interface CollectorInfo {
  /** `recorder`, `nsys` or `ncu`. */
  readonly name: string;
  readonly version: string;
  /** The clock of wall times, e.g. `CLOCK_MONOTONIC`; null without wall times. */
  readonly wall_clock: string | null;
  /** The clock of kernel times, e.g. `gpu`, or `cpu` for CPU operations; null without kernel times. */
  readonly kernel_clock: string | null;
}

/** The origin of the numbers. Never contains the variables of the process environment. */
export interface ReportEnvironment {
  readonly hostname: string;
  readonly os: string;
  readonly cpu: string;
  readonly gpus: readonly string[];
  /** The profiled command line. */
  readonly command: readonly string[];
  /** The device of the workload, `cpu` or `cuda:N`; null if the workload did not report it. */
  readonly device: string | null;
  readonly hydraconf_version: string;
}

/**
 * An NVTX range as seen at run time: all its invocations at one place of the nesting. The wall time of the bucket
 * outside all ranges is that of its processes while no range was open (since 1.5).
 */
export interface NCUProfileRegion {
  readonly name: string;
  /** The names of the open ranges, from the outermost to `name`. */
  readonly path: readonly string[];
  /** Name of the enclosing region, null at a root. */
  readonly parent: string | null;
  /** 0 at a root. */
  readonly depth: number;
  /** NVTX domain; empty for the default domain. */
  readonly domain: string;
  /**
   * NVTX domains of the ranges on `path`, ending with `domain`; null if unknown. Absent if all equal `domain`. Added in
   * 1.2; absent in older reports.
   */
  readonly path_domains?: readonly string[];
  /**
   * The path with `#` instead of each number, which names the region's family; absent if it has no numbers. Added in
   * 1.6.
   */
  readonly family?: readonly string[];
  /** The number of regions of a family; only in `families`. Added in 1.6. */
  readonly members?: number;
  readonly kind: "push_pop" | "start_end" | "outside";
  /** `cuda:N` or `cpu`; null if nothing ran, or in an aggregate over several devices. */
  readonly device: string | null;
  /** Null in an aggregate over several processes. */
  readonly process_id: number | null;
  readonly invocations: number;
  /** Kernels or CPU operations in the region, children included; null if none were recorded. */
  readonly total_ms: number | null;
  /** The same without child regions, even if the selection hides them. */
  readonly exclusive_ms: number | null;
  /** Wall time of the range, summed over invocations; recursion counts once. */
  readonly wall_ms: number | null;
  readonly wall_exclusive_ms: number | null;
  readonly invocation_wall_ms: InvocationStatistics | null;
  /**
   * Processor time of the threads that opened the ranges, while they were open, summed over invocations. Absent unless
   * known for every invocation. This member and the next two were added in 1.5.
   */
  readonly cpu_ms?: number;
  /** The same without ranges that the same thread opened inside. */
  readonly cpu_exclusive_ms?: number;
  readonly invocation_cpu_ms?: InvocationStatistics;
  /**
   * The number of invocations that were never closed. They count until the end of their process, if it is known, so the
   * times of the region are lower bounds. Absent if there are none. Added in 1.5.
   */
  readonly unclosed?: number;
  /** Kernels in the region, including child regions, each once; CPU operations if there is no GPU. */
  readonly kernel_count: number;
  /** GPU activity while the range was open; absent if unknown. Added in 1.4. */
  readonly gpu_activity?: RegionGpuActivity;
  readonly metrics: Readonly<Record<string, MetricValue>>;
  readonly sections: Readonly<Record<string, unknown>>;
  /** In descending order of time. */
  readonly kernels: readonly KernelRecord[];
  /** The variation of the region over repeated runs; absent for a single run. Added in 1.1. */
  readonly repeats?: RegionRepeats;
  /** The region over the ranks of a parallel program; only in the aggregate. Added in 1.5. */
  readonly ranks?: RegionRanks;
  /** Numbers in the payloads of the region's ranges; absent if there are none. Added in 1.5. */
  readonly payloads?: readonly PayloadStatistics[];
  /** The program's counters while the region's ranges were open; absent if there are none. Added in 1.5. */
  readonly counters?: readonly CounterStatistics[];
  readonly selection: RegionSelection;
  readonly notes: readonly string[];
}

/**
 * One number of the structured payloads (NVTX's payload extension) of a region's own ranges, without inner ranges.
 * Numbers that only identify something, such as ranks and ids, are left out.
 */
export interface PayloadStatistics {
  /** The name in the schema; nested structures are joined with dots. Without the unit, if the name contains it. */
  readonly name: string;
  /** The unit in the singular, e.g. `byte`, `token`, `FLOP`; empty if unknown. */
  readonly unit: string;
  /** The number of values; each element of an array counts. */
  readonly count: number;
  /** Only for amounts: a sum of temperatures has no meaning. */
  readonly sum?: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** `sum` divided by the wall time of the ranges that have the number, in units per second. */
  readonly per_second?: number;
}

/** A counter of the program (NVTX's counters) while a region's ranges were open. */
export interface CounterStatistics {
  /** The name; counters of a group are joined with a dot. */
  readonly name: string;
  /** NVTX domain; empty for the default domain. */
  readonly domain: string;
  readonly unit: string;
  /**
   * The number of values: those sampled while the ranges were open and, for counters whose values persist, the
   * preceding one.
   */
  readonly samples: number;
  readonly min: number;
  /** The mean; for counters whose values persist, weighted by duration. */
  readonly mean: number;
  readonly max: number;
}

/**
 * Parts of a region's `wall_ms`, in milliseconds, during which the GPUs of its process were active, whichever range
 * launched the work. With several GPUs, at least one was busy; reports of one device count only that device.
 */
export interface RegionGpuActivity {
  /** A kernel, copy or set of memory ran; for the rest of `wall_ms` the GPUs were idle. */
  readonly busy_ms: number;
  /** A kernel ran. */
  readonly kernel_ms: number;
  /** A copy or set of memory ran. */
  readonly copy_ms: number;
  /** A kernel and a copy or set ran: `kernel_ms + copy_ms - busy_ms`. */
  readonly overlap_ms: number;
}

/** Spread of the wall time of one invocation, in milliseconds. */
export interface InvocationStatistics {
  readonly min: number;
  /** The median: the middle value, or the mean of the two middle ones. */
  readonly median: number;
  readonly max: number;
  /** Nearest-rank 95th percentile. */
  readonly p95: number;
  /**
   * The first call, which often includes initialisation; absent in an aggregate over several processes. Added in 1.5.
   */
  readonly first?: number;
}

/** The region over the runs of `repeats=N`. Its other numbers are those of the median run. */
export interface RegionRepeats {
  /** The number of runs that have the region. */
  readonly runs: number;
  /** Null unless all runs measured it. */
  readonly total_ms: RepeatStatistics | null;
  readonly wall_ms: RepeatStatistics | null;
  /** Absent if no run measured it. Added in 1.5. */
  readonly cpu_ms?: RepeatStatistics | null;
}

/** A kernel over the runs of `repeats=N`, if all runs launched it: its calls in all regions and on all devices. */
export interface KernelRepeats {
  readonly kernel_name: string;
  readonly kind: KernelRecord["kind"];
  readonly runs: number;
  readonly total_ms: RepeatStatistics;
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

/** A metric in the unit it names; null if kernels have no common value. */
export interface MetricValue {
  readonly value: number | null;
  readonly unit: string;
}

/**
 * Globs that selected the shown regions, which never change the numbers of a region. A kernel selection does change
 * them: its keys are present only if kernels were selected, and were added in 1.1.
 */
export interface RegionSelection {
  readonly include_patterns: readonly string[];
  readonly exclude_patterns: readonly string[];
  /** Exact names, globs, or `regex:` with an expression; empty means all kernels. */
  readonly kernel_include_patterns?: readonly string[];
  /** Excluded kernels; they take precedence over the included ones. */
  readonly kernel_exclude_patterns?: readonly string[];
  /** The form of a kernel's name that the patterns are matched against. */
  readonly kernel_name_base?: "function" | "demangled" | "mangled";
  /** Only these kernels count, in addition to the patterns: those with the most GPU time, in descending order. */
  readonly kernel_top_names?: readonly string[];
}

/** The selection of a report as a whole. */
export interface ReportSelection extends RegionSelection {
  /**
   * `report`: everything was measured, and the patterns selected what is shown. `measurement`: ncu measured only what
   * its filter selected, so the totals, and regions that enclose an excluded one, lack the rest.
   */
  readonly applies_to: "report" | "measurement";
  /** Expressions in ncu's own grammar (`A/`, `regex:...`); included in addition to the include patterns. */
  readonly ncu_include_expressions?: readonly string[];
  /** Expressions in the same grammar; excluded in addition to the exclude patterns. */
  readonly ncu_exclude_expressions?: readonly string[];
}

/** All launches of a kernel, or calls of a CPU operation, on one device. */
export interface KernelRecord {
  readonly kernel_name: string;
  readonly kind: "gpu_kernel" | "cpu_operation";
  /** Summed over calls; CPU operations count without the operations inside them. */
  readonly total_ms: number;
  readonly calls: number;
  readonly mean_ms: number;
  /** `cuda:N` or `cpu`. */
  readonly device: string;
  /** Hardware counters of these calls; absent if none were measured. Added in 1.4. */
  readonly hardware?: KernelHardware;
}

/**
 * The resource that is nearest to its peak; `latency` if both are below 60 %, `both` if they differ by less than 10
 * points.
 */
export type Limit = "compute" | "memory" | "both" | "latency";

/** The resource of a multiprocessor that prevents another block. */
export type OccupancyLimit = "registers" | "shared_memory" | "warps" | "blocks" | "barriers";

/**
 * Counters of one kernel, with the names of Nsight Compute, in percent; null if not measured. Several calls are
 * combined in the same way as those of a region.
 */
export interface KernelHardware {
  /** `sm__throughput.avg.pct_of_peak_sustained_elapsed`. */
  readonly sm_pct: number | null;
  /** `gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed`, or the largest of its parts. */
  readonly memory_pct: number | null;
  /** Null unless both were measured. */
  readonly limited_by: Limit | null;
  /**
   * `sm__pipe_tensor_cycles_active`, or the busiest kind of tensor instruction; 0 means that tensor cores were not
   * used.
   */
  readonly tensor_pct: number | null;
  /** The achieved occupancy: `sm__warps_active.avg.pct_of_peak_sustained_active`. */
  readonly occupancy_pct: number | null;
  /** The theoretical occupancy, the maximum for the launch: `sm__maximum_warps_per_active_cycle_pct`. */
  readonly occupancy_limit_pct: number | null;
  /**
   * The smallest of `launch__occupancy_limit_*`, or several equal ones; empty if the theoretical occupancy is 100 %, or
   * the limits were not measured.
   */
  readonly occupancy_limited_by: readonly OccupancyLimit[];
}
