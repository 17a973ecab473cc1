/** A region report, of which schemas/region-report.openapi.yaml is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * A time in milliseconds; null where it was not measured.
 */
export type Milliseconds = number | null;
/**
 * What a reader must know, as sentences.
 */
export type Notes = readonly string[];

/**
 * One file of reports about one run, or about one region of it.
 */
export interface RegionReportBundle {
  /**
   * Name and version of this contract; a minor version only adds.
   */
  readonly contract: "hydraconf.region-report/1.5" | "hydraconf.region-report/1.6";
  /**
   * Whole names of kernels by the short names (`gemm#12`) that `kernel_name` has in all records of this file then. Only where long names that are repeated would take most of it. Added in 1.5.
   */
  readonly kernel_names?: {
    readonly [k: string]: string;
  };
  /**
   * The aggregate first when it is on, then one report per process, then one per device. Scopes do not repeat.
   */
  readonly reports: readonly NCUProfileRegionReport[];
}
/**
 * The regions of one scope of a run.
 */
export interface NCUProfileRegionReport {
  /**
   * `aggregate` merges all processes and devices by path, its domains and kind; `rank:<n>` is one rank of a parallel program, in the place of its processes (since 1.5); `process:<pid>` is one process; `device:<id>` is what ran on one device, `cuda:N` or `cpu`.
   */
  readonly scope: "aggregate" | `rank:${number}` | `process:${number}` | `device:${string}`;
  /**
   * Depth first, parents before children, siblings in order of first appearance; the bucket of kernels outside every range last. No two regions share process, device, path, the domains of the path and kind.
   */
  readonly regions: readonly NCUProfileRegion[];
  /**
   * Families of at least two regions, and what is inside them, each as one region: regions whose paths differ only in numbers (`family`), of one kind. Depth first. `path` has the labels that all members have, and `#` where they have several. Times, kernels and metrics are those of all members together, and count again what `regions` has: rank either families, and the regions in none of them, or regions. Absent where there are none. Added in 1.6.
   */
  readonly families?: readonly NCUProfileRegion[];
  /**
   * Where the kernels of all these regions are those of the same regions (path, domains, kind) in an earlier report of this file, and many, as with one process on one device: the scope of that report. `kernels` of each region is empty here then. Added in 1.5.
   */
  readonly kernels_of?: "aggregate" | `rank:${number}` | `process:${number}` | `device:${string}`;
  readonly totals: ReportTotals;
  /**
   * The ranks of a parallel program, in order. Only of several, in the aggregate. Added in 1.5.
   */
  readonly ranks?: readonly RankInfo[];
  /**
   * How kernels varied over all repeated runs, their calls in all regions together. Only of the main report; absent where there was one run. Added in 1.5; since 1.6 also those that not every run launched.
   */
  readonly kernel_repeats?: readonly KernelRepeats[];
  /**
   * Regions of other runs of `repeats=N` than the one with the median time, of which `regions` are; those of families are left out. At most 1,000, those of most runs. Only of the main report; absent without any. Added in 1.6.
   */
  readonly unshown_regions?: readonly UnshownRegion[];
  /**
   * When the report was made, in UTC.
   */
  readonly generated_at: string;
  /**
   * Hash of the resolved config, so that runs of one config are known as such.
   */
  readonly config_fingerprint: string;
  readonly collector: CollectorInfo;
  readonly environment: ReportEnvironment;
  readonly selection?: ReportSelection;
  /**
   * Why the run ended before all was measured, in words; the report covers what was recorded until then, of repeated runs those that were completed. Absent where it ended well. Added in 1.3.
   */
  readonly failure?: string;
  readonly notes: Notes;
}
/**
 * An NVTX range seen at run time: all its instances with one path, of one domain at each level of it, and one kind. Also the bucket of what happened outside every range: kernels and, since 1.5, the wall time of the processes in which no range was open.
 */
