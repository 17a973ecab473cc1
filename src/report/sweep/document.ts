/**
 * A sweep as one report (jobs side by side, regions by path), and its times against a numeric parameter; shared with
 * the page's script. Times are milliseconds.
 */
import { quantile975 } from "../compare/evidence.ts";
import type { NCUProfileRegion } from "../model/document.ts";

/** Version of the contract, `major.minor`; a minor version only adds. */
export const SWEEP_CONTRACT = "hydraconf.sweep-report/1.4";

/** The versions that can be read, including all earlier ones. */
export const SWEEP_CONTRACTS: readonly string[] = [SWEEP_CONTRACT];

export interface SweepReport {
  readonly contract: string;
  /** ISO 8601 in UTC. */
  readonly generated_at: string;
  /** `recorder`, `nsys` or `ncu`, the source of all numbers. */
  readonly collector: string;
  /** The compared time: that of kernels (or CPU operations), or wall time if not all jobs have kernel times. */
  readonly basis: "total_ms" | "wall_ms";
  /** The parameters that differ between the jobs, in the order of their overrides. */
  readonly parameters: readonly SweepParameter[];
  readonly jobs: readonly SweepJob[];
  /** The work of each job; throughput is reported if it is given. Added in 1.3. */
  readonly work?: SweepWork;
  /**
   * Name of the job with the highest throughput or, without `work`, the shortest time; null if no job has one, and unless
   * every job with a time ran at least three times: single runs do not tell.
   */
  readonly best: string | null;
  readonly regions: readonly SweepRegion[];
  readonly notes: readonly string[];
}

/** An amount of work, as a product of numbers and keys of the jobs' configs. */
export interface SweepWork {
  /** The unit: `images`. */
  readonly unit: string;
  /** The factors of the amount of work of a whole job, for example `infer.batch_size` and `10`. */
  readonly factors: readonly string[];
}

export interface SweepParameter {
  readonly key: string;
  /** Whether every value is a number, so that it can be an axis. */
  readonly numeric: boolean;
}

export interface SweepJob {
  /** Its directory, relative to that of the sweep. */
  readonly name: string;
  /** One per parameter, as typed; null if this job did not set it. */
  readonly values: readonly (string | null)[];
  /** Time of the whole job; null without a report. */
  readonly total_ms: number | null;
  /** Processor time in its ranges; absent if unknown. Added in 1.2. */
  readonly cpu_ms?: number;
  /** Half of the 95 % interval of `total_ms` over repeated runs; absent for fewer than three. Added in 1.4. */
  readonly ci95_half_ms?: number;
  /** Elapsed time: covered by its ranges, or of its run if it has none. Absent if unknown. Added in 1.4. */
  readonly wall_ms?: number;
  /** Work per second of `wall_ms`, in the unit of `work`; absent if unknown. Added in 1.3. */
  readonly per_second?: number;
  /** Half of its 95 % interval, as `ci95_half_ms`. Added in 1.4. */
  readonly per_second_ci95_half?: number;
  /** Path of its own page relative to this report, with `/`; absent if it has none. Added in 1.3. */
  readonly page?: string;
  /** Why it has no report; null if it has one. */
  readonly problem: string | null;
}

export interface SweepRegion {
  readonly path: readonly string[];
  readonly domain: string;
  /** As in the region report: absent if all ranges of the path have the same `domain`. Added in 1.1. */
  readonly path_domains?: readonly string[];
  readonly kind: NCUProfileRegion["kind"];
  /** One per job, in the order of the jobs; null if the job does not have the region. */
  readonly times_ms: readonly (number | null)[];
  /** Processor times in the same order; absent if no job has any. Added in 1.2. */
  readonly cpu_times_ms?: readonly (number | null)[];
  /** Statistics of single calls, one per job; null for fewer than two calls, absent if all are null. Added in 1.4. */
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

// Time against a numeric parameter. Must not import Node modules: the page's script uses it.

/** Jobs that differ only in one parameter, sorted by its value. */
export interface Curve {
  /** The values of the other parameters; empty if there are none. */
  readonly label: string;
  readonly points: readonly CurvePoint[];
}

export interface CurvePoint {
  readonly x: number;
  readonly ms: number;
  readonly job: string;
}

/**
 * @param parameter index of a numeric parameter
 * @param times times of a region, one per job. Default: those of the whole jobs
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
  /** 0 means constant, 1 proportional, 2 quadratic. */
  readonly exponent: number;
  /** Half of the 95 % interval of the exponent, by Student's t. */
  readonly half: number;
  /** Coefficient of determination of the logarithms. */
  readonly r2: number;
}

/** Below this R² a power law does not describe the times. */
const LEAST_R2 = 0.9;

/**
 * How time grows with the parameter: the least-squares line through the logarithms. Null for fewer than three different
 * values above zero, since a line through two points always fits.
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
    // Equal times fit exactly.
    r2: total === 0 ? 1 : 1 - left / total,
  };
}

/** The exponent in words, or the reason why there is none. */
export function scalingWords(points: readonly CurvePoint[]): string {
  const fit = scalingFit(points);
  if (fit === null) return "none: less than three values";
  const { exponent, half, r2 } = fit;
  if (!(r2 >= LEAST_R2)) return `not supported by the data (R² ${r2.toFixed(2)})`;
  return `${exponent.toFixed(2)} ±${half.toFixed(2)} (R² ${r2.toFixed(2)})`;
}
