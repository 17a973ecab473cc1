/**
 * A sweep as one report (jobs side by side, regions by path), and its times against a numeric parameter; shared with
 * the page's script. Times are milliseconds.
 */

import { quantile975 } from "../compare/evidence.ts";
import type { SweepReport } from "./sweep-types.ts";

/** Version of the contract, `major.minor`; a minor version only adds. */
export const SWEEP_CONTRACT = "hydraconf.sweep-report/1.4";

/** The versions that can be read, including all earlier ones. */
export const SWEEP_CONTRACTS: readonly string[] = [SWEEP_CONTRACT];

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
  for (const [index, { name, values }] of jobs.entries()) {
    const ms = times[index] ?? null;
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
  const sum = (measure: (point: { readonly x: number; readonly y: number }) => number) =>
    logs.reduce((total, point) => total + measure(point), 0);
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
