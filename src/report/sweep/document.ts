/** A sweep as one report: jobs side by side, regions by path. Times are milliseconds. */
import type { NCUProfileRegion } from "../document.ts";

/** Version of the contract, `major.minor`; a minor version only adds. */
export const SWEEP_CONTRACT = "hydraconf.sweep-report/1.1";

/** The versions that can be read, including all earlier ones. */
export const SWEEP_CONTRACTS: readonly string[] = ["hydraconf.sweep-report/1.0", SWEEP_CONTRACT];

export interface SweepReport {
  readonly contract: string;
  /** ISO 8601 in UTC. */
  readonly generated_at: string;
  /** `recorder`, `nsys` or `ncu`: all numbers are of one. */
  readonly collector: string;
  /** What is compared: time of kernels (or CPU operations), or wall time where not all jobs have that. */
  readonly basis: "total_ms" | "wall_ms";
  /** What differs between the jobs, in the order of their overrides. */
  readonly parameters: readonly SweepParameter[];
  readonly jobs: readonly SweepJob[];
  /** Name of the job that took the least time; null where none has a time. */
  readonly best: string | null;
  readonly regions: readonly SweepRegion[];
  readonly notes: readonly string[];
}

export interface SweepParameter {
  readonly key: string;
  /** Whether every value is a number: then it is an axis. */
  readonly numeric: boolean;
}

export interface SweepJob {
  /** Its directory in that of the sweep. */
  readonly name: string;
  /** One per parameter, as typed; null: this job did not set it. */
  readonly values: readonly (string | null)[];
  /** Of the whole job; null where it has no report. */
  readonly total_ms: number | null;
  /** Why it has none. */
  readonly problem: string | null;
}

export interface SweepRegion {
  readonly path: readonly string[];
  readonly domain: string;
  /** As in the region report: absent where all ranges of the path are of `domain`. Added in 1.1. */
  readonly path_domains?: readonly (string | null)[];
  readonly kind: NCUProfileRegion["kind"];
  /** One per job, in their order; null where the job does not have the region. */
  readonly times_ms: readonly (number | null)[];
}