export interface NCUProfileRegion {
  /**
   * The label of the range, verbatim.
   */
  readonly name: string;
  /**
   * Names of the ranges open when this one was opened, outermost first; ends with `name`.
   */
  readonly path: readonly string[];
  /**
   * Name of the enclosing region, the last but one of `path`; null at a root.
   */
  readonly parent: string | null;
  /**
   * 0 at a root; one less than the length of `path`.
   */
  readonly depth: number;
  /**
   * NVTX domain; empty for the default domain.
   */
  readonly domain: string;
  /**
   * NVTX domains of the ranges on `path`, one for each, the last of them `domain`. Absent where all are of `domain`.
   */
  readonly path_domains?: readonly string[];
  /**
   * `path` with `#` instead of each number, which names the family of the region: decimal numbers, addresses and other hexadecimal numbers of at least eight digits, UUIDs. Absent where it has none. Added in 1.6.
   */
  readonly family?: readonly string[];
  /**
   * The number of regions of a family; only in `families`. Added in 1.6.
   */
  readonly members?: number;
  /**
   * How NVTX opened the range; `outside` for the bucket.
   */
  readonly kind: "push_pop" | "start_end" | "outside";
  /**
   * Where its kernels or operations ran; null where nothing ran, and in an aggregate over several devices.
   */
  readonly device: "cpu" | `cuda:${number}` | null;
  /**
   * Null in an aggregate over several processes.
   */
  readonly process_id: number | null;
  /**
   * How often the range was opened.
   */
  readonly invocations: number;
  /**
   * Time of the kernels (or CPU operations) launched in the region, children included; null where none has a time in this scope.
   */
  readonly total_ms: Milliseconds;
  /**
   * The part of `total_ms` that no region inside this one contains, whether that region is selected or not; at most `total_ms`.
   */
  readonly exclusive_ms: Milliseconds;
  /**
   * Wall time of the range, summed over invocations; recursion counts once.
   */
  readonly wall_ms: Milliseconds;
  /**
   * Wall time not covered by ranges inside; at most `wall_ms`.
   */
  readonly wall_exclusive_ms: Milliseconds;
  /**
   * Wall time of single invocations; null where there were none.
   */
  readonly invocation_wall_ms: InvocationStatistics | null;
  /**
   * Processor time of the threads that opened the ranges, while they were open, summed over invocations; recursion counts once. Divided by `wall_ms`: the share of the time in which the thread ran and did not wait. Work that other threads do meanwhile is not in it. Absent unless it is known of every invocation: a range that another thread closes has none. Added in 1.5.
   */
  readonly cpu_ms?: number;
  /**
   * The part of `cpu_ms` outside the ranges that the same thread opened inside; at most `cpu_ms`. Present where `cpu_ms` is. Added in 1.5.
   */
  readonly cpu_exclusive_ms?: number;
  /**
   * Processor time of single invocations. Present where `cpu_ms` is. Added in 1.5.
   */
  readonly invocation_cpu_ms?: InvocationStatistics;
  /**
   * Instructions that the threads which opened the ranges executed in user space while they were open, summed over invocations. Those of the recorder in inner ranges are among them. Absent unless they are known of every invocation. Added in 1.6.
   */
  readonly instructions?: number;
  /**
   * The part of `instructions` outside the ranges that the same thread opened inside; at most `instructions`. Present where `instructions` is. Added in 1.6.
   */
  readonly instructions_exclusive?: number;
  /**
   * Invocations that were never closed, since their process crashed, was killed or ended by `_exit`: they count until its end, as far as that is known, so that times of the region are lower bounds. Absent for none. Added in 1.5.
   */
  readonly unclosed?: number;
  /**
   * Kernels in the region, children included, each once; CPU operations where there are no kernels. The sum of `calls` in `kernels`.
   */
  readonly kernel_count: number;
  readonly gpu_activity?: RegionGpuActivity;
  readonly thread_samples?: RegionThreadSamples;
  /**
   * The streams of the copies that the region issued, inner ranges included, up to four with most of their time, longest first. Absent where there are none, or streams were not recorded. Added in 1.6.
   */
  readonly copy_streams?: readonly RegionCopyStream[];
  readonly threads?: RegionThreads;
  /**
   * Calls of CUDA and of the system that threads made in the region's own time, without inner ranges, the longest first. Absent where there are none, or none were recorded. Added in 1.6.
   */
  readonly host_calls?: readonly RegionHostCalls[];
  /**
   * Hardware metrics by the tool's own name.
   */
  readonly metrics: {
    readonly [k: string]: MetricValue;
  };
  /**
   * Sections of the tool's report, by name, as the tool gives them.
   */
  readonly sections: {
    readonly [k: string]: unknown;
  };
  /**
   * Longest first; one entry per name, kind and device.
   */
  readonly kernels: readonly KernelRecord[];
  /**
   * How the region varied over repeated runs; absent where there was one run. Since 1.1.
   */
  readonly repeats?: RegionRepeats;
  /**
   * Over the ranks of a parallel program; only in the aggregate. Added in 1.5.
   */
  readonly ranks?: RegionRanks;
  /**
   * The program's names of the categories of the region's ranges, sorted; absent without any. Added in 1.6.
   */
  readonly categories?: readonly string[];
  /**
   * Numbers that the program gave with the region's ranges, as plain payloads or by NVTX's payload extension; absent without any. Added in 1.6.
   */
  readonly payloads?: readonly PayloadStatistics[];
  /**
   * The program's counters (NVTX's counters extension) while the region's ranges were open; absent without any. Added in 1.5.
   */
  readonly counters?: readonly CounterStatistics[];
  readonly selection: RegionSelection;
  readonly notes: Notes;
}
/**
 * Distribution over the invocations of a range, in milliseconds.
 */
