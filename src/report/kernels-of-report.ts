import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "./document.ts";
import { treeRows } from "./tree-rows.ts";

export interface KernelOfReport extends KernelRecord {
  /** Label of the region with most of its time, the innermost of equals. */
  readonly mostlyIn: string;
}

/**
 * Kernels of the outermost regions shown, merged, longest first: each is in one of them when ranges
 * nest.
 */
export function kernelsOfReport(report: NCUProfileRegionReport): readonly KernelOfReport[] {
  const merged = new Map<string, { record: KernelRecord; calls: number; total_ms: number }>();
  for (const { region, level } of treeRows(report.regions))
    if (level === 0)
      for (const record of region.kernels) {
        const row = merged.get(keyOf(record)) ?? { record, calls: 0, total_ms: 0 };
        merged.set(keyOf(record), row);
        row.calls += record.calls;
        row.total_ms += record.total_ms;
      }
  const homes = homesOf(report.regions);
  return [...merged]
    .map(([key, { record, calls, total_ms }]) => ({
      ...record,
      calls,
      total_ms,
      mean_ms: total_ms / calls,
      mostlyIn: homes.get(key) ?? "",
    }))
    .sort((a, b) => b.total_ms - a.total_ms);
}

function homesOf(regions: readonly NCUProfileRegion[]): ReadonlyMap<string, string> {
  const best = new Map<string, { region: NCUProfileRegion; ms: number }>();
  for (const region of regions)
    for (const record of region.kernels) {
      const known = best.get(keyOf(record));
      if (
        known === undefined ||
        record.total_ms > known.ms ||
        (record.total_ms === known.ms && region.depth > known.region.depth)
      )
        best.set(keyOf(record), { region, ms: record.total_ms });
    }
  return new Map([...best].map(([key, { region }]) => [key, treeRows([region])[0]?.label ?? ""]));
}

const keyOf = ({ kernel_name, kind, device }: KernelRecord): string =>
  JSON.stringify([kernel_name, kind, device]);
