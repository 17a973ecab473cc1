import type { NCUProfileRegion } from "../document.ts";

interface MetricName {
  readonly name: string;
  readonly unit: string;
}

/** What most readers look for first. */
const FIRST = [
  "gpu__time_duration.sum",
  "sm__throughput.avg.pct_of_peak_sustained_elapsed",
  "dram__throughput.avg.pct_of_peak_sustained_elapsed",
  "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
  "sm__warps_active.avg.pct_of_peak_sustained_active",
  "lts__t_sector_hit_rate.pct",
  "l1tex__t_sector_hit_rate.pct",
  "launch__registers_per_thread",
];

/**
 * What no kernel changes, the machine and the profiler themselves, a third of what ncu's full set
 * has: it comes last, and is left out first.
 */
const CONSTANT = /^(?:device__attribute_|nvlink__|c2clink__|numa__|profiler__)/;

/**
 * Metrics with a value in some region, as columns; a metric in two units is two columns. Those of
 * one rank stand in the order of their names.
 */
export function chooseMetrics(
  regions: readonly NCUProfileRegion[],
  limit: number,
): { readonly names: readonly MetricName[]; readonly left: number } {
  const names = namesIn(regions).sort(
    (a, b) => rank(a.name) - rank(b.name) || compare(a.name, b.name),
  );
  return { names: names.slice(0, limit), left: Math.max(0, names.length - limit) };
}

/** What the column of a metric holds, region by region. */
export const metricValues = (
  { name, unit }: MetricName,
  regions: readonly NCUProfileRegion[],
): readonly (number | null)[] =>
  regions.map(({ metrics }) => {
    const metric = metrics[name];
    return metric?.unit === unit ? metric.value : null;
  });

/** In the order in which they are seen. Regions mostly have the same: that must cost little. */
function namesIn(regions: readonly NCUProfileRegion[]): MetricName[] {
  const names: MetricName[] = [];
  const units = new Map<string, Set<string>>();
  for (const { metrics } of regions)
    for (const [name, { value, unit }] of Object.entries(metrics)) {
      if (value === null) continue;
      const known = units.get(name);
      if (known?.has(unit)) continue;
      if (known === undefined) units.set(name, new Set([unit]));
      else known.add(unit);
      names.push({ name, unit });
    }
  return names;
}

function rank(name: string): number {
  const place = FIRST.indexOf(name);
  if (place !== -1) return place;
  return CONSTANT.test(name) ? FIRST.length + 1 : FIRST.length;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