export interface InvocationStatistics {
  /**
   * Shortest.
   */
  readonly min: number;
  /**
   * The middle one, or the mean of the two middle ones.
   */
  readonly median: number;
  /**
   * Longest.
   */
  readonly max: number;
  /**
   * Nearest rank: the shortest that 95 % of the invocations do not exceed.
   */
  readonly p95: number;
  /**
   * The first one in time, which often sets things up; absent in an aggregate over several processes. Added in 1.5.
   */
  readonly first?: number;
}
/**
 * Parts of the region's `wall_ms`, in milliseconds, by what the GPUs of its process ran while the range was open, whichever range launched it: a region whose kernels run after it has closed does not have them here. Of several GPUs at least one did so; in reports of one device that one alone counts. Absent where no GPU was recorded, where ranges were not timed, and under ncu, which runs kernels one at a time. Added in 1.4.
 */
export interface RegionGpuActivity {
  /**
   * A kernel, a copy or a set of memory ran; at most `wall_ms`, in the rest of which the GPUs were idle.
   */
  readonly busy_ms: number;
  /**
   * At least one kernel ran.
   */
  readonly kernel_ms: number;
  /**
   * At least one copy or set of memory ran.
   */
  readonly copy_ms: number;
  /**
   * Both ran at once; `kernel_ms` and `copy_ms` without `busy_ms`.
   */
  readonly overlap_ms: number;
}
/**
 * Samples of the threads that opened the ranges, while no inner range was open; outside of ranges, of the first thread of the process. Absent where threads were not sampled. Added in 1.6.
 */
export interface RegionThreadSamples {
  /**
   * How often a thread was seen in each state: running (or waiting for a processor), or waiting for a lock, a condition (without or with a time limit), the end of a thread, a time, a file, a pipe, a socket, one of several things, a child process, a device; `unknown` where the system does not say.
   */
  readonly states: {
    readonly running?: number;
    readonly lock?: number;
    readonly condition?: number;
    readonly timed_condition?: number;
    readonly join?: number;
    readonly sleep?: number;
    readonly file?: number;
    readonly pipe?: number;
    readonly socket?: number;
    readonly poll?: number;
    readonly child?: number;
    readonly device?: number;
    readonly other?: number;
    readonly unknown?: number;
  };
  /**
   * The time between two samples in which a thread was in the region alone: that of the numbers below.
   */
  readonly counted_ms: number;
  /**
   * Time in the queue of a processor.
   */
  readonly queued_ms: number;
  /**
   * How often a thread got a processor.
   */
  readonly slices: number;
  /**
   * Processor time in the kernel.
   */
  readonly system_ms: number;
  /**
   * Page faults without a read.
   */
  readonly minor_page_faults: number;
  /**
   * Page faults that read a file.
   */
  readonly major_page_faults: number;
  /**
   * Processor time of child processes that ended meanwhile.
   */
  readonly children_cpu_ms: number;
}
/**
 * The copies on streams of one number, of all processes and contexts. Added in 1.6.
 */
