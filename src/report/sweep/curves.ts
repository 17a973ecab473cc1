/** Time against a numeric parameter, shared with the page's script: no Node here. */
import type { SweepReport } from "./document.ts";

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

/**
 * How time grows with the parameter: the slope of the least-squares line through the logarithms. 1 is
 * proportional, 0 constant, 2 quadratic. Null for less than two different values above zero.
 */
export function scalingExponent(points: readonly CurvePoint[]): number | null {
  const logs = points
    .filter(({ x, ms }) => x > 0 && ms > 0)
    .map(({ x, ms }) => ({ x: Math.log(x), y: Math.log(ms) }));
  const mean = (of: (point: { x: number; y: number }) => number) =>
    logs.reduce((sum, point) => sum + of(point), 0) / logs.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const spread = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  if (logs.length < 2 || spread === 0) return null;
  return logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
