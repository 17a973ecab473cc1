/**
 * Regions and kernels as CSV (RFC 4180), a row per region and report, and a row per kernel of a
 * region. Times are milliseconds; an empty cell was not measured.
 */
import { type CsvCell, csvRecord } from "../../text/csv.ts";
import type { KernelRecord, NCUProfileRegion, RegionReportBundle } from "../model/document.ts";
import { domainAt, haveSeveralDomains, type Ranged } from "../model/region-path.ts";
import { haveActivity } from "../view/gpu-utilization.ts";
import { exclusiveMs, kernelMs, meanMs, totalMs } from "../view/times.ts";

/** `regions.csv`; each metric has a column, followed by one for its unit. */
export function* renderRegionsCsv({ reports }: RegionReportBundle): Generator<string> {
  const domains = domainColumn(reports.flatMap(({ regions }) => regions));
  const metrics = metricColumns({ reports });
  const activity = reports.some(({ regions }) => haveActivity(regions)) ? ACTIVITY : [];
  yield csvRow([
    ...REGION_COLUMNS,
    ...activity.map((name) => `gpu_${name}`),
    ...domains.head,
    ...metrics.map(({ heading }) => heading),
  ]);
  for (const { scope, regions } of reports)
    for (const region of regions) {
      const calls = region.invocation_wall_ms;
      yield csvRow([
        scope,
        pathText(region.path),
        region.name,
        region.parent,
        region.depth,
        region.domain,
        region.kind,
        region.device,
        region.process_id,
        region.invocations,
        totalMs(region),
        exclusiveMs(region),
        region.wall_ms,
        region.wall_exclusive_ms,
        calls?.min ?? null,
        calls?.median ?? null,
        calls?.p95 ?? null,
        calls?.max ?? null,
        region.kernel_count,
        ...activity.map((name) => region.gpu_activity?.[name] ?? null),
        ...domains.cells(region),
        ...metrics.map(({ name, unit }) => {
          const metric = region.metrics[name];
          return metric?.unit === unit ? metric.value : null;
        }),
      ]);
    }
}

/** Absent if unknown for every region. */
const ACTIVITY = ["busy_ms", "kernel_ms", "copy_ms", "overlap_ms"] as const;

const REGION_COLUMNS = [
  "scope",
  "path",
  "name",
  "parent",
  "depth",
  "domain",
  "kind",
  "device",
  "process_id",
  "invocations",
  "total_ms",
  "exclusive_ms",
  "wall_ms",
  "wall_exclusive_ms",
  "call_min_ms",
  "call_median_ms",
  "call_p95_ms",
  "call_max_ms",
  "kernel_count",
] as const;

/** `kernels.csv`: the kernels of a region include those of its inner regions. */
export function* renderKernelsCsv({ reports }: RegionReportBundle): Generator<string> {
  const domains = domainColumn(reports.flatMap(({ regions }) => regions));
  const isMeasured = reports.some(({ regions }) =>
    regions.some(({ kernels }) => kernels.some(({ hardware }) => hardware !== undefined)),
  );
  const hardware = isMeasured ? HARDWARE_COLUMNS : [];
  yield csvRow([...KERNEL_COLUMNS, ...hardware, ...domains.head]);
  for (const { scope, regions } of reports)
    for (const region of regions) {
      const path = pathText(region.path);
      const ofPath = domains.cells(region);
      for (const kernel of region.kernels) {
        const { kernel_name, kind, device, calls } = kernel;
        const times = [kernelMs(kernel), meanMs(kernel)];
        const counters = hardware.map((name) => hardwareCell(kernel, name));
        yield csvRow([
          ...[scope, path, kernel_name, kind, device, calls],
          ...times,
          ...counters,
          ...ofPath,
        ]);
      }
    }
}

const KERNEL_COLUMNS = [
  "scope",
  "path",
  "kernel_name",
  "kind",
  "device",
  "calls",
  "total_ms",
  "mean_ms",
] as const;

/** Absent if nothing was measured; several limits are joined with `+`. */
const HARDWARE_COLUMNS = [
  "sm_pct",
  "memory_pct",
  "limited_by",
  "tensor_pct",
  "occupancy_pct",
  "occupancy_limit_pct",
  "occupancy_limited_by",
] as const;

const hardwareCell = (
  { hardware }: KernelRecord,
  name: (typeof HARDWARE_COLUMNS)[number],
): CsvCell =>
  name === "occupancy_limited_by"
    ? (hardware?.[name].join("+") ?? null)
    : (hardware?.[name] ?? null);

type DomainsOf = Pick<NCUProfileRegion, "path" | "domain" | "path_domains">;

interface DomainColumn {
  readonly head: readonly string[];
  readonly cells: (region: DomainsOf) => readonly string[];
}

/** NVTX domains along the path: a column only if the regions have several. */
export const domainColumn = (regions: readonly Ranged[]): DomainColumn =>
  haveSeveralDomains(regions)
    ? {
        head: ["path_domains"],
        cells: (region) => [
          pathText(region.path.map((_, level) => domainAt(region, level) ?? "?")),
        ],
      }
    : { head: [], cells: () => [] };

function metricColumns({ reports }: Pick<RegionReportBundle, "reports">) {
  const columns = new Map<string, { name: string; unit: string; heading: string }>();
  for (const { regions } of reports)
    for (const { metrics } of regions)
      for (const [name, { unit }] of Object.entries(metrics)) {
        const heading = unit === "" ? name : `${name} [${unit}]`;
        columns.set(heading, { name, unit, heading });
      }
  return [...columns.values()];
}

const pathText = (path: readonly string[]): string => path.join(" / ");

/** One record as a line. */
export const csvRow = (cells: readonly CsvCell[]): string => `${csvRecord(cells)}\r\n`;
