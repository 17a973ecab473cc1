/**
 * A sweep as one report (jobs side by side, regions by path), and its times against a numeric parameter; shared with
 * the page's script. Times are milliseconds.
 */
import { quantile975 } from "../compare/evidence.ts";
import type { NCUProfileRegion } from "../model/document.ts";

/** Version of the contract, `major.minor`; a minor version only adds. */
export const SWEEP_CONTRACT = "hydraconf.sweep-report/1.4";

/** The versions that can be read, including all earlier ones. */
export const SWEEP_CONTRACTS: readonly string[] = [
  "hydraconf.sweep-report/1.0",
  "hydraconf.sweep-report/1.1",
  "hydraconf.sweep-report/1.2",
  "hydraconf.sweep-report/1.3",
  SWEEP_CONTRACT,
];

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
  /** What each job did, where the reader says so: throughput is reported then. Absent where not. Added in 1.3. */
  readonly work?: SweepWork;
  /** Name of the job with the highest throughput, or without `work` with the least time; null where none has any. */
  readonly best: string | null;
  readonly regions: readonly SweepRegion[];
  readonly notes: readonly string[];
}

/** An amount of work, as a product of numbers and keys of the jobs' configs. */
export interface SweepWork {
  /** What is counted: `images`. */
  readonly unit: string;
  /** `infer.batch_size`, `10`: their product is the amount in the whole job. */
  readonly factors: readonly string[];
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
  /** Processor time in its ranges; absent where it is not known. Added in 1.2. */
  readonly cpu_ms?: number;
  /** How much it did in each second of `total_ms`, in the unit of `work`; absent where that is not known. Added in 1.3. */
  readonly per_second?: number;
  /** Path of its own page from this report, with `/`; absent where it has none. Added in 1.3. */
  readonly page?: string;
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
  /** The same of processor times; absent where no job has any. Added in 1.2. */
  readonly cpu_times_ms?: readonly (number | null)[];
  /** Of its single calls, one per job; null for fewer than two, absent where no job has as many. Added in 1.4. */
  readonly calls_ms?: readonly (SweepCalls | null)[];
}

/** Wall time of the single calls of a region in one job. */
export interface SweepCalls {
  readonly calls: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

// Time against a numeric parameter. The page's script uses it: no Node here.

/** Jobs that differ in one parameter only, by its value. */
export interface Curve {
  /** The other parameters' values; empty where there are no others. */
  readonly label: string;
  readonly points: readonly CurvePoint[];
}

export interface CurvePoint {
  readonly x: number;
  readonly ms: number;
  readonly job: string;
}

/**
 * @param parameter place of a numeric parameter
 * @param times of a region, one per job; those of the whole jobs when absent
 */
export function curvesOf(
  { jobs, parameters }: Pick<SweepReport, "jobs" | "parameters">,
  parameter: number,
  times: readonly (number | null)[] = jobs.map(({ total_ms }) => total_ms),
): readonly Curve[] {
  const curves = new Map<string, CurvePoint[]>();
  for (const [at, { name, values }] of jobs.entries()) {
    const ms = times[at] ?? null;
    const x = Number(values[parameter] ?? Number.NaN);
    if (ms === null || Number.isNaN(x)) continue;
    const label = parameters
      .map(({ key }, place) =>
        place === parameter ? "" : `${key}=${values[place] ?? "(not set)"}`,
      )
      .filter((text) => text !== "")
      .join(", ");
    const points = curves.get(label) ?? [];
    points.push({ x, ms, job: name });
    curves.set(label, points);
  }
  return [...curves].map(([label, points]) => ({
    label,
    points: points.sort((a, b) => a.x - b.x),
  }));
}

/** A power law through the points of a curve. */
export interface ScalingFit {
  /** 1 is proportional, 0 constant, 2 quadratic. */
  readonly exponent: number;
  /** Half of its 95 % interval, by Student's t. */
  readonly half: number;
  /** Coefficient of determination, of the logarithms. */
  readonly r2: number;
}

/** Below this R² a power law does not describe the times. */
const LEAST_R2 = 0.9;

/**
 * How time grows with the parameter: the least-squares line through the logarithms. Null for less than three different
 * values above zero: a line through two always fits.
 */
export function scalingFit(points: readonly CurvePoint[]): ScalingFit | null {
  const logs = points
    .filter(({ x, ms }) => x > 0 && ms > 0)
    .map(({ x, ms }) => ({ x: Math.log(x), y: Math.log(ms) }));
  if (new Set(logs.map(({ x }) => x)).size < 3) return null;
  const sum = (of: (point: { readonly x: number; readonly y: number }) => number) =>
    logs.reduce((total, point) => total + of(point), 0);
  const [meanX, meanY] = [sum(({ x }) => x) / logs.length, sum(({ y }) => y) / logs.length];
  const spread = sum(({ x }) => (x - meanX) ** 2);
  const total = sum(({ y }) => (y - meanY) ** 2);
  const exponent = sum(({ x, y }) => (x - meanX) * (y - meanY)) / spread;
  const left = sum(({ x, y }) => (y - meanY - exponent * (x - meanX)) ** 2);
  const freedom = logs.length - 2;
  return {
    exponent,
    half: quantile975(freedom) * Math.sqrt(left / freedom / spread),
    // Times that are all the same fit exactly.
    r2: total === 0 ? 1 : 1 - left / total,
  };
}

/** The exponent in words, or why there is none. */
export function scalingWords(points: readonly CurvePoint[]): string {
  const fit = scalingFit(points);
  if (fit === null) return "none: less than three values";
  const { exponent, half, r2 } = fit;
  if (!(r2 >= LEAST_R2)) return `not supported by the data (R² ${r2.toFixed(2)})`;
  return `${exponent.toFixed(2)} ±${half.toFixed(2)} (R² ${r2.toFixed(2)})`;
}