export interface RegionCopyStream {
  /**
   * CUPTI's id of the stream in its context.
   */
  readonly stream: number;
  /**
   * Whether it is the context's null stream, the legacy default stream, for which other streams wait; absent where that was not recorded.
   */
  readonly is_default?: boolean;
  /**
   * Whether kernels of the same process run on it as well.
   */
  readonly runs_kernels: boolean;
  /**
   * Time of the copies, in milliseconds.
   */
  readonly total_ms: number;
}
/**
 * The push/pop ranges of the region by the thread that opened them, with the ranges inside them. Absent where one thread opened all. Of a process, 64 threads are told apart, and at most 16 are listed. Added in 1.6.
 */
export interface RegionThreads {
  /**
   * The number of threads.
   */
  readonly count: number;
  /**
   * Those with the most time, the longest first; always with the one that has the longest median call.
   */
  readonly listed: readonly ThreadTime[];
  /**
   * The others together; absent where all are listed.
   */
  readonly others?: {
    readonly count: number;
    readonly invocations: number;
    readonly wall_ms: number;
  };
  /**
   * Median of `wall_ms` over all threads that are told apart.
   */
  readonly median_wall_ms: number;
  /**
   * Median over the same threads of the median of each one's invocations.
   */
  readonly median_invocation_ms: number;
}
/**
 * The invocations of a region by one thread. Times in milliseconds.
 */
export interface ThreadTime {
  /**
   * The process of the thread.
   */
  readonly process_id: number;
  /**
   * As the system numbers it; that of the main thread is the number of the process.
   */
  readonly thread_id: number;
  /**
   * As the program names it; absent where it does not.
   */
  readonly name?: string;
  /**
   * How often the thread entered the region.
   */
  readonly invocations: number;
  /**
   * Wall time of its invocations.
   */
  readonly wall_ms: number;
  /**
   * Its processor time meanwhile; absent unless it is known for every invocation.
   */
  readonly cpu_ms?: number;
  /**
   * Wall times of its invocations; of more than 10,000, the median within 0.5 %.
   */
  readonly invocation_wall_ms: {
    readonly min: number;
    readonly median: number;
    readonly max: number;
  };
}
/**
 * The calls of one function, which count whole for the range in which they began. A call of CUDA may contain calls of the system. Added in 1.6.
 */
export interface RegionHostCalls {
  /**
   * The CUDA runtime or driver, or the system's libraries.
   */
  readonly api: "cuda" | "os";
  /**
   * The function.
   */
  readonly name: string;
  /**
   * How often it was called.
   */
  readonly calls: number;
  /**
   * From the beginning to the end of calls, in milliseconds.
   */
  readonly total_ms: number;
  /**
   * The shortest call, in milliseconds.
   */
  readonly min_ms: number;
  /**
   * The longest call, in milliseconds.
   */
  readonly max_ms: number;
  /**
   * Only outside of ranges: the calls of the process's first thread, and their time while no thread had a range open, which is a part of the wall time outside of ranges.
   */
  readonly first_thread?: {
    readonly calls: number;
    readonly total_ms: number;
  };
}
/**
 * A metric with the unit its source states.
 */
export interface MetricValue {
  /**
   * Null where the tool gave none.
   */
  readonly value: number | null;
  /**
   * As the source writes it; empty for a pure number.
   */
  readonly unit: string;
}
/**
 * All calls of one kernel, or of one CPU operation, inside a region.
 */
export interface KernelRecord {
  /**
   * As the collector names it, verbatim.
   */
  readonly kernel_name: string;
  /**
   * CPU operations are never called GPU kernels.
   */
  readonly kind: "gpu_kernel" | "cpu_operation";
  /**
   * Summed over calls. A CPU operation counts without the operations inside it. Null where the time of no call is known.
   */
  readonly total_ms: number | null;
  /**
   * How often it ran.
   */
  readonly calls: number;
  /**
   * `total_ms` divided by `calls`; null with it.
   */
  readonly mean_ms: number | null;
  /**
   * Where it ran.
   */
  readonly device: "cpu" | `cuda:${number}`;
  readonly hardware?: KernelHardware;
}
/**
 * What hardware counters tell of a kernel's calls in the region, by the metrics of Nsight Compute that stand below; several calls are put together as those of a region are (means weighted with cycles or time, the smallest of limits). Null where it was not measured; absent where nothing of it was. Added in 1.4.
 */
