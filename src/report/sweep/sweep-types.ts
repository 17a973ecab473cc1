/** A report of a sweep, of which schemas/sweep-report.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * sweep-report.json of deep-profile, a sweep as one report: jobs side by side, regions by path. Times are milliseconds. A minor version only adds.
 */
export interface SweepReport {
  /**
   * Version of this contract.
   */
  readonly contract: "hydraconf.sweep-report/1.4";
  /**
   * ISO 8601 in UTC.
   */
  readonly generated_at: string;
  /**
   * recorder, nsys or ncu: all numbers are of one.
   */
  readonly collector: string;
  /**
   * What is compared: time of kernels (or CPU operations), or wall time where not all jobs have that.
   */
  readonly basis: "total_ms" | "wall_ms";
  /**
   * What differs between the jobs, in the order of their overrides.
   */
  readonly parameters: readonly SweepParameter[];
  /**
   * In the order of their numbers.
   */
  readonly jobs: readonly SweepJob[];
  /**
   * What each job did, where the reader says so. Added in 1.3.
   */
  readonly work?: SweepWork;
  /**
   * Name of the job with the highest throughput, or without work with the least time; null where none has any, and unless every job with a time ran at least three times.
   */
  readonly best: string | null;
  /**
   * By path, in the order in which the jobs have them.
   */
  readonly regions: readonly SweepRegion[];
  /**
   * What a reader must know, a sentence each.
   */
  readonly notes: readonly string[];
}
/**
 * A key that does not have the same value in every job.
 */
export interface SweepParameter {
  /**
   * As in the overrides.
   */
  readonly key: string;
  /**
   * Whether every value is a number: then it is an axis.
   */
  readonly numeric: boolean;
}
/**
 * A job of the sweep.
 */
export interface SweepJob {
  /**
   * Its directory in that of the sweep.
   */
  readonly name: string;
  /**
   * One per parameter, as typed; null: this job did not set it.
   */
  readonly values: readonly (string | null)[];
  /**
   * Of the whole job, on the basis of the report; null where it has none.
   */
  readonly total_ms: number | null;
  /**
   * Processor time of threads in its ranges; absent where it is not known. Added in 1.2.
   */
  readonly cpu_ms?: number;
  /**
   * Path of its own page from this report, with /; absent where it has none. Since 1.3.
   */
  readonly page?: string;
  /**
   * How much it did in each second of wall_ms, in the unit of work; absent where that is not known. Added in 1.3.
   */
  readonly per_second?: number;
  /**
   * Half of its 95 % interval, as ci95_half_ms. Added in 1.4.
   */
  readonly per_second_ci95_half?: number;
  /**
   * Half of the 95 % interval of total_ms over repeated runs; absent for fewer than three. Added in 1.4.
   */
  readonly ci95_half_ms?: number;
  /**
   * Elapsed time: covered by its ranges, or of its run where it has none; absent where that is not known. Added in 1.4.
   */
  readonly wall_ms?: number;
  /**
   * Why it has none.
   */
  readonly problem: string | null;
}
/**
 * An amount of work, as a product of numbers and keys of the jobs' configs.
 */
export interface SweepWork {
  /**
   * What is counted: images.
   */
  readonly unit: string;
  /**
   * Their product is the amount in the whole job.
   */
  readonly factors: readonly string[];
}
/**
 * A region with its time in every job.
 */
export interface SweepRegion {
  /**
   * Names from the outermost region.
   */
  readonly path: readonly string[];
  /**
   * NVTX domain; empty for the default domain.
   */
  readonly domain: string;
  /**
   * NVTX domains of the ranges on the path, one for each. Absent where all are of domain. Since 1.1.
   */
  readonly path_domains?: readonly string[];
  /**
   * How the range was opened, or what ran outside every range.
   */
  readonly kind: "push_pop" | "start_end" | "outside";
  /**
   * One per job, in their order; null where the job does not have the region.
   */
  readonly times_ms: readonly (number | null)[];
  /**
   * The same of processor times; absent where no job has any. Added in 1.2.
   */
  readonly cpu_times_ms?: readonly (number | null)[];
  /**
   * Of its single calls, one per job; null for fewer than two, absent where no job has as many. Added in 1.4.
   */
  readonly calls_ms?: readonly (null | SweepCalls)[];
}
/**
 * Wall time of the single calls of a region in one job.
 */
export interface SweepCalls {
  /**
   * How many there were.
   */
  readonly calls: number;
  /**
   * The shortest.
   */
  readonly min: number;
  /**
   * Half of them took at most so long.
   */
  readonly median: number;
  /**
   * 95 of 100 took at most so long.
   */
  readonly p95: number;
  /**
   * The longest.
   */
  readonly max: number;
}
