import type { NCUProfileRegion } from "../document.ts";

interface Column {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly (number | null)[];
}

/** What most readers look for first; other metrics follow in the order of their names. */
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

/** Metrics with a value in some region, as columns; a metric in two units is two columns. */
export function chooseMetrics(
  regions: readonly NCUProfileRegion[],
  limit: number,
): { readonly columns: readonly Column[]; readonly left: number } {
  const found = new Map<string, { name: string; unit: string }>();
  for (const { metrics } of regions)
    for (const [name, { value, unit }] of Object.entries(metrics))
      if (value !== null) found.set(JSON.stringify([name, unit]), { name, unit });
  const names = [...found.values()].sort(
    (a, b) => rank(a.name) - rank(b.name) || compare(a.name, b.name),
  );
  const columns = names.slice(0, limit).map(({ name, unit }) => ({
    name,
    unit,
    values: regions.map(({ metrics }) => {
      const metric = metrics[name];
      return metric?.unit === unit ? metric.value : null;
    }),
  }));
  return { columns, left: names.length - columns.length };
}

function rank(name: string): number {
  const place = FIRST.indexOf(name);
  return place === -1 ? FIRST.length : place;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