export interface KernelHardware {
  /**
   * Percent of the peak of the streaming multiprocessors, `sm__throughput.avg.pct_of_peak_sustained_elapsed`.
   */
  readonly sm_pct: number | null;
  /**
   * Percent of the peak of the memory, `gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed`, or the largest of its parts (DRAM, L2, L1) that were measured.
   */
  readonly memory_pct: number | null;
  /**
   * `latency` where neither of the two shares reaches 60 %, `both` where they are less than 10 points apart, else the larger one. Null where one of them is.
   */
  readonly limited_by: "compute" | "memory" | "both" | "latency" | null;
  /**
   * Percent of the peak of the tensor cores, `sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed` (or `_active`), or the largest share of the kinds of tensor instructions that were measured. 0 means that they were not used.
   */
  readonly tensor_pct: number | null;
  /**
   * Achieved occupancy: warps that were active of those that a multiprocessor can hold, `sm__warps_active.avg.pct_of_peak_sustained_active`.
   */
  readonly occupancy_pct: number | null;
  /**
   * Theoretical occupancy, the most that the launch allows, `sm__maximum_warps_per_active_cycle_pct`.
   */
  readonly occupancy_limit_pct: number | null;
  /**
   * What allows the fewest blocks on a multiprocessor, the smallest of `launch__occupancy_limit_*`; all of them where several do. Empty where the theoretical occupancy is 100 %, and where the limits were not measured.
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
 * Over the runs of `repeats=N` in which the region was seen: what it takes where it happens. The region's other numbers are those of the median run.
 */
export interface RegionRepeats {
  /**
   * Runs in which the region was seen.
   */
  readonly runs: number;
  /**
   * All runs. Added in 1.6; before, only a region that all runs had seen had statistics.
   */
  readonly total_runs?: number;
  /**
   * Of the runs in which the region was not seen, those of which only the longest regions are kept: they may have had it. Absent if there are none. Added in 1.6.
   */
  readonly cut_runs?: number;
  /**
   * Null where not all of these runs measured it, or only one.
   */
  readonly total_ms: RepeatStatistics | null;
  /**
   * Null where not all of these runs measured it, or only one.
   */
  readonly wall_ms: RepeatStatistics | null;
  /**
   * Null where not all of these runs measured it, or only one; absent where none did. Added in 1.5.
   */
  readonly cpu_ms?: RepeatStatistics | null;
  /**
   * Null where not all of these runs counted them, or only one; absent where none did. Added in 1.6.
   */
  readonly instructions?: RepeatStatistics | null;
  /**
   * Without the regions inside, in each run; null as `total_ms`. Added in 1.6.
   */
  readonly exclusive_ms?: RepeatStatistics | null;
  /**
   * Without the regions inside, in each run; null as `wall_ms`. Added in 1.6.
   */
  readonly wall_exclusive_ms?: RepeatStatistics | null;
  /**
   * Without the regions inside, in each run; null and absent as `cpu_ms`. Added in 1.6.
   */
  readonly cpu_exclusive_ms?: RepeatStatistics | null;
  /**
   * Without the regions inside, in each run; null and absent as `instructions`. Added in 1.6.
   */
  readonly instructions_exclusive?: RepeatStatistics | null;
  /**
   * Kernels and operations of the region, those inside it included, over the same runs, whichever of them launched one: their means add up to that of `total_ms`. Absent without any, and where only one run has the region. Added in 1.6.
   */
  readonly kernels?: readonly KernelRepeats[];
}
/**
 * One number over several runs; times in milliseconds.
 */
export interface RepeatStatistics {
  /**
   * Mean of the runs.
   */
  readonly mean: number;
  /**
   * Sample standard deviation.
   */
  readonly std: number;
  /**
   * Lower end of the 95 % interval of the mean.
   */
  readonly ci95_low: number;
  /**
   * Upper end of that interval.
   */
  readonly ci95_high: number;
  /**
   * Whether the interval lies within 5 % of the mean.
   */
  readonly stable: boolean;
}
/**
 * A kernel over the runs of `repeats=N`; its calls on all devices. A run that did not launch it counts with 0 ms, so that the times of all kernels add up.
 */
export interface KernelRepeats {
  /**
   * As in the kernel lists.
   */
  readonly kernel_name: string;
  /**
   * Operations on the CPU are never kernels.
   */
  readonly kind: "gpu_kernel" | "cpu_operation";
  /**
   * Runs that launched it.
   */
  readonly runs: number;
  readonly total_ms: RepeatStatistics;
}
/**
 * A region over the ranks of a parallel program that entered it, in milliseconds; others do other work.
 */
export interface RegionRanks {
  /**
   * Wall time of each rank, in the order of the report's `ranks`; null where it never entered.
   */
  readonly wall_ms: readonly (number | null)[];
  /**
   * Of the rank with the least.
   */
  readonly min_ms: number;
  /**
   * Over the ranks that entered it.
   */
  readonly mean_ms: number;
  /**
   * Of the rank with the most.
   */
  readonly max_ms: number;
  /**
   * max_ms by mean_ms; 1 is even.
   */
  readonly imbalance: number;
  /**
   * mean_ms by max_ms; 1 is even.
   */
  readonly load_balance: number;
  /**
   * The rank with `max_ms`; of communication that all ranks enter, the one that the others waited for longest.
   */
  readonly slowest_rank: number;
  /**
   * What all ranks together waited, from when each entered until the last one did. Absent unless the region is communication (by its name, domain or category) that all ranks enter equally often.
   */
  readonly waiting_ms?: number;
}
/**
 * One number of the payloads of a region's own ranges, not of ranges inside them: the plain payload (payload, without a unit) or one of a structure. Numbers that only name something, such as ranks and ids, are left out. `min <= mean <= max`.
 */
export interface PayloadStatistics {
  /**
   * As the schema calls it, those of nested structures with dots; without the unit where that stands in the name, as in `Message size [bytes]`.
   */
  readonly name: string;
  /**
   * In the singular, e.g. `byte`, `token`, `FLOP`; empty where it is not known.
   */
  readonly unit: string;
  /**
   * Values; elements of arrays count each.
   */
  readonly count: number;
  /**
   * Of amounts only: bytes, tokens, FLOP, elements and the like.
   */
  readonly sum?: number;
  /**
   * Over all values.
   */
  readonly mean: number;
  /**
   * The smallest value.
   */
  readonly min: number;
  /**
   * The largest value.
   */
  readonly max: number;
  /**
   * `sum` by the wall time of the ranges that have the number. Of amounts only; absent where the ranges took no time.
   */
  readonly per_second?: number;
}
/**
 * A counter of the program while a region's ranges were open. `min <= mean <= max`.
 */
export interface CounterStatistics {
  /**
   * Those of a group with a dot.
   */
  readonly name: string;
  /**
   * NVTX domain; empty for the default domain.
   */
  readonly domain: string;
  /**
   * Empty where it is not known.
   */
  readonly unit: string;
  /**
   * Values that count: those sampled meanwhile and, of counters whose values hold until the next one, the one that held before.
   */
  readonly samples: number;
  /**
   * The smallest value.
   */
  readonly min: number;
  /**
   * Of counters whose values hold until the next one, weighted by how long they did.
   */
  readonly mean: number;
  /**
   * The largest value.
   */
  readonly max: number;
}
/**
 * The patterns that chose the regions of this report: globs over the label, `domain@name` with the domain. Selection hides regions and never changes the numbers of those it shows.
 */
export interface RegionSelection {
  /**
   * A region inside a match is shown too; an empty list matches all.
   */
  readonly include_patterns: readonly string[];
  /**
   * What is inside a match is left out too.
   */
  readonly exclude_patterns: readonly string[];
  /**
   * Which kernels count: exact names, globs, or `regex:` with an expression; an empty list means all. The kernel keys are there only where kernels were selected. Added in 1.1.
   */
  readonly kernel_include_patterns?: readonly string[];
  /**
   * Which kernels do not count, also those that an include pattern matches. Added in 1.1.
   */
  readonly kernel_exclude_patterns?: readonly string[];
  /**
   * The name of a kernel that those patterns are matched against. Added in 1.1.
   */
  readonly kernel_name_base?: "function" | "demangled" | "mangled";
  /**
   * The only kernels that count beside the patterns, where they were limited to those with the most GPU time in a recording of the same program; the longest first. Added in 1.1.
   */
  readonly kernel_top_names?: readonly string[];
}
/**
 * Numbers of the whole scope, also of regions that the selection leaves out, unless that applies to the measurement.
 */
export interface ReportTotals {
  /**
   * Regions in this report, the outside bucket not counted.
   */
  readonly region_count: number;
  /**
   * Range instances in all regions of this report.
   */
  readonly invocations: number;
  /**
   * Kernels, or CPU operations where there are no kernels, each once.
   */
  readonly kernel_count: number;
  /**
   * Time of all kernels or CPU operations, each once; null where none has a time.
   */
  readonly total_ms: Milliseconds;
  /**
   * The part of `total_ms` launched outside every range.
   */
  readonly outside_ms: Milliseconds;
  /**
   * The part of `kernel_count` launched outside every range.
   */
  readonly outside_kernel_count: number;
  /**
   * Time covered by at least one outermost range; overlaps count once. Null where no range was timed, and in the bundle of a single region, whose own `wall_ms` says it.
   */
  readonly wall_ms: Milliseconds;
  /**
   * Processor time of threads in ranges, each thread's time once, where it is known: of ranges that one thread opened and closed. Absent where it is known of none. Added in 1.5.
   */
  readonly cpu_ms?: number;
  /**
   * Instructions of threads in ranges, each thread's once. Absent unless they are known of every range that one thread opened and closed. Added in 1.6.
   */
  readonly instructions?: number;
  readonly run?: RunTotals;
  /**
   * These totals over the runs of `repeats=N`, without exclusive numbers and kernels, which are in `kernel_repeats`. Only of the main report; absent where there was one run. Added in 1.6.
   */
  readonly repeats?: RegionRepeats;
}
/**
 * The processes of the scope from their start to their end, with and without ranges, in milliseconds; times of several processes are added up, as those of regions are. Absent where only kernels were measured, and in the bundle of a single region. Added in 1.5.
 */
export interface RunTotals {
  /**
   * From the start of the first process to the end of the last, without times in which none ran.
   */
  readonly wall_ms: number;
  /**
   * Each process from its start to its end, added up; `wall_ms` for one process. What shares of the run refer to.
   */
  readonly process_ms: number;
  /**
   * Processes of the scope.
   */
  readonly process_count: number;
  /**
   * The part of `process_ms` in which at least one range of the process was open.
   */
  readonly in_ranges_ms: number;
  /**
   * The part of `process_ms` before the first range of a process; null without ranges.
   */
  readonly before_ranges_ms: Milliseconds;
  /**
   * The part of `process_ms` after the last range of a process; null without ranges.
   */
  readonly after_ranges_ms: Milliseconds;
  /**
   * What GPUs did in `process_ms`; absent where no GPU was seen.
   */
  readonly gpu_activity?: RegionGpuActivity;
  /**
   * The part of `gpu_activity` while at least one range was open.
   */
  readonly gpu_activity_in_ranges?: RegionGpuActivity;
}
/**
 * A rank of a parallel program, as its launcher numbers it.
 */
export interface RankInfo {
  /**
   * From 0.
   */
  readonly rank: number;
  /**
   * Name of its machine; empty where it is not known.
   */
  readonly host: string;
  /**
   * On its host; null where the launcher does not say.
   */
  readonly local_rank: number | null;
  /**
   * Of its processes that recorded something.
   */
  readonly process_ids: readonly number[];
  /**
   * Time in communication: of its GPUs in kernels of communication or, without those, in ranges of communication that ranks enter together; overlaps count once. Absent without any. Added in 1.6.
   */
  readonly communication_ms?: number;
  /**
   * The part of it during which no other kernel of the rank ran: communication that no computation hides. Added in 1.6.
   */
  readonly exposed_communication_ms?: number;
}
/**
 * A region that only other runs of `repeats=N` have than the one with the median time.
 */
export interface UnshownRegion {
  /**
   * As of a region.
   */
  readonly path: readonly string[];
  /**
   * As of a region.
   */
  readonly domain: string;
  /**
   * As of a region.
   */
  readonly path_domains?: readonly string[];
  /**
   * As of a region.
   */
  readonly kind: "push_pop" | "start_end" | "outside";
  readonly repeats: RegionRepeats;
  readonly only_run?: OnlyRun;
}
/**
 * Times of a region in the only run that has it. Absent where several have it, whose means are in `repeats`.
 */
export interface OnlyRun {
  /**
   * As of a region.
   */
  readonly total_ms: number | null;
  /**
   * As of a region.
   */
  readonly exclusive_ms: number | null;
  /**
   * As of a region.
   */
  readonly wall_ms: number | null;
  /**
   * As of a region.
   */
  readonly wall_exclusive_ms: number | null;
  /**
   * As of a region.
   */
  readonly cpu_ms?: number;
  /**
   * As of a region.
   */
  readonly cpu_exclusive_ms?: number;
}
/**
 * The tool that measured, and its clocks.
 */
export interface CollectorInfo {
  /**
   * The collector.
   */
  readonly name: string;
  /**
   * Version of the collector.
   */
  readonly version: string;
  /**
   * Clock of the wall times; null where there are none.
   */
  readonly wall_clock: string | null;
  /**
   * Clock of the kernel times: `gpu`, or `cpu` for CPU operations; null where there are none.
   */
  readonly kernel_clock: string | null;
}
/**
 * Where it ran. Never the process environment, which holds secrets.
 */
export interface ReportEnvironment {
  /**
   * Name of the machine.
   */
  readonly hostname: string;
  /**
   * Operating system and version.
   */
  readonly os: string;
  /**
   * Processor model.
   */
  readonly cpu: string;
  /**
   * GPUs of the machine; empty where there are none.
   */
  readonly gpus: readonly string[];
  /**
   * The profiled command line, one argument per item.
   */
  readonly command: readonly string[];
  /**
   * Overrides of `deep-profile`, as typed, that run the same workload again; empty where none are needed. Absent where `command` was given itself (`-- PROG ARG...`), and where a config of the user takes part. Added in 1.6.
   */
  readonly overrides?: readonly string[];
  /**
   * As the workload ran; null where the workload did not say.
   */
  readonly device: string | null;
  /**
   * Version that made the report.
   */
  readonly hydraconf_version: string;
}
/**
 * What chose the regions and kernels of the report, also where it took none; the keys that regions have, too, mean the same. Added in 1.3: reports of older contracts lack it.
 */
export interface ReportSelection {
  /**
   * `report`: everything was measured, and the patterns chose what is shown. `measurement`: ncu's filter kept the rest from being measured, so that totals, and regions around what is excluded, lack it.
   */
  readonly applies_to: "report" | "measurement";
  /**
   * Globs over the label, `domain@name` with the domain; an empty list, without expressions of ncu, matches all.
   */
  readonly include_patterns: readonly string[];
  /**
   * What is inside a match is left out too.
   */
  readonly exclude_patterns: readonly string[];
  /**
   * In ncu's own grammar; what one of them takes is taken beside the include patterns.
   */
  readonly ncu_include_expressions?: readonly string[];
  /**
   * In ncu's own grammar; what one of them takes is left out, too.
   */
  readonly ncu_exclude_expressions?: readonly string[];
  /**
   * Which kernels count; an empty list means all. The kernel keys are there only where kernels were selected.
   */
  readonly kernel_include_patterns?: readonly string[];
  /**
   * Which kernels do not count.
   */
  readonly kernel_exclude_patterns?: readonly string[];
  /**
   * The name of a kernel that those patterns are matched against.
   */
  readonly kernel_name_base?: "function" | "demangled" | "mangled";
  /**
   * The only kernels that count beside the patterns; the longest first.
   */
  readonly kernel_top_names?: readonly string[];
}
